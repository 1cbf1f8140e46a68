"""`ontoref state gc`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import note


def gc(
    now: Annotated[str | None, typer.Option(help="Expire as of this moment instead of now.")] = None,
    keep: Annotated[int, typer.Option(min=1, help="Keep so many safety archives, the newest.")] = 3,
) -> int:
    """Delete cached values that are over or out of date, and old safety archives. Sessions are never collected.

    \b
    Example:
      ontoref state gc
    """
    from ontoref.cli.state.shared import moment_ms, nothing_there, opened
    from ontoref.replay.statistics import drop_stale
    from ontoref.state import upkeep

    at = moment_ms(now, "--now") if now is not None else None
    if nothing_there():
        return 0
    with opened(read_only=False) as state:
        expired = upkeep.expire(state, now=at) + drop_stale(state)
        archives = upkeep.old_archives(state.layout, keep)
        for path in archives:
            upkeep.remove_archive(path)
    note(f"{expired} cached values and {len(archives)} safety archives deleted")
    return 1 if state.left_out else 0
