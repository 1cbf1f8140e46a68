"""The archive as its readers see it: sessions by id, their lines, and what lay beside them.

Everything here only reads; it works the same after the sources are gone.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ontoref.errors import OntorefError
from ontoref.state import companions, events, ledger, sessions, sources
from ontoref.state.database import Database
from ontoref.state.errors import NoSuchSession, SessionUnreadable
from ontoref.state.identify import INDEX
from ontoref.state.sessions import Session
from ontoref.state.store import State, is_of_runtime
from ontoref.transcript.source import Source

__all__ = [
    "Ambiguous",
    "ArchiveSide",
    "Session",
    "archived_path",
    "content",
    "find",
    "lines",
    "listing",
    "resolve",
    "source",
]

_LINES = "transcript_events"


class Ambiguous(OntorefError):
    """A text that more than one session begins with."""

    kind = "ambiguous"


def find(state: State, text: str) -> list[Session]:
    """Archived sessions that a text may mean: archive id, native id, or the beginning of either.

    Shape: exact hits shut out the others; sorted by id. The runtime that an archive id names is asked alone.
    """
    found = list(state.ask(lambda database: sessions.matching(database, text), _runtime_of(state, text)))
    exact = [session for session in found if text in (session.session_id, session.native_id)]
    return sorted(exact or found, key=lambda session: session.session_id)


def resolve(state: State, text: str) -> Session:
    """The one archived session that a text means.

    Errors: NoSuchSession; SessionUnreadable where a database that cannot be read may have it; Ambiguous naming the
            candidates. A path is no id.
    """
    found = find(state, text)
    whole = [session for session in found if session.session_id == text]
    if len(whole) == 1:
        return whole[0]
    if len(found) == 1:
        return found[0]
    runtime = _runtime_of(state, text)
    for agent_id, fault in state.left_out.items():
        if not found and is_of_runtime(agent_id, runtime):
            raise SessionUnreadable(text, agent_id, fault)
    if not found:
        raise NoSuchSession(f"no archived session is called {text!r}", hint="`ontoref transcript find` lists sessions")
    shown = ", ".join(session.session_id for session in found[:5])
    raise Ambiguous(f"{text!r} may be {len(found)} sessions: {shown}", hint="give more of the id")


def listing(state: State, *, project: str | None = None, limit: int | None = None) -> Iterator[Session]:
    """Archived sessions of all agents, the one that ended last first."""
    import heapq
    from itertools import islice

    def listed(database: Database) -> Iterator[Session]:
        return sessions.listing(database, project=project, limit=limit)

    each = [state.ask_one(agent_id, listed) for agent_id in state.agent_ids()]
    merged = heapq.merge(*each, key=lambda session: (session.ended_at, session.session_id), reverse=True)
    return merged if limit is None else islice(merged, limit)


def archived_path(state: State, path: str) -> Session | None:
    """The session that a source file is archived as, if it is."""
    control = state.control()
    row = ledger.get(control, os.path.realpath(path), _LINES) if control else None
    if row is None or row.session_id is None or row.status == "deleted":
        return None
    return _session(state, row.agent_id, row.session_id)


def lines(state: State, session: Session) -> Iterator[bytes]:
    """The lines of the source, each with its newline where it had one. Joined they are the source."""
    database = _database(state, session)
    stored = sessions.stored(database, session.session_id)
    if stored is None:
        return
    held = None
    for line in events.lines(database, stored.session_row):
        if held is not None:
            yield held + b"\n"
        held = line
    if held is not None:
        yield held + b"\n" if stored.ends_with_newline else held


def content(state: State, session: Session) -> bytes:
    """The whole source."""
    return b"".join(lines(state, session))


def source(state: State, session: Session) -> Source:
    """What a reader reads instead of the file."""
    path = _path_of(state, session)
    path = sources.name_of(path) if path else None
    return Source(
        name=(path or f"{session.native_id}.jsonl").replace(os.sep, "/"),
        lines=lines(state, session),
        side=ArchiveSide(state, session, os.path.dirname(path) if path else None),
        open=False,
    )


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file in the archive, read when its content is asked for."""

    sha256: str
    content: Callable[[], bytes | None]


