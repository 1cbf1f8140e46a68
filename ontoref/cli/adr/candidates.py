"""`ontoref adr candidates`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit
from ontoref.text import counted


def candidates(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Logs: files, folders, globs or -. None: the project's own.", metavar="PATH..."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="At most this many.", metavar="N")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print them.")] = Format.table,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Rank the decisions that wait for an ADR, with the reasons. Typed fields give them; prose is never read.

    \b
    Example:
      ontoref adr candidates
      ontoref adr promote jsonl-as-instance-store
    """
    from ontoref.cli.interaction._query import logs_and_words, tell_skipped
    from ontoref.cli.output import note
    from ontoref.interaction.candidates import candidates as ranked
    from ontoref.interaction.query import skipped_of

    logs, vocabulary = logs_and_words(paths, schemas)
    skipped: set[tuple[int, int]] = set()
    found = ranked(logs, vocabulary, skipped)
    rows = [candidate.as_json() for candidate in found[:limit]]
    if form not in (Format.json, Format.jsonl):
        rows = [{**row, "reasons": [reason["text"] for reason in row["reasons"]]} for row in rows]
    emit(rows, form, columns=("id", "score", "reasons", "times", "sessions", "record.domain", "record.recorded_at"),
         headers={"id": "decision", "record.domain": "domain", "record.recorded_at": "last"})  # fmt: skip
    if form is Format.table:
        note(f"{counted(len(found), 'open candidate')}")
    return tell_skipped(skipped_of(skipped, logs))
