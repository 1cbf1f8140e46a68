"""One SQLite file of ours: made, opened, verified, written in short transactions.

A connection belongs to the thread and process that opened it. Writers set WAL, synchronous=NORMAL,
foreign_keys and a busy timeout of 30 s; readers open `mode=ro` and change nothing.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources
from typing import Any, Literal, TypeVar

from ontoref import __version__
from ontoref.state.errors import DatabaseRefused, DatabaseUnusable, StateError, TooLarge
from ontoref.state.workshop import temporary_name

__all__ = [
    "SCHEMA_VERSION",
    "Database",
    "Role",
    "companions",
    "make_private_dirs",
    "now_ms",
    "open_plain",
    "open_plain_reader",
    "open_reader",
    "open_writer",
    "schema_text",
    "told",
]

Role = Literal["global", "agent"]
T = TypeVar("T")

SCHEMA_VERSION = 1
_BUSY_MS = 30_000
_WAL_LIMIT_BYTES = 64 * 1024 * 1024
# 16 MiB: an import writes pages once that many transactions touched, instead of every 4 MiB.
_CHECKPOINT_PAGES = 4096


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

    def release_pages(self) -> None:
        """Give free pages back to the file system, where the file allows it."""
        self.execute("PRAGMA incremental_vacuum").fetchall()

    def vacuum(self) -> None:
        """Rewrite the file without its free pages, and empty the WAL."""
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
        except DatabaseUnusable as error:
            return [error.message]

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


def open_writer(path: str, role: Role, agent_id: str | None = None) -> Database:
    """The database at path, made if it is missing.

    Errors: DatabaseRefused for a file of another program, role, agent or of a newer ontoref, before anything
            is written to it; DatabaseUnusable if SQLite cannot open it.
    """
    if not os.path.exists(path):
        _make(path, role, agent_id)
    with told(path):
        connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None)
    database = Database(connection, path, role, agent_id, read_only=False)
    try:
        _verify(database)
        _tune(database)
    except BaseException:
        database.close()
        raise
    _tighten(path)
    return database


def open_reader(path: str, role: Role, agent_id: str | None = None) -> Database | None:
    """The database at path, read only; None if there is no such file.

    Errors: as open_writer.
    """
    if not os.path.exists(path):
        return None
    database = Database(_connect_read_only(path), path, role, agent_id, read_only=True)
    try:
        _verify(database)
        database.execute("PRAGMA query_only = ON")
    except BaseException:
        database.close()
        raise
    return database


def open_plain(path: str) -> Database:
    """A database of one domain that was placed outside the two tiers, made if it is missing; its tables are the
    domain's business. `:memory:` is one that nobody else sees. Errors: DatabaseUnusable."""
    if path != ":memory:":
        make_private_dirs(os.path.dirname(path))
    with told(path):
        connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None)
    database = Database(connection, path, "global", None, read_only=False)
    try:
        if path != ":memory:":
            _tune(database)
            _tighten(path)
    except BaseException:
        database.close()
        raise
    return database


def open_plain_reader(path: str) -> Database | None:
    """Such a database, read only; None if there is no such file. Errors: DatabaseUnusable."""
    if not os.path.exists(path):
        return None
    database = Database(_connect_read_only(path), path, "global", None, read_only=True)
    database.execute("PRAGMA query_only = ON")
    return database


def schema_text(role: Role) -> str:
    """The SQL file that makes a database of this role."""
    return resources.files("ontoref.state").joinpath("sql", f"{role}.sql").read_text(encoding="utf-8")


def _connect_read_only(path: str) -> sqlite3.Connection:
    uri = "file:" + _uri_path(path) + "?mode=ro"
    with told(path):
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_MS / 1000, isolation_level=None)
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            # A WAL database needs its -shm file, which a read-only folder does not let us make. Without a
            # -wal beside it the file is complete and nobody can be writing there.
            if os.path.exists(companions(path)[0]) or os.access(os.path.dirname(path), os.W_OK):
                raise
            connection = sqlite3.connect(uri + "&immutable=1", uri=True, isolation_level=None)
        return connection


def _uri_path(path: str) -> str:
    from urllib.parse import quote

    absolute = os.path.abspath(path).replace(os.sep, "/")
    return quote(absolute if absolute.startswith("/") else "/" + absolute)


