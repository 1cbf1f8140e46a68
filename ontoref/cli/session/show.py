"""`ontoref session show`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def show(
    session: Annotated[str | None, typer.Argument(help="Archive id, native id or a unique beginning.")] = None,
    project: Annotated[str | None, typer.Option(help="Only sessions of this folder.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print them.")] = Format.table,
) -> None:
    """Show what the archive knows of a session; without one, list all, the one that ended last first.

    \b
    Examples:
      ontoref session show
      ontoref session show claude-code:01a2be2d
    """
    from ontoref.cli.output import emit_json, note
    from ontoref.cli.state.shared import opened, session_row, size
    from ontoref.state import archive
    from ontoref.state.overview import overview

    with opened(read_only=True) as state:
        if session is None:
            rows = (
                {**session_row(row), "size": size(row.size_bytes)}
                for row in archive.listing(state, project=project, limit=limit)
            )
            found = list(rows) if form is Format.table or form is Format.json else rows
            emit(found, form, columns=("id", "project", "title", "ended_at", "lines", "size"))
            if not found:
                note("nothing is archived yet; `ontoref transcript import --all` begins")
            return
        one = archive.resolve(state, session)
        more = overview(state, one)
    row = {**session_row(one), **more}
    if form in (Format.json, Format.jsonl):
        emit_json([row] if form is Format.json else row)
        return
    pairs = [{"what": name, "value": value} for name, value in row.items() if value not in (None, [], {})]
    emit(pairs, form, columns=("what", "value"))
