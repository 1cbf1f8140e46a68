"""Copies of databases: taken while others write, cleaned of what must not survive, loaded back."""

from __future__ import annotations

import contextlib
import sqlite3

from ontoref.state.database import Database, now_ms, told
from ontoref.state.errors import DatabaseUnreadable
from ontoref.state.leases import Lease

__all__ = ["agents_in", "identity", "load", "prepare_global", "take"]


def take(database: Database, path: str) -> None:
    """Write a compact, consistent copy of a database to a new file, without leases and in one file alone.

    Errors: DatabaseUnreadable if the database or its copy is damaged.
    """
    with told(database.path):
        with database.unbroken():
            database.execute("VACUUM INTO ?", (path,))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = DELETE").fetchone()
            copy.execute("PRAGMA secure_delete = ON").fetchone()
            if database.role == "global":
                copy.execute("DELETE FROM state_leases")
            found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(20)")]
    if found != ["ok"]:
        raise DatabaseUnreadable(f"the database is damaged: {found[0]}", location=database.path)


def identity(path: str) -> tuple[int, str, str | None, list[str]]:
    """Schema version, role, agent id and problems of a snapshot, opened read only.

    Errors: DatabaseUnusable for what is no database of ours.
    """
    with told(path), contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as copy:
        found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(20)")]
        if found != ["ok"]:
            return 0, "", None, found
        version = copy.execute("PRAGMA user_version").fetchone()[0]
        try:
            row = copy.execute("SELECT role, agent_id FROM schema_meta WHERE meta_key = 'primary'").fetchone()
        except sqlite3.OperationalError:
            row = None
        if row is None:
            return version, "", None, ["no database of ontoref"]
        return version, row[0], row[1], []


def agents_in(path: str) -> list[str]:
    """Agent ids that a global snapshot registers, sorted."""
    with told(path), contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as copy:
        return [row[0] for row in copy.execute("SELECT DISTINCT agent_id FROM agent_databases ORDER BY agent_id")]


def prepare_global(path: str, places: list[tuple[str, str, int]], lease: Lease) -> None:
    """Make a global snapshot fit for its new place: the registry names the files there, our lease stands in it.

    Shape: places are (agent id, path as the registry keeps it, size in bytes).
    """
    now = now_ms()
    with told(path), contextlib.closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("BEGIN IMMEDIATE")
        copy.execute("DELETE FROM state_leases")
        copy.execute("DELETE FROM agent_databases")
        copy.executemany(
            "INSERT INTO agent_databases (agent_id, path, schema_version, last_seen_at, size_bytes)"
            " VALUES (?, ?, 1, ?, ?)",
            [(agent_id, place, now, size) for agent_id, place, size in places],
        )
        owner = lease.owner
        copy.execute(
            "INSERT INTO state_leases (scope, lease_key, owner, host, pid, process_started, expires_at,"
            " heartbeat_at, payload_json, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)",
            (
                lease.scope,
                lease.key,
                owner.token,
                owner.host,
                owner.pid,
                owner.started,
                now + lease.stale_ms,
                now,
                now,
                now,
            ),
        )
        copy.execute("COMMIT")


def load(path: str, database: Database) -> None:
    """Replace the whole content of an open database by a snapshot's, in one transaction.

    Shape: the snapshot is rewritten where its pages have another size.

    An open reader sees it with its next read; a rename instead would leave it, and a writer, on a dead file.
    """
    with told(database.path):
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as copy:
            if copy.execute("PRAGMA page_size").fetchone()[0] != database.page_bytes:
                # A live database keeps its page size, and takes only pages of that size.
                copy.execute(f"PRAGMA page_size = {database.page_bytes}")
                copy.execute("VACUUM")
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as source:
            source.backup(database.connection)
        database.connection.execute("PRAGMA journal_mode = WAL").fetchone()
        database.checkpoint()
