"""Where the records of a project lie."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from errno import EACCES, EISDIR, ENOENT

from ontoref.errors import OntorefError

__all__ = ["log_paths", "looks_like_log", "unreadable"]


def log_paths(given: Sequence[str]) -> list[str]:
    """Every log file meant, sorted within each folder.

    Shape:  what is found is not looked at: it may be a link that leads nowhere or a file that may not be read. A
            folder that cannot be listed stands among the files, so that whoever reads them hears of it.
    Errors: OntorefError for what is named and is not there, OSError for what is named and may not be read.
    """
    found: dict[str, None] = {}

    def note(error: OSError) -> None:
        found[error.filename] = None

    for path in given:
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        names = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]
        if not names or not (is_pattern or os.path.exists(path)):
            raise OntorefError("there is no such file or folder", location=path)
        for name in names:
            if os.path.isdir(name):
                for folder, folders, files in os.walk(name, onerror=note):
                    folders.sort()
                    found.update((os.path.join(folder, f), None) for f in sorted(files) if f.endswith(".jsonl"))
            elif is_pattern or os.access(name, os.R_OK):
                found[name] = None
            else:
                raise PermissionError(EACCES, os.strerror(EACCES), name)
    return list(found)


def unreadable(error_number: int) -> str:
    """What is said of something among the logs that cannot be read."""
    if error_number == ENOENT:
        return "there is no such file: a link leads nowhere, or it went meanwhile"
    # Of folders only those come here that could not be listed.
    return (
        "the folder cannot be listed" if error_number == EISDIR else f"it cannot be read: {os.strerror(error_number)}"
    )


def looks_like_log(path: str) -> bool:
    """Whether a path names a log rather than a file that some session touched."""
    if path == "-" or path.endswith(".jsonl"):
        return True
    return os.path.isdir(path) and bool(log_paths([path]))
