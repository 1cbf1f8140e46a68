"""`ontoref lesson show`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format


def show(
    id: Annotated[str, typer.Argument(help="A lesson's id or its beginning; or a proposal's, or a candidate's.")],
    form: Form = Format.table,
) -> None:
    """Show a lesson whole: what it says, where it was seen, what became of it.

    \b
    Example:
      ontoref lesson show l-3f0c
    """
    from ontoref.cli.lesson.shared import detail, lesson_row, named, now, opened
    from ontoref.cli.output import emit_json
    from ontoref.lesson.errors import LessonNotFoundError

    with opened(read_only=True) as store:
        proposal = candidate = None
        try:
            lesson = store.get_lesson(named(store, id, "lesson"))
        except LessonNotFoundError:
            lesson = None
            candidate = store.get_candidate(id)
            if candidate is None:
                try:
                    proposal = store.get_proposal(named(store, id, "proposal"))
                except LessonNotFoundError:
                    raise LessonNotFoundError(
                        f"no lesson, proposal or candidate has the id {id!r}", hint="ontoref lesson list --all"
                    ) from None
    record = lesson_row(lesson, now()) if lesson else proposal or candidate
    assert record is not None
    if form in (Format.json, Format.jsonl):
        emit_json([record] if form is Format.json else record)
    elif proposal is not None:
        draft = proposal["draft"]
        detail({**proposal, "title": draft.get("title"), "statement": draft.get("statement")}, evidence=_seen(draft))
    else:
        detail(record, evidence=_seen(record))


def _seen(record: dict[str, object]) -> list[dict[str, object]]:
    found = record.get("evidence")
    if found is None and record.get("excerpt"):
        found = [{**record, "observed_at": record.get("created_at"), "excerpt": None}]
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
