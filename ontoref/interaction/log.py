"""The log: which file a record goes into, and how lines are added so that none is lost, mixed or half there."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ontoref.errors import OntorefError

__all__ = ["LogError", "Written", "append", "find", "relative_path"]

_LONGEST_NAME = 100
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"COM{n}" for n in range(1, 10)), *(f"LPT{n}" for n in range(1, 10))]
)
# Where a writer on Windows locks: no reader ever comes there, since a lock keeps readers out of the bytes it covers.
_FAR = 1 << 62
_TRIES = 3


class LogError(OntorefError):
    """A record cannot be added; the log is as it was."""

    kind = "log"


class Written(NamedTuple):
    """Where a line went. Units: line is 1-based."""

    path: str
    line: int


def relative_path(session_id: object, recorded_at: object, ref: str | None) -> str:
    """The file of a record below the log: `2026/11/<session>-<hash8>.jsonl`.

    Shape: both values are untrusted. Without a usable session id the name is `unsorted.jsonl`, without a usable
           month it lies at the log's top. ref is the branch's full name, None outside a branch.
    """
    folder = _month(recorded_at)
    if not isinstance(session_id, str) or not session_id:
        return os.path.join(*folder, "unsorted.jsonl")
    branch = hashlib.sha256((ref or "HEAD").encode("utf-8", "surrogateescape")).hexdigest()[:8]
    tail = f"-{branch}.jsonl"
    return os.path.join(*folder, _encoded(session_id, _LONGEST_NAME - len(tail)) + tail)


def _month(recorded_at: object) -> list[str]:
    if isinstance(recorded_at, str) and len(recorded_at) >= 7 and recorded_at[4] == "-":
        year, month = recorded_at[:4], recorded_at[5:7]
        if year.isascii() and year.isdecimal() and month.isascii() and month.isdecimal() and 1 <= int(month) <= 12:
            return [year, month]
    return []


def _encoded(session_id: str, longest: int) -> str:
    """Untrusted text as part of a file name that every system takes."""
    raw = session_id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    if name[0] == "." or name.partition(".")[0].upper() in _RESERVED:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > longest:
        # Cut, and told apart from others that begin alike.
        name = f"{name[: longest - 17]}-{hashlib.sha256(raw).hexdigest()[:16]}"
    return name


def append(folder: str, path: str, lines: Sequence[bytes], *, lock_timeout_s: float = 30.0) -> list[Written]:
    """Add lines to a file of the log: all of them or none, on disk when this returns.

    Shape:  path is relative to folder; lines come without newlines. The answer has one place a line.
    Errors: LogError, and then the file is as it was.
    """
    target = _inside(folder, path)
    created = _make_folders(os.path.dirname(target))
    data = b"".join(line + b"\n" for line in lines)
    descriptor = _open_locked(target, lock_timeout_s)
    try:
        fresh = os.fstat(descriptor).st_size == 0
        offset = _write(descriptor, target, data)
        first = _newlines(target, offset) + 1
    except OSError as error:
        raise LogError(f"the log cannot be written: {error.strerror}", location=target) from None
    finally:
        os.close(descriptor)
    if fresh:
        created = [os.path.dirname(target), *created]
    for name in created:
        _sync_folder(name)
    return [Written(target, first + number) for number in range(len(lines))]


def find(paths: Sequence[str], identity: str) -> Iterator[tuple[Written, dict[str, Any]]]:
    """Records of an id, searched for by its bytes, so that a large log costs little."""
    import mmap

    import orjson

    needle = b'"' + identity.encode("utf-8", "surrogatepass") + b'"'
    for path in paths:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                continue
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
                position = view.find(needle)
                while position >= 0:
                    start, stop = view.rfind(b"\n", 0, position) + 1, view.find(b"\n", position)
                    line = view[start : len(view) if stop < 0 else stop]
                    try:
                        record = orjson.loads(line)
                    except ValueError:
                        record = None
                    if isinstance(record, dict) and record.get("id") == identity:
                        yield Written(path, _newlines(path, start) + 1), record
                    position = -1 if stop < 0 else view.find(needle, stop)


def _inside(folder: str, path: str) -> str:
    """The absolute path, proven to lie in the log whatever links stand on the way. Errors: LogError."""
    top = os.path.realpath(folder)
    target = os.path.join(top, path)
    if os.path.realpath(target) != target or not target.startswith(top + os.sep):
        raise LogError(
            "the file would lie outside the log", location=target, hint="a link leads out of the log: remove it"
        )
    return target


def _make_folders(folder: str) -> list[str]:
    """Make a folder and those above it; the parents of those that were made, which have to be synced."""
    missing = []
    current = folder
    while not os.path.isdir(current):
        missing.append(os.path.dirname(current))
        current = os.path.dirname(current)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise LogError(
            f"the log's folder cannot be made: {error.strerror}",
            location=folder,
            hint="something else stands in its way",
        ) from None
    return missing


def _open_locked(target: str, timeout_s: float) -> int:
    """A descriptor for appending, locked. Errors: LogError."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            descriptor = os.open(target, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise LogError(f"the log cannot be opened: {error.strerror}", location=target) from None
        try:
            _lock(descriptor, deadline, target, timeout_s)
            # While we waited the file may have been removed, or another put in its place.
            if _same_file(descriptor, target):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise LogError("the file is replaced again and again", location=target)


