"""Derived values that are dear to compute. Deleting them loses nothing."""

from __future__ import annotations

import json
from typing import Any

from ontoref.state.database import Database, now_ms

__all__ = ["expire", "get", "put"]


def get(database: Database, scope: str, key: str, *, now: int | None = None) -> Any:
    """The value, None if there is none or its time is over."""
    row = database.one(
        "SELECT value_json FROM cache_entries WHERE scope = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
        (scope, key, now_ms() if now is None else now),
    )
    return None if row is None else json.loads(row[0])


def put(
    database: Database,
    scope: str,
    key: str,
    value: Any,
    *,
    session_id: str | None = None,
    expires_at: int | None = None,
) -> None:
    """Keep a JSON value; one of a session goes with it."""
    with database.transaction():
        database.execute(
            "INSERT INTO cache_entries (scope, key, session_row, value_json, expires_at, updated_at)"
            " VALUES (?, ?, (SELECT session_row FROM sessions WHERE session_id = ?), ?, ?, ?)"
            " ON CONFLICT (scope, key) DO UPDATE SET value_json = excluded.value_json,"
            " session_row = excluded.session_row, expires_at = excluded.expires_at, updated_at = excluded.updated_at",
            (scope, key, session_id, json.dumps(value), expires_at, now_ms()),
        )


def expire(database: Database, now: int) -> int:
    """Delete what has expired. How many rows."""
    with database.transaction():
        return database.execute("DELETE FROM cache_entries WHERE expires_at <= ?", (now,)).rowcount
