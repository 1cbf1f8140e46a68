"""The index of replay events in the archive, as far as a tree asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ontoref.state import Database

__all__ = ["counted"]

_AT_ONCE = 500


def counted(database: Database, session_ids: Sequence[str]) -> Mapping[str, int]:
    """How many events of those sessions are indexed; a session that is not indexed is left out."""
    found: dict[str, int] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        some = list(session_ids[start : start + _AT_ONCE])
        marks = ", ".join("?" * len(some))
        rows = database.all(
            f"SELECT session_id, count(*) FROM replay_events WHERE session_id IN ({marks}) GROUP BY session_id", some
        )
        found.update({name: int(number) for name, number in rows})
    return found
