"""`ontoref state check`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit, note


def check(
    form: Annotated[Format, typer.Option("--format", help="How to print the databases.")] = Format.table,
) -> int:
    """Let SQLite check every database, rows without their parents too. Exit 1 if anything is wrong.

    \b
    Example:
      ontoref state check
    """
    from ontoref.cli.state.shared import opened
    from ontoref.state import upkeep

    with opened(read_only=True) as state:
        found = list(upkeep.check(state))
    rows = [
        {
            "database": row.agent_id or "global",
            "result": "damaged" if row.problems else "ok",
            "problems": list(row.problems),
            "journal_mode": row.journal_mode,
            "user_version": row.user_version,
            "path": row.path,
        }
        for row in found
    ]
    emit(rows, form, columns=("database", "result", "problems", "path"))
    bad = sum(1 for row in found if row.problems)
    if bad:
        note(f"{bad} of {len(found)} databases damaged or not ours; `ontoref doctor` tells what to do")
    return 1 if bad else 0
