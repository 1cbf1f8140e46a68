"""`ontoref migrate status`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.adoption import project_folder
from ontoref.cli.output import Format, emit


def status(
    form: Annotated[Format, typer.Option("--format", help="How to print the migrations.")] = Format.table,
) -> int:
    """List the upgrades that this ontoref ships and where the project stands with each. Exit 1 if one waits.

    \b
    Example:
      ontoref migrate status
    """
    from ontoref.interaction.adoption.migrate import migrations
    from ontoref.interaction.adoption.migrate import status as status_of

    root, _ = project_folder()
    entries = status_of(root, migrations())
    rows = [
        {"id": e.migration.id, "state": e.state, "applied_at": e.applied_at, "title": e.migration.title}
        for e in entries
    ]
    emit(rows, form, columns=("id", "state", "applied_at", "title"))
    return 0 if all(entry.state == "applied" for entry in entries) else 1
