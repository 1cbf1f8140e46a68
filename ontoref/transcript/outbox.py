"""Events in write order, held back while an earlier one may still learn something."""

from __future__ import annotations

from ontoref.transcript.event import ReplayEvent

__all__ = ["Outbox"]

_MOST_EVENTS = 512
_MOST_BYTES = 8 << 20


class Outbox:
    """What a reader has made but not yet given out.

    Shape: `hold(key)` keeps everything from now on until `release(key)`; `ready()` gives out what nothing
           holds. It never grows beyond a bound: then `full` is true, and the reader lets go of everything.
    """

    __slots__ = ("_bytes", "events", "held")

    def __init__(self) -> None:
        self.events: list[ReplayEvent] = []
        self.held: set[str] = set()
        self._bytes = 0

    def hold(self, key: str) -> None:
        self.held.add(key)

    def release(self, key: str) -> None:
        self.held.discard(key)

    def full(self, added_bytes: int) -> bool:
        """Whether too much is held back, after a line of so many bytes."""
        self._bytes += added_bytes
        return len(self.events) > _MOST_EVENTS or self._bytes > _MOST_BYTES

    def ready(self) -> list[ReplayEvent]:
        """Everything, if nothing is held; else nothing."""
        if self.held:
            return []
        found, self.events = self.events, []
        self._bytes = 0
        return found

    def all(self) -> list[ReplayEvent]:
        """Everything, whatever is held."""
        self.held.clear()
        return self.ready()
