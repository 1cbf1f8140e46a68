"""Events in write order, held back while an earlier one may still learn something."""

from __future__ import annotations

from ontoref.transcript.event import ReplayEvent

__all__ = ["MOST_EVENTS", "Outbox"]

MOST_EVENTS = 512


class Outbox:
    """What a reader has made but not yet given out.

    Shape: `hold(key)` keeps everything from now on until `release(key)`; `ready()` gives out what nothing
           holds. It never grows beyond a bound: then `full` is true, and the reader lets go of everything.
    """

    __slots__ = ("events", "held")

    def __init__(self) -> None:
        self.events: list[ReplayEvent] = []
        self.held: set[str] = set()

    def hold(self, key: str) -> None:
        self.held.add(key)

    def release(self, key: str) -> None:
        self.held.discard(key)

    @property
    def full(self) -> bool:
        """Whether so many events are held back that the reader shall let go."""
        return len(self.events) > MOST_EVENTS

    def ready(self) -> list[ReplayEvent]:
        """Everything, if nothing is held; else nothing."""
        if self.held:
            return []
        found = self.events[:]
        # The list itself stays: readers keep its append at hand.
        self.events.clear()
        return found

    def all(self) -> list[ReplayEvent]:
        """Everything, whatever is held."""
        self.held.clear()
        return self.ready()
