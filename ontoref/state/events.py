"""Archived lines: one row for each line of a source, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, repeat

from ontoref.state.database import Database

__all__ = ["Identity", "append", "copies", "last_line", "lines", "remove_last"]

_PAGE_LINES = 256
_PAGE_BYTES = 8 << 20


# Line number, its own id, type, the parent's id, usage key. A plain tuple: an import makes one for each line.
Identity = tuple[int, str | None, str | None, str | None, str | None]


def append(
    database: Database, session_row: int, first_seq: int, lines: list[bytes], identities: Iterable[Identity]
) -> None:
    """Store lines from line number first_seq on, and what they are called. Part of the caller's transaction."""
    database.many(
        "INSERT INTO transcript_events (session_row, seq, line) VALUES (?, ?, ?)",
        zip(repeat(session_row), count(first_seq), lines, strict=False),
    )
    database.many(
        "INSERT INTO transcript_event_identities (session_row, seq, event_id, event_type, parent_id, usage_key)"
        f" VALUES ({int(session_row)}, ?, ?, ?, ?, ?)",
        identities,
    )


def last_line(database: Database, session_row: int, seq: int) -> bytes:
    """The line with that number; b"" if there is none."""
    row = database.one("SELECT line FROM transcript_events WHERE session_row = ? AND seq = ?", (session_row, seq))
    return b"" if row is None else bytes(row[0])


def remove_last(database: Database, session_row: int, seq: int) -> None:
    """Take out a line that was stored before its source had ended it."""
    database.execute("DELETE FROM transcript_events WHERE session_row = ? AND seq = ?", (session_row, seq))


def lines(database: Database, session_row: int, *, after: int = 0) -> Iterator[bytes]:
    """Lines in order, without their newline, those with a number above after.

    Shape: read in pages, each a read of its own, so that no reader holds up the writer's checkpoint.
    """
    page = _PAGE_LINES
    while True:
        rows = database.all(
            "SELECT seq, line FROM transcript_events WHERE session_row = ? AND seq > ? ORDER BY seq LIMIT ?",
            (session_row, after, page),
        )
        for _, line in rows:
            yield line
        if len(rows) < page:
            return
        after = rows[-1][0]
        size = sum(len(line) for _, line in rows)
        page = max(16, min(4096, _PAGE_BYTES * page // max(1, size)))


def copies(database: Database, session_id: str) -> list[tuple[str, int]]:
    """Other sessions of the project that hold events of this one: a resumed session may repeat its past.

    Shape: (session id, how many), the most first.
    """
    return [
        (name, int(number))
        for name, number in database.all(
            "SELECT theirs.session_id, count(*) FROM sessions AS mine"
            " JOIN sessions AS theirs ON theirs.project = mine.project AND theirs.session_row <> mine.session_row"
            " JOIN transcript_event_identities AS other ON other.session_row = theirs.session_row"
            " WHERE mine.session_id = :id AND other.event_id IN (SELECT own.event_id FROM sessions"
            "  JOIN transcript_event_identities AS own USING (session_row)"
            "  WHERE session_id = :id AND length(own.event_id) >= 16)"
            " GROUP BY theirs.session_row ORDER BY count(*) DESC, theirs.session_id",
            {"id": session_id},
        )
    ]
