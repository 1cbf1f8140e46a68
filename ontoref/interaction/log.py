"""How lines are added to the log so that none is lost, mixed or half there."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ontoref.appending import AppendError, Replaced, open_locked, pread, same_file, write_lines
from ontoref.interaction.names import file_name, relative_path

if TYPE_CHECKING:
    from mmap import mmap

__all__ = ["LogError", "Written", "append", "file_name", "find", "find_all", "locked", "relative_path"]

_TRIES = 3


# What stops an append is told the same way for every file that lines are added to.
LogError = AppendError


class Written(NamedTuple):
    """Where a line went. Units: line is 1-based."""

    path: str
    line: int


def append(
    folder: str,
    path: str,
    lines: Sequence[bytes],
    *,
    lock_timeout_s: float = 30.0,
    guard: Callable[[str], None] | None = None,
) -> list[Written]:
    """Add lines to a file of the log: all of them or none, on disk when this returns.

    Shape:  path is relative to folder; lines come without newlines. The answer has one place a line. guard is
            called with the file's path once it is locked, and may raise to leave it as it is.
    Errors: LogError, and then the file is as it was, a file and folders made for it gone again.
    """
    target = _inside(folder, path)
    data = b"".join(line + b"\n" for line in lines)
    for _ in range(_TRIES):
        made = _make_folders(os.path.dirname(target))
        try:
            first = _append_once(target, data, lock_timeout_s, guard)
        except Replaced:
            # git put another file there, or somebody removed the folder: what we wrote went with the old one.
            continue
        except BaseException as error:
            _unmake_folders(made)
            if isinstance(error, OSError):
                raise LogError(f"the log cannot be written: {error.strerror}", location=target) from None
            raise
        return [Written(target, first + number) for number in range(len(lines))]
    raise LogError("the file is replaced again and again", location=target)


def _append_once(target: str, data: bytes, timeout_s: float, guard: Callable[[str], None] | None) -> int:
    """Write data under the lock; the number of its first line. Errors: LogError, OSError, Replaced."""
    descriptor = open_locked(target, timeout_s)
    fresh = False
    try:
        fresh = os.fstat(descriptor).st_size == 0
        if guard is not None:
            guard(target)
        offset = write_lines(descriptor, target, data, fresh)
        return _newlines(descriptor, offset) + 1
    except BaseException:
        # Still locked: who waits for the lock looks again whether its file is the one at the path.
        if fresh and os.fstat(descriptor).st_size == 0 and same_file(descriptor, target):
            with suppress(OSError):
                os.unlink(target)
        raise
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: str, timeout_s: float) -> Iterator[None]:
    """Hold a log file's lock. Errors: LogError."""
    descriptor = open_locked(path, timeout_s)
    try:
        yield
    finally:
        os.close(descriptor)


def find(paths: Sequence[str], identity: str) -> Iterator[tuple[Written, dict[str, Any]]]:
    """Records of an id, searched for by its bytes, so that a large log costs little."""
    yield from find_all(paths, {identity}).get(identity, ())


def find_all(paths: Sequence[str], wanted: Collection[str]) -> dict[str, list[tuple[Written, dict[str, Any]]]]:
    """Records of several ids by id, found in one pass over the log. A file that goes meanwhile holds none."""
    import mmap

    found: dict[str, list[tuple[Written, dict[str, Any]]]] = {}
    for path in paths:
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size:
                    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                        for start, record in _holding(view, wanted):
                            place = Written(path, _newlines(file.fileno(), start) + 1)
                            found.setdefault(record["id"], []).append((place, record))
        except FileNotFoundError:
            continue
    return found


def _holding(view: mmap, wanted: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(offset, record) of each line whose id is wanted."""
    import orjson

    end = len(view)
    last = -1
    for position in _mentions(view, wanted):
        start = view.rfind(b"\n", 0, position) + 1
        if start == last:
            continue
        last = start
        stop = view.find(b"\n", position)
        try:
            record = orjson.loads(view[start : end if stop < 0 else stop])
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("id"), str) and record["id"] in wanted:
            yield start, record


def _mentions(view: mmap, wanted: Collection[str]) -> Iterator[int]:
    """Places at which one of the ids stands as a text, in order."""
    if len(wanted) == 1:
        needle = b'"' + next(iter(wanted)).encode("utf-8", "surrogatepass") + b'"'
        position = view.find(needle)
        while position >= 0:
            yield position
            position = view.find(needle, position + 1)
        return
    import re

    named = {identity.encode("utf-8", "surrogatepass") for identity in wanted}
    for match in re.finditer(rb'"id"[ \t\r]*:[ \t\r]*"([^"]*)"', view):
        if match[1] in named:
            yield match.start()


def _inside(folder: str, path: str) -> str:
    """The absolute path, proven to lie in the log whatever links stand on the way. Errors: LogError."""
    top = os.path.realpath(folder)
    target = os.path.join(top, path)
    if os.path.realpath(target) != target or not target.startswith(top + os.sep):
        raise LogError(
            "the file lies behind a link, perhaps outside the log",
            location=target,
            hint="remove the link; config.yaml may place the whole log elsewhere (log: PATH)",
        )
    return target


def _make_folders(folder: str) -> list[str]:
    """Make a folder and those above it; those that were made, the deepest first."""
    missing = []
    current = folder
    while not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        _unmake_folders(missing)
        raise LogError(
            f"the log's folder cannot be made: {error.strerror}",
            location=folder,
            hint="a folder that can be written is needed there",
        ) from None
    return missing


def _unmake_folders(made: Sequence[str]) -> None:
    """Take back folders of ours that nobody uses yet."""
    for folder in made:
        with suppress(OSError):
            os.rmdir(folder)


def _newlines(descriptor: int, stop: int) -> int:
    """How many newlines stand before an offset."""
    count = offset = 0
    while offset < stop:
        piece = pread(descriptor, min(stop - offset, 1 << 20), offset)
        if not piece:
            break
        count += piece.count(b"\n")
        offset += len(piece)
    return count
