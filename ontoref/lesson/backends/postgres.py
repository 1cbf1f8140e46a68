"""Lessons in a schema of a PostgreSQL database, through psycopg (the extra `postgres`).

Nothing connects until the first operation; a broken connection is the caller's fallback's business.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ontoref.errors import MissingExtra
from ontoref.lesson.backends.schema import TABLE, ddl, identifier, qualified
from ontoref.lesson.backends.sql import POSTGRES, Statements
from ontoref.lesson.errors import CallerError, StoreUnavailable
from ontoref.lesson.records import RECORD_TYPES, Row, Selection
from ontoref.lesson.store import TableLessonStore
from ontoref.state.placement import masked, secrets_in

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresLessonStore", "PostgresTable"]

_CONNECT_S = 5


class PostgresTable:
    """Rows of a table in a schema; connects at the first use. Shape: usable from several threads.

    Errors: LessonValidationError for a schema's name, before anything else.
    """

    backend = "postgres"

    def __init__(self, database_url: str, schema: str) -> None:
        identifier(schema)
        self._url = database_url
        self._schema = schema
        self._sql = Statements(POSTGRES, qualified(schema))
        self._lock_key = zlib.crc32(f"ontoref {schema}".encode())
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._lock = threading.RLock()
        self._depth = 0
        self.location = f"{masked(database_url)} schema {schema}"

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._transaction(write=False):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._transaction(write=True):
            yield

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[None]:
        """One transaction; a writer waits until no other one writes, as with SQLite."""
        with self._lock, self._told():
            if self._depth:
                yield
                return
            connection = self._connected()
            with connection.transaction():
                self._depth += 1
                try:
                    if write:
                        connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock_key,))
                    yield
                finally:
                    self._depth -= 1

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The driver's errors as ours, without the password."""
        try:
            yield
        except (CallerError, StoreUnavailable):
            raise
        except MissingExtra as error:
            raise StoreUnavailable(error.message, hint=error.hint, location=self.location) from None
        except Exception as error:
            import psycopg

            if not isinstance(error, psycopg.Error):
                raise
            text = " ".join(str(error).split()) or type(error).__name__
            for secret in secrets_in(self._url):
                text = text.replace(secret, "***")
            # The driver's own error would carry the connection's words along.
            raise StoreUnavailable(text, location=self.location) from None

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._connection is not None and self._connection.closed and not self._depth:
            self._connection = None
        if self._connection is None:
            try:
                import psycopg
            except ImportError:
                raise MissingExtra("postgres", "psycopg") from None
            settings: dict[str, Any] = {} if "connect_timeout" in self._url else {"connect_timeout": _CONNECT_S}
            connection = psycopg.connect(self._url, autocommit=True, application_name="ontoref", **settings)
            try:
                self._make(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _make(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        """Make the table where it is missing, so that who may only use it needs no right to make it."""
        there = connection.execute("SELECT to_regclass(%s)", (f"{identifier(self._schema)}.{TABLE}",)).fetchone()
        if there and there[0] is not None:
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (self._lock_key,))
            for statement in ddl("postgres", self._schema):
                connection.execute(statement.encode())

    def _all(self, text: str, values: Any) -> list[tuple[Any, ...]]:
        return self._connected().execute(text.encode(), values).fetchall()

    def get(self, record_type: str, id: str) -> Row | None:
        found = self._all(self._sql.get, (record_type, id))
        return Row._make(found[0]) if found else None

    def select(self, selection: Selection) -> list[Row]:
        text, values = self._sql.select(selection)
        return [Row._make(found) for found in self._all(text, values)]

    def put(self, row: Row) -> None:
        self._connected().execute(self._sql.put.encode(), row)

    def remove(self, record_type: str, id: str) -> None:
        self._connected().execute(self._sql.remove.encode(), (record_type, id))

    def wipe(self) -> bool:
        """Free the rows' space for others. What the server's own log and its backups hold is the server's."""
        with self._lock, self._told():
            self._connected().execute(f"VACUUM {self._sql.table}".encode())
        return True

    def last_seq(self) -> int:
        return int(self._all(self._sql.last_seq, ())[0][0])

    def rows(self) -> Iterator[Row]:
        return self._sql.pages(lambda text, values: [Row._make(found) for found in self._all(text, values)])

    def counts(self) -> dict[str, int] | None:
        if self._connection is None:
            return None
        with self.reading():
            found = dict(self._all(self._sql.counts, ()))
        return {name: found.get(name, 0) for name in RECORD_TYPES}

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class PostgresLessonStore(TableLessonStore):
    """A LessonStore in PostgreSQL. Constructing it checks the schema's name and connects to nothing."""

    def __init__(self, database_url: str, schema: str) -> None:
        identifier(schema)
        super().__init__(PostgresTable(database_url, schema))
