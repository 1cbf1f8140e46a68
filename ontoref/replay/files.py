"""Sessions in the files of their runtimes, read when they are asked for."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ontoref.errors import OntorefError
from ontoref.replay.source import numbered
from ontoref.replay.tree import Row
from ontoref.transcript.event import AGENT_SPAWN
from ontoref.transcript.find import Found, look, read_stored
from ontoref.transcript.reader import Transcript, read
from ontoref.transcript.report import Report

__all__ = ["Files"]

_KEPT_SESSIONS = 32
_KEPT_EVENTS = 200_000
_MOST_NAMES = 20_000


class Files:
    """Live sessions.

    Shape: listing tells what sessions this machine has, and is asked only for an id that is neither known nor in
           the folder of a session that was read. reading is called with every file that is opened. What was read
           is kept while the file stays as it was. Safe to use from several threads.
    """

    def __init__(
        self, listing: Callable[[], Iterable[Found]], *, reading: Callable[[str], None] = lambda path: None
    ) -> None:
        self._listing = listing
        self._reading = reading
        self._found: dict[str, Found] = {}
        self._hints: dict[str, tuple[str, str, str]] = {}
        self._kept: OrderedDict[str, tuple[object, list[Row], Report]] = OrderedDict()
        self._lock = threading.RLock()

    def add(self, found: Found) -> None:
        """Make a session known."""
        with self._lock:
            self._found[found.id] = found

    def find(self, session_id: str) -> Found | None:
        """Where a session is; None if nobody knows."""
        with self._lock:
            found = self._found.get(session_id)
            if found is not None and os.path.exists(found.path):
                return found
            found = self._hinted(session_id)
            if found is not None:
                self._found[session_id] = found
                return found
        # Whoever lists sessions may have a lock of its own, and may call `add`.
        listed = {one.id: one for one in self._listing()}
        with self._lock:
            self._found.update(listed)
            found = self._found.get(session_id)
        return found if found is not None and os.path.exists(found.path) else None

    def rows(self, session_id: str) -> Sequence[Row] | None:
        found = self.find(session_id)
        if found is None:
            return None
        kept = self._read(found)
        return None if kept is None else kept[0]

    def report(self, session_id: str) -> Report | None:
        """What its transcript tells beside events."""
        found = self.find(session_id)
        kept = self._read(found) if found is not None else None
        return None if kept is None else kept[1]

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        """Only what is read already: a file tells its number of events by being read."""
        with self._lock:
            return {name: len(self._kept[name][1]) for name in session_ids if name in self._kept}

    def _read(self, found: Found) -> tuple[list[Row], Report] | None:
        stamp = _stamp(found.path)
        with self._lock:
            kept = self._kept.get(found.id)
            if kept is not None and kept[0] == stamp:
                self._kept.move_to_end(found.id)
                return kept[1], kept[2]
        try:
            self._reading(found.path)
            transcript: Transcript = read_stored(found) if found.store else read(found.path, found.runtime)
            rows = numbered(transcript.events)
        except (OSError, OntorefError):
            return None
        with self._lock:
            self._kept[found.id] = (stamp, rows, transcript.report)
            self._kept.move_to_end(found.id)
            while len(self._kept) > 1 and (
                len(self._kept) > _KEPT_SESSIONS or sum(len(kept[1]) for kept in self._kept.values()) > _KEPT_EVENTS
            ):
                self._kept.popitem(last=False)
            self._learn(found, rows, transcript.report)
        return rows, transcript.report

    def _learn(self, found: Found, rows: list[Row], report: Report) -> None:
        """Where the sub-agents of a session are likely to be."""
        folder = os.path.dirname(found.path)
        for child in report.session.children:
            if child.session_id:
                name = f"{found.runtime}:{child.session_id}"
                self._hints.setdefault(name, (found.runtime, folder, child.path or ""))
        for row in rows:
            child_id = row.event.payload.get("child_session_id") if row.event.kind == AGENT_SPAWN else None
            if isinstance(child_id, str) and child_id:
                self._hints.setdefault(f"{found.runtime}:{child_id}", (found.runtime, folder, ""))

    def _hinted(self, session_id: str) -> Found | None:
        """The session, if it is where its parent's transcript says, or beside it under its own name."""
        hint = self._hints.get(session_id)
        if hint is None:
            return None
        runtime, folder, path = hint
        native = session_id.rpartition(":")[2]
        places = [os.path.join(folder, *path.split("/"))] if path else []
        if not places:
            places = [os.path.join(folder, name) for name in _names(folder) if native in name]
            # The live file before copies that were put aside.
            places.sort(key=lambda place: (not place.endswith((".jsonl", ".json")), place))
        for place in places:
            found = look(place, runtime)
            if found is not None and found.id == session_id:
                return found
        return None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:_MOST_NAMES]
    except OSError:
        return []


def _stamp(path: str) -> Any:
    """What changes when a file does; a database's write-ahead log counts with it."""
    found: list[Any] = []
    for name in (path, path + "-wal"):
        try:
            stat = os.stat(name)
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
