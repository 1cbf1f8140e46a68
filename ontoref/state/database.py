"""An open SQLite file of ours, read and written in short transactions.

A connection belongs to the thread and process that opened it (`ontoref.state.opening`).
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from ontoref.state.errors import DatabaseUnreadable, DatabaseUnusable, StateError, TooLarge

__all__ = [
    "SCHEMA_VERSION",
    "Database",
    "Role",
    "companions",
    "now_ms",
    "told",
]

Role = Literal["global", "agent"]
T = TypeVar("T")

SCHEMA_VERSION = 1


def now_ms() -> int:
    """Milliseconds since 1970. The state room stamps rows itself: order between processes needs one clock."""
    return time.time_ns() // 1_000_000


def companions(path: str) -> tuple[str, str]:
    """The files that SQLite keeps beside a live database."""
    return path + "-wal", path + "-shm"


class Database:
    """An open database. Rows are tuples; SQL stands in the store modules that use it.

    Errors: DatabaseUnusable for what SQLite refuses, StateError when used from another process.
    """

    __slots__ = ("_connection", "_depth", "_pid", "agent_id", "path", "read_only", "role")

    def __init__(
        self, connection: sqlite3.Connection, path: str, role: Role, agent_id: str | None, *, read_only: bool
    ) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._depth = 0
        self._pid = os.getpid()
        self.path = path
        self.role = role
        self.agent_id = agent_id
        self.read_only = read_only

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself, for the store modules."""
        if self._pid != os.getpid():
            raise StateError("a database handle was carried into another process; open it there anew")
        if self._connection is None:
            raise StateError("this database handle is closed", location=self.path)
        return self._connection

    def execute(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        with told(self.path):
            return self.connection.execute(sql, values)

    def all(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        with told(self.path):
            return self.connection.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        with told(self.path):
            row: tuple[Any, ...] | None = self.connection.execute(sql, values).fetchone()
            return row

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row. Errors: TooLarge for a value that SQLite cannot hold."""
        with told(self.path):
            try:
                self.connection.executemany(sql, rows)
            except (sqlite3.DataError, OverflowError) as error:
                raise TooLarge(
                    f"a line is larger than SQLite can hold: {error}",
                    hint="keep the file yourself; the rest of the import went on",
                    location=self.path,
                ) from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Database]:
        """A short BEGIN IMMEDIATE transaction; inside another one a savepoint.

        Errors: an exception in the body rolls back and goes on. A handle whose rollback fails is closed.
        """
        depth, name = self._depth, f"nested_{self._depth}"
        self.execute(f"SAVEPOINT {name}" if depth else "BEGIN IMMEDIATE")
        self._depth = depth + 1
        try:
            yield self
            self.execute(f"RELEASE {name}" if depth else "COMMIT")
        except BaseException:
            self._roll_back(name if depth else None)
            raise
        finally:
            self._depth = depth

    def _roll_back(self, savepoint: str | None) -> None:
        connection = self._connection
        if connection is None or not connection.in_transaction:
            return
        try:
            if savepoint is None:
                connection.execute("ROLLBACK")
            else:
                connection.execute(f"ROLLBACK TO {savepoint}")
                connection.execute(f"RELEASE {savepoint}")
        except sqlite3.Error:
            self.close()

    def atomically(self, body: Callable[[Database], T]) -> T:
        """What body gives, run in one transaction. A coroutine is refused: a transaction never waits."""
        with self.transaction():
            result = body(self)
            if inspect.isawaitable(result):
                if inspect.iscoroutine(result):
                    result.close()
                raise StateError("a transaction's body must not be asynchronous")
            return result

    def checkpoint(self, mode: Literal["PASSIVE", "TRUNCATE"] = "PASSIVE") -> bool:
        """Move the WAL into the database file. False if a reader kept part of it in use."""
        row = self.one(f"PRAGMA wal_checkpoint({mode})")
        return row is not None and row[0] == 0

    @property
    def page_bytes(self) -> int:
        """The size of a page, which stays as it was when the file was made."""
        row = self.one("PRAGMA page_size")
        assert row is not None
        return int(row[0])

    def release_pages(self) -> None:
        """Give free pages back to the file system, where the file allows it."""
        self.execute("PRAGMA incremental_vacuum").fetchall()

    def vacuum(self) -> None:
        """Rewrite the file without its free pages, and empty the WAL."""
        with self.unbroken():
            self.execute("VACUUM")
        self.checkpoint("TRUNCATE")

    def integrity(self) -> list[str]:
        """What SQLite finds wrong with the file: [] if nothing."""
        try:
            found = [str(row[0]) for row in self.all("PRAGMA integrity_check(20)")]
            found = [] if found == ["ok"] else found
            for table, rowid, parent, _ in self.all("PRAGMA foreign_key_check")[:20]:
                found.append(f"row {rowid} of {table} refers to a missing row of {parent}")
            return found
        except DatabaseUnreadable as error:
            return [error.message]

    @contextlib.contextmanager
    def unbroken(self) -> Iterator[None]:
        """Work that breaks no rule of the schema. Where it fails for damaged pages SQLite may say something else, a
        broken rule or a full disk: here it is DatabaseUnreadable."""
        try:
            yield
        except (sqlite3.IntegrityError, DatabaseUnusable) as error:
            problems = [] if isinstance(error, DatabaseUnreadable) else self.integrity()
            if not problems:
                raise
            hint = "see `ontoref doctor`"
            raise DatabaseUnreadable(f"the database is damaged: {problems[0]}", hint=hint, location=self.path) from None

    def close(self) -> None:
        """Close the handle; again is fine. In a forked child the parent's handle is only forgotten."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._pid != os.getpid():
            # Even letting go of it would close it, and SQLite would tidy up under the parent's feet.
            _carried.append(connection)
            return
        with contextlib.suppress(sqlite3.Error):
            connection.close()


# Handles of a parent process, kept for ever.
_carried: list[sqlite3.Connection] = []


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    """SQLite's errors as ours, with the file's name and what to do."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.DataError):
        raise
    except UnicodeDecodeError:
        # Damage reached a name in the schema, and with it SQLite's own message.
        hint = "see `ontoref doctor`; `ontoref backup restore` brings back a backup"
        raise DatabaseUnreadable(
            "the database is damaged: a name in it is no UTF-8", hint=hint, location=path
        ) from None
    except OverflowError as error:
        raise TooLarge(f"a number is larger than SQLite can hold: {error}", location=path) from None
    except sqlite3.DatabaseError as error:
        text = str(error)
        at_fault = DatabaseUnusable
        if "locked" in text or "busy" in text:
            hint = "another process has been writing for 30 s; try again when it is done"
        elif "full" in text:
            hint = "the disk is full; nothing was lost, free some space and run the command again"
        elif "malformed" in text or "not a database" in text or "decode to UTF-8" in text or "disk I/O" in text:
            at_fault = DatabaseUnreadable
            hint = "see `ontoref doctor`; `ontoref backup restore` brings back a backup"
        elif "readonly" in text or "unable to open" in text:
            at_fault = DatabaseUnreadable
            hint = "the file or its folder may not be written by this user"
        else:
            raise
        raise at_fault(text, hint=hint, location=path) from error
