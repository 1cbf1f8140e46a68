"""`ontoref replay query`"""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit

__all__ = ["query"]


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A question to the table replay_events.")],
    store: Annotated[str, typer.Option(metavar="FILE", help="The DuckDB export.")],
    form: Annotated[Format, typer.Option("--format", help="How to print the rows.")] = Format.table,
) -> int:
    """Ask an export of sessions in SQL. Nothing is written, and no other file is read.

    docs/replay.md has a page of useful questions.

    \b
    Example:
      ontoref replay query --store replay.duckdb "SELECT kind, count(*) FROM replay_events GROUP BY kind"
    """
    from ontoref.replay.duckdb_store import DuckStore

    rows = DuckStore(store).query(sql)
    if form is Format.jsonl:
        emit(rows, form, columns=())
        return 0
    kept = list(rows)
    emit(kept, form, columns=tuple(kept[0]) if kept else ())
    return 0
