"""Many entries of one name made one, early, so that a name that comes up often costs little."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from ontoref.interaction.spill import Spill

__all__ = ["Combiner", "Tally", "joined", "once", "tallied"]

Last = TypeVar("Last")


class Tally(NamedTuple):
    """What entries of one name have in common.

    Shape: meant tells whether any of them meets the conditions; times counts them, decisions those that stand in
           decisions; sessions are JSON texts.
    """

    meant: bool
    times: int
    decisions: int
    sessions: list[str]
    actors: list[str]


def tallied(tally: Tally, last: bytes) -> bytes:
    """An entry's content: the tally on a line, then last, which says what the latest entry says."""
    return orjson.dumps(tuple(tally), option=orjson.OPT_APPEND_NEWLINE) + last


# How the tally of one entry begins, if it is meant.
_ONCE = b"[true,1,0,["


def once(session: str) -> bytes:
    """The tally, on a line, of one entry that is meant."""
    return tallied(Tally(True, 1, 0, [session], []), b"")


class _Name(Generic[Last]):
    __slots__ = ("actors", "decisions", "last", "meant", "order", "sessions", "times")

    def __init__(self, order: bytes, last: Last) -> None:
        self.order, self.last = order, last
        self.meant, self.times, self.decisions = False, 0, 0
        self.sessions: set[str] = set()
        self.actors: set[str] = set()


class Combiner(Generic[Last]):
    """Takes entries and puts one for each name into a spill, several where there are more names than it holds.

    Shape: write makes the content of the entry that came last in order; key that of a name.
    """

    def __init__(
        self, spill: Spill, key: Callable[[str], bytes], write: Callable[[Last], bytes], most: int = 20_000
    ) -> None:
        self._spill, self._key, self._write, self._most = spill, key, write, most
        self._names: dict[str, _Name[Last]] = {}
        self._room = most

    def add(
        self, name: str, order: bytes, last: Last, session: str, actor: Any = None, *, meant: bool, decisions: int = 0
    ) -> None:
        held = self._names.get(name)
        if held is None:
            self._room -= 1
            held = self._names[name] = _Name(order, last)
        elif order > held.order:
            held.order, held.last = order, last
        held.times += 1
        held.decisions += decisions
        held.meant = held.meant or meant
        if session not in held.sessions:
            self._room -= 1
            held.sessions.add(session)
        if isinstance(actor, str):
            held.actors.add(actor)
        if self._room <= 0:
            self.flush()

    def flush(self) -> None:
        """Pass on what is held."""
        for name, held in self._names.items():
            tally = Tally(held.meant, held.times, held.decisions, list(held.sessions), list(held.actors))
            self._spill.add((self._key(name) + held.order, tallied(tally, self._write(held.last))))
        self._names.clear()
        self._room = self._most


def joined(contents: Iterable[bytes]) -> tuple[Tally, int, bytes]:
    """The tally of all entries of a name, how many sessions they are, and the last of them."""
    held = list(contents)
    if len(held) == 1 and held[0].startswith(_ONCE):
        # Most names are met once, and what their tally says is known.
        head, _, last = held[0].partition(b"\n")
        if head.endswith(b"],[]]"):
            return Tally(True, 1, 0, [], []), 1, last
    meant, times, decisions = False, 0, 0
    sessions: set[str] = set()
    actors: set[str] = set()
    last = b""
    for content in held:
        head, _, last = content.partition(b"\n")
        one = Tally._make(orjson.loads(head))
        meant = meant or one.meant
        times += one.times
        decisions += one.decisions
        sessions.update(one.sessions)
        actors.update(one.actors)
    return Tally(meant, times, decisions, [], sorted(actors)), len(sessions), last
