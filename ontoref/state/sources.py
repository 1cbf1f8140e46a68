"""Where an import reads from: a file, or one session in another program's database (`PATH#ID`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ontoref.transcript import openclaw_store
from ontoref.transcript.find import STORES, store_of
from ontoref.transcript.source import TranscriptError, blocks_of, lines_of

__all__ = ["Status", "blocks", "exists", "in_store", "lines", "name_of", "status", "stored_sessions"]


@dataclass(frozen=True, slots=True)
class Status:
    """What tells whether a source changed. Units: mtime_ns is nanoseconds since 1970."""

    size_bytes: int
    mtime_ns: int


def in_store(path: str) -> tuple[str, str, str] | None:
    """Runtime, database and session id of a path that means one session of many; None for a file."""
    database, mark, session_id = path.rpartition("#")
    if not mark or os.path.exists(path) or not os.path.isfile(database):
        return None
    runtime = store_of(database)
    return (runtime, database, session_id) if runtime else None


def stored_sessions(path: str) -> list[str]:
    """Paths of the sessions in a database; [] for any other file. Errors: TranscriptError, OSError."""
    if not os.path.isfile(path):
        return []
    runtime = store_of(path)
    return [f"{path}#{row.session_id}" for row in STORES[runtime].sessions(path)] if runtime else []


def lines(path: str) -> Iterable[bytes]:
    """Lines of a source, each with its newline if it has one. Errors: as `lines_of`."""
    place = in_store(path)
    return lines_of(path) if place is None else _lines(*place)


def blocks(path: str) -> Iterable[bytes]:
    """The same bytes, cut anywhere. Errors: as `lines_of`."""
    place = in_store(path)
    return blocks_of(path) if place is None else _lines(*place)


def status(path: str) -> Status:
    """Size and time of a source. Errors: OSError, TranscriptError."""
    place = in_store(path)
    if place is None:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise TranscriptError("it is no file that can be read again: a pipe, a socket or a device", location=path)
        return Status(found.st_size, found.st_mtime_ns)
    runtime, database, session_id = place
    for row in STORES[runtime].sessions(database):
        if row.session_id == session_id:
            return Status(row.size_bytes, int((row.modified or row.started or 0) * 1000) * 1_000_000)
    raise TranscriptError(f"the database has no session {session_id!r}", location=database)


def exists(path: str) -> bool:
    """Whether a source is still there."""
    if os.path.exists(path):
        return True
    try:
        return in_store(path) is not None and bool(status(path))
    except (OSError, TranscriptError):
        return False


def name_of(path: str) -> str:
    """The name that a reader is told, with the system's separators; it tells ids that the lines lack.

    Shape: also of sources that are gone; a session in OpenClaw's database has the name its file would have.
    """
    database, mark, session_id = path.rpartition("#")
    if mark and database.endswith(".sqlite"):
        return openclaw_store.name_of(database, session_id).replace("/", os.sep)
    return database if mark and database.endswith(".db") else path


def _lines(runtime: str, database: str, session_id: str) -> Iterator[bytes]:
    for line in STORES[runtime].lines(database, session_id):
        yield line if line.endswith(b"\n") else line + b"\n"
