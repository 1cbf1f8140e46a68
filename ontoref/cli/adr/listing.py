"""`ontoref adr list`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def listing(
    folder: Annotated[str, typer.Option("--dir", help="Where ADRs lie.", metavar="DIR")] = "docs/adr",
    form: Annotated[Format, typer.Option("--format", help="How to print them.")] = Format.table,
) -> int:
    """List the project's ADRs, the decision that each was made of, and how many records name it.

    \b
    Example:
      ontoref adr list
    """
    import os

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.interaction import adr
    from ontoref.interaction.candidates import entries
    from ontoref.interaction.project import find_project

    logs, _ = logs_and_words(None, None)
    known = entries(logs)
    rows = [
        {
            "adr": file.name,
            "title": file.title,
            "decision": file.decision,
            "records": sum(
                any(entry.decision.get("adr") == file.name for entry in [e])
                for history in known.values()
                for e in history
            ),
            "path": file.path,
        }
        for file in adr.files_in(find_project(os.getcwd()).root, folder.strip("/"))
    ]
    emit(rows, form, columns=("adr", "title", "decision", "records", "path"))
    return 0
