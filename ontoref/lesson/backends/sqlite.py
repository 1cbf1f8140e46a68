"""Lessons in a SQLite file: by default a table of the global database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ontoref.lesson.backends.schema import SEARCH_INDEX, TABLE, ddl, qualified, search_index_ddl
from ontoref.lesson.backends.sql import SQLITE, Statements
from ontoref.lesson.errors import StoreUnavailable
from ontoref.lesson.records import RECORD_TYPES, Row, Selection
from ontoref.state.database import Database, told
from ontoref.state.layout import Layout, default_layout
from ontoref.state.opening import open_plain, open_plain_reader, open_reader, open_writer

__all__ = ["SqliteTable"]


class SqliteTable:
    """Rows in a SQLite file, opened at once. A handle belongs to its thread.

    Shape:  read_only creates nothing: without a file, or a table in it, there are no rows.
    Errors: those of ontoref.state.opening when it is opened.
    """

    backend = "sqlite"

    def __init__(self, path: str, layout: Layout | None = None, *, read_only: bool = False) -> None:
        self.location = path
        self._sql = Statements(SQLITE, qualified(None))
        is_global = os.path.abspath(path) == (layout or default_layout()).global_database
        self._database = _open(path, is_global, read_only)
        try:
            self._database.execute("PRAGMA mmap_size = 268435456").fetchone()
            if not self._database.read_only:
                self._make()
            if self._has(SEARCH_INDEX):
                self._sql.search_index = SEARCH_INDEX
        except BaseException:
            self._database.close()
            raise

    def _make(self) -> None:
        if self._has(TABLE):
            return
        with self._database.transaction():
            if self._has(TABLE):
                return
            for statement in ddl("sqlite"):
                self._database.execute(statement)
            # Without it a search reads every lesson, and finds the same.
            with suppress(sqlite3.OperationalError), self._database.transaction():
                for statement in search_index_ddl():
                    self._database.execute(statement)

    def _has(self, name: str) -> bool:
        return self._database.one("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)) is not None

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._told():
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._told(), self._database.transaction():
            yield

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            with told(self.location):
                yield
        except sqlite3.Error as error:
            raise StoreUnavailable(str(error), location=self.location) from error

    def get(self, record_type: str, id: str) -> Row | None:
        found = self._database.one(self._sql.get, (record_type, id))
        return None if found is None else Row._make(found)

    def select(self, selection: Selection) -> list[Row]:
        text, values = self._sql.select(selection)
        return [Row._make(found) for found in self._database.all(text, values)]

    def put(self, row: Row) -> None:
        self._database.execute(self._sql.put, row)

    def remove(self, record_type: str, id: str) -> None:
        self._database.execute(self._sql.remove, (record_type, id))

    def wipe(self) -> bool:
        with self._told():
            self._database.release_pages()
            return self._database.checkpoint("TRUNCATE")

    def last_seq(self) -> int:
        found = self._database.one(self._sql.last_seq)
        return int(found[0]) if found else 0

    def rows(self) -> Iterator[Row]:
        return self._sql.pages(lambda text, values: [Row._make(found) for found in self._database.all(text, values)])

    def counts(self) -> dict[str, int] | None:
        with self._told():
            found = dict(self._database.all(self._sql.counts))
        return {name: found.get(name, 0) for name in RECORD_TYPES}

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        return self._database.integrity()

    def close(self) -> None:
        self._database.close()


def _open(path: str, is_global: bool, read_only: bool) -> Database:
    if not read_only:
        return open_writer(path, "global") if is_global else open_plain(path)
    found = open_reader(path, "global") if is_global else open_plain_reader(path)
    if found is not None and found.one("SELECT 1 FROM sqlite_schema WHERE name = ?", (TABLE,)):
        return found
    if found is not None:
        found.close()
    return open_plain(":memory:")
