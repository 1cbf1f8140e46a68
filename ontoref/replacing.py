"""A file that another takes the place of at once: a reader sees the old one or the new one, whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["discard_leftovers", "replacing"]

_ENDING = ".tmp"


@contextmanager
def replacing(path: str, *, mode: int | None = None) -> Iterator[str]:
    """The name of a file beside path, to be written inside; it takes path's place at the end.

    Shape:  a link is followed: who keeps AGENTS.md as a link to another file wants that file changed. Without mode
            the rights stay as they were. After an exception path is as it was, and nothing lies beside it.
    Errors: OSError.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    aside = os.path.join(folder, f"{_beginning(name)}{os.getpid()}-{os.urandom(4).hex()}{_ENDING}")
    if mode is None and os.path.exists(path):
        mode = os.stat(path).st_mode & 0o777
    # Nobody reads in it before it has the rights that it will have.
    first = 0o666 if mode is None else 0o600
    os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, first))
    try:
        yield aside
        descriptor = os.open(aside, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if mode is not None:
            os.chmod(aside, mode)
        os.replace(aside, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside)


def discard_leftovers(path: str) -> None:
    """Remove what processes left beside path that were killed while they wrote. For who keeps all others from writing."""
    folder, name = os.path.split(os.path.realpath(path))
    for other in os.listdir(folder):
        if other.startswith(_beginning(name)) and other.endswith(_ENDING):
            with suppress(OSError):
                os.unlink(os.path.join(folder, other))


def _beginning(name: str) -> str:
    return f".{name[:40]}."
