"""OpenCode's database, read while its owner writes: its sessions, and one of them as lines.

Format: docs/transcripts.md. A line is what `opencode run --format json` would print for a part, or a session
or a message under the same keys, so that one reader knows both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import orjson

from ontoref.transcript.live_database import LiveDatabase
from ontoref.transcript.native import seconds, string
from ontoref.transcript.source import TranscriptError

__all__ = ["Stored", "lines", "sessions"]


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
    with closing(LiveDatabase(path)) as database:
        names = _columns(database, path)
        sizes = dict(database.rows("select session_id, sum(length(data)) from part group by session_id"))
        found = []
        for row in database.rows("select * from session"):
            known = dict(zip(names, row, strict=True))
            native = known.get("id")
            if not isinstance(native, str) or not native:
                continue
            found.append(
                Stored(
                    native,
                    string(known.get("directory")),
                    string(known.get("title")),
                    string(known.get("parent_id")),
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
    with closing(LiveDatabase(path)) as database:
        names = _columns(database, path)
        rows = database.rows("select * from session where id = ?", session_id)
        if not rows:
            raise TranscriptError(f"the database has no session {session_id!r}", location=path)
        known = dict(zip(names, rows[0], strict=True))
        yield _line("session", session_id, known.get("time_created"), info=_plain(known))
        messages = "select id, time_created, data from message where session_id = ? order by time_created, id"
        # Ids of parts rise with time, and parts of one message may share their millisecond.
        parts = "select id, time_created, data from part where message_id = ? order by id"
        for native, created, data in database.rows(messages, session_id):
            yield _line("message", session_id, created, info={**_object(data), "id": native})
            for part, moment, content in database.rows(parts, native):
                yield _line("part", session_id, moment, part={**_object(content), "id": part, "messageID": native})


def _columns(database: LiveDatabase, path: str) -> list[str]:
    """Columns of the table of sessions. Errors: TranscriptError if this is no OpenCode database."""
    names = [row[1] for row in database.rows("pragma table_info(session)")]
    if "id" not in names:
        raise TranscriptError("no OpenCode database", location=path)
    return names


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
