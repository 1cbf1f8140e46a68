"""Many entries of one name made one, early, so that a name that comes up often costs little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from ontoref.interaction.spill import Entry, Spill

__all__ = ["Combiner", "Tally", "condensed", "once", "tallied", "told"]

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


_MET_ONCE = Tally(True, 1, 0, [""], [])
# The tally of one entry that is meant, around the text of its session.
_ONCE, _ONCE_END = b"[true,1,0,[", b"],[]]"


def once(session: bytes) -> bytes:
    """The tally, on a line, of one entry that is meant. Shape: session is a JSON string or null, as JSON text."""
    return b'%b"%b"%b\n' % (_ONCE, session.replace(b"\\", rb"\\").replace(b'"', rb"\""), _ONCE_END)


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


# So many entries of a name are made one at a time: a name may come up a million times.
_MOST_HELD = 1000


def condensed(entries: Iterable[Entry]) -> Iterator[Entry]:
    """One entry for each name, from entries sorted by their keys, which begin with the name."""
    held: list[Entry] = []
    name = b""
    for entry in entries:
        if held and entry[0].startswith(name):
            held.append(entry)
            if len(held) == _MOST_HELD:
                held = [_one(held)]
            continue
        if held:
            yield held[0] if len(held) == 1 else _one(held)
        held = [entry]
        name = entry[0][: entry[0].index(0) + 1]
    if held:
        yield held[0] if len(held) == 1 else _one(held)


def _one(held: list[Entry]) -> Entry:
    key, content = held[-1]
    heads = [other[: other.index(10)] for _, other in held]
    if all(head.startswith(_ONCE) and head.endswith(_ONCE_END) for head in heads):
        texts = {head[len(_ONCE) : -len(_ONCE_END)] for head in heads}
        return key, b"[true,%d,0,[%b],[]]%b" % (len(held), b",".join(texts), content[len(heads[-1]) :])
    meant, times, decisions = False, 0, 0
    sessions: set[str] = set()
    actors: set[str] = set()
    for head in heads:
        one = Tally._make(orjson.loads(head))
        meant = meant or one.meant
        times += one.times
        decisions += one.decisions
        sessions.update(one.sessions)
        actors.update(one.actors)
    return key, tallied(Tally(meant, times, decisions, list(sessions), list(actors)), content[len(heads[-1]) + 1 :])


def told(content: bytes) -> tuple[Tally, bytes]:
    """What an entry tells: its tally, and what the latest entry of its name says."""
    cut = content.index(10)
    if content.startswith(_ONCE) and content.startswith(_ONCE_END, cut - len(_ONCE_END)):
        # Most names are met once, and then nobody asks in which session.
        return _MET_ONCE, content[cut + 1 :]
    return Tally._make(orjson.loads(content[:cut])), content[cut + 1 :]
