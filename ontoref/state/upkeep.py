"""Keeping local state small and sound: sizes, integrity, expired rows, vacuum, reset."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from ontoref.errors import OntorefError
from ontoref.state import cache, leases, registry, sessions
from ontoref.state.database import companions, now_ms
from ontoref.state.errors import DatabaseRefused
from ontoref.state.layout import Layout
from ontoref.state.opening import open_reader
from ontoref.state.store import State

__all__ = [
    "Checked",
    "Place",
    "Size",
    "check",
    "databases",
    "expire",
    "loose_files",
    "old_archives",
    "remove_archive",
    "reset",
    "sizes",
    "strays",
    "vacuum",
    "wal_bytes",
]


@dataclass(frozen=True, slots=True)
class Place:
    """A database file that is registered. agent_id is None for the global one."""

    agent_id: str | None
    path: str


@dataclass(frozen=True, slots=True)
class Size:
    """What a database holds; sessions, lines and source_bytes are None where it cannot be read, and problem says why.

    Units: sizes in bytes, wal_bytes of the file beside it.
    """

    agent_id: str | None
    path: str
    size_bytes: int
    wal_bytes: int
    sessions: int | None
    lines: int | None
    source_bytes: int | None
    last_seen_at: int | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What SQLite says of a database: problems is empty if it is whole."""

    agent_id: str | None
    path: str
    problems: tuple[str, ...]
    journal_mode: str | None = None
    user_version: int | None = None
    # What to do about a file that is sound and cannot be used.
    hint: str | None = None


def databases(state: State) -> list[Place]:
    """Every registered database whose file is there, the global one first."""
    if not os.path.exists(state.layout.global_database):
        return []
    found = [Place(None, state.layout.global_database)]
    control = state.control()
    if control is not None:
        rows = registry.registered(control, state.layout)
        found += [Place(row.agent_id, row.path) for row in rows if row.exists]
    return found


def strays(state: State) -> list[tuple[str, str]]:
    """Agent databases at their usual places that the registry does not know: (agent id, path)."""
    control = state.control()
    known = {row.path for row in registry.registered(control, state.layout)} if control else set()
    found = []
    base = os.path.join(state.layout.root, "agents")
    for agent_id in sorted(os.listdir(base)) if os.path.isdir(base) else []:
        try:
            path = state.layout.agent_database(agent_id)
        except OntorefError:
            continue
        if os.path.exists(path) and path not in known:
            found.append((agent_id, path))
    return found


def sizes(state: State) -> list[Size]:
    """What each database holds."""
    seen = {}
    control = state.control()
    if control is not None:
        seen = {row.path: row.last_seen_at for row in registry.registered(control, state.layout)}
    found = []
    for place in databases(state):
        counts: tuple[int | None, int | None, int | None] = (0, 0, 0)
        problem = None
        if place.agent_id is not None:
            unknown = (None, None, None)
            counts = next(state.ask_one(place.agent_id, lambda database: (sessions.count(database),)), unknown)
            fault = state.left_out.get(place.agent_id)
            problem = None if fault is None else fault.message
        size, wal = os.path.getsize(place.path), wal_bytes(place.path)
        found.append(Size(place.agent_id, place.path, size, wal, *counts, seen.get(place.path), problem))
    return found


def wal_bytes(path: str) -> int:
    """The size of the WAL beside a database; 0 if there is none."""
    wal = companions(path)[0]
    return os.path.getsize(wal) if os.path.exists(wal) else 0


def check(state: State) -> Iterator[Checked]:
    """integrity_check and foreign_key_check of each database; one that cannot be opened is a problem."""
    control_path = state.layout.global_database
    if not os.path.exists(control_path):
        return
    try:
        places = databases(state)
    except OntorefError:
        places = [Place(None, control_path)]
    for place in places:
        try:
            opened = open_reader(place.path, "agent" if place.agent_id else "global", place.agent_id)
            if opened is None:
                continue
            with opened as database:
                yield Checked(
                    place.agent_id,
                    place.path,
                    tuple(database.integrity()),
                    str((database.one("PRAGMA journal_mode") or ("",))[0]),
                    int((database.one("PRAGMA user_version") or (0,))[0]),
                )
        except OntorefError as error:
            hint = error.hint if isinstance(error, DatabaseRefused) else None
            yield Checked(place.agent_id, place.path, (error.message,), hint=hint)


def expire(state: State, *, now: int | None = None) -> int:
    """Delete cache entries whose time is over. How many."""
    moment = now_ms() if now is None else now
    return sum(state.ask(lambda database: (cache.expire(database, moment),)))


def vacuum(state: State) -> Iterator[tuple[Place, int, int]]:
    """Rewrite each database without its free pages: (place, size before, size after)."""
    for place in databases(state):
        before = os.path.getsize(place.path)
        with state.sparing():
            database = state.writable() if place.agent_id is None else state.writable_agent(place.agent_id)
            database.vacuum()
            yield place, before, os.path.getsize(place.path)


def reset(state: State) -> list[str]:
    """Delete every agent database with the files beside it, and what the global one knows of them.

    Shape:  the paths that went. Lessons and the list of backups stay.
    Errors: LeaseHeld while another process works.
    """
    control = state.writable()
    gone = []
    with leases.acquire(control, leases.EXCLUSIVE_SCOPE, owner=leases.this_process(), attempts=1):
        rows = registry.registered(control, state.layout)
        state.close_agents()
        for row in rows:
            for path in (row.path, *companions(row.path)):
                if os.path.exists(path):
                    os.unlink(path)
                    gone.append(path)
            with contextlib.suppress(OSError):
                os.removedirs(os.path.dirname(row.path))
        registry.clear(control)
    return gone


def old_archives(layout: Layout, keep: int) -> list[str]:
    """Safety archives except the newest few, oldest first. Their names begin with their time."""
    try:
        names = sorted(name for name in os.listdir(layout.safety_archives) if name.endswith(".tar.gz"))
    except OSError:
        return []
    return [os.path.join(layout.safety_archives, name) for name in names[: max(0, len(names) - keep)]]


def remove_archive(path: str) -> None:
    """Delete a safety archive."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def loose_files(state: State) -> list[str]:
    """Files and folders of ours that other users may read."""
    if os.name == "nt":
        return []
    found = []
    places = [state.layout.root]
    for place in databases(state):
        places += [os.path.dirname(place.path), place.path, *companions(place.path)]
    for path in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
                found.append(path)
    return found
