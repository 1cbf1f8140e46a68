"""The registry: which agents have a database, and where."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ontoref.state.database import SCHEMA_VERSION, Database, now_ms
from ontoref.state.layout import Layout

__all__ = ["Registered", "clear", "forget", "note_seen", "path_of", "registered"]


@dataclass(frozen=True, slots=True)
class Registered:
    """One database of one agent. path is absolute; times are milliseconds since 1970."""

    agent_id: str
    path: str
    schema_version: int
    last_seen_at: int
    size_bytes: int

    @property
    def exists(self) -> bool:
        return os.path.exists(self.path)


def registered(database: Database, layout: Layout) -> list[Registered]:
    """Every row of the registry, by agent and then the one seen last first; vanished files included."""
    rows = database.all(
        "SELECT agent_id, path, schema_version, last_seen_at, size_bytes FROM agent_databases"
        " ORDER BY agent_id, last_seen_at DESC, path"
    )
    return [Registered(agent, layout.located(path), *rest) for agent, path, *rest in rows]


def path_of(database: Database, layout: Layout, agent_id: str) -> str:
    """Where an agent's database is: the registered one that exists and was seen last, else its usual place."""
    rows = database.all(
        "SELECT path FROM agent_databases WHERE agent_id = ? ORDER BY last_seen_at DESC, path", (agent_id,)
    )
    for (stored,) in rows:
        path = layout.located(stored)
        if os.path.exists(path):
            return path
    return layout.agent_database(agent_id)


def note_seen(database: Database, layout: Layout, agent_id: str, path: str) -> None:
    """Write down that an agent's database is at path, now."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    with database.transaction():
        database.execute(
            "INSERT INTO agent_databases (agent_id, path, schema_version, last_seen_at, size_bytes)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (agent_id, path) DO UPDATE SET"
            " schema_version = excluded.schema_version, size_bytes = excluded.size_bytes,"
            " last_seen_at = max(excluded.last_seen_at, last_seen_at)",
            (agent_id, layout.stored(path), SCHEMA_VERSION, now_ms(), size),
        )


def forget(database: Database, layout: Layout, path: str) -> None:
    """Take a path out of the registry."""
    with database.transaction():
        database.execute("DELETE FROM agent_databases WHERE path = ?", (layout.stored(path),))


def clear(database: Database) -> None:
    """Forget all agents, and which sources were imported into them."""
    with database.transaction():
        database.execute("DELETE FROM agent_databases")
        database.execute("DELETE FROM migration_sources WHERE status <> 'deleted'")
