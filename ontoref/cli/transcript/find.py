"""`ontoref transcript find`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ontoref.cli.listing import Column, Field, Listing, ListOptions, list_command


def _fields() -> Sequence[Field]:
    from ontoref.transcript import READERS

    return (
        Field("id"),
        Field("runtime", words=tuple(READERS)),
        *map(Field, ("session", "project", "model", "parent", "path")),
        Field("size_bytes", "integer"),
        Field("archived", "boolean"),
        *(Field(name, "time") for name in ("started", "modified")),
        Field("title", "prose"),
    )


def _archived(row: Mapping[str, Any]) -> str:
    return ("only copy" if row["path"] is None else "yes") if row["archived"] else ""


def _started(row: Mapping[str, Any]) -> str | None:
    started = row["started"]
    return started[:16].replace("T", " ") if isinstance(started, str) else None


def _size(row: Mapping[str, Any]) -> str | None:
    from ontoref.cli.state.shared import size

    return size(row["size_bytes"]) if isinstance(row["size_bytes"], int) else None


FOUND = Listing(
    "session",
    "sessions",
    (
        *map(Column, ("runtime", "session", "project")),
        Column("started", show=_started),
        Column("size_bytes", "size", _size),
        Column("archived", show=_archived),
    ),
    _fields,
    time="modified",
)


@list_command(FOUND)
def find(
    options: ListOptions,
    runtime: Annotated[list[str] | None, typer.Option(help="Only this runtime; may be repeated.")] = None,
    root: Annotated[str | None, typer.Option(help="Search this folder instead of the runtimes' own.")] = None,
    children: Annotated[bool, typer.Option("--children", help="Sub-agents' sessions too.")] = False,
) -> int:
    """List the sessions of agents on this machine, newest first.

    Only the first lines of each file are read. Sessions that only the archive has left stand among them.
    With --root any folder is searched instead, say a backup. --since and --until ask when a session was last
    written; a --where that names parent looks at sub-agents' sessions too. Exit 1 if a database of the archive
    cannot be read; its agent is left out.

    \b
    Example:
      ontoref transcript find --runtime codex --limit 5
      ontoref transcript find --where archived=false --since 30d --sort size --reverse
      ontoref transcript find --format json | jq -r '.[].id'
    """
    from ontoref.cli.listed import Narrowing
    from ontoref.cli.state.shared import opened
    from ontoref.cli.transcript.archived import with_archive
    from ontoref.cli.transcript.session import find_sessions
    from ontoref.transcript.draft import timestamp

    wanted = Narrowing(options, FOUND)
    children = children or "parent" in wanted.asked
    live = find_sessions(runtime, root, children=children)
    with opened(read_only=True) as state:
        sessions = with_archive(state, live, runtime, alone=root is None, children=children)
    rows = [
        {
            "id": session.id,
            "runtime": session.runtime,
            "session": session.session_id,
            "project": session.project,
            "started": timestamp(session.started),
            "modified": timestamp(session.modified),
            "size_bytes": session.size_bytes,
            "title": session.title,
            "model": session.model,
            "parent": session.parent,
            "path": session.path or None,
            "archived": archived,
        }
        for session, archived in sessions
    ]
    nothing = f"no sessions below {root}" if root else "no sessions of any runtime on this machine"
    wanted.emit(rows, whole=True, empty=nothing)
    return 1 if state.left_out else 0
