"""A log as blocks of whole lines, cut into shares that end where lines end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ontoref.interaction.rules import LONGEST_LINE_BYTES

__all__ = ["LONGEST_LINE_BYTES", "Block", "Stretch", "blocks", "room", "shares"]

# Small enough to stay in a core's cache while it is searched several times.
_BLOCK_BYTES = 1 << 18
_LEAST_SHARE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of one file. Shape: file is its number in the list of paths; units: bytes."""

    file: int
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines: content[:end] ends in a newline (one is added to a last line without).

    Shape: content is reused for the next block; too_long is set, and the block empty, for a line passed over.
    Units: offset_bytes is where content[0] stands in the file.
    """

    content: bytearray
    end: int
    offset_bytes: int
    too_long: bool = False


def shares(paths: Sequence[str], count: int) -> list[list[Stretch]]:
    """The files cut into at most count shares of about the same size, in order.

    Errors: OSError for a file that cannot be opened.
    """
    sizes = [os.stat(path).st_size for path in paths]
    total = sum(sizes)
    count = max(1, min(count, total // _LEAST_SHARE_BYTES))
    target = -(-total // count) if total else 1
    result: list[list[Stretch]] = [[]]
    room = target
    for file, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        start = 0
        while start < size:
            if room <= 0 and len(result) < count:
                result.append([])
                room = target
            end = size
            if size - start > room and len(result) < count:
                end = _line_end(path, start + room, size)
            result[-1].append(Stretch(file, path, start, end))
            room -= end - start
            start = end
    return result


def _line_end(path: str, position: int, size: int) -> int:
    """The first place at or after position where a line begins, or size."""
    with open(path, "rb", buffering=0) as file:
        file.seek(position - 1)
        while True:
            piece = file.read(1 << 16)
            if not piece:
                return size
            found = piece.find(b"\n")
            if found >= 0:
                return min(size, file.tell() - len(piece) + found + 1)


def room() -> bytearray:
    """A buffer for `blocks`, so that thousands of small files share one."""
    return bytearray(_BLOCK_BYTES)


def blocks(stretch: Stretch, buffer: bytearray | None = None) -> Iterator[Block]:
    """The stretch from its start to its end, or to where the file now ends.

    Errors: OSError if the file cannot be read.
    """
    buffer = room() if buffer is None else buffer
    with open(stretch.path, "rb", buffering=0) as file:
        if stretch.start:
            file.seek(stretch.start)
        offset, have, left = stretch.start, 0, stretch.end - stretch.start
        while True:
            # One byte is kept for the newline that a last line may lack.
            wanted = min(left, len(buffer) - have - 1)
            view = memoryview(buffer)
            count = file.readinto(view[have : have + wanted]) if wanted else 0
            view.release()
            left -= count or 0
            end = have + (count or 0)
            if not count:
                if have:
                    buffer[have] = 10
                    yield Block(buffer, have + 1, offset)
                return
            cut = buffer.rfind(b"\n", have, end) + 1
            if cut:
                yield Block(buffer, cut, offset)
                buffer[: end - cut] = buffer[cut:end]
                offset, have = offset + cut, end - cut
            elif end < len(buffer) - 1:
                have = end
            elif len(buffer) < LONGEST_LINE_BYTES:
                buffer.extend(bytes(len(buffer)))
                have = end
            else:
                yield Block(buffer, 0, offset, too_long=True)
                passed = _pass_over(buffer, file, left)
                offset, left, have = offset + end + passed, left - passed, 0


def _pass_over(buffer: bytearray, file: object, left: int) -> int:
    """Read on to the end of a line; how many bytes that took."""
    assert hasattr(file, "readinto")
    assert hasattr(file, "seek")
    passed = 0
    while left > passed:
        view = memoryview(buffer)
        count = file.readinto(view[: min(len(buffer), left - passed)])
        view.release()
        if not count:
            break
        found = buffer.find(b"\n", 0, count)
        if found >= 0:
            file.seek(found + 1 - count, os.SEEK_CUR)
            return passed + found + 1
        passed += count
    return passed
