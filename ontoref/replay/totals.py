"""What work took: time, tokens, stated cost, calls and errors, summed over events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ontoref.replay.tree import Row
from ontoref.transcript import event as e

__all__ = ["Totals", "totals_of"]

_CALLS = (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START)
_RESULTS = (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END)


@dataclass(slots=True)
class Totals:
    """Sums over events.

    Shape: cost_micro is None where no transcript states one; complete is false while a sub-agent's own session is
           not counted in.
    Units: tokens by sort; cost in millionths of the unit that the transcript states (US dollars so far); first and
           last in seconds since 1970.
    """

    events: int = 0
    calls: int = 0
    errors: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    cost_micro: int | None = None
    first: float | None = None
    last: float | None = None
    complete: bool = True

    def add(self, other: Totals) -> None:
        """Take the sums of others in."""
        self.events += other.events
        self.calls += other.calls
        self.errors += other.errors
        for name, number in other.tokens.items():
            self.tokens[name] = self.tokens.get(name, 0) + number
        if other.cost_micro is not None:
            self.cost_micro = (self.cost_micro or 0) + other.cost_micro
        firsts = [value for value in (self.first, other.first) if value is not None]
        lasts = [value for value in (self.last, other.last) if value is not None]
        self.first, self.last = min(firsts, default=None), max(lasts, default=None)
        self.complete = self.complete and other.complete

    @property
    def duration_ms(self) -> int | None:
        if self.first is None or self.last is None:
            return None
        return round((self.last - self.first) * 1000)

    def as_json(self) -> dict[str, Any]:
        return {
            "events": self.events,
            "calls": self.calls,
            "errors": self.errors,
            "tokens": self.tokens,
            "cost_micro": self.cost_micro,
            "duration_ms": self.duration_ms,
            "complete": self.complete,
        }


def totals_of(rows: Iterable[Row]) -> Totals:
    """The sums of rows. A usage stands once in a transcript, so sums are sums."""
    found = Totals()
    for row in rows:
        event = row.event
        found.events += 1
        if event.kind in _CALLS:
            found.calls += 1
        elif event.kind in _RESULTS and event.payload.get("is_error") is True:
            found.errors += 1
        if event.ts > 0:
            found.first = event.ts if found.first is None else min(found.first, event.ts)
            found.last = event.ts if found.last is None else max(found.last, event.ts)
        tokens = event.payload.get("tokens")
        if isinstance(tokens, dict):
            for name, number in tokens.items():
                if isinstance(number, int) and not isinstance(number, bool):
                    found.tokens[name] = found.tokens.get(name, 0) + number
        cost = _cost(event.payload.get("usage"))
        if cost is not None:
            found.cost_micro = (found.cost_micro or 0) + cost
    return found


def _cost(usage: Any) -> int | None:
    """The cost that a usage states, in millionths."""
    value = usage.get("cost") if isinstance(usage, dict) else None
    if isinstance(value, dict):
        value = value.get("total")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return round(value * 1_000_000)
