"""`ontoref lesson search`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Kind, Scope
from ontoref.cli.output import Format, emit


def search(
    words: Annotated[list[str], typer.Argument(help="Every one must occur in title, statement or tags.")],
    scope: Scope = None,
    kind: Kind = None,
    all_: Annotated[bool, typer.Option("--all", help="Those too that were superseded or have ended.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, help="At most so many.", metavar="N")] = 20,
    form: Form = Format.table,
) -> None:
    """Search lessons, the best first; case and accents do not matter, parts of words count.

    \b
    Example:
      ontoref lesson search makefile tabs
    """
    from ontoref.cli.lesson.listing import shown
    from ontoref.cli.lesson.shared import lesson_row, now, opened, scope_of
    from ontoref.cli.output import note

    at = now()
    with opened(read_only=True) as store:
        hits = store.search_lessons(" ".join(words), None if all_ else at, scope_of(scope), kind, limit)
    rows = [{"score": hit["score"], **lesson_row(hit["lesson"], at)} for hit in hits]
    if form not in (Format.json, Format.jsonl):
        rows = [shown(row) for row in rows]
    emit(rows, form, columns=("score", "id", "title", "kind", "helpful", "harmful", "updated"))
    if not rows and form is Format.table:
        note("nothing holds all of these words")
