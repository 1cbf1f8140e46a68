"""`ontoref state reset`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import note
from ontoref.text import counted


def reset(
    yes: Annotated[bool, typer.Option("--yes", help="Really do it.")] = False,
) -> int:
    """Delete the whole archive: every agent's database. Records, lessons and backups stay.

    \b
    Example:
      ontoref backup create && ontoref state reset --yes
    """
    from ontoref.cli.state.shared import nothing_there, opened, size
    from ontoref.state import upkeep

    if not yes:
        with opened(read_only=True) as state:
            for row in upkeep.sizes(state):
                if row.agent_id is not None:
                    holds = "cannot be read" if row.problem else f"{row.sessions} sessions"
                    note(f"would delete {row.path} ({holds}, {size(row.size_bytes)})")
        note("nothing was deleted; `ontoref state reset --yes` does it")
        return 1
    if nothing_there():
        return 0
    with opened(read_only=False) as state:
        gone = upkeep.reset(state)
    note(f"{counted(len(gone), 'file')} deleted")
    return 0
