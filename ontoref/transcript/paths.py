"""Paths as transcripts name them, made comparable without looking at any disk."""

from __future__ import annotations

import ntpath
import posixpath
import re

__all__ = ["normal_path"]

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\[^\\]")
_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root(?=/|$)|[A-Za-z]:\\Users\\[^\\]+")


def normal_path(path: str, cwd: str | None) -> str:
    r"""A path of an edited file, absolute where that can be known.

    Shape: Windows paths keep their backslashes (`C:\Users\x\a.cs`), all others have slashes. A relative path
           is taken from cwd; `~` is the home folder that cwd lies in, and stays where there is none. Without
           a cwd a relative path stays relative. A CR at the end belongs to the line, not to the name.
    """
    path = path.rstrip("\r\n")
    if path == "~" or path.startswith(("~/", "~\\")):
        home = _HOME.match(cwd) if cwd else None
        if home is None:
            return "~" + posixpath.normpath("/" + path[1:].replace("\\", "/")).rstrip("/")
        path = home.group() + path[1:]
    if _DRIVE.match(path):
        return ntpath.normpath(path)
    if path.startswith("/"):
        return _posix(path)
    if cwd and _DRIVE.match(cwd):
        return ntpath.normpath(ntpath.join(cwd, path))
    if cwd:
        return _posix(posixpath.join(cwd, path))
    return posixpath.normpath(path) if path else path


def _posix(path: str) -> str:
    normal = posixpath.normpath(path)
    # POSIX gives two leading slashes a meaning of their own; no transcript means that.
    return "/" + normal.lstrip("/") if normal.startswith("//") else normal
