"""A log as blocks of whole lines, cut into shares that end where lines end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from errno import EIO
from io import FileIO
from typing import NamedTuple

from ontoref.interaction.rules import LONGEST_LINE_BYTES

__all__ = ["LONGEST_LINE_BYTES", "Block", "Stretch", "blocks", "readable", "shares"]

# Small enough to stay in a core's cache while it is searched several times.
_BLOCK_BYTES = 1 << 18
_LEAST_SHARE_BYTES = 8 << 20
_UNKNOWN = -1
# Half a second for the end of a line: a writer who has the lock needs far less, and may be stuck.
_LOOKS, _PAUSE_S = 100, 0.005


class Stretch(NamedTuple):
    """Whole lines of one file. Shape: file is its number in the list of paths; units: bytes."""

    file: int
    path: str
    start: int
    end: int


class Block(NamedTuple):
    """Whole lines: content[:end] ends in a newline (one is added to a last line without).

    Shape: what stands after them is the beginning of the next line; too_long is set, and the block empty, for a line
           passed over.
    Units: offset_bytes is where content[0] stands in the file.
    """

    content: bytes
    end: int
    offset_bytes: int
    too_long: bool = False

    def lines(self) -> list[bytes]:
        """The lines, without what ends them."""
        lines = self.content[: self.end].split(b"\n")
        lines.pop()
        return lines


def shares(paths: Sequence[str], count: int) -> list[list[Stretch]]:
    """The files cut into at most count shares of about the same size, in order.

    Shape: a file that cannot be looked at is a stretch without bytes; `blocks` raises what is wrong with it.
    """
    try:
        sizes = [os.stat(path).st_size for path in paths]
    except OSError:
        sizes = [_size(path) for path in paths]
    total = sum(size for size in sizes if size != _UNKNOWN)
    count = max(1, min(count, total // _LEAST_SHARE_BYTES))
    target = -(-total // count) if total else 1
    result: list[list[Stretch]] = [[]]
    room = target
    for file, (path, size) in enumerate(zip(paths, sizes, strict=True)):
        start = 0
        if size == _UNKNOWN:
            result[-1].append(Stretch(file, path, 0, 0))
        while start < size:
            if room <= 0 and len(result) < count:
                result.append([])
                room = target
            end = size
            if size - start > room and len(result) < count:
                # A file that cannot be read stays whole: what is wrong is told where it is read.
                with suppress(OSError):
                    end = _line_end(path, start + room, size)
            result[-1].append(Stretch(file, path, start, end))
            room -= end - start
            start = end
    return result


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return _UNKNOWN


def _line_end(path: str, position: int, size: int) -> int:
    """The first place at or after position where a line begins, or size. Errors: OSError."""
    with open(path, "rb", buffering=0) as file:
        file.seek(position - 1)
        while True:
            piece = file.read(1 << 16)
            if not piece:
                return size
            found = piece.find(b"\n")
            if found >= 0:
                return min(size, file.tell() - len(piece) + found + 1)


def blocks(stretch: Stretch) -> Iterator[Block]:
    """The stretch from its start to its end, or to where the file now ends.

    Errors: OSError if the file cannot be read.
    """
    with open(stretch.path, "rb", buffering=0) as file:
        offset, end, size = stretch.start, stretch.end, _BLOCK_BYTES
        while offset < end:
            wanted = min(size, end - offset)
            content = _read(file, offset, wanted)
            if not content:
                return
            cut = content.rfind(b"\n") + 1
            is_last = len(content) < wanted or offset + wanted == end
            if is_last and cut < len(content) <= cut + LONGEST_LINE_BYTES:
                # A size that was looked at while somebody wrote ends within a line, which is whole by now.
                content += _rest_of_line(file, offset + len(content))
                yield Block(content + b"\n", len(content) + 1, offset)
                return
            if cut:
                # The beginning of the next line is read once more: that costs less than to keep and move it.
                yield Block(content, cut, offset)
                offset, size = offset + cut, _BLOCK_BYTES
            elif len(content) <= LONGEST_LINE_BYTES:
                size = min(2 * size, LONGEST_LINE_BYTES + 1)
            else:
                yield Block(b"", 0, offset, too_long=True)
                offset, size = _line_end(stretch.path, offset + len(content), end), _BLOCK_BYTES


def _rest_of_line(file: FileIO, position: int) -> bytes:
    """What stands from a place to the end of its line, or of the file; a writer who holds the lock may finish."""
    from ontoref.appending import is_locked

    rest = b""
    for _ in range(_LOOKS):
        growing = is_locked(file.fileno())
        while more := _read(file, position + len(rest), 1 << 16):
            end = more.find(b"\n")
            if end >= 0:
                return rest + more[:end]
            rest += more
            if len(rest) > LONGEST_LINE_BYTES:
                return rest
        if not growing:
            break
        time.sleep(_PAUSE_S)
    return rest


def readable(stretch: Stretch, skipped: set[tuple[int, int]]) -> Iterator[Block]:
    """The blocks up to where the file cannot be read any further; (file, -errno) in skipped then says why."""
    try:
        yield from blocks(stretch)
    except OSError as error:
        skipped.add((stretch.file, -(error.errno or EIO)))


def _read(file: FileIO, offset: int, count: int) -> bytes:
    """So many bytes from a place; fewer only where the file ends."""
    file.seek(offset)
    content = file.read(count)
    while len(content) < count and (more := file.read(count - len(content))):
        content += more
    return content
