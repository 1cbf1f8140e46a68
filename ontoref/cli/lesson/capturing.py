"""Sessions and records into candidates, for the commands that bring them in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoref.lesson.contract import Record
    from ontoref.lesson.factory import OpenStore
    from ontoref.state import State
    from ontoref.state.archive import Session

__all__ = ["capture_insights", "capture_sessions"]


def capture_sessions(state: State, session_ids: Iterable[str], store: OpenStore, mode: str, now: str) -> int:
    """How many candidates wait that did not wait before, captured from archived sessions.

    Errors: StoreUnavailable. A session that cannot be read is warned of and costs no other.
    """
    from ontoref.interaction.project import nearest_project
    from ontoref.lesson.capture import Claim, Corrections, handle_claim
    from ontoref.lesson.errors import StoreUnavailable
    from ontoref.state import archive
    from ontoref.state.errors import FILE_AT_FAULT, SessionUnreadable
    from ontoref.vocabulary.load import load_table

    corrections = Corrections(load_table("corrections", project=nearest_project(os.getcwd()).root))
    before = len(store.list_pending_candidates())
    for session_id in session_ids:
        try:
            session = archive.resolve(state, session_id)
        except SessionUnreadable:
            continue
        # What a sub-agent is told is said by an agent, not by a person.
        if session.parent_session_id:
            continue
        scope = {"agent_id": session.agent_id}
        if session.project and len(session.project) <= 512:
            scope["workspace"] = session.project
        claim = Claim(session_id, session_id, scope, _entries(state, session))
        try:
            handle_claim(claim, mode=mode, store=store, corrections=corrections, now=now, ack=lambda status: None)
        except StoreUnavailable:
            raise
        except FILE_AT_FAULT as error:
            state.leave_out(error)
        except Exception:
            # It was warned of with its session. The archive has it, and `lesson capture` can try again.
            continue
    return len(store.list_pending_candidates()) - before


def _entries(state: State, session: Session) -> Iterator[Record]:
    from ontoref.lesson.capture import entries_of_events
    from ontoref.state import archive
    from ontoref.transcript.reader import read_source

    yield from entries_of_events(read_source(archive.source(state, session), session.runtime).events)


def capture_insights(store: OpenStore, now: str) -> int:
    """How many insights of the project's interaction records are candidates now that were none before."""
    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.lookup import matching
    from ontoref.interaction.project import nearest_project
    from ontoref.interaction.search import Needle
    from ontoref.lesson.capture import insights_of
    from ontoref.vocabulary.load import load_table

    project = nearest_project(os.getcwd())
    folder = project.log_folder(project.settings)
    if not os.path.isdir(folder):
        return 0
    actors = load_table("runtimes").get("actors", {})
    runtimes = {actor: runtime for runtime, actor in actors.items()}
    count = 0
    for record in matching([Needle.of_key("insights")], log_paths([folder])):
        scope = {"agent_id": runtimes.get(record.get("actor"), "main")}
        if len(project.root) <= 512:
            scope["workspace"] = project.root
        for candidate in insights_of(record, scope, now):
            count += store.get_candidate(candidate["id"]) is None
            store.upsert_candidate(candidate)
    return count
