"""What a command would do to one file of a project, planned before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ontoref.replacing import replacing

__all__ = ["Change", "Verb", "read", "write"]


class Verb(StrEnum):
    """What happens to the file."""

    create = "create"
    update = "update"
    keep = "keep"
    remove = "remove"
    conflict = "conflict"


@dataclass(frozen=True, slots=True)
class Change:
    """Shape: path is relative to the project, with `/`; content is what the file will hold, None for keep."""

    path: str
    verb: Verb
    content: bytes | None = None
    why: str = ""
    executable: bool = False

    @property
    def writes(self) -> bool:
        return self.verb in (Verb.create, Verb.update, Verb.remove)


def read(root: str, path: str) -> bytes | None:
    """Bytes of a file of the project, None if there is none. Errors: OSError if it cannot be read."""
    try:
        with open(os.path.join(root, *path.split("/")), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def planned(root: str, path: str, content: bytes, why: str = "", *, executable: bool = False) -> Change:
    """The change that makes a file hold content: create, update, or keep if it does already."""
    present = read(root, path)
    if present == content:
        return Change(path, Verb.keep, None, why)
    return Change(path, Verb.create if present is None else Verb.update, content, why, executable)


def write(root: str, changes: Iterable[Change]) -> None:
    """Carry the changes out, each file written aside and moved into place. Errors: OSError."""
    for change in changes:
        path = os.path.join(root, *change.path.split("/"))
        if change.verb is Verb.remove:
            os.unlink(path)
        elif change.writes and change.content is not None:
            replace(path, change.content, executable=change.executable)


def replace(path: str, content: bytes, *, executable: bool = False) -> None:
    """Put content at a path at once: a reader sees the old file or the new one. Errors: OSError."""
    os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    with replacing(path, mode=0o755 if executable else None) as aside, open(aside, "wb") as file:
        file.write(content)
