"""Private temporary places beside what they are for, named so that those of killed processes can be told."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator

from ontoref.state.process import machine, process_is_gone

__all__ = ["is_leftover", "sweep", "temporary_name", "workshop"]

_NAME = re.compile(r"\.ontoref-[a-z]+-(\d+)-([0-9a-f]{8})-[0-9a-f]+\.tmp.*")


def temporary_name(purpose: str) -> str:
    """A new name that says whose it is: `.ontoref-<purpose>-<process>-<machine>-<random>.tmp`."""
    return f".ontoref-{purpose}-{os.getpid()}-{_here()}-{os.urandom(6).hex()}.tmp"


@contextlib.contextmanager
def workshop(folder: str, purpose: str) -> Iterator[str]:
    """A private folder inside a folder, gone at the end whatever happens. Errors: OSError."""
    path = os.path.join(folder, temporary_name(purpose))
    os.mkdir(path, 0o700)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def is_leftover(name: str) -> bool:
    """Whether a name is that of a temporary place of a process of this machine that is gone."""
    match = _NAME.fullmatch(name)
    return match is not None and match.group(2) == _here() and process_is_gone(int(match.group(1)))


def sweep(folder: str) -> int:
    """Remove what killed processes left directly in a folder. How many."""
    found = 0
    for name in os.listdir(folder):
        if is_leftover(name):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            found += 1
    return found


def _here() -> str:
    return hashlib.sha256(machine().encode()).hexdigest()[:8]
