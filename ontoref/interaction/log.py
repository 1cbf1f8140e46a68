"""How lines are added to the log so that none is lost, mixed or half there."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ontoref.errors import OntorefError
from ontoref.interaction.names import file_name, relative_path

if TYPE_CHECKING:
    from mmap import mmap

__all__ = ["LogError", "Written", "append", "file_name", "find", "find_all", "locked", "relative_path"]

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


@contextmanager
def locked(path: str, timeout_s: float) -> Iterator[None]:
    """Hold a log file's lock. Errors: LogError."""
    descriptor = _open_locked(path, timeout_s)
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
