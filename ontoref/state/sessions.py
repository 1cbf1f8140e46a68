"""Rows of archived sessions: typed metadata, and how much of each transcript is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ontoref.state.database import Database, now_ms

__all__ = [
    "Session",
    "Stored",
    "add",
    "children",
    "count",
    "delete",
    "describe",
    "empty",
    "get",
    "listing",
    "matching",
    "stored",
    "update_stored",
]

_COLUMNS = (
    "session_id, native_id, runtime, format, session_key, session_scope, parent_session_id, spawned_by, project,"
    " display_name, model, model_provider, status, started_at, ended_at, created_at, updated_at, line_count,"
    " bad_line_count, size_bytes, content_sha256"
)
_PAGE = 500
_DESCRIBED = (
    "session_key",
    "session_scope",
    "parent_session_id",
    "spawned_by",
    "project",
    "display_name",
    "model",
    "model_provider",
    "started_at",
    "ended_at",
)


@dataclass(frozen=True, slots=True)
class Session:
    """One archived session.

    Shape: session_id is `<runtime>:<native id>`; project is the folder it worked in; model_provider,
           session_key, parent_session_id and spawned_by are known for some runtimes only.
    Units: times are milliseconds since 1970; sizes are bytes of the source.
    """

    agent_id: str
    session_id: str
    native_id: str
    runtime: str
    format: str
    session_key: str | None
    session_scope: str
    parent_session_id: str | None
    spawned_by: str | None
    project: str | None
    display_name: str | None
    model: str | None
    model_provider: str | None
    status: str
    started_at: int | None
    ended_at: int
    created_at: int
    updated_at: int
    line_count: int
    bad_line_count: int
    size_bytes: int
    content_sha256: str


@dataclass(frozen=True, slots=True)
class Stored:
    """How much of a transcript is stored. content_sha256 is over all its bytes, line ends included."""

    session_row: int
    line_count: int
    bad_line_count: int
    size_bytes: int
    content_sha256: str
    ends_with_newline: bool


def get(database: Database, session_id: str) -> Session | None:
    """One session by its archive id."""
    row = database.one(f"SELECT {_COLUMNS} FROM sessions WHERE session_id = ?", (session_id,))
    return None if row is None else Session(database.agent_id or "", *row)


def matching(database: Database, text: str, limit: int = 20) -> list[Session]:
    """Sessions whose archive id or native id is text or begins with it; exact ones first."""
    exact = database.all(
        f"SELECT {_COLUMNS} FROM sessions WHERE session_id = ? OR native_id = ? ORDER BY session_id LIMIT ?",
        (text, text, limit),
    )
    if exact or not text:
        return [Session(database.agent_id or "", *row) for row in exact]
    above = text + "\U0010ffff"
    begun = database.all(
        f"SELECT {_COLUMNS} FROM sessions WHERE session_id >= ? AND session_id < ?"
        f" UNION SELECT {_COLUMNS} FROM sessions WHERE native_id >= ? AND native_id < ?"
        " ORDER BY session_id LIMIT ?",
        (text, above, text, above, limit),
    )
    return [Session(database.agent_id or "", *row) for row in begun]


def listing(
    database: Database,
    *,
    project: str | None = None,
    ended_before: int | None = None,
    limit: int | None = None,
) -> Iterator[Session]:
    """Sessions, the one that ended last first, then by id; read in pages, so that no read lasts."""
    conditions: list[str] = []
    values: list[Any] = []
    if project is not None:
        conditions.append("project = ?")
        values.append(project)
    if ended_before is not None:
        conditions.append("ended_at < ?")
        values.append(ended_before)
    given = 0
    # Beyond every session, so that the first page is a range of the index like the others.
    last = (2**62, "\U0010ffff")
    where = f" WHERE {' AND '.join([*conditions, '(ended_at, session_id) < (?, ?)'])}"
    while limit is None or given < limit:
        rows = database.all(
            f"SELECT {_COLUMNS} FROM sessions{where} ORDER BY ended_at DESC, session_id DESC LIMIT ?",
            (*values, *last, _PAGE if limit is None else min(_PAGE, limit - given)),
        )
        for row in rows:
            yield Session(database.agent_id or "", *row)
        if len(rows) < _PAGE:
            return
        given += len(rows)
        last = (rows[-1][14], rows[-1][0])


def children(database: Database, session_id: str) -> list[str]:
    """Ids of sessions that name this one as their parent, sorted."""
    return [
        row[0]
        for row in database.all(
            "SELECT session_id FROM sessions WHERE parent_session_id = ? ORDER BY session_id", (session_id,)
        )
    ]


def count(database: Database) -> tuple[int, int, int]:
    """How many sessions, lines and bytes of transcripts the database holds.

    Shape: sums over every session need every session: one pass, 20 ms for 100 000. An index that covers it makes 7 ms
           of that, and each chunk of each import would pay for it.
    """
    row = database.one("SELECT count(*), total(line_count), total(size_bytes) FROM sessions")
    assert row is not None
    return int(row[0]), int(row[1]), int(row[2])


def stored(database: Database, session_id: str) -> Stored | None:
    """How much of a session's transcript is stored; None without such a session."""
    row = database.one(
        "SELECT session_row, line_count, bad_line_count, size_bytes, content_sha256, ends_with_newline"
        " FROM sessions WHERE session_id = ?",
        (session_id,),
    )
    if row is None:
        return None
    session_row, line_count, bad_line_count, size_bytes, content_sha256, ends = row
    return Stored(session_row, line_count, bad_line_count, size_bytes, content_sha256, bool(ends))


