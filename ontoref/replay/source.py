"""Where the events of sessions come from: one contract over live files, the archive and exports.

Shape: a session is named by its archive id, `<runtime>:<session id>`. Ordinals count a session's events from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ontoref.replay.tree import Row
from ontoref.transcript.event import ReplayEvent

__all__ = ["Memory", "Source", "Sources", "numbered"]


class Source(Protocol):
    """What a tree is built from. Nothing is read before it is asked for."""

    def rows(self, session_id: str) -> Sequence[Row] | None:
        """The events of one session in write order; None if it is not here."""

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        """How many events those sessions have that can be told without reading them, all in one question."""


class Memory:
    """Sessions that are held: {archive id: events}."""

    def __init__(self, sessions: Mapping[str, Iterable[ReplayEvent]]) -> None:
        self.sessions = {name: numbered(events) for name, events in sessions.items()}

    def rows(self, session_id: str) -> Sequence[Row] | None:
        return self.sessions.get(session_id)

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        return {name: len(self.sessions[name]) for name in session_ids if name in self.sessions}


class Sources:
    """Several sources as one; the first that has a session gives it."""

    def __init__(self, *sources: Source) -> None:
        self.sources = sources

    def rows(self, session_id: str) -> Sequence[Row] | None:
        for source in self.sources:
            found = source.rows(session_id)
            if found is not None:
                return found
        return None

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for source in self.sources:
            left = [name for name in session_ids if name not in found]
            if left:
                found.update(source.counts(left))
        return found


def numbered(events: Iterable[ReplayEvent]) -> list[Row]:
    """Events with their places."""
    return [Row(ordinal, event) for ordinal, event in enumerate(events)]
