"""A SQLite database that belongs to somebody else, who may be writing to it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from ontoref.transcript.source import TranscriptError

__all__ = ["LiveDatabase"]

_TRIES = 5


class LiveDatabase:
    """A connection that never writes and never keeps its owner waiting.

    Each question is a read transaction of its own. Without a write-ahead log beside it nobody has the file
    open, and it is read as immutable, which needs no right to write in its folder; should its owner come
    meanwhile, the file's stat tells, and the question is asked again through the log.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._immutable = False
        self._stat: tuple[int, int, int] | None = None
        self._database: sqlite3.Connection | None = None

    def rows(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        """Answer of one question, whole. Errors: TranscriptError."""
        for attempt in range(_TRIES):
            try:
                found = self._open().execute(question, values).fetchall()
            except sqlite3.Error as error:
                # A file that changes under an immutable connection may look damaged.
                if self._undisturbed() or attempt == _TRIES - 1:
                    raise TranscriptError(f"the database cannot be read: {error}", location=self._path) from None
            else:
                if self._undisturbed():
                    return found
            self.close()
        raise TranscriptError("the database changes faster than it can be read", location=self._path)

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            address = Path(os.path.abspath(self._path)).as_uri() + "?mode=ro"
            self._immutable = not os.path.exists(self._path + "-wal")
            self._stat = self._look()
            if self._immutable:
                address += "&immutable=1"
            self._database = sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)
        return self._database

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _undisturbed(self) -> bool:
        return not self._immutable or (self._stat == self._look() and not os.path.exists(self._path + "-wal"))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
