"""A list that may be larger than memory, read back in order."""

from __future__ import annotations

import heapq
import marshal
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, Any

__all__ = ["Entry", "Spill", "read_batches", "write_batches"]

# A key to sort by and a row's JSON text. Keys are unique: they end in the entry's place.
Entry = tuple[bytes, bytes]

_BATCH = 256
# What is read of a run at a time: many runs are read at once.
_BATCH_BYTES = 64 << 10
_MOST_RUNS = 32
_SIZE_BYTES = 8


class Spill:
    """Entries in any order in, in the order of their keys out.

    Shape: with a limit only the first entries of the order are kept; count is how many were added.
    Units: budget_bytes bounds what is held in memory, the rest lies in temporary files until it is read.
    """

    def __init__(self, *, limit: int | None = None, reverse: bool = False, budget_bytes: int = 8 << 20) -> None:
        self.count = 0
        self._limit = limit
        self._reverse = reverse
        self._budget = budget_bytes
        self._held: list[Entry] = []
        self._bytes = 0
        # Sorted files; those of a level are merged into one of the next before they are too many to read at once.
        self._levels: list[list[IO[bytes]]] = []

    def add(self, entry: Entry) -> None:
        self.extend((entry,))

    def extend(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.count += 1
            self._held.append(entry)
            self._bytes += len(entry[0]) + len(entry[1]) + 160
            if self._bytes > self._budget:
                self._shrink()

    def _shrink(self) -> None:
        self._held.sort(reverse=self._reverse)
        if self._limit is not None and self._limit < len(self._held) // 2:
            del self._held[self._limit :]
            self._bytes = sum(len(key) + len(row) + 160 for key, row in self._held)
            if self._bytes <= self._budget // 2:
                return
        self._put(self._held, 0)
        self._held, self._bytes = [], 0

    def _put(self, entries: Iterable[Entry], level: int) -> None:
        """Sorted entries as a file of a level."""
        import tempfile

        run = tempfile.TemporaryFile(prefix="ontoref-")  # noqa: SIM115 it is read, and closed, later
        write_batches(run, islice(entries, self._limit))
        run.seek(0)
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(run)
        if len(runs) == _MOST_RUNS:
            self._levels[level] = []
            self._put(merge(list(map(read_batches, runs)), reverse=self._reverse), level + 1)
            for old in runs:
                old.close()

    def __iter__(self) -> Iterator[Entry]:
        """Every entry in order, up to the limit."""
        self._held.sort(reverse=self._reverse)
        runs = [run for level in self._levels for run in level]
        merged = merge([*map(read_batches, runs), iter(self._held)], reverse=self._reverse)
        yield from islice(merged, self._limit)
        for run in runs:
            run.close()


def merge(runs: list[Iterator[Entry]], *, reverse: bool = False) -> Iterator[Entry]:
    """Sorted runs as one."""
    if len(runs) == 1:
        return runs[0]
    return _merged(*runs) if len(runs) == 2 and not reverse else heapq.merge(*runs, reverse=reverse)


def _merged(left: Iterator[Entry], right: Iterator[Entry]) -> Iterator[Entry]:
    """Two sorted runs as one, which is what two cores give and costs half of what merging many does."""
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        if one < other:
            yield one
            one = next(left, None)
        else:
            yield other
            other = next(right, None)
    if one is not None:
        yield one
        yield from left
    elif other is not None:
        yield other
        yield from right


def write_batches(file: IO[bytes], items: Iterable[Any]) -> None:
    """Write items so that `read_batches` gives them back, by this very interpreter."""
    batch: list[Any] = []
    room = 16
    for item in items:
        batch.append(item)
        if len(batch) >= room:
            room = max(1, min(_BATCH, _BATCH_BYTES * len(batch) // _write(file, batch)))
            batch.clear()
    if batch:
        _write(file, batch)


def read_batches(file: IO[bytes]) -> Iterator[Any]:
    """Items as `write_batches` wrote them; those of a batch that was not written whole are left out."""
    while size := int.from_bytes(file.read(_SIZE_BYTES), "big"):
        data = file.read(size)
        if len(data) < size:
            return
        yield from marshal.loads(data)


def _write(file: IO[bytes], batch: list[Any]) -> int:
    """Write a batch; its bytes."""
    # The size stands before it, since marshal reads a file value by value.
    data = marshal.dumps(batch)
    file.write(len(data).to_bytes(_SIZE_BYTES, "big"))
    file.write(data)
    return len(data)
