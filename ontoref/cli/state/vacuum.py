"""`ontoref state vacuum`."""

from __future__ import annotations

from ontoref.cli.output import note


def vacuum() -> int:
    """Rewrite every database without the pages that nothing uses. Waits for writers; readers may stay.

    \b
    Example:
      ontoref state vacuum
    """
    from ontoref.cli.state.shared import nothing_there, opened, size
    from ontoref.state import upkeep

    if nothing_there():
        return 0
    with opened(read_only=False) as state:
        for place, before, after in upkeep.vacuum(state):
            note(f"{place.agent_id or 'global'}: {size(before)} -> {size(after)}")
    return 1 if state.left_out else 0
