"""Both tiers of local state together: the global database and those of the agents, opened when needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ontoref.state import registry
from ontoref.state.database import Database
from ontoref.state.layout import Layout, agent_id_of, default_layout
from ontoref.state.opening import make_private_dirs, open_reader, open_writer

__all__ = ["State"]


class State:
    """The databases below one state directory.

    Shape:  read_only opens `mode=ro`, creates nothing, and finds nothing where nothing is.
    Errors: those of ontoref.state.opening. warnings holds what a person should be told and stops nothing.
    """

    __slots__ = ("_agents", "_global", "layout", "read_only", "warnings")

    def __init__(self, layout: Layout | None = None, *, read_only: bool) -> None:
        self.layout = layout or default_layout()
        self.read_only = read_only
        self._global: Database | None = None
        self._agents: dict[str, Database] = {}
        self.warnings: list[str] = []

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every handle."""
        for database in (*self._agents.values(), self._global):
            if database is not None:
                database.close()
        self._agents.clear()
        self._global = None

    def close_agents(self) -> None:
        """Close the handles of the agents' databases."""
        for database in self._agents.values():
            database.close()
        self._agents.clear()

    def control(self) -> Database | None:
        """The global database; None only for a reader where there is none."""
        if self._global is None:
            path = self.layout.global_database
            if self.read_only:
                self._global = open_reader(path, "global")
            else:
                make_private_dirs(self.layout.root)
                if not _closed_to_others(self.layout.root):
                    self.warnings.append(f"{self.layout.root} stays open to other users of this machine")
                self._global = open_writer(path, "global")
        return self._global

    def writable(self) -> Database:
        """The global database for writing."""
        database = self.control()
        assert database is not None
        return database

    def agent(self, agent_id: str) -> Database | None:
        """The database of an agent, made and registered on demand; None only for a reader where there is none."""
        agent_id = agent_id_of(agent_id)
        if agent_id in self._agents:
            return self._agents[agent_id]
        control = self.control()
        if control is None:
            return None
        path = registry.path_of(control, self.layout, agent_id)
        if self.read_only:
            database = open_reader(path, "agent", agent_id)
        else:
            database = open_writer(path, "agent", agent_id)
            registry.note_seen(control, self.layout, agent_id, path)
        if database is not None:
            self._agents[agent_id] = database
        return database

    def writable_agent(self, agent_id: str) -> Database:
        """The database of an agent for writing."""
        database = self.agent(agent_id)
        assert database is not None
        return database

    def agent_ids(self) -> list[str]:
        """Agents of the registry whose database is there, sorted. The folders are never scanned."""
        control = self.control()
        if control is None:
            return []
        return sorted({row.agent_id for row in registry.registered(control, self.layout) if row.exists})

    def agents(self) -> Iterator[Database]:
        """The databases of those agents, one after the other."""
        for agent_id in self.agent_ids():
            database = self.agent(agent_id)
            if database is not None:
                yield database


def _closed_to_others(root: str) -> bool:
    """Take the rights of others from the folder; whether they are gone."""
    if os.stat(root).st_mode & 0o077:
        with contextlib.suppress(OSError):
            os.chmod(root, 0o700)
    return os.name == "nt" or not os.stat(root).st_mode & 0o077
