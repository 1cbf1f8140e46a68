"""All that the archive holds of one session, counted."""

from __future__ import annotations

from typing import Any

from ontoref.state import companions, events, ledger, sessions
from ontoref.state.sessions import Session
from ontoref.state.store import State

__all__ = ["overview"]


def overview(state: State, session: Session) -> dict[str, Any]:
    """Where it came from, its sub-agents, files and run trace, and which sessions repeat its events."""
    database = state.agent(session.agent_id)
    stored = sessions.stored(database, session.session_id) if database else None
    if database is None or stored is None:
        return {}
    control = state.control()
    sources = ledger.of_session(control, session.agent_id, session.session_id) if control else []
    return {
        "sources": [row.source_path for row in sources if row.kind == "transcript"],
        "children": sorted(state.ask(lambda other: sessions.children(other, session.session_id), session.runtime)),
        "files": [
            {"name": file.name, "kind": file.kind, "size_bytes": file.size_bytes}
            for file in companions.artifacts(database, stored.session_row)
        ],
        "trajectory_lines": len(companions.trajectory(database, stored.session_row)),
        "repeated_in": [{"id": name, "events": count} for name, count in events.copies(database, session.session_id)],
    }
