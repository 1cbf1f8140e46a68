r"""A byte search for the lines of a log that can answer a question, so that only those are decoded.

It may name a line too many, never one too few. A line that answers holds the key and the value that are asked
for, whatever white space stands between; or it holds a letter of them as `\u00XX`, and any such line is named too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Needle", "Search", "ends"]

_SPACE = rb"[ \t\r]*"
# Printable ASCII that JSON writes as itself. A quote and a backslash are always escaped, a slash sometimes.
_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
# From most to least frequent in records. A search is fastest from a byte that is seldom seen.
_COMMON = b'"e atnoisrdlc:,hupm-0123456789fg{}TZybwv._k/[]AEISCDFRPMBOLHNGUVWjxqKzYXJQ'
_RANK = {byte: len(_COMMON) - place for place, byte in enumerate(_COMMON)}
_ESCAPE_BUDGET = 256


@dataclass(frozen=True, slots=True)
class Needle:
    """What a line must hold.

    Shape: pattern is a regular expression over bytes; letters are the characters that an escape may stand for;
           with names, the pattern's group has to be one of them.
    """

    pattern: bytes
    letters: frozenset[str]
    names: frozenset[bytes] | None = None

    @staticmethod
    def of_key(key: str, then: bytes = b"") -> Needle | None:
        """A key, with then (a regular expression) as its value."""
        if not set(key) <= _PLAIN:
            return None
        quoted = b'"' + key.encode() + b'"'
        return Needle(_literal(_rare_tail(quoted)) + _SPACE + b":" + _SPACE + then, frozenset(key))

    @staticmethod
    def of_values(key: str, values: Iterable[str | int | bool], *, in_array: bool) -> Needle | None:
        """A key with one of the values, or (in_array) one of the values anywhere."""
        written = [_written(value) for value in sorted(values, key=str)]
        if any(w is None for w in written):
            return Needle.of_key(key)
        letters = frozenset("".join(str(value) for value in values if isinstance(value, str)))
        if in_array:
            tails = [_literal(_rare_tail(w)) for w in written if w is not None]
            return Needle(b"|".join(tails), letters)
        found = Needle.of_key(key, b"(?:" + b"|".join(_literal(w) for w in written if w is not None) + b")")
        return found and Needle(found.pattern, found.letters | letters)

    @staticmethod
    def of_value_start(key: str, start: str) -> Needle | None:
        """A key with a text that starts so."""
        if not set(start) <= _PLAIN:
            return Needle.of_key(key)
        found = Needle.of_key(key, _literal(b'"' + start.encode()))
        return found and Needle(found.pattern, found.letters | frozenset(start))

    @staticmethod
    def of_names(key: str, names: Iterable[str]) -> Needle | None:
        """A key with one of many values; None if some of them can be written in several ways."""
        wanted = frozenset(names)
        letters = frozenset(key).union(*wanted)
        if not letters <= _PLAIN - {"/"}:
            return None
        pattern = b'"' + re.escape(key.encode()) + b'"' + _SPACE + b":" + _SPACE + rb'"([^"\\]*)"'
        return Needle(pattern, letters, frozenset(name.encode() for name in wanted))

    @staticmethod
    def of_start(key: str, start: str) -> Needle | None:
        """A text that starts so, anywhere; the key where start says nothing."""
        if not start or not set(start) <= _PLAIN:
            return Needle.of_key(key)
        return Needle(_literal(b'"' + start.encode()), frozenset(start))


def _written(value: str | int | bool) -> bytes | None:
    """A value as JSON text, None if JSON has several ways to write it beside escapes of single letters."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return None  # 1 and 1.0 and 1e0 are told apart by the decoder, not here
    return b'"' + value.encode() + b'"' if set(value) <= _PLAIN else None


def _literal(text: bytes) -> bytes:
    return re.escape(text).replace(b"/", rb"\\?/")


