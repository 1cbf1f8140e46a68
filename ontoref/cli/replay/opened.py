"""The session that a command names, and where its sub-agents' sessions are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ontoref.replay.archived import Archive
    from ontoref.replay.source import Source
    from ontoref.transcript.find import Found

__all__ = ["Opened", "archived", "live_files", "open_replay"]


class Opened(NamedTuple):
    """Shape: session_id is the archive id by which source knows the session."""

    source: Source
    session_id: str


def open_replay(given: str, runtime: str | None = None, store: str | None = None) -> Opened:
    """What an id, a file or - names. Errors: those of the resolver of sessions; UsageError."""
    from ontoref.replay.files import Files
    from ontoref.replay.source import Memory, Sources

    if store is not None:
        from ontoref.replay.duckdb_store import DuckStore

        kept = DuckStore(store)
        return Opened(kept, kept.resolve(given))
    from ontoref.cli.transcript.session import open_session

    session = open_session(given, runtime)
    files = Files(live_files)
    sources: Source = Sources(files, archived())
    if session.archived is not None:
        return Opened(sources, session.archived)
    if session.found is not None:
        files.add(session.found)
        return Opened(sources, session.found.id)
    transcript = session.read()
    events = list(transcript.events)
    name = f"{transcript.report.runtime}:{transcript.report.session.session_id}"
    return Opened(Sources(Memory({name: events}), sources), name)


def archived() -> Archive:
    """The archive's sessions, opened for each question."""
    from ontoref.cli.state.shared import opened
    from ontoref.replay.archived import Archive

    return Archive(lambda: opened(read_only=True))


def live_files() -> list[Found]:
    """All sessions of this machine, sub-agents' too."""
    from ontoref.cli.transcript.session import find_sessions

    return find_sessions(children=True)
