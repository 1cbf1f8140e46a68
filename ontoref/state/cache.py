"""Derived values that are dear to compute. Deleting them loses nothing.

A key names everything that a value was made of (the content's digest, the code), so that what is old is never
found; what a session has in a scope is replaced when it is made anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ontoref.state.database import Database, now_ms

__all__ = ["drop_stale", "expire", "get", "key_of", "put", "stale"]

_AT_ONCE = 500
# A session's key in SQL; `key_of` makes it in Python.
_KEY = "session_id || ' ' || content_sha256 || ' ' || :made_by"


def key_of(session_id: str, content_sha256: str, made_by: str) -> str:
    """The key of what made_by, a name for code, derives from a session with that content."""
    return f"{session_id} {content_sha256} {made_by}"


def get(database: Database, scope: str, key: str, *, now: int | None = None) -> Any:
    """The value, None if there is none or its time is over."""
    row = database.one(
        "SELECT value_json FROM cache_entries WHERE scope = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
        (scope, key, now_ms() if now is None else now),
    )
    try:
        return None if row is None else json.loads(row[0])
    except ValueError:
        # Damaged. What is kept here can be computed.
        return None


def put(
    database: Database,
    scope: str,
    key: str,
    value: Any,
    *,
    session_id: str | None = None,
    expires_at: int | None = None,
) -> None:
    """Keep a JSON value. One of a session goes with it, and takes the place of those that it had in the scope."""
    with database.transaction():
        database.execute(
            "DELETE FROM cache_entries WHERE session_row = (SELECT session_row FROM sessions WHERE session_id = ?)"
            " AND scope = ? AND key <> ?",
            (session_id, scope, key),
        )
        database.execute(
            "INSERT INTO cache_entries (scope, key, session_row, value_json, expires_at, updated_at)"
            " VALUES (?, ?, (SELECT session_row FROM sessions WHERE session_id = ?), ?, ?, ?)"
            " ON CONFLICT (scope, key) DO UPDATE SET value_json = excluded.value_json,"
            " session_row = excluded.session_row, expires_at = excluded.expires_at, updated_at = excluded.updated_at",
            (scope, key, session_id, json.dumps(value, separators=(",", ":")), expires_at, now_ms()),
        )


def expire(database: Database, now: int) -> int:
    """Delete what has expired. How many rows."""
    with database.transaction():
        return database.execute("DELETE FROM cache_entries WHERE expires_at <= ?", (now,)).rowcount


def stale(database: Database, scope: str, made_by: str, session_ids: Sequence[str]) -> list[tuple[int, str, int]]:
    """Those of the sessions that have no value of their present content and that code: (ended at, id, bytes)."""
    found: list[tuple[int, str, int]] = []
    for start in range(0, len(session_ids), _AT_ONCE):
        some = {f"id{number}": name for number, name in enumerate(session_ids[start : start + _AT_ONCE])}
        found += database.all(
            "SELECT ended_at, session_id, size_bytes FROM sessions"
            f" WHERE session_id IN ({', '.join(f':{name}' for name in some)}) AND status = 'archived' AND NOT EXISTS"
            f" (SELECT 1 FROM cache_entries WHERE scope = :scope AND key = {_KEY})",
            {"scope": scope, "made_by": made_by, **some},
        )
    return found


def drop_stale(database: Database, scope: str, made_by: str) -> int:
    """Delete the values of a scope that are of other content, other code or no session. How many."""
    with database.transaction():
        return database.execute(
            "DELETE FROM cache_entries WHERE scope = :scope AND key IS NOT"
            f" (SELECT {_KEY} FROM sessions WHERE sessions.session_row = cache_entries.session_row)",
            {"scope": scope, "made_by": made_by},
        ).rowcount