def _rare_tail(quoted: bytes) -> bytes:
    """The end of a quoted text from its rarest byte on, at least four bytes where there are as many."""
    places = range(max(1, len(quoted) - 4))
    return quoted[min(places, key=lambda i: (_RANK.get(quoted[i], 0), i)) :]


class Search:
    """Finds in a block of whole lines those that may hold every needle, in order.

    Without needles every line is found.
    """

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._needles = [(re.compile(needle.pattern), needle.names) for needle in needles]
        letters = frozenset[str]().union(*(needle.letters for needle in needles))
        codes = "|".join(sorted(f"{ord(letter):02x}" for letter in letters))
        self._escape = re.compile(rf"\\u00(?:{codes})".encode(), re.IGNORECASE) if codes else None
        self._sampled = len(needles) < 2

    def lines(self, block: bytearray, end: int) -> Iterator[tuple[int, int]]:
        """(start, stop) of each line found in block[:end], which ends in a newline; stop is the newline's place."""
        if not self._needles:
            yield from _every(block, end)
            return
        if not self._sampled:
            # The needle that is met most seldom leads, the others only have a say about the lines it finds.
            self._sampled = True
            sample = min(end, 1 << 17)
            self._needles.sort(key=lambda needle: sum(1 for _ in needle[0].finditer(block, 0, sample)))
        escaped = list(self._escaped(block, end))
        place = 0
        for start, stop in _holding(*self._needles[0], block, end):
            while place < len(escaped) and escaped[place][0] < start:
                yield escaped[place]
                place += 1
            if place < len(escaped) and escaped[place][0] == start:
                yield escaped[place]
                place += 1
            elif all(pattern.search(block, start, stop) for pattern, _ in self._needles[1:]):
                yield start, stop
        yield from escaped[place:]

    def _escaped(self, block: bytearray, end: int) -> Iterator[tuple[int, int]]:
        """Lines in which a letter that matters stands as an escape."""
        if self._escape is None:
            return
        # A backslash is found at the speed of memory; a text full of them is faster by the expression.
        find, match = block.find, self._escape.match
        position, left = find(b"\\", 0, end), _ESCAPE_BUDGET
        while position >= 0 and left:
            if match(block, position, end):
                start, stop = block.rfind(b"\n", 0, position) + 1, find(b"\n", position, end)
                yield start, stop
                position = stop
            position = find(b"\\", position + 1, end)
            left -= 1
        if position < 0:
            return
        while (hit := self._escape.search(block, position, end)) is not None:
            start, stop = block.rfind(b"\n", 0, hit.start()) + 1, find(b"\n", hit.end(), end)
            yield start, stop
            position = stop


def _every(block: bytearray, end: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < end:
        stop = block.find(b"\n", start, end)
        yield start, stop
        start = stop + 1


def _holding(
    pattern: re.Pattern[bytes], names: frozenset[bytes] | None, block: bytearray, end: int
) -> Iterator[tuple[int, int]]:
    """Lines with a match of the pattern, each once."""
    if names is not None:
        stop = -1
        for match in pattern.finditer(block, 0, end):
            if match[1] in names and (place := match.start()) > stop:
                start, stop = block.rfind(b"\n", 0, place) + 1, block.find(b"\n", place, end)
                yield start, stop
        return
    position, search = 0, pattern.search
    while (hit := search(block, position, end)) is not None:
        start = block.rfind(b"\n", position, hit.start()) + 1 or position
        stop = block.find(b"\n", hit.end() - 1, end)
        yield start, stop
        position = stop + 1


def ends(block: bytearray, end: int) -> tuple[int, list[tuple[int, int]]]:
    """How many lines block[:end] has, and those that do not run from { to }."""
    find = block.find
    odd: list[tuple[int, int]] = []
    count, start = 0, 0
    stop = find(b"\n", 0, end)
    while stop >= 0:
        if block[start] != 123 or block[stop - 1] != 125:
            odd.append((start, stop))
        count += 1
        start = stop + 1
        stop = find(b"\n", start, end)
    return count, odd