def _verify(database: Database) -> None:
    """Refuse what is not ours; reads only."""
    path = database.path
    row = database.one("PRAGMA user_version")
    version = row[0] if row else 0
    if version > SCHEMA_VERSION:
        raise DatabaseRefused(
            f"the database has schema version {version}, this ontoref knows up to {SCHEMA_VERSION}",
            hint="update ontoref; nothing was written to the file",
            location=path,
        )
    tables = database.one("SELECT count(*) FROM sqlite_schema WHERE name = 'schema_meta'")
    if version < 1 or not tables or not tables[0]:
        raise DatabaseRefused(
            "the file is not a database of ontoref",
            hint="move it away, or set ONTOREF_STATE_DIR; nothing was written to it",
            location=path,
        )
    meta = database.one("SELECT role, agent_id FROM schema_meta WHERE meta_key = 'primary'")
    found = meta or (None, None)
    if tuple(found) != (database.role, database.agent_id):
        expected = database.role if database.agent_id is None else f"{database.role} {database.agent_id}"
        what = " ".join(str(part) for part in found if part) or "no identity"
        raise DatabaseRefused(
            f"the database is that of {what}, not of {expected}",
            hint="a database was copied to another one's place; nothing was written to it",
            location=path,
        )


def _tune(database: Database) -> None:
    row = database.one("PRAGMA journal_mode")
    if row and row[0] != "wal":
        # A file system that cannot share memory keeps the rollback journal; that is slower, and safe.
        database.execute("PRAGMA journal_mode = WAL").fetchone()
    for pragma in (
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"journal_size_limit = {_WAL_LIMIT_BYTES}",
        f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
        "secure_delete = ON",
    ):
        database.execute(f"PRAGMA {pragma}").fetchone()


def _make(path: str, role: Role, agent_id: str | None) -> None:
    """Make the database aside and link it into place: nobody ever sees half of one."""
    folder = os.path.dirname(path)
    make_private_dirs(folder)
    aside = os.path.join(folder, temporary_name("making"))
    os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with told(path):
            connection = sqlite3.connect(aside, isolation_level=None)
            try:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                now = now_ms()
                connection.executescript("BEGIN IMMEDIATE;\n" + schema_text(role))
                connection.execute(
                    "INSERT INTO schema_meta (meta_key, role, schema_version, agent_id, app_version,"
                    " created_at, updated_at) VALUES ('primary', ?, ?, ?, ?, ?, ?)",
                    (role, SCHEMA_VERSION, agent_id, __version__, now, now),
                )
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                connection.execute("COMMIT")
            finally:
                connection.close()
        _discard_orphans(path)
        try:
            os.link(aside, path)
        except FileExistsError:
            pass  # another process was first
        except OSError:
            # No hard links here (some network and phone file systems). A rename would replace a database that
            # another process made in the meantime, so look once more; the gap is this one line.
            if not os.path.exists(path):
                os.rename(aside, path)
    finally:
        for leftover in (aside, *companions(aside)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(leftover)


def _discard_orphans(path: str) -> None:
    """Take away -wal and -shm files whose database is gone: SQLite would play them into the new one.

    Another process may make the database at the same moment, and then such files are live. Only those that
    were there before the database was seen missing are orphans, and a file number tells them apart.
    """
    seen = {}
    for companion in companions(path):
        with contextlib.suppress(FileNotFoundError):
            seen[companion] = os.stat(companion).st_ino
    if not seen or os.path.exists(path):
        return
    for companion, number in seen.items():
        name = os.path.join(os.path.dirname(companion), temporary_name("orphan"))
        with contextlib.suppress(FileNotFoundError):
            os.rename(companion, name)
            if os.stat(name).st_ino == number:
                os.unlink(name)
            else:
                os.rename(name, companion)


def make_private_dirs(folder: str) -> None:
    """Make a folder and its parents, those made open to nobody but the user."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _tighten(path: str) -> None:
    """Take the rights of others from the files. A file system without rights is not our business."""
    for file in (path, *companions(path)):
        with contextlib.suppress(OSError):
            if stat.S_IMODE(os.stat(file).st_mode) & 0o077:
                os.chmod(file, 0o600)


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    """SQLite's errors as ours, with the file's name and what to do."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.DataError):
        raise
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            hint = "another process has been writing for 30 s; try again when it is done"
        elif "full" in text:
            hint = "the disk is full; nothing was lost, free some space and run the command again"
        elif "malformed" in text or "not a database" in text:
            hint = "see `ontoref doctor`; `ontoref backup restore` brings back a backup"
        elif "readonly" in text or "unable to open" in text:
            hint = "the file or its folder may not be written by this user"
        else:
            raise
        raise DatabaseUnusable(text, hint=hint, location=path) from error