def add(database: Database, session_id: str, native_id: str, runtime: str, form: str, empty_sha256: str) -> None:
    """Make the row of a session without lines; one that is there stays as it is."""
    now = now_ms()
    database.execute(
        "INSERT INTO sessions (session_id, native_id, runtime, format, status, ended_at, created_at, updated_at,"
        " content_sha256) VALUES (?, ?, ?, ?, 'importing', ?, ?, ?, ?) ON CONFLICT (session_id) DO NOTHING",
        (session_id, native_id, runtime, form, now, now, now, empty_sha256),
    )


def update_stored(database: Database, now_stored: Stored) -> None:
    """Write down how much is stored, in the transaction that stores it."""
    database.execute(
        "UPDATE sessions SET line_count = ?, bad_line_count = ?, size_bytes = ?, content_sha256 = ?,"
        " ends_with_newline = ?, updated_at = max(updated_at, ?) WHERE session_row = ?",
        (
            now_stored.line_count,
            now_stored.bad_line_count,
            now_stored.size_bytes,
            now_stored.content_sha256,
            int(now_stored.ends_with_newline),
            now_ms(),
            now_stored.session_row,
        ),
    )


def describe(database: Database, session_id: str, **columns: Any) -> None:
    """Set typed metadata. What is None stays as it was; the status becomes `archived`."""
    known = {name: value for name, value in columns.items() if value is not None and name in _DESCRIBED}
    assignments = "".join(f", {name} = :{name}" for name in known)
    database.execute(
        f"UPDATE sessions SET status = 'archived'{assignments} WHERE session_id = :session_id",
        {**known, "session_id": session_id},
    )


def empty(database: Database, session_id: str, empty_sha256: str) -> None:
    """Take out a session's lines and what is derived from them. What lay beside it stays. Part of the caller's
    transaction."""
    row = stored(database, session_id)
    if row is None:
        return
    database.execute("DELETE FROM transcript_events WHERE session_row = ?", (row.session_row,))
    database.execute("DELETE FROM replay_events WHERE session_id = ?", (session_id,))
    database.execute("DELETE FROM cache_entries WHERE session_row = ?", (row.session_row,))
    update_stored(database, Stored(row.session_row, 0, 0, 0, empty_sha256, True))


def delete(database: Database, session_id: str) -> int:
    """Delete a session with everything that belongs to it. How many rows of sessions went: 0 or 1."""
    with database.unbroken(), database.transaction():
        database.execute("DELETE FROM session_routes WHERE session_id = ?", (session_id,))
        return database.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,)).rowcount
