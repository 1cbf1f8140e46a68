"""Replay events in a DuckDB file: for questions over many sessions, and as a source of trees."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ontoref.errors import MissingExtra, OntorefError
from ontoref.replay.preview import packed
from ontoref.replay.tree import Row
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.find import AmbiguousSession, UnknownSession

if TYPE_CHECKING:
    import duckdb

__all__ = ["DuckError", "DuckStore", "DuckWriter"]

_COLUMNS = (
    "session_id", "span_id", "parent_span_id", "runtime", "kind", "ts", "ordinal", "payload", "mode", "approval",
    "native_session_id", "created_at",
)  # fmt: skip
_TABLE = """
CREATE TABLE IF NOT EXISTS replay_events (
  session_id VARCHAR NOT NULL,
  span_id VARCHAR NOT NULL,
  parent_span_id VARCHAR,
  runtime VARCHAR NOT NULL,
  kind VARCHAR NOT NULL,
  ts DOUBLE NOT NULL,
  ordinal BIGINT NOT NULL,
  payload JSON NOT NULL,
  mode JSON,
  approval JSON,
  native_session_id VARCHAR NOT NULL,
  created_at BIGINT NOT NULL
)
"""
_INDICES = {
    "replay_events_session_ts": "session_id, ts",
    "replay_events_span": "session_id, span_id",
    "replay_events_parent": "parent_span_id",
    "replay_events_runtime_kind": "runtime, kind",
    "replay_events_created": "created_at",
}
_SQL_COLUMNS = ", ".join(_COLUMNS)
_AT_ONCE = 500


class DuckError(OntorefError):
    """DuckDB refuses: no such file, no such table, a query that is wrong."""

    kind = "duckdb"


class DuckStore:
    """The read half: a source of trees, and any question in SQL.

    Shape:  session ids are archive ids. The file is opened read-only, and SQL reaches nothing outside of it.
    Errors: DuckError, MissingExtra.
    """

    def __init__(self, path: str) -> None:
        if not os.path.isfile(path):
            raise DuckError(
                "there is no such file", location=path, hint="make it: ontoref replay export --duckdb FILE --all"
            )
        self._connection = _connect(path, read_only=True)
        self._path = path
        self._lock = threading.Lock()

    def close(self) -> None:
        self._connection.close()

    def resolve(self, given: str) -> str:
        """The one session that an archive id, a native id or a unique beginning of either names.

        Errors: UnknownSession, AmbiguousSession.
        """
        found = self._all("SELECT DISTINCT session_id, native_session_id FROM replay_events ORDER BY session_id")
        exact = [name for name, native in found if given in (name, native)]
        begun = [name for name, native in found if given and (name.startswith(given) or native.startswith(given))]
        chosen = exact or begun
        if not chosen:
            raise UnknownSession(given)
        if len(set(chosen)) > 1:
            raise AmbiguousSession(given, chosen)
        return str(chosen[0])

    def rows(self, session_id: str) -> Sequence[Row] | None:
        found = self._all(
            "SELECT ordinal, ts, kind, span_id, parent_span_id, native_session_id, runtime, payload, mode, approval"
            " FROM replay_events WHERE session_id = ? ORDER BY ordinal",
            [session_id],
        )
        return [_row(*columns) for columns in found] or None

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for start in range(0, len(session_ids), _AT_ONCE):
            some = list(session_ids[start : start + _AT_ONCE])
            marks = ", ".join("?" * len(some))
            found.update(
                self._all(
                    f"SELECT session_id, count(*) FROM replay_events WHERE session_id IN ({marks}) GROUP BY session_id",
                    some,
                )
            )
        return found

    def sessions(self) -> list[dict[str, Any]]:
        """Every session with the times of its first and last event, the newest first."""
        return list(
            self.query(
                "SELECT session_id, any_value(native_session_id) AS native_session_id, any_value(runtime) AS runtime,"
                " min(ts) FILTER (ts > 0) AS first, max(ts) AS last FROM replay_events"
                " GROUP BY session_id ORDER BY first DESC NULLS LAST, session_id"
            )
        )

    def query(self, sql: str) -> Iterator[dict[str, Any]]:
        """The rows of any question, by column. Errors: DuckError with what DuckDB says."""
        duckdb = _module()
        with self._lock:
            try:
                cursor = self._connection.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                while batch := cursor.fetchmany(1000):
                    for values in batch:
                        yield dict(zip(names, map(_plain, values), strict=True))
            except duckdb.Error as error:
                raise DuckError(_said(error), hint="the table is replay_events; see docs/replay.md") from None
            except ImportError as error:
                # DuckDB makes values of some types, such as times with a zone, with packages that it does not need.
                hint = "cast the column, say to TIMESTAMP or VARCHAR"
                raise DuckError(f"a column's type needs {error.name}", hint=hint) from None

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        duckdb = _module()
        with self._lock:
            try:
                return self._connection.execute(sql, list(values)).fetchall()
            except duckdb.Error as error:
                raise DuckError(_said(error), location=self._path) from None


class DuckWriter:
    """The write half: sessions into a file, each replaced as a whole.

    Errors: DuckError if another process has the file, MissingExtra.
    """

    def __init__(self, path: str) -> None:
        self._connection = _connect(path, read_only=False)
        self._path = path

    def __enter__(self) -> DuckWriter:
        self._connection.execute(_TABLE)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def write(self, sessions: Iterable[tuple[str, Sequence[Row]]], created_at_ms: int) -> int:
        """Put sessions in, in bulk and in one transaction. Returns the number of events."""
        duckdb = _module()
        names: list[str] = []
        longest = number = 0
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(self._path) or ".", suffix=".load") as file:
            for name, rows in sessions:
                names.append(name)
                for row in rows:
                    line = _line(name, row, created_at_ms)
                    longest = max(longest, len(line))
                    number += 1
                    file.write(line)
            file.flush()
            try:
                self._load(file.name, names, longest)
            except duckdb.Error as error:
                raise DuckError(_said(error), location=self._path) from None
        return number

    def _load(self, path: str, names: list[str], longest: int) -> None:
        connection = self._connection
        # An index is many times as fast to build as to keep.
        for index in _INDICES:
            connection.execute(f"DROP INDEX IF EXISTS {index}")
        connection.execute("BEGIN TRANSACTION")
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            connection.execute(f"DELETE FROM replay_events WHERE session_id IN ({marks})", some)
        if longest:
            # Payloads travel as text, so that nothing in them is read as anything else.
            types = {name: "VARCHAR" for name in _COLUMNS} | {"ts": "DOUBLE", "ordinal": "BIGINT"}
            types["created_at"] = "BIGINT"
            shape = ", ".join(f"{name}: '{kind}'" for name, kind in types.items())
            connection.execute(
                f"INSERT INTO replay_events ({_SQL_COLUMNS}) SELECT {_SQL_COLUMNS} FROM read_json(?,"
                f" format = 'newline_delimited', columns = {{{shape}}}, maximum_object_size = {longest + 1024})",
                [path],
            )
        connection.execute("COMMIT")
        for index, columns in _INDICES.items():
            connection.execute(f"CREATE INDEX IF NOT EXISTS {index} ON replay_events ({columns})")


def _line(session_id: str, row: Row, created_at_ms: int) -> bytes:
    event = row.event
    return orjson.dumps(
        {
            "session_id": session_id,
            "span_id": event.span_id,
            "parent_span_id": event.parent_span_id,
            "runtime": event.runtime,
            "kind": event.kind,
            "ts": event.ts,
            "ordinal": row.ordinal,
            "payload": packed(event.payload).decode(),
            "mode": None if event.mode is None else packed(event.mode).decode(),
            "approval": None if event.approval is None else packed(event.approval).decode(),
            "native_session_id": event.session_id,
            "created_at": created_at_ms,
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _read(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        import json

        return json.loads(text)


def _row(
    ordinal: int,
    ts: float,
    kind: str,
    span_id: str,
    parent_span_id: str | None,
    session_id: str,
    runtime: str,
    payload: str,
    mode: str | None,
    approval: str | None,
) -> Row:
    event = ReplayEvent(
        ts, kind, span_id, parent_span_id, session_id, runtime, _read(payload), _read(mode), _read(approval)
    )
    return Row(ordinal, event)


def _module() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "duckdb") from None
    return duckdb


def _connect(path: str, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    module = _module()
    try:
        connection: duckdb.DuckDBPyConnection = module.connect(path, read_only=read_only)
        if read_only:
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
    except module.Error as error:
        raise DuckError(_said(error), location=path, hint="is it a DuckDB file that nobody else writes?") from None
    return connection


def _said(error: Exception) -> str:
    """The first sentence of what DuckDB says; the rest is a drawing."""
    lines = [line.strip() for line in str(error).partition("LINE ")[0].splitlines() if line.strip()]
    return " ".join(lines[:2]).rstrip(".") if lines else type(error).__name__


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value if not isinstance(value, int) or -(1 << 63) <= value < 1 << 64 else str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    return str(value)
