"""The numbers of archived sessions, kept when their lines come in and given while nothing they were made of changed.

An entry's key holds the digest of the session's lines and of the code that reads them; its value says what a
reader saw beside the session. What is missing or old is computed by whoever asks; nobody who reads writes.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ontoref import __version__, transcript
from ontoref.replay.build import build_tree
from ontoref.replay.figures import figures
from ontoref.replay.tree import Row
from ontoref.state import Database, State, archive, cache, sessions
from ontoref.state.archive import ArchiveSide
from ontoref.state.sessions import Session
from ontoref.state.watched import Watched, is_as_seen
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.report import Place, Places, Report, SessionInfo
from ontoref.transcript.source import Source
from ontoref.transcript.stats import TOLD, Counting, Stats

__all__ = ["Gathering", "Statistics", "drop_stale", "due", "kept", "made_by"]

_SCOPE = "statistics"
# A tree needs all events of its session at once, and an import shall not need the memory for those of a large one.
_TREE_BYTES = 64 << 20
# What an import reads again of sessions that did not change.
_RENEWED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Statistics:
    """Shape: report holds what is told beside the counts: path, runtime, lines, bad and unknown ones (the first
    ten), pending. figures is None for a session that is too large for an import to build its tree."""

    stats: Stats
    report: Report
    figures: dict[str, Any] | None


class Gathering:
    """Numbers of one session, gathered while its events pass for the index."""

    def __init__(self, state: State, session: Session) -> None:
        source = archive.source(state, session)
        self._session = session
        self._watched = Watched(source.side) if isinstance(source.side, ArchiveSide) else None
        # What the reader is to read.
        self.source = Source(source.name, source.lines, self._watched or source.side, source.open)
        self._counting = Counting()
        self._rows: list[Row] | None = [] if session.size_bytes <= _TREE_BYTES else None

    def add(self, ordinal: int, event: ReplayEvent) -> None:
        """Take one event in."""
        self._counting.add(event)
        if self._rows is not None:
            self._rows.append(Row(ordinal, event))

    def value(self, report: Report) -> dict[str, Any] | None:
        """What is to be kept, once the events are read to their end."""
        if self._watched is None:
            return None
        rows, stats = self._rows, self._counting.stats(report)
        return {
            "path": report.path,
            "lines": report.lines,
            "bad": _written(report.bad),
            "unknown": _written(report.unknown),
            "pending": report.pending,
            "counts": stats.counts,
            "figures": None if rows is None else figures(self._session.session_id, rows, build_tree(rows)),
            "beside": self._watched.seen(report),
        }

    def keep(self, database: Database, value: dict[str, Any] | None) -> None:
        """Write the numbers, in the caller's transaction. Not if the session is another one by now."""
        session = self._session
        now = sessions.get(database, session.session_id)
        if value is None or now is None or _stamp(now) != _stamp(session):
            return
        key = cache.key_of(session.session_id, session.content_sha256, made_by())
        cache.put(database, _SCOPE, key, value, session_id=session.session_id)


def kept(state: State, session: Session) -> Statistics | None:
    """The numbers of a session as they were kept; None if there are none, or if what they were made of changed."""
    database = state.agent(session.agent_id)
    if database is None:
        return None
    value = cache.get(database, _SCOPE, cache.key_of(session.session_id, session.content_sha256, made_by()))
    source = archive.source(state, session)
    if not isinstance(value, dict) or not isinstance(source.side, ArchiveSide):
        return None
    try:
        if value["path"] != source.name or not is_as_seen(source.side, value["beside"]):
            return None
        report = Report(value["path"], session.runtime, SessionInfo(session.runtime, "", ""))
        report.lines, report.pending = value["lines"], value["pending"]
        report.bad, report.unknown = _read(value["bad"]), _read(value["unknown"])
        stats = Stats(report.path, report.runtime, report.lines, report.bad.count, value["counts"])
        return Statistics(stats, report, value["figures"])
    except (LookupError, TypeError, AttributeError, ValueError):
        # Another hand wrote it. It can be computed.
        return None


def due(state: State, session_ids: Sequence[str]) -> list[str]:
    """Those of the sessions whose numbers have to be made anew: an import was killed before it had, or the code
    is another. The newest first, and no more than a second's worth at once."""
    found = list(state.ask(lambda database: cache.stale(database, _SCOPE, made_by(), session_ids)))
    chosen: list[str] = []
    left = _RENEWED_BYTES
    for _, session_id, size in sorted(found, reverse=True):
        if chosen and size > left:
            break
        left -= size
        chosen.append(session_id)
    return chosen


def drop_stale(state: State) -> int:
    """Delete numbers that can no longer be given. How many."""
    return sum(state.ask(lambda database: (cache.drop_stale(database, _SCOPE, made_by()),)))


@functools.cache
def made_by() -> str:
    """A digest of the code that makes the numbers: those of another version are not ours."""
    found = hashlib.sha256(__version__.encode())
    for folder in (os.path.dirname(transcript.__file__), os.path.dirname(__file__)):
        for name in sorted(name for name in os.listdir(folder) if name.endswith(".py")):
            with open(os.path.join(folder, name), "rb") as file:
                found.update(name.encode() + b"\0" + file.read())
    return found.hexdigest()[:16]


def _stamp(session: Session) -> tuple[str, int, int]:
    return session.content_sha256, session.line_count, session.created_at


def _written(places: Places) -> dict[str, Any]:
    return {"count": places.count, "kept": [[place.line_number, place.what] for place in places.kept[:TOLD]]}


def _read(written: dict[str, Any]) -> Places:
    return Places(written["count"], [Place(line_number, what) for line_number, what in written["kept"]])
