"""The log: which file a record goes into, and how lines are added so that none is lost, mixed or half there."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ontoref.errors import OntorefError

__all__ = ["LogError", "Written", "append", "file_name", "find", "relative_path"]

_LONGEST_NAME = 100
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"COM{n}" for n in range(1, 10)), *(f"LPT{n}" for n in range(1, 10))]
)
# Where a writer on Windows locks: a lock there keeps readers out of the bytes it covers, and no reader comes so far.
# The C library takes a lock's place for 32 bits.
_FAR = (1 << 31) - 2
# What a file system answers that cannot sync a folder, or lets nobody open one.
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM})
_TRIES = 3
# Month, year, log, `.ontoref` and the project's top: a new file is safe once all of them know it.
_LEVELS = 5


class LogError(OntorefError):
    """A record cannot be added; the log is as it was."""

    kind = "log"


class _Replaced(Exception):
    """The file that was written is no longer the one at its path."""


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
    return os.path.join(*folder, file_name(session_id, _LONGEST_NAME - len(tail)) + tail)


def _month(recorded_at: object) -> list[str]:
    if isinstance(recorded_at, str) and len(recorded_at) >= 7 and recorded_at[4] == "-":
        year, month = recorded_at[:4], recorded_at[5:7]
        if year.isascii() and year.isdecimal() and month.isascii() and month.isdecimal() and 1 <= int(month) <= 12:
            return [year, month]
    return []


def file_name(session_id: str, longest: int) -> str:
    """Untrusted text as part of a file name that every system takes."""
    raw = session_id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    if name[0] in ".-" or name.partition(".")[0].upper() in _RESERVED:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > longest:
        # Cut, and told apart from others that begin alike.
        name = f"{name[: longest - 17]}-{hashlib.sha256(raw).hexdigest()[:16]}"
    return name


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
        except _Replaced:
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
    """Write data under the lock; the number of its first line. Errors: LogError, OSError, _Replaced."""
    descriptor = _open_locked(target, timeout_s)
    fresh = False
    try:
        fresh = os.fstat(descriptor).st_size == 0
        if guard is not None:
            guard(target)
        offset = _write(descriptor, target, data, fresh)
        return _newlines(descriptor, offset) + 1
    except BaseException:
        # Still locked: who waits for the lock looks again whether its file is the one at the path.
        if fresh and os.fstat(descriptor).st_size == 0 and _same_file(descriptor, target):
            with suppress(OSError):
                os.unlink(target)
        raise
    finally:
        os.close(descriptor)


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
                        yield Written(path, _newlines(file.fileno(), start) + 1), record
                    position = -1 if stop < 0 else view.find(needle, stop)


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


def _open_locked(target: str, timeout_s: float) -> int:
    """A descriptor for appending, locked. Errors: LogError, _Replaced if the file's folder has gone."""
    deadline = time.monotonic() + timeout_s
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for name in ("O_CLOEXEC", "O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    while True:
        try:
            descriptor = os.open(target, flags, 0o666)
        except FileNotFoundError:
            raise _Replaced from None
        except OSError as error:
            raise LogError(f"the log cannot be opened: {error.strerror}", location=target) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise LogError("the log cannot be opened: it is no regular file", location=target)
            _lock(descriptor, deadline, target, timeout_s)
            # While we waited the file may have been removed, or another put in its place.
            if _same_file(descriptor, target):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            raise LogError(f"the log cannot be locked: {error.strerror}", location=target) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise LogError("the file is replaced again and again", location=target)


def _same_file(descriptor: int, target: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(target))
    except (FileNotFoundError, NotADirectoryError):
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
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLOCK):
                raise
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
        try:
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise


def _write(descriptor: int, target: str, data: bytes, fresh: bool) -> int:
    """Write and sync; the offset at which data begins.

    Errors: OSError or LogError, the file being as it was; _Replaced if it is no longer the one at its path.
    """
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
            if fresh:
                _sync_folders(os.path.dirname(target))
        except OSError as error:
            _undo(descriptor, start, start + count)
            raise LogError(f"the log could not be brought to disk: {error.strerror}", location=target) from None
        if not _same_file(descriptor, target):
            raise _Replaced
        offset = end - len(data)
        # Who appends without a lock may have come between our look and our write. Looking again settles it.
        before = _pread(descriptor, 1, offset - 1) if offset else b"\n"
        if before == b"\n" and _pread(descriptor, len(data), offset) == data:
            return offset
    raise LogError("another writer tears our lines", location=target, hint="let it append whole lines in one write")


def _undo(descriptor: int, start: int, expected: int) -> None:
    """Take back what was written, unless somebody has written after it; then end the torn line."""
    with suppress(OSError):
        if os.fstat(descriptor).st_size == expected:
            os.ftruncate(descriptor, start)
        else:
            os.write(descriptor, b"\n")


def _sync_folders(folder: str) -> None:
    """Sync a new file's folder and those above it: others may have made them a moment ago and not synced yet."""
    for _ in range(_LEVELS):
        _sync_folder(folder)
        folder = os.path.dirname(folder)


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


def _newlines(descriptor: int, stop: int) -> int:
    """How many newlines stand before an offset."""
    count = offset = 0
    while offset < stop:
        piece = _pread(descriptor, min(stop - offset, 1 << 20), offset)
        if not piece:
            break
        count += piece.count(b"\n")
        offset += len(piece)
    return count