def _same_file(descriptor: int, target: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(target))
    except FileNotFoundError:
        return False


def _lock(descriptor: int, deadline: float, target: str, timeout_s: float) -> None:
    pause = 0.001
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise LogError(
                f"another process has held the lock for {timeout_s:g} s",
                location=target,
                hint="wait for it, or end it; --lock-timeout SECONDS waits longer",
            )
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


if sys.platform == "win32":

    def _try_lock(descriptor: int) -> bool:
        import msvcrt

        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, position, os.SEEK_SET)
        return True

    def _pread(descriptor: int, count: int, offset: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, count)

    def _sync_folder(folder: str) -> None:
        """Windows keeps directory entries safe itself."""

else:
    _pread = os.pread

    def _try_lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _sync_folder(folder: str) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError:
            # Some file systems have no such thing as syncing a directory.
            return
        finally:
            os.close(descriptor)


def _write(descriptor: int, target: str, data: bytes) -> int:
    """Write and sync; the offset at which data begins. Errors: OSError, LogError, the file being as it was."""
    for _ in range(_TRIES):
        start = os.fstat(descriptor).st_size
        # A writer may have died within its line. Its torn line stays, alone, for `validate` to report.
        torn = start > 0 and _pread(descriptor, 1, start - 1) != b"\n"
        whole = b"\n" + data if torn else data
        count = os.write(descriptor, whole)
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if count < len(whole):
            _undo(descriptor, start, start + count)
            raise LogError(
                "the log could not be written whole", location=target, hint="the disk is full, or a quota is reached"
            )
        try:
            _sync(descriptor)
        except OSError as error:
            _undo(descriptor, start, start + count)
            raise LogError(f"the log could not be brought to disk: {error.strerror}", location=target) from None
        offset = end - len(data)
        # Who appends without a lock may have come between our look and our write. Looking again settles it.
        before = _pread(descriptor, 1, offset - 1) if offset else b"\n"
        if before == b"\n" and _pread(descriptor, len(data), offset) == data:
            return offset
    raise LogError("another writer tears our lines", location=target, hint="let it append whole lines in one write")


def _undo(descriptor: int, start: int, expected: int) -> None:
    """Take back what was written, unless somebody has written after it; then end the torn line."""
    if os.fstat(descriptor).st_size == expected:
        os.ftruncate(descriptor, start)
    else:
        os.write(descriptor, b"\n")


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        try:
            # fsync there stops at the drive's cache.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
        except OSError:
            pass
    os.fsync(descriptor)


def _newlines(path: str, stop: int) -> int:
    """How many newlines stand before an offset."""
    count = 0
    with open(path, "rb", buffering=0) as file:
        while stop > 0:
            piece = file.read(min(stop, 1 << 20))
            if not piece:
                break
            count += piece.count(b"\n")
            stop -= len(piece)
    return count
