"""`ontoref lesson list`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ontoref.cli.lesson._options import Kind, Scope
from ontoref.cli.lesson.fields import LESSONS, show_title, show_updated
from ontoref.cli.listing import ListOptions, list_command


@list_command(LESSONS)
def listing(
    options: ListOptions,
    scope: Scope = None,
    kind: Kind = None,
    durability: Annotated[str | None, typer.Option(help="durable, decaying or ephemeral.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only lessons with this tag; may be repeated.")] = None,
    session: Annotated[str | None, typer.Option(help="Only lessons seen in this session.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Those too that were superseded or have ended.")] = False,
) -> None:
    """List lessons that hold now, the one changed last first.

    --since and --until ask when a lesson was changed. A --where that names active looks at all lessons.

    \b
    Examples:
      ontoref lesson list --scope workspace=/home/me/app --tag git
      ontoref lesson list --where durability!=ephemeral --where scope.domain=git --sort harmful --reverse
      ontoref lesson list --all --since 30d --columns id,title,updated --format csv
    """
    from ontoref.cli.lesson.shared import lesson_row, now, opened, scope_of
    from ontoref.cli.listed import Narrowing

    wanted = Narrowing(options, LESSONS)
    at = now()
    first = None if tag or session or durability else wanted.first
    with opened(read_only=True) as store:
        if all_ or "active" in wanted.asked:
            found = store.list_lessons(scope_of(scope), kind, durability, limit=first)
        else:
            found = store.list_active_lessons(at, scope_of(scope), kind, first)
            if durability:
                store.list_lessons(durability=durability, limit=0)
                found = [one for one in found if one["durability"] == durability]
    rows = [
        lesson_row(one, at)
        for one in found
        if set(tag or ()) <= set(one.get("tags") or ())
        and (not session or any(str(seen.get("session_id")) == session for seen in one.get("evidence") or ()))
    ]
    wanted.emit(rows, whole=first is None, empty="no lessons; `ontoref lesson proposals` lists what waits for review")


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row as a table shows it."""
    return {
        **row,
        "kind": row.get("record_kind"),
        "updated": show_updated(row),
        "title": show_title(row),
    }
