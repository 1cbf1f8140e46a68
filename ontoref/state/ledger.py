"""The ledger of imports: runs, and one row for each source and the table it fills."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ontoref.state.database import Database, now_ms

__all__ = [
    "LINES",
    "Row",
    "any_buried",
    "begin_run",
    "buried",
    "bury",
    "claimants",
    "failures",
    "finish_run",
    "get",
    "is_buried",
    "located_in",
    "new",
    "of_session",
    "put",
    "rename",
    "revive",
    "source_key",
    "unfinished",
    "unfinished_runs",
]

# The table that transcripts fill.
LINES = "transcript_events"
_COLUMNS = (
    "source_key, migration_kind, source_path, target_table, agent_id, session_id, source_sha256,"
    " source_size_bytes, source_mtime_ns, source_offset_bytes, source_record_count, last_run_id, status,"
    " imported_at"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A source as the ledger knows it.

    Shape: status is running, completed, warning (it could not be imported, or not wholly; the next run tries again),
           failed or deleted (a tombstone: never import it again). agent_id is "" while nobody knows whose it is.
    Units: offset is how many bytes of it are stored; times are milliseconds, mtime is nanoseconds.
    """

    source_key: str
    kind: str
    source_path: str
    target_table: str
    agent_id: str
    session_id: str | None
    sha256: str | None
    size_bytes: int
    mtime_ns: int
    offset_bytes: int
    record_count: int
    run_id: str | None
    status: str
    imported_at: int | None


def source_key(kind: str, path: str, table: str) -> str:
    """The name of a source and its target, whatever its content becomes."""
    return hashlib.sha256("\0".join((kind, path, table)).encode("utf-8", "surrogateescape")).hexdigest()


def new(kind: str, path: str, table: str, status: str, size_bytes: int, mtime_ns: int, **more: Any) -> Row:
    """The row of a source of which nothing else is known, or only what more says."""
    unknown: dict[str, Any] = {
        "agent_id": "",
        "session_id": None,
        "sha256": None,
        "offset_bytes": 0,
        "record_count": 0,
        "run_id": None,
        "imported_at": None,
    }
    return Row(
        source_key=source_key(kind, path, table),
        kind=kind,
        source_path=path,
        target_table=table,
        status=status,
        size_bytes=size_bytes,
        mtime_ns=mtime_ns,
        **(unknown | more),
    )


def get(database: Database, path: str, table: str) -> Row | None:
    """What the ledger knows of a source: nothing of one whose name is no UTF-8, which it cannot hold."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return None
    found = _rows(database, "source_path = ? AND target_table = ?", (path, table))
    return found[0] if found else None


def claimants(database: Database, agent_id: str, session_id: str, table: str) -> list[Row]:
    """Sources that were imported under a session id, or were until it was deleted."""
    return _rows(
        database,
        "agent_id = ? AND session_id = ? AND target_table = ?",
        (agent_id, session_id, table),
    )


def of_session(database: Database, agent_id: str, session_id: str) -> list[Row]:
    """All sources of a session."""
    return _rows(database, "agent_id = ? AND session_id = ?", (agent_id, session_id))


def located_in(database: Database, folder: str, separator: str) -> list[Row]:
    """Sources below a folder: a range of the index, no scan."""
    start = folder.rstrip(separator) + separator
    return _rows(
        database,
        "source_path >= ? AND source_path < ?",
        (start, start[:-1] + chr(ord(separator) + 1)),
    )


def is_buried(database: Database, sha256: str) -> bool:
    """Whether a source of exactly this content was deleted by its owner."""
    return (
        database.one(
            "SELECT 1 FROM migration_sources WHERE source_sha256 = ? AND status = 'deleted'"
            " AND source_size_bytes > 0 LIMIT 1",
            (sha256,),
        )
        is not None
    )


def put(database: Database, row: Row, report: Mapping[str, Any] | None = None) -> Row:
    """Write a source's row; imported_at is now once it is completed, and nothing while it is running."""
    stamped = row
    if row.status in ("running", "completed"):
        stamped = replace(row, imported_at=None if row.status == "running" else now_ms())
    text = None if report is None else json.dumps(report, ensure_ascii=True)
    names = _COLUMNS.replace(" ", "").split(",")
    updates = ", ".join(f"{name} = excluded.{name}" for name in names if name != "source_key")
    with database.transaction():
        database.execute(
            f"INSERT INTO migration_sources ({_COLUMNS}, report_json) VALUES ({', '.join('?' * len(names))}, ?)"
            f" ON CONFLICT (source_key) DO UPDATE SET {updates}, report_json = excluded.report_json",
            (
                stamped.source_key,
                stamped.kind,
                stamped.source_path,
                stamped.target_table,
                stamped.agent_id,
                stamped.session_id,
                stamped.sha256,
                stamped.size_bytes,
                stamped.mtime_ns,
                stamped.offset_bytes,
                stamped.record_count,
                stamped.run_id,
                stamped.status,
                stamped.imported_at,
                text,
            ),
        )
    return stamped


