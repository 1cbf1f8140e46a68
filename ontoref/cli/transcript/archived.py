"""The archive beside what lies on this machine, for listings of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoref.state import State
    from ontoref.transcript.find import Found

__all__ = ["with_archive"]


def with_archive(
    state: State, live: list[Found], runtimes: list[str] | None, *, alone: bool, children: bool
) -> list[tuple[Found, bool]]:
    """Sessions, newest first, each with whether it is archived.

    Shape: alone adds those that only the archive has left; their path is "". Agents whose database cannot be read
           are in state.left_out then.
    """
    from ontoref.state import archive
    from ontoref.transcript.find import Found

    marked = []
    known = set()
    for one in live:
        name = f"{one.path}#{one.session_id}" if one.store else one.path
        kept = archive.archived_path(state, name)
        marked.append((one, kept is not None))
        known.add(kept.session_id if kept else one.id)
    if not alone:
        return marked
    for row in archive.listing(state):
        if row.session_id in known or (runtimes and row.runtime not in runtimes):
            continue
        if row.parent_session_id and not children:
            continue
        session_id = row.session_id.removeprefix(f"{row.runtime}:")
        started = row.started_at / 1000 if row.started_at is not None else None
        parent = row.parent_session_id.removeprefix(f"{row.runtime}:") if row.parent_session_id else None
        only = Found(
            row.runtime,
            session_id,
            row.native_id,
            "",
            row.project,
            started,
            row.ended_at / 1000,
            row.size_bytes,
            row.display_name,
            row.model,
            parent,
        )
        marked.append((only, True))
    return sorted(marked, key=lambda pair: -(pair[0].started or pair[0].modified))
