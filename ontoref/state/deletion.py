"""Sessions out of the archive, for good.

First the tombstones in the ledger, then the rows: a process killed between the two leaves a session that is
still listed and can be deleted again, never one that an import brings back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from ontoref.state import leases, ledger, sessions
from ontoref.state.database import Database
from ontoref.state.faults import step
from ontoref.state.sessions import Session
from ontoref.state.store import State

__all__ = ["Deleted", "delete", "family", "finish", "gone", "older_than"]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went. wiped is false while a reader keeps old pages in the WAL; `state vacuum` removes them."""

    session_ids: tuple[str, ...]
    wiped: bool


def family(state: State, session: Session) -> list[Session]:
    """The session and all that it delegated to, parents first."""
    found = [session]
    seen = {session.session_id}
    for member in found:
        for database in state.agents():
            for child in sessions.children(database, member.session_id):
                row = None if child in seen else sessions.get(database, child)
                if row is not None:
                    seen.add(child)
                    found.append(row)
    return found


def older_than(state: State, moment_ms: int | None, project: str | None) -> Iterator[Session]:
    """Sessions that ended before a moment, of a project if one is given."""
    for database in state.agents():
        yield from sessions.listing(database, project=project, ended_before=moment_ms)


def delete(state: State, chosen: list[Session]) -> Deleted:
    """Delete sessions with everything derived from them, zeroing the bytes.

    Errors: LeaseHeld if one of them is being imported now.
    """
    control = state.writable()
    owner = leases.this_process()
    touched = {}
    with ExitStack() as stack:
        for session in chosen:
            for row in ledger.of_session(control, session.agent_id, session.session_id):
                if row.kind == "transcript":
                    stack.enter_context(leases.acquire(control, "import", row.source_path, owner=owner))
        for session in chosen:
            ledger.bury(control, session.agent_id, session.session_id, session.content_sha256, session.size_bytes)
            step("delete:buried")
            database = state.writable_agent(session.agent_id)
            sessions.delete(database, session.session_id)
            touched[session.agent_id] = database
            step("delete:deleted")
    return Deleted(tuple(session.session_id for session in chosen), _wipe(touched.values()))


def gone(state: State, text: str | None = None) -> set[str]:
    """Sessions that were deleted and are not there: those of that archive or native id, without one all."""
    control = state.control()
    buried = ledger.buried(control) if control is not None else set()
    if text is not None:
        buried = {one for one in buried if text in (one, one.partition(":")[2])}
    if not buried:
        return buried
    there = {one for database in state.agents() for one in buried if sessions.get(database, one) is not None}
    return buried - there


def finish(state: State) -> bool:
    """Wipe what a deletion left that was killed before its end. False while a reader keeps old pages."""
    return _wipe(state.agents())


def _wipe(databases: Iterable[Database]) -> bool:
    """Get deleted bytes out of the WAL and of the file behind it."""
    wiped = True
    for database in databases:
        database.release_pages()
        wiped = database.checkpoint("TRUNCATE") and wiped
        step("delete:wiped")
    return wiped
