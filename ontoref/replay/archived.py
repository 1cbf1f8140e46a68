"""Sessions in the archive, derived from their archived lines when they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ontoref.replay.archive_index import counted
from ontoref.replay.source import numbered
from ontoref.replay.statistics import kept
from ontoref.replay.tree import Row
from ontoref.state import State, archive
from ontoref.state.archive import ArchiveSide
from ontoref.state.errors import NoSuchSession
from ontoref.state.watched import Watched, is_as_seen
from ontoref.transcript.reader import read_source
from ontoref.transcript.source import Source

__all__ = ["Archive"]

_KEPT = 16


class Archive:
    """Archived sessions, through a state that is opened for reading for each question.

    Shape: reading is called with the id of every session whose lines are read. What was read last is given again
           while the session and what lies beside it stay the same. Counts come from the index of
           replay events, in one question for each agent's database.
    """

    def __init__(
        self,
        state: Callable[[], State] = lambda: State(read_only=True),
        *,
        reading: Callable[[str], None] = lambda session_id: None,
    ) -> None:
        self._state = state
        self._reading = reading
        self._kept: OrderedDict[str, tuple[object, dict[str, Any], list[Row]]] = OrderedDict()
        self._lock = threading.Lock()

    def rows(self, session_id: str) -> Sequence[Row] | None:
        with self._state() as state:
            try:
                session = archive.resolve(state, session_id)
            except NoSuchSession:
                return None
            if session.session_id != session_id:
                return None
            source = archive.source(state, session)
            assert isinstance(source.side, ArchiveSide)
            stamp = (session.content_sha256, source.name)
            with self._lock:
                held = self._kept.get(session_id)
            if held is not None and held[0] == stamp and is_as_seen(source.side, held[1]):
                return held[2]
            self._reading(session_id)
            watched = Watched(source.side)
            transcript = read_source(Source(source.name, source.lines, watched, source.open), session.runtime)
            rows = numbered(transcript.events)
            seen = watched.seen(transcript.report)
        with self._lock:
            self._kept[session_id] = (stamp, seen, rows)
            self._kept.move_to_end(session_id)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return rows

    def figures(self, session_id: str) -> dict[str, Any] | None:
        """The figures of a session as they were kept at its import; None if they have to be summed up."""
        with self._state() as state:
            try:
                session = archive.resolve(state, session_id)
            except NoSuchSession:
                return None
            found = kept(state, session) if session.session_id == session_id else None
        return None if found is None else found.figures

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        with self._state() as state:
            return dict(state.ask(lambda database: counted(database, session_ids).items()))
