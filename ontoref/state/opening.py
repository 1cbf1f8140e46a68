"""Opening a SQLite file of ours: made if it is missing, verified before anything is written, its rights tightened.

Writers set WAL, synchronous=NORMAL, foreign_keys and a busy timeout of 30 s; readers open `mode=ro` and change nothing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from importlib import resources

from ontoref import __version__
from ontoref.state.database import SCHEMA_VERSION, Database, Role, companions, now_ms, told
from ontoref.state.errors import DatabaseRefused, DatabaseUnreadable
from ontoref.state.workshop import temporary_name

__all__ = [
    "make_private_dirs",
    "open_plain",
    "open_plain_reader",
    "open_reader",
    "open_writer",
    "schema_text",
]

_BUSY_MS = 30_000
_WAL_LIMIT_BYTES = 64 * 1024 * 1024
# 16 MiB: an import writes pages once that many transactions touched, instead of every 4 MiB.
_CHECKPOINT_BYTES = 16 << 20
# Lines of transcripts are long, and an import is faster on pages that hold several; each index takes one at least.
_PAGE_BYTES: dict[Role, int] = {"global": 4 << 10, "agent": 8 << 10}


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
    if version < 1 and os.path.getsize(path) == 0:
        raise DatabaseUnreadable("the file is empty", hint="see `ontoref doctor`", location=path)
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
            hint="put back what belongs there, or move it away; nothing was written to it",
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
        f"wal_autocheckpoint = {_CHECKPOINT_BYTES // database.page_bytes}",
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
                connection.execute(f"PRAGMA page_size = {_PAGE_BYTES[role]}")
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
