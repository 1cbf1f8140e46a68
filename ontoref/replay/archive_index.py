"""The index of replay events in the archive: what there is of each session, and at which line; never the text."""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import orjson

from ontoref.replay.statistics import Gathering
from ontoref.state import Database, State, archive, sessions
from ontoref.state.faults import step
from ontoref.transcript.reader import read_source

__all__ = ["counted", "index"]

_AT_ONCE = 500
_IN_MEMORY = 10_000


def index(state: State, session_id: str, now_ms: int) -> int:
    """Derive a session's events and put them in place of those indexed before. Returns how many.

    Shape:  one transaction, and one pass over the events, which also counts them for `ontoref.replay.statistics`;
            a reader that fails leaves the index as it was. A payload holds its line alone, by which the archived
            source gives the rest. 0 if the session is deleted meanwhile.
    Errors: NoSuchSession, those of the readers and of the database.
    """
    session = archive.resolve(state, session_id)
    gathering = Gathering(state, session)
    transcript = read_source(gathering.source, session.runtime)
    database = state.writable_agent(session.agent_id)
    with _Aside() as rows:
        for ordinal, event in enumerate(transcript.events):
            gathering.add(ordinal, event)
            rows.add(
                (
                    session.session_id,
                    event.span_id,
                    event.parent_span_id,
                    event.runtime,
                    event.kind,
                    event.ts,
                    ordinal,
                    orjson.dumps({"line": event.payload.get("line")}).decode(),
                    None if event.mode is None else orjson.dumps(event.mode).decode(),
                    None if event.approval is None else orjson.dumps(event.approval | {"edit_diff": None}).decode(),
                    now_ms,
                )
            )
        value = gathering.value(transcript.report)
        with database.transaction():
            if sessions.stored(database, session.session_id) is None:
                return 0
            database.execute("DELETE FROM replay_events WHERE session_id = ?", (session.session_id,))
            database.many(
                "INSERT OR IGNORE INTO replay_events (session_id, span_id, parent_span_id, runtime, kind, ts, ordinal,"
                " payload, mode, approval, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows.all(),
            )
            gathering.keep(database, value)
            step("import:counted")
        step("import:indexed")
        return rows.count


class _Aside:
    """Rows until they are all there, those beyond a few in a temporary file: a session may have millions."""

    def __init__(self) -> None:
        self.count = 0
        self._last: list[tuple[Any, ...]] = []
        self._file: IO[bytes] | None = None
        self._sizes: list[int] = []

    def __enter__(self) -> _Aside:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: tuple[Any, ...]) -> None:
        """Take a row in. Errors: OSError where no temporary file can be written."""
        self.count += 1
        self._last.append(row)
        if len(self._last) == _IN_MEMORY:
            if self._file is None:
                import tempfile

                self._file = tempfile.TemporaryFile(prefix="ontoref-")  # noqa: SIM115 __exit__ closes it
            self._sizes.append(self._file.write(marshal.dumps(self._last)))
            self._last = []

    def all(self) -> Iterator[tuple[Any, ...]]:
        """The rows in order, once."""
        if self._file is not None:
            self._file.seek(0)
            for size in self._sizes:
                yield from marshal.loads(self._file.read(size))
        yield from self._last


def counted(database: Database, session_ids: Sequence[str]) -> Mapping[str, int]:
    """How many events of those sessions are indexed; a session that is not indexed is left out."""
    found: dict[str, int] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        some = list(session_ids[start : start + _AT_ONCE])
        marks = ", ".join("?" * len(some))
        rows = database.all(
            f"SELECT session_id, count(*) FROM replay_events WHERE session_id IN ({marks}) GROUP BY session_id", some
        )
        found.update({name: int(number) for name, number in rows})
    return found
