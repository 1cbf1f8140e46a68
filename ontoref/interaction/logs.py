"""Where the records of a project lie."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from ontoref.errors import OntorefError

__all__ = ["log_paths", "looks_like_log"]


def log_paths(given: Sequence[str]) -> list[str]:
    """Every log file meant, sorted within each folder."""
    found: dict[str, None] = {}
    for path in given:
        names = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        if not names or not os.path.exists(names[0]):
            raise OntorefError("there is no such file or folder", location=path)
        for name in names:
            if os.path.isdir(name):
                for folder, folders, files in os.walk(name):
                    folders.sort()
                    found.update((os.path.join(folder, f), None) for f in sorted(files) if f.endswith(".jsonl"))
            else:
                found[name] = None
    return list(found)


def looks_like_log(path: str) -> bool:
    """Whether a path names a log rather than a file that some session touched."""
    if path == "-" or path.endswith(".jsonl"):
        return True
    return os.path.isdir(path) and bool(log_paths([path]))
