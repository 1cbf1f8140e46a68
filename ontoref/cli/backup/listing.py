"""`ontoref backup list`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def listing(
    form: Annotated[Format, typer.Option("--format", help="How to print them.")] = Format.table,
) -> None:
    """List the backups that were made, failed ones too, the newest first.

    \b
    Example:
      ontoref backup list
    """
    import os

    from ontoref.cli.state.shared import moment, opened
    from ontoref.state import runs

    with opened(read_only=True) as state:
        control = state.control()
        found = runs.listing(control) if control is not None else []
    rows = [
        {
            "created_at": moment(run.created_at),
            "status": run.status,
            "size_bytes": run.size_bytes,
            "here": os.path.exists(run.archive_path),
            "without": list(run.without),
            "path": run.archive_path,
        }
        for run in found
    ]
    emit(rows, form, columns=("created_at", "status", "size_bytes", "here", "without", "path"))