@dataclass(frozen=True, slots=True)
class ArchiveSide:
    """Files beside an archived transcript, found by the places they were archived from."""

    state: State
    session: Session
    folder: str | None

    def read(self, name: str) -> bytes | None:
        """Content of one file; None if it was not archived."""
        if self.is_index(name):
            return self._index()
        kept = self._kept(name)
        return None if kept is None else kept.content()

    def digest(self, name: str) -> str | None:
        """The digest of what `read` gives, without reading it; None if that is None. The index has none."""
        kept = self._kept(name)
        return None if kept is None else kept.sha256

    def own_digest(self) -> str:
        """A digest of all files that are kept with the session itself."""
        database = _database(self.state, self.session)
        stored = sessions.stored(database, self.session.session_id)
        found = companions.artifacts(database, stored.session_row) if stored else []
        return hashlib.sha256(json.dumps([(one.name, one.sha256) for one in found]).encode()).hexdigest()

    def routes(self, native_id: str, keys: Iterable[str]) -> dict[str, Any]:
        """Entries of the index: those that lead to a session, and those of keys, as far as there are any."""
        database = _database(self.state, self.session)
        found = companions.routes_of(database, f"{self.session.runtime}:{native_id}")
        found += [route for key in keys if (route := companions.route(database, key)) is not None]
        return {route.session_key: json.loads(route.entry) for route in found}

    def is_index(self, name: str) -> bool:
        """Whether a name is that of the index of session keys, which is no file here."""
        return posixpath.basename(name) == INDEX and self.session.runtime == "openclaw"

    def is_own(self, name: str) -> bool:
        """Whether a file is kept with the session itself."""
        database = _database(self.state, self.session)
        stored = sessions.stored(database, self.session.session_id)
        return stored is not None and companions.artifact_digest(database, stored.session_row, name) is not None

    def _kept(self, name: str) -> _Kept | None:
        database = _database(self.state, self.session)
        stored = sessions.stored(database, self.session.session_id)
        own = companions.artifact_digest(database, stored.session_row, name) if stored else None
        if stored is not None and own is not None:
            return _Kept(own, partial(companions.artifact, database, stored.session_row, name))
        control = self.state.control()
        if self.folder is None or control is None:
            return None
        path = os.path.normpath(os.path.join(self.folder, *name.split("/")))
        for table in (_LINES, "tool_artifacts"):
            row = ledger.get(control, path, table)
            if row is not None and row.session_id and row.status != "deleted":
                return self._of_row(row, table)
        return None

    def names(self, folder: str) -> list[str]:
        """Names of the archived files and folders in a folder, sorted."""
        found = set()
        database = _database(self.state, self.session)
        stored = sessions.stored(database, self.session.session_id)
        prefix = f"{folder}/" if folder else ""
        if stored is not None:
            for artifact in companions.artifacts(database, stored.session_row):
                if artifact.name.startswith(prefix):
                    found.add(prefix + artifact.name[len(prefix) :].partition("/")[0])
        control = self.state.control()
        if self.folder is not None and control is not None:
            base = os.path.normpath(os.path.join(self.folder, *folder.split("/")))
            for row in ledger.located_in(control, base, os.sep):
                if row.session_id and row.status != "deleted":
                    name = row.source_path[len(base) :].lstrip(os.sep)
                    found.add(prefix + name.partition(os.sep)[0])
        return sorted(found)

    def _index(self) -> bytes | None:
        database = _database(self.state, self.session)
        routes = companions.routes(database)
        if not routes:
            return None
        return json.dumps({route.session_key: json.loads(route.entry) for route in routes}).encode()

    def _of_row(self, row: ledger.Row, table: str) -> _Kept | None:
        if table == _LINES:
            other = _session(self.state, row.agent_id, row.session_id or "")
            return _Kept(other.content_sha256, partial(content, self.state, other)) if other else None
        return next(self.state.ask_one(row.agent_id, partial(_artifacts_of, row)), None)


def _artifacts_of(row: ledger.Row, database: Database) -> Iterator[_Kept]:
    """The file that a source was kept as."""
    stored = sessions.stored(database, row.session_id or "")
    for artifact in companions.artifacts(database, stored.session_row) if stored else ():
        if row.sha256 == artifact.sha256 and row.source_path.replace(os.sep, "/").endswith("/" + artifact.name):
            assert stored is not None
            yield _Kept(artifact.sha256, partial(companions.artifact, database, stored.session_row, artifact.name))


def _session(state: State, agent_id: str, session_id: str) -> Session | None:
    """A session, as far as its agent's database can be read."""
    return next(state.ask_one(agent_id, lambda database: (sessions.get(database, session_id),)), None)


def _runtime_of(state: State, text: str) -> str | None:
    """The runtime that an archive id begins with, if there is an agent of it."""
    runtime, colon, _ = text.partition(":")
    return runtime if colon and state.agent_ids(runtime) else None


def _database(state: State, session: Session) -> Database:
    database = state.agent(session.agent_id)
    if database is None:
        raise NoSuchSession(f"the archive of {session.agent_id} is gone", hint="see `ontoref doctor`")
    return database


def _path_of(state: State, session: Session) -> str | None:
    control = state.control()
    if control is None:
        return None
    rows = ledger.claimants(control, session.agent_id, session.session_id, _LINES)
    return rows[0].source_path if rows else None
