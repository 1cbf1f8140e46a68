"""What a reader saw beside an archived transcript, to tell later whether it would see the same again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ontoref.state.archive import ArchiveSide
from ontoref.transcript.report import Report

__all__ = ["Watched", "is_as_seen"]


class Watched:
    """The side files of an archived session, with a memory of what was asked of them.

    Shape: the session's own files count as one, whether they were read or not; of others each name that was
           asked for is remembered with the digest of the answer, so that also a file that comes later is noticed.
           Of an index of session keys those entries count that the reader's report says it looked up.
    """

    def __init__(self, side: ArchiveSide) -> None:
        self._side = side
        self._own = side.own_digest()
        self._files: dict[str, str | None] = {}
        self._folders: dict[str, str] = {}
        self._index: bytes | None = None

    def read(self, name: str) -> bytes | None:
        content = self._side.read(name)
        if self._side.is_index(name):
            self._index = content
        elif not self._side.is_own(name):
            self._files[name] = None if content is None else hashlib.sha256(content).hexdigest()
        return content

    def names(self, folder: str) -> list[str]:
        found = self._side.names(folder)
        self._folders[folder] = _digest(found)
        return found

    def seen(self, report: Report) -> dict[str, Any]:
        """What was seen, as JSON; `is_as_seen` compares it. The report is complete."""
        native_id = report.session.session_id
        known: dict[str, Any] = json.loads(self._index or b"{}")
        entries = {key: one for key, one in known.items() if key in report.asked or one.get("sessionId") == native_id}
        return {
            "own": self._own,
            "files": self._files,
            "folders": self._folders,
            "keys": sorted(report.asked),
            "routes_of": native_id,
            "routes": _digest(entries),
        }


def is_as_seen(side: ArchiveSide, seen: dict[str, Any]) -> bool:
    """Whether a reader would find beside the session what one found before. Reads digests, never files."""
    return (
        side.own_digest() == seen["own"]
        and _digest(side.routes(seen["routes_of"], seen["keys"])) == seen["routes"]
        and all(side.digest(name) == sha256 for name, sha256 in seen["files"].items())
        and all(_digest(side.names(folder)) == sha256 for folder, sha256 in seen["folders"].items())
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
