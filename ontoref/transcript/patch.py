"""Files that an `apply_patch` text names."""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript.paths import normal_path

__all__ = ["patched_files"]

_HEADER = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)
_OPERATIONS = {"Add File": "add", "Update File": "update", "Delete File": "delete", "Move to": "move"}


def patched_files(text: str, cwd: str | None) -> list[dict[str, Any]]:
    """Files of a patch in its order: name as written, normalised path, op (add, update, delete, move).

    Shape: a renamed file is two entries, the old one with op `move` and `to`, the new one with op `add` and
           `from`, both as normalised paths.
    """
    found: list[dict[str, Any]] = []
    for match in _HEADER.finditer(text):
        name = match.group(2)
        entry = {"name": name, "path": normal_path(name, cwd), "op": _OPERATIONS[match.group(1)]}
        if entry["op"] == "move" and found:
            found[-1] |= {"op": "move", "to": entry["path"]}
            entry |= {"op": "add", "from": found[-1]["path"]}
        found.append(entry)
    return found
