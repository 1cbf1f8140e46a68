"""Sessions out of the archive, for good.

First the tombstones in the ledger, then the rows: a process killed between the two leaves a session that is
still listed and can be deleted again, never one that an import brings back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from ontoref.state import leases, ledger, sessions
from ontoref.state.database import Database
from ontoref.state.faults import step
from ontoref.state.sessions import Session
from ontoref.state.store import State, is_of_runtime

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
        for row in state.ask(partial(_children, member.session_id), member.runtime):
            if row.session_id not in seen:
                seen.add(row.session_id)
                found.append(row)
    return found


def _children(session_id: str, database: Database) -> Iterator[Session]:
    for child in sessions.children(database, session_id):
        row = sessions.get(database, child)
        if row is not None:
            yield row


def older_than(state: State, moment_ms: int | None, project: str | None) -> Iterator[Session]:
    """Sessions that ended before a moment, of a project if one is given."""
    return state.ask(lambda database: sessions.listing(database, project=project, ended_before=moment_ms))


def delete(state: State, chosen: list[Session]) -> Deleted:
    """Delete sessions with everything derived from them, zeroing the bytes.

    Shape:  one whose database turns out to be damaged is left out.
    Errors: LeaseHeld if one of them is being imported now.
    """
    control = state.writable()
    owner = leases.this_process()
    gone, touched = [], set()
    with ExitStack() as stack:
        for session in chosen:
            for row in ledger.of_session(control, session.agent_id, session.session_id):
                if row.kind == "transcript":
                    stack.enter_context(leases.acquire(control, "import", row.source_path, owner=owner))
        for session in chosen:
            with state.sparing():
                database = state.writable_agent(session.agent_id)
                ledger.bury(control, session.agent_id, session.session_id, session.content_sha256, session.size_bytes)
                step("delete:buried")
                sessions.delete(database, session.session_id)
                gone.append(session.session_id)
                touched.add(session.agent_id)
                step("delete:deleted")
    return Deleted(tuple(gone), all([_wiped(state, agent_id) for agent_id in touched]))


def gone(state: State, text: str | None = None) -> set[str]:
    """Sessions that were deleted and are not there: those of that archive or native id, without one all.

    Shape: none of those that a database which cannot be read may have still.
    """
    control = state.control()
    buried = ledger.buried(control) if control is not None else set()
    if text is not None:
        buried = {one for one in buried if text in (one, one.partition(":")[2])}
    if not buried:
        return buried
    for runtime in {one.partition(":")[0] for one in buried}:
        own = {one for one in buried if one.partition(":")[0] == runtime}
        buried -= set(state.ask(partial(_those_in, own), runtime))
        if any(is_of_runtime(agent_id, runtime) for agent_id in state.left_out):
            buried -= own
    return buried


def _those_in(session_ids: set[str], database: Database) -> list[str]:
    return [one for one in session_ids if sessions.get(database, one) is not None]


def finish(state: State) -> bool:
    """Wipe what a deletion left that was killed before its end. False while a reader keeps old pages."""
    return all([_wiped(state, agent_id) for agent_id in state.agent_ids()])


def _wiped(state: State, agent_id: str) -> bool:
    """Get deleted bytes out of the WAL and of the file behind it."""

    def wipe(database: Database) -> Iterator[bool]:
        database.release_pages()
        yield database.checkpoint("TRUNCATE")
        step("delete:wiped")

    return all(list(state.ask_one(agent_id, wipe)))
