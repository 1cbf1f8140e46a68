"""OpenCode's database, read while its owner writes: its sessions, and one of them as lines.

Format: docs/transcripts.md. A line is what `opencode run --format json` would print for a part, or a session
or a message under the same keys, so that one reader knows both.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ontoref.transcript.native import seconds
from ontoref.transcript.source import TranscriptError

__all__ = ["Stored", "lines", "sessions"]

_BATCH = 200


class Stored(NamedTuple):
    """One session of the database. Units: started and modified in seconds since 1970."""

    session_id: str
    project: str | None
    title: str | None
    parent: str | None
    started: float | None
    modified: float | None
    size_bytes: int


def sessions(path: str) -> list[Stored]:
    """Every session of a database. Errors: TranscriptError if it is no such database or is damaged."""
    with closing(_open(path)) as database:
        names = _columns(database, path, "session")
        sizes: dict[Any, int] = dict(
            database.execute("select session_id, sum(length(data)) from part group by session_id")
        )
        found = []
        for row in database.execute("select * from session"):
            known = dict(zip(names, row, strict=True))
            native = known.get("id")
            if not isinstance(native, str) or not native:
                continue
            found.append(
                Stored(
                    native,
                    _text(known.get("directory")),
                    _text(known.get("title")),
                    _text(known.get("parent_id")),
                    seconds(known.get("time_created"), 0.0) or None,
                    seconds(known.get("time_updated"), 0.0) or None,
                    sizes.get(native) or 0,
                )
            )
        return found


def lines(path: str, session_id: str) -> Iterator[bytes]:
    """One session as JSON lines: the session, each message, then its parts, in the order they were written.

    Errors: TranscriptError if the database cannot be read or has no such session.
    """
    with closing(_open(path)) as database:
        names = _columns(database, path, "session")
        row = database.execute("select * from session where id = ?", (session_id,)).fetchone()
        if row is None:
            raise TranscriptError(f"the database has no session {session_id!r}", location=path)
        known = dict(zip(names, row, strict=True))
        yield _line("session", session_id, known.get("time_created"), info=_plain(known))
        messages = database.execute(
            "select id, time_created, data from message where session_id = ? order by time_created, id", (session_id,)
        ).fetchall()
        for native, created, data in messages:
            yield _line("message", session_id, created, info={**_object(data), "id": native})
            # Ids of parts rise with time, and parts of one message may share their millisecond.
            parts = database.execute(
                "select id, time_created, data from part where message_id = ? order by id", (native,)
            )
            while batch := parts.fetchmany(_BATCH):
                for part, moment, content in batch:
                    yield _line("part", session_id, moment, part={**_object(content), "id": part, "messageID": native})


def _open(path: str) -> sqlite3.Connection:
    """The database for reading alone. Without a write-ahead log beside it, it is not even locked."""
    address = Path(os.path.abspath(path)).as_uri() + "?mode=ro"
    if not os.path.exists(path + "-wal"):
        address += "&immutable=1"
    try:
        database = sqlite3.connect(address, uri=True, timeout=5)
        database.execute("select 1 from message, part, session limit 0")
    except sqlite3.Error as error:
        raise TranscriptError(f"no OpenCode database: {error}", location=path) from None
    return database


def _columns(database: sqlite3.Connection, path: str, table: str) -> list[str]:
    try:
        return [row[1] for row in database.execute(f"pragma table_info({table})")]
    except sqlite3.Error as error:
        raise TranscriptError(f"the database cannot be read: {error}", location=path) from None


def _line(kind: str, session_id: str, moment: Any, **more: Any) -> bytes:
    return orjson.dumps({"type": kind, "timestamp": moment, "sessionID": session_id, **more}) + b"\n"


def _object(data: Any) -> dict[str, Any]:
    try:
        found = orjson.loads(data)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if isinstance(value, (str, int, float))}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
