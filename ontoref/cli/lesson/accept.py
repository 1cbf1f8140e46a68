"""`ontoref lesson accept`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import By, Form, Reason, Scope
from ontoref.cli.output import Format


def accept(
    id: Annotated[str, typer.Argument(help="The proposal's id, or its beginning.")],
    statement: Annotated[str | None, typer.Option(help="Say it better than the proposal does.")] = None,
    title: Annotated[str | None, typer.Option(help="A title of your own.")] = None,
    durability: Annotated[str | None, typer.Option(help="durable, decaying or ephemeral.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    scope: Scope = None,
    by: By = None,
    reason: Reason = None,
    form: Form = Format.table,
) -> None:
    """Accept a proposal: the lesson holds from now on.

    \b
    Example:
      ontoref lesson accept p-91c0 --statement "Indent Makefiles with tabs." --tag make
    """
    from ontoref.cli.lesson.shared import named, now, opened, reviewer, scope_of
    from ontoref.cli.output import emit_json, note
    from ontoref.lesson.lifecycle import LESSON_DURABILITIES
    from ontoref.lesson.passes import title_of
    from ontoref.lesson.review import accept as accepted

    if durability is not None and durability not in LESSON_DURABILITIES:
        raise typer.BadParameter(f"known: {', '.join(LESSON_DURABILITIES)}", param_hint="--durability")
    changes: dict[str, object] = {}
    if statement:
        changes |= {"statement": statement, "title": title or title_of(statement)}
    for name, value in (("title", title), ("durability", durability), ("tags", tag), ("scope", scope_of(scope))):
        if value:
            changes[name] = value
    with opened(read_only=False) as store:
        lesson = accepted(store, named(store, id, "proposal"), reviewer(by), now(), changes=changes, reason=reason)
    if form in (Format.json, Format.jsonl):
        emit_json([lesson] if form is Format.json else lesson)
        return
    print(lesson["id"])
    note(f"accepted; `ontoref lesson show {lesson['id']}`")