def rename(database: Database, key: str, new_key: str, new_path: str) -> None:
    """Let a row stand for its source under another name."""
    with database.transaction():
        database.execute("DELETE FROM migration_sources WHERE source_key = ?", (new_key,))
        database.execute(
            "UPDATE migration_sources SET source_key = ?, source_path = ? WHERE source_key = ?",
            (new_key, new_path, key),
        )


def any_buried(database: Database) -> bool:
    """Whether anything was ever deleted; only then is a new source's digest worth computing first."""
    return database.one("SELECT 1 FROM migration_sources WHERE status = 'deleted' LIMIT 1") is not None


def bury(database: Database, agent_id: str, session_id: str, content_sha256: str, size_bytes: int) -> None:
    """Turn the rows of a session into tombstones.

    Shape: a session whose source has become another one's (it was rewritten) has no row left. It gets one under its
           own id, which is no path, so that a copy of what it was is known again.
    """
    with database.transaction():
        database.execute(
            "UPDATE migration_sources SET status = 'deleted' WHERE agent_id = ? AND session_id = ?",
            (agent_id, session_id),
        )
        if not claimants(database, agent_id, session_id, LINES):
            stone = new("transcript", session_id, LINES, "deleted", size_bytes, 0)
            put(
                database,
                replace(
                    stone, agent_id=agent_id, session_id=session_id, sha256=content_sha256, offset_bytes=size_bytes
                ),
            )


def revive(database: Database, agent_id: str, session_id: str) -> None:
    """Take the tombstones of what lay beside a session away: the session was brought back, so may they be."""
    database.execute(
        "DELETE FROM migration_sources WHERE agent_id = ? AND session_id = ? AND status = 'deleted'"
        " AND target_table <> ?",
        (agent_id, session_id, LINES),
    )


def buried(database: Database, agent_id: str | None = None) -> set[str]:
    """Ids of sessions that were deleted, of one agent or of all."""
    rows = database.all(
        "SELECT session_id FROM migration_sources WHERE status = 'deleted' AND target_table = ?"
        " AND agent_id = coalesce(?, agent_id)",
        (LINES, agent_id),
    )
    return {str(row[0]) for row in rows}


def unfinished(database: Database) -> list[Row]:
    """Sources whose import did not come to its end, or failed."""
    return _rows(database, "status IN ('running', 'failed')", ())


def failures(database: Database) -> list[tuple[str, str]]:
    """Sources that could not be imported when it was last tried: (path, why)."""
    return [
        (path, str(why or "unknown"))
        for path, why in database.all(
            "SELECT source_path, json_extract(report_json, '$.error') FROM migration_sources"
            " WHERE status = 'warning' ORDER BY source_path"
        )
    ]


def begin_run(database: Database, run_id: str, kind: str) -> None:
    """Write down that a run began."""
    with database.transaction():
        database.execute(
            "INSERT INTO migration_runs (id, kind, started_at, status) VALUES (?, ?, ?, 'running')",
            (run_id, kind, now_ms()),
        )


def finish_run(database: Database, run_id: str, status: str, report: Mapping[str, Any]) -> None:
    """Write down how a run ended."""
    with database.transaction():
        database.execute(
            "UPDATE migration_runs SET finished_at = ?, status = ?, report_json = ? WHERE id = ?",
            (now_ms(), status, json.dumps(report, ensure_ascii=True), run_id),
        )


def unfinished_runs(database: Database) -> list[tuple[str, str, int]]:
    """Runs that never ended: (id, kind, started_at)."""
    return [
        (run_id, kind, started)
        for run_id, kind, started in database.all(
            "SELECT id, kind, started_at FROM migration_runs WHERE status = 'running' ORDER BY started_at"
        )
    ]


def _rows(database: Database, condition: str, values: tuple[str, ...]) -> list[Row]:
    return [
        Row(*row)
        for row in database.all(
            f"SELECT {_COLUMNS} FROM migration_sources WHERE {condition} ORDER BY source_path", values
        )
    ]
