"""`ontoref lesson chain`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format, emit


def chain(
    id: Annotated[str, typer.Argument(help="Any version's id, or its beginning.")],
    form: Form = Format.table,
) -> None:
    """List every version of a lesson, from the oldest to the one that holds.

    \b
    Example:
      ontoref lesson chain l-3f0c
    """
    from ontoref.cli.lesson.shared import lesson_row, named, now, opened

    at = now()
    with opened(read_only=True) as store:
        rows = [lesson_row(one, at) for one in store.get_lesson_chain(named(store, id, "lesson"))]
    emit(rows, form, columns=("id", "statement", "valid_from", "invalid_at", "supersede_reason"))
