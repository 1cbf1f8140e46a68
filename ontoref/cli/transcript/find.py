"""`ontoref transcript find`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ontoref.cli.output import Format, emit, note

COLUMNS = ("runtime", "session", "project", "started", "size", "archived")


def find(
    runtime: Annotated[list[str] | None, typer.Option(help="Only this runtime; may be repeated.")] = None,
    root: Annotated[str | None, typer.Option(help="Search this folder instead of the runtimes' own.")] = None,
    children: Annotated[bool, typer.Option("--children", help="Sub-agents' sessions too.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0 for all.")] = 0,
    form: Annotated[Format, typer.Option("--format", help="How to print them.")] = Format.table,
) -> None:
    """List the sessions of agents on this machine, newest first.

    Only the first lines of each file are read. Sessions that only the archive has left stand among them.
    With --root any folder is searched instead, say a backup.

    \b
    Example:
      ontoref transcript find --runtime codex --limit 5
      ontoref transcript find --format json | jq -r '.[].id'
    """
    from ontoref.cli.transcript.archived import with_archive
    from ontoref.cli.transcript.session import find_sessions
    from ontoref.transcript.draft import timestamp

    live = find_sessions(runtime, root, children=children)
    sessions = with_archive(live, runtime, alone=root is None, children=children)
    shown = sessions[:limit] if limit else sessions
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
        for session, archived in shown
    ]
    if form in (Format.table, Format.markdown):
        emit([row | _for_people(row) for row in rows], form, columns=COLUMNS)
        note(_count(len(sessions), len(shown), root))
    else:
        emit(rows, form, columns=("id", "runtime", "session", "project", "started", "size_bytes", "path", "archived"))


def _for_people(row: Mapping[str, object]) -> dict[str, object]:
    started = row["started"]
    size = row["size_bytes"]
    return {
        "archived": {(True, False): "yes", (True, True): "only copy", (False, False): ""}[
            bool(row["archived"]), row["path"] is None
        ],
        "started": started[:16].replace("T", " ") if isinstance(started, str) else None,
        "size": _size(size) if isinstance(size, int) else None,
    }


def _size(size_bytes: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size_bytes < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" or size_bytes >= 10 else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} GB"


def _count(all_of_them: int, shown: int, root: str | None) -> str:
    if not all_of_them:
        return f"no sessions below {root}" if root else "no sessions of any runtime on this machine"
    some = f"{shown} of {all_of_them}" if shown < all_of_them else str(all_of_them)
    return f"{some} session{'' if all_of_them == 1 else 's'}"
