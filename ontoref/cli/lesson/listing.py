"""`ontoref lesson list`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Kind, Limit, Scope, Since, Until
from ontoref.cli.output import Format, emit

COLUMNS = ("id", "title", "kind", "durability", "active", "votes", "sessions", "updated")


def listing(
    scope: Scope = None,
    kind: Kind = None,
    durability: Annotated[str | None, typer.Option(help="durable, decaying or ephemeral.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only lessons with this tag; may be repeated.")] = None,
    session: Annotated[str | None, typer.Option(help="Only lessons seen in this session.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Those too that were superseded or have ended.")] = False,
    since: Since = None,
    until: Until = None,
    limit: Limit = None,
    form: Form = Format.table,
) -> None:
    """List lessons that hold now, the one changed last first.

    \b
    Examples:
      ontoref lesson list --scope workspace=/home/me/app --tag git
      ontoref lesson list --all --since 30d --format json
    """
    from ontoref.cli.lesson.shared import lesson_row, moments, now, opened, scope_of
    from ontoref.cli.output import note
    from ontoref.lesson.lifecycle import instant_us

    at = now()
    start, end = moments(since, until)
    plain = not (tag or session or start is not None or end is not None or durability)
    first = limit if plain else None
    with opened(read_only=True) as store:
        if all_:
            found = store.list_lessons(scope_of(scope), kind, durability, limit=first)
        else:
            found = store.list_active_lessons(at, scope_of(scope), kind, first)
            if durability:
                store.list_lessons(durability=durability, limit=0)
                found = [one for one in found if one["durability"] == durability]
    rows = []
    for one in found:
        changed = instant_us(one["updated_at"]) if one.get("updated_at") else 0
        if (start is not None and changed < start) or (end is not None and changed >= end):
            continue
        if not set(tag or ()) <= set(one.get("tags") or ()):
            continue
        if session and not any(str(seen.get("session_id")) == session for seen in one.get("evidence") or ()):
            continue
        rows.append(lesson_row(one, at))
    rows = rows[:limit]
    if form in (Format.json, Format.jsonl):
        emit(rows, form, columns=COLUMNS)
        return
    emit([shown(row) for row in rows], form, columns=COLUMNS)
    if not rows:
        note("no lessons; `ontoref lesson proposals` lists what waits for review")


def shown(row: dict[str, object]) -> dict[str, object]:
    """A row as a table shows it."""
    return {
        **row,
        "kind": row.get("record_kind"),
        "votes": f"+{row.get('helpful') or 0} -{row.get('harmful') or 0}",
        "updated": str(row.get("updated_at") or "")[:10],
        "title": row.get("title") or row.get("statement"),
    }
