"""`ontoref state path`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def path(
    form: Annotated[Format, typer.Option("--format", help="How to print the places.")] = Format.table,
) -> None:
    """Print where local state is, whether or not anything is there.

    \b
    Example:
      ontoref state path
    """
    from ontoref.cli.state.shared import opened
    from ontoref.state import registry

    with opened(read_only=True) as state:
        rows = [
            {"what": "directory", "path": state.layout.root},
            {"what": "global", "path": state.layout.global_database},
        ]
        control = state.control()
        if control is not None:
            rows += [{"what": row.agent_id, "path": row.path} for row in registry.registered(control, state.layout)]
    emit(rows, form, columns=("what", "path"))
