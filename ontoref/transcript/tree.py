"""Files of a tree, in order of their names. A folder that cannot be listed is told, and costs no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Set
from fnmatch import fnmatchcase

__all__ = ["Unread", "files_below", "files_like", "silently"]

# Takes the path of what could not be looked into, and why.
Unread = Callable[[str, str], object]


def silently(path: str, why: str) -> None:
    """For who does not want to know."""


def files_below(root: str, unread: Unread = silently, *, skipped: Set[str] = frozenset()) -> Iterator[str]:
    """Paths of the files below a folder, without those in folders of the skipped names.

    Shape: links to files are files, links to folders are not followed; pipes, sockets and devices are no files.
    """
    for folder, folders, names in os.walk(root, onerror=lambda error: _tell(error, unread)):
        folders[:] = sorted(name for name in folders if name not in skipped)
        for name in sorted(names):
            path = os.path.join(folder, name)
            # A link that leads nowhere is given: who opens it can tell.
            if os.path.isfile(path) or not os.path.exists(path):
                yield path


def files_like(base: str, pattern: str, unread: Unread = silently) -> Iterator[str]:
    """Paths of the files below a folder that a glob names, `**` being any folders that are no links."""
    yield from _like(base, pattern.split("/"), unread)


def _like(folder: str, parts: list[str], unread: Unread) -> Iterator[str]:
    part, *rest = parts
    if not any(c in part for c in "*?["):
        path = os.path.join(folder, part)
        if rest:
            yield from _like(path, rest, unread)
        elif os.path.isfile(path):
            yield path
        return
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        _tell(error, unread)
        return
    if part == "**":
        yield from _like(folder, rest, unread)
        for entry in entries:
            if _is(entry.is_dir, follow=False):
                yield from _like(entry.path, parts, unread)
        return
    for entry in entries:
        if fnmatchcase(entry.name, part):
            if rest and _is(entry.is_dir):
                yield from _like(entry.path, rest, unread)
            elif not rest and _is(entry.is_file):
                yield entry.path


def _tell(error: OSError, unread: Unread) -> None:
    unread(str(error.filename), f"the folder cannot be listed: {error.strerror}")


def _is(question: Callable[..., bool], *, follow: bool = True) -> bool:
    """Whether an entry is that; a link in a ring is nothing."""
    try:
        return question(follow_symlinks=follow)
    except OSError:
        return False
