"""Drafts of records, kept beside the log until somebody records them: one file a session, the last line counts.

They lie in `.ontoref/drafts/`, which git does not see.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from ontoref.interaction.log import append, file_name
from ontoref.interaction.project import FOLDER

__all__ = ["Drafts", "Place", "records_of"]

_LONGEST_NAME = 94


class Place(NamedTuple):
    """A draft and where it stands. Units: line_number is 1-based."""

    record: dict[str, Any]
    path: str
    line_number: int


class Drafts:
    """The drafts of one project. Shape: root is the project's top folder."""

    def __init__(self, root: str) -> None:
        self.folder = os.path.join(root, FOLDER, "drafts")

    def name(self, runtime: str, session_id: str) -> str:
        """The file of one session, below the folder."""
        return file_name(f"{runtime}-{session_id}", _LONGEST_NAME) + ".jsonl"

    def of(self, runtime: str, session_id: str) -> list[Place]:
        """Every draft of a session, the one that counts last. Lines that are no record are left out."""
        path = os.path.join(self.folder, self.name(runtime, session_id))
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return []
        found = []
        for number, line in enumerate(lines, 1):
            try:
                record = orjson.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                found.append(Place(record, path, number))
        return found

    def add(self, runtime: str, session_id: str, record: Mapping[str, Any]) -> Place:
        """Append one draft, whole or not at all. Errors: LogError, OSError."""
        os.makedirs(self.folder, exist_ok=True)
        ignore = os.path.join(self.folder, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8") as file:
                file.write("*\n")
        (written,) = append(self.folder, self.name(runtime, session_id), [orjson.dumps(record)])
        return Place(dict(record), written.path, written.line)


def records_of(session_id: str, log: str) -> list[dict[str, Any]]:
    """Records of one session in a log, in its order; none without the log. Errors: OSError."""
    if not os.path.isdir(log):
        return []
    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.lookup import matching
    from ontoref.interaction.moments import order_key
    from ontoref.interaction.search import Needle

    found = matching([Needle.of_values("session_id", {session_id}, in_array=False)], log_paths([log]))
    mine = [record for record in found if record.get("session_id") == session_id]
    return sorted(mine, key=lambda record: (order_key(record.get("recorded_at")), str(record.get("id"))))
