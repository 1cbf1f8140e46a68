"""Where the decisions of a log are named, so that the entries of some can be fetched later without a search."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from errno import EIO
from itertools import compress, count
from typing import BinaryIO

from ontoref.interaction.blocks import Stretch
from ontoref.interaction.search import Mentions, Text
from ontoref.interaction.spill import Entry, Spill

__all__ = ["Recurrence", "look_like_ids"]

_OFFSET_BITS = 44
# What is read around a place to see its whole line; doubled until it shows.
_AROUND_BYTES = 1 << 12


class Recurrence:
    """Every mention of an id in a share, as a hash of the id and its place.

    Shape: a place is a file and the offset of any byte of a line.
    Units: twelve bytes a mention; the lines that were decoded anyway are kept as entries.
    """

    def __init__(self) -> None:
        self.entries = Spill()
        self._hashes = array("q")
        # Places within their block; the blocks are told by how many mentions stand before them.
        self._hits = array("L")
        self._blocks: list[tuple[int, int]] = []
        # Lines that were kept, in order, from the first byte to the last.
        self._known_starts: list[int] = []
        self._known_stops: list[int] = []
        # Ids on known lines that were not kept: their lines are decoded once more if they turn out to be wanted.
        self._left_hashes, self._left_places = array("q"), array("q")
        self._unclear: set[int] = set()
        self._mentions = Mentions()

    def keep(self, entries: Iterable[Entry], left: Iterable[str], place: Stretch, start: int, stop: int) -> None:
        """Keep some entries of a line that was decoded; left are the names of its other ones.

        Shape: lines are kept in the order of the share; start and stop are offsets in the file.
        """
        first = _place(place, start)
        self._known_starts.append(first)
        self._known_stops.append(first + stop - start)
        for name in left:
            self._left_hashes.append(hash(name.encode()))
            self._left_places.append(first)
        self.entries.extend(entries)

    def note(self, stretch: Stretch, offset_bytes: int, text: Text) -> None:
        """Note every mention in a text that stands at an offset."""
        base = _place(stretch, offset_bytes)
        self._blocks.append((len(self._hits), base))
        unclear = self._mentions.note(text, self._hashes, self._hits)
        self._unclear.update(base + start for start in unclear)

    def places(self, names: frozenset[bytes]) -> list[int]:
        """Places, in order, of lines that may mention a name and have more to give than what was kept of them."""
        wanted = frozenset(map(hash, names))
        found = set(compress(self._left_places, map(wanted.__contains__, self._left_hashes)))
        found.update(place for place in self._unclear if not self._known(place))
        blocks, number = [*self._blocks, (len(self._hits), 0)], 0
        for index in compress(count(), map(wanted.__contains__, self._hashes)):
            while blocks[number + 1][0] <= index:
                number += 1
            place = blocks[number][1] + self._hits[index]
            if not self._known(place):
                found.add(place)
        return sorted(found)

    def _known(self, place: int) -> bool:
        index = bisect_right(self._known_starts, place) - 1
        return index >= 0 and place <= self._known_stops[index]

    def lines(self, places: Iterable[int], share: list[Stretch]) -> Iterator[tuple[bytes, int, int, bool]]:
        """(line, file, offset, whether some of its entries are kept), each line at the places once, in order.

        Shape: for a file that cannot be opened any more the line is empty and the offset is -errno.
        """
        paths = {stretch.file: stretch.path for stretch in share}
        current, file, seen = -1, None, -1
        try:
            for place in places:
                number, offset = place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)
                if number != current or file is None:
                    if file is not None:
                        file.close()
                        file = None
                    try:
                        file = open(paths[number], "rb")  # noqa: SIM115 closed at the end
                    except OSError as error:
                        yield b"", number, -(error.errno or EIO), False
                        continue
                    current, seen = number, -1
                if offset < seen:
                    continue
                start, line = _line_around(file, offset)
                seen = start + len(line)
                yield line, number, start, self._known(place)
        finally:
            if file is not None:
                file.close()


def _line_around(file: BinaryIO, offset: int) -> tuple[int, bytes]:
    """Where the line begins that has the byte at offset, and the line without what ends it."""
    around = _AROUND_BYTES
    while True:
        begin = max(0, offset - around)
        file.seek(begin, os.SEEK_SET)
        text = file.read(offset - begin + around)
        start = text.rfind(b"\n", 0, offset - begin) + 1
        stop = text.find(b"\n", offset - begin)
        if (start or not begin) and (stop >= 0 or len(text) < offset - begin + around):
            return begin + start, text[start : stop if stop >= 0 else len(text)]
        around *= 2


def _place(stretch: Stretch, offset_bytes: int) -> int:
    return stretch.file << _OFFSET_BITS | offset_bytes


def look_like_ids(names: Iterable[bytes]) -> bool:
    """Whether a name looks like a record's id, which `Mentions` leaves out."""
    return any(name[:1] == b"0" or (len(name) == 26 and name[:1] < b"8") for name in names)
