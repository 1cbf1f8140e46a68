"""Both tiers of local state together: the global database and those of the agents, opened when needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ontoref.state import registry
from ontoref.state.database import Database
from ontoref.state.errors import FILE_AT_FAULT, SessionUnreadable, StateError
from ontoref.state.layout import Layout, agent_id_of, default_layout
from ontoref.state.opening import make_private_dirs, open_reader, open_writer

__all__ = ["State", "is_of_runtime"]

T = TypeVar("T")


class State:
    """The databases below one state directory.

    Shape:  read_only opens `mode=ro`, creates nothing, and finds nothing where nothing is. warn is told at once what
            a person should know and what stops nothing. left_out has the agents whose database cannot be read, each
            with the reason: whoever asks all agents goes on without them, and this State opens them no more.
    Errors: those of ontoref.state.opening; of an agent's database where that agent alone is asked.
    """

    __slots__ = ("_agents", "_global", "_places", "layout", "left_out", "read_only", "warn")

    def __init__(
        self, layout: Layout | None = None, *, read_only: bool, warn: Callable[[str], None] = lambda text: None
    ) -> None:
        self.layout = layout or default_layout()
        self.read_only = read_only
        self._global: Database | None = None
        self._agents: dict[str, Database] = {}
        self._places: dict[str, str] = {}
        self.left_out: dict[str, StateError] = {}
        self.warn = warn

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
                    self.warn(f"{self.layout.root} stays open to other users of this machine")
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
        if (fault := self.left_out.get(agent_id)) is not None:
            raise type(fault)(fault.message, hint=fault.hint, location=fault.location)
        if agent_id in self._agents:
            return self._agents[agent_id]
        control = self.control()
        if control is None:
            return None
        path = registry.path_of(control, self.layout, agent_id)
        self._places[path] = agent_id
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

    def agent_ids(self, runtime: str | None = None) -> list[str]:
        """Agents of the registry whose database is there, sorted; those of a runtime. The folders are never scanned."""
        control = self.control()
        if control is None:
            return []
        rows = registry.registered(control, self.layout)
        return sorted({row.agent_id for row in rows if row.exists and is_of_runtime(row.agent_id, runtime)})

    def agents(self, runtime: str | None = None) -> Iterator[Database]:
        """The databases of those agents, one after the other; a bad one is left out."""
        return self.ask(lambda database: (database,), runtime)

    def ask(self, question: Callable[[Database], Iterable[T]], runtime: str | None = None) -> Iterator[T]:
        """What the agents' databases answer, one after the other; a bad one is left out."""
        for agent_id in self.agent_ids(runtime):
            yield from self.ask_one(agent_id, question)

    def ask_one(self, agent_id: str, question: Callable[[Database], Iterable[T]]) -> Iterator[T]:
        """What an agent's database answers; nothing, or as much as it could read, from one that is left out."""
        if agent_id in self.left_out:
            return
        with self.sparing():
            database = self.agent(agent_id)
            if database is not None:
                yield from question(database)

    @contextlib.contextmanager
    def sparing(self) -> Iterator[None]:
        """What fails inside because one agent's database cannot be read leaves that agent out, and is no error.

        Errors: all others, those of the global database among them.
        """
        try:
            yield
        except FILE_AT_FAULT as error:
            if not self.leave_out(error):
                raise

    def leave_out(self, error: StateError) -> bool:
        """Leave out the agent whose database an error is about, and warn of it once. False if it is no agent's."""
        agent_id = self._places.get(error.location or "")
        if agent_id is None:
            return False
        if agent_id not in self.left_out:
            fault = error.fault if isinstance(error, SessionUnreadable) else error
            self.left_out[agent_id] = fault
            self.warn(f"{agent_id} is left out, its database cannot be read: {fault}; see `ontoref doctor`")
        return True


def is_of_runtime(agent_id: str, runtime: str | None) -> bool:
    """Whether an agent is one of a runtime's; None is any."""
    return runtime is None or agent_id == runtime or agent_id.startswith(f"{runtime}-")


def _closed_to_others(root: str) -> bool:
    """Take the rights of others from the folder; whether they are gone."""
    if os.stat(root).st_mode & 0o077:
        with contextlib.suppress(OSError):
            os.chmod(root, 0o700)
    return os.name == "nt" or not os.stat(root).st_mode & 0o077
