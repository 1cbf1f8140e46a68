"""`ontoref state status`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit, note


def status(
    form: Annotated[Format, typer.Option("--format", help="How to print the databases.")] = Format.table,
) -> int:
    """List the databases of local state and what they hold. Exit 1 if one cannot be read.

    \b
    Example:
      ontoref state status
    """
    from ontoref.cli.state.shared import opened, size
    from ontoref.state import registry, upkeep

    with opened(read_only=True) as state:
        found = upkeep.sizes(state)
        control = state.control()
        gone = [row for row in registry.registered(control, state.layout) if not row.exists] if control else []
    rows = [
        {
            "database": row.agent_id or "global",
            "domain": "control" if row.agent_id is None else "archive",
            "state": "sqlite-runtime",
            "sessions": row.sessions,
            "lines": row.lines,
            "source_bytes": row.source_bytes,
            "size_bytes": row.size_bytes,
            "wal_bytes": row.wal_bytes,
            "size": size(row.size_bytes),
            "path": row.path,
            "problem": row.problem,
        }
        for row in found
    ]
    emit(rows, form, columns=("database", "sessions", "lines", "size", "path"))
    for row in gone:
        note(f"warning: the database of {row.agent_id} is not where it was: {row.path}")
    if not rows:
        note("nothing is archived yet; `ontoref transcript import --all` begins")
    return 1 if state.left_out else 0
