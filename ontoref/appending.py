"""A file that many processes append whole lines to, each while it holds the file's lock.

Two things write so: the log of interactions and the file store of lessons.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import suppress

from ontoref.errors import OntorefError

__all__ = ["AppendError", "Replaced", "is_locked", "open_locked", "pread", "same_file", "write_lines"]

# Where a writer on Windows locks: a lock there keeps readers out of the bytes it covers, and no reader comes so far.
# The C library takes a lock's place for 32 bits.
_FAR = (1 << 31) - 2
# What a file system answers that cannot sync a folder, or lets nobody open one.
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM})
_TRIES = 3
# Looking again and again keeps a crowd fast; whoever was unlucky for so long queues up, so that nobody starves.
_POLLED_S = 1.0
# Month, year, log, `.ontoref` and the project's top: a new file is safe once all of them know it.
_LEVELS = 5


class AppendError(OntorefError):
    """Lines cannot be added; the file is as it was."""

    kind = "log"


class Replaced(Exception):
    """The file that was written is no longer the one at its path."""


def open_locked(target: str, timeout_s: float) -> int:
    """A descriptor for appending, locked. Errors: AppendError, Replaced if the file's folder has gone."""
    deadline = time.monotonic() + timeout_s
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    for name in ("O_CLOEXEC", "O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    while True:
        try:
            descriptor = os.open(target, flags, 0o666)
        except FileNotFoundError:
            raise Replaced from None
        except OSError as error:
            raise AppendError(f"the log cannot be opened: {error.strerror}", location=target) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise AppendError("the log cannot be opened: it is no regular file", location=target)
            _lock(descriptor, deadline, target, timeout_s)
            # While we waited the file may have been removed, or another put in its place.
            if same_file(descriptor, target):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            raise AppendError(f"the log cannot be locked: {error.strerror}", location=target) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise AppendError("the file is replaced again and again", location=target)


def same_file(descriptor: int, target: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(target))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _lock(descriptor: int, deadline: float, target: str, timeout_s: float) -> None:
    """Hold the lock. Errors: AppendError once the time is over, OSError where files cannot be locked."""
    patience = min(deadline, time.monotonic() + _POLLED_S)
    pause = 0.0005
    while not (held := _try_lock(descriptor)) and time.monotonic() < patience:
        time.sleep(pause)
        pause = min(pause * 2, 0.01)
    if not held and not _wait_for_lock(descriptor, deadline):
        raise AppendError(
            f"another process has held the lock for {timeout_s:g} s",
            location=target,
            hint="wait for it, or end it; --lock-timeout SECONDS waits longer",
        )


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

    def is_locked(descriptor: int) -> bool:
        """No: a reader's descriptor cannot tell here."""
        return False

    def _wait_for_lock(descriptor: int, deadline: float) -> bool:
        while time.monotonic() < deadline:
            time.sleep(0.005)
            if _try_lock(descriptor):
                return True
        return False

    def pread(descriptor: int, count: int, offset: int) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, count)

    def _sync_folder(folder: str) -> None:
        """Windows keeps directory entries safe itself."""

else:
    pread = os.pread

    def is_locked(descriptor: int) -> bool:
        """Whether another process holds the lock of a file that is open for reading."""
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _wait_for_lock(descriptor: int, deadline: float) -> bool:
        """Wait in the kernel's own queue."""
        import fcntl
        import threading

        failed: list[OSError] = []
        over = threading.Event()
        # The lock belongs to what both descriptors share. If we give up, it goes with the last of the two.
        own = os.dup(descriptor)

        def wait() -> None:
            try:
                fcntl.flock(own, fcntl.LOCK_EX)
            except OSError as error:
                failed.append(error)
            finally:
                os.close(own)
                over.set()

        threading.Thread(target=wait, daemon=True).start()
        held = over.wait(max(0.0, deadline - time.monotonic()))
        if failed:
            raise failed[0]
        return held

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


def write_lines(descriptor: int, target: str, data: bytes, fresh: bool) -> int:
    """Write and sync; the offset at which data begins.

    Errors: OSError or AppendError, the file being as it was; Replaced if it is no longer the one at its path.
    """
    for _ in range(_TRIES):
        start, torn = _end(descriptor)
        # A writer died within its line. The torn line stays, alone, for `validate` to report.
        whole = b"\n" + data if torn else data
        count = os.write(descriptor, whole)
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if count < len(whole):
            _undo(descriptor, start, start + count)
            raise AppendError(
                "the log could not be written whole", location=target, hint="the disk is full, or a quota is reached"
            )
        try:
            _sync(descriptor)
            if fresh:
                _sync_folders(os.path.dirname(target))
        except OSError as error:
            _undo(descriptor, start, start + count)
            raise AppendError(f"the log could not be brought to disk: {error.strerror}", location=target) from None
        if not same_file(descriptor, target):
            raise Replaced
        offset = end - len(data)
        # Who appends without a lock may have come between our look and our write. Looking again settles it.
        before = pread(descriptor, 1, offset - 1) if offset else b"\n"
        if before == b"\n" and pread(descriptor, len(data), offset) == data:
            return offset
    raise AppendError("another writer tears our lines", location=target, hint="let it append whole lines in one write")


def _end(descriptor: int) -> tuple[int, bool]:
    """The file's size, and whether its last line is torn."""
    for pause_s in (0.001, 0.004, 0):
        size = os.fstat(descriptor).st_size
        if size == 0 or pread(descriptor, 1, size - 1) == b"\n":
            return size, False
        # Who writes without a lock may be in the middle of it: a file grows page by page.
        time.sleep(pause_s)
    return size, True


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
