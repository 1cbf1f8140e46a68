"""Where the decisions of a log are named, so that the entries of some can be fetched later without a search."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from ontoref.interaction.blocks import Block, Stretch
from ontoref.interaction.search import Mentions
from ontoref.interaction.spill import Entry, Spill

__all__ = ["Recurrence", "look_like_ids"]

_OFFSET_BITS = 44


class Recurrence:
    """Every mention of an id in a share, as a hash of the id and the place of its line.

    Units: sixteen bytes a mention; the lines that were decoded anyway are kept as entries.
    """

    def __init__(self) -> None:
        self.entries = Spill()
        self._known: set[int] = set()
        self._hashes = array("q")
        self._places = array("Q")
        # Ids on known lines that were not kept: their lines are decoded once more if they turn out to be wanted.
        self._left: list[tuple[int, int]] = []
        self._unclear: set[int] = set()
        self._mentions = Mentions("id")

    def keep(self, entries: Iterable[Entry], left: Iterable[str], stretch: Stretch, offset_bytes: int) -> None:
        """Keep some entries of a line that was decoded; left are the names of its other ones."""
        place = _place(stretch, offset_bytes)
        self._known.add(place)
        self._left.extend((hash(name.encode()), place) for name in left)
        for entry in entries:
            self.entries.add(entry)

    def note(self, stretch: Stretch, block: Block) -> None:
        """Note every mention in a block."""
        base = _place(stretch, block.offset_bytes)
        starts = array("Q")
        unclear = self._mentions.note(block.content, block.end, self._hashes, starts)
        self._places.extend(base + start for start in starts)
        self._unclear.update(base + start for start in unclear)

    def places(self, names: frozenset[bytes]) -> set[int]:
        """Lines that may mention a name and have more to give than what was kept of them."""
        wanted = frozenset(map(hash, names))
        places = {p for h, p in zip(self._hashes, self._places, strict=True) if h in wanted} | self._unclear
        places -= self._known
        places.update(place for h, place in self._left if h in wanted)
        return places

    def lines(self, places: set[int], share: list[Stretch]) -> Iterator[tuple[bytes, int, int, bool]]:
        """(line, file, offset, whether some of its entries are kept) at the places.

        Errors: OSError if a log cannot be read any more.
        """
        paths = {stretch.file: stretch.path for stretch in share}
        current, file = -1, None
        try:
            for place in sorted(places):
                number, offset = place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)
                if number != current or file is None:
                    if file is not None:
                        file.close()
                    current, file = number, open(paths[number], "rb")  # noqa: SIM115 closed at the end
                file.seek(offset)
                yield file.readline(), number, offset, place in self._known
        finally:
            if file is not None:
                file.close()


def _place(stretch: Stretch, offset_bytes: int) -> int:
    return stretch.file << _OFFSET_BITS | offset_bytes


def look_like_ids(names: Iterable[str]) -> bool:
    """Whether a name looks like a record's id, which `Mentions` leaves out."""
    return any(name[:1] == "0" or (len(name) == 26 and name[:1] < "8") for name in names)
