"""Globs over the paths that records name."""

from __future__ import annotations

import re

__all__ = ["fixed_start", "glob_pattern"]

_WILD = re.compile(r"[*?\[]")


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A pattern whose fullmatch says whether a path is meant.

    Shape: `*` and `?` stay within one folder, `**` crosses folders, `[ab]` is one of them; a glob without any
           of these means the path itself and, if it is a folder, all below it.
    """
    glob = glob.removeprefix("./")
    if not _WILD.search(glob):
        return re.compile(re.escape(glob.rstrip("/")) + r"(?:/.*)?", re.DOTALL)
    if glob.endswith("/"):
        glob += "**"
    result, index = "", 0
    while index < len(glob):
        character = glob[index]
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            result += "(?:.*/)?"
            index += 3
        elif glob.startswith("**", index):
            result += ".*"
            index += 2
        elif character == "*":
            result += "[^/]*"
            index += 1
        elif character == "?":
            result += "[^/]"
            index += 1
        elif character == "[" and (end := glob.find("]", index + 2)) > 0:
            inner = glob[index + 1 : end]
            negated = inner[0] in "!^"
            members = inner[1:] if negated else inner
            result += f"(?!/)[{'^' if negated else ''}{_members(members)}]"
            index = end + 1
        else:
            result += re.escape(character)
            index += 1
    return re.compile(result, re.DOTALL)


def _members(text: str) -> str:
    """The inside of a character class, ranges kept, everything else taken as it stands."""
    parts, index = "", 0
    while index < len(text):
        if index + 2 < len(text) and text[index + 1] == "-" and text[index] <= text[index + 2]:
            parts += f"{re.escape(text[index])}-{re.escape(text[index + 2])}"
            index += 3
        else:
            parts += re.escape(text[index])
            index += 1
    return parts


def fixed_start(glob: str) -> str:
    """The text that every path meant by the glob starts with."""
    glob = glob.removeprefix("./")
    match = _WILD.search(glob)
    return glob[: match.start()] if match else glob.rstrip("/")
