"""What the commands over local state share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontoref.state import State
    from ontoref.state.sessions import Session

__all__ = ["duration", "moment", "moment_ms", "nothing_there", "opened", "session_row", "size"]

_TOLD: set[str] = set()


def opened(*, read_only: bool) -> State:
    """Local state; what a person should be told goes to stderr, once for each command."""
    from ontoref.state import State

    return State(read_only=read_only, warn=_warn)


def _warn(text: str) -> None:
    import click

    from ontoref.cli.output import tell

    # A server's threads have no command; there it is once for each process.
    context = click.get_current_context(silent=True)
    told = _TOLD if context is None else context.find_root().meta.setdefault("ontoref.told", set())
    if text not in told:
        told.add(text)
        tell(f"warning: {text}", warning={"kind": "state", "message": text, "location": None})


def nothing_there() -> bool:
    """Whether there is no local state, which is told: what looks after it does not make it."""
    import os

    from ontoref.cli.output import note
    from ontoref.state import default_layout

    if os.path.exists(default_layout().global_database):
        return False
    note("nothing is archived yet; `ontoref transcript import --all` begins")
    return True


def moment(milliseconds: int | None) -> str | None:
    """A time as data: RFC 3339 in UTC."""
    if milliseconds is None:
        return None
    from datetime import UTC, datetime

    try:
        found = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_ms(text: str, option: str) -> int:
    """What a person typed as a moment, in milliseconds since 1970. Errors: UsageError."""
    from datetime import UTC, datetime

    from ontoref.interaction.moments import parse_moment

    found = datetime.fromisoformat(parse_moment(text, datetime.now(UTC), option))
    return int(found.replace(tzinfo=UTC).timestamp() * 1000)


def size(size_bytes: int) -> str:
    """A size for people."""
    value = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return ""


def duration(seconds: float) -> str:
    """A time span for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def session_row(session: Session) -> dict[str, Any]:
    """A session as every listing of the archive prints it."""
    return {
        "id": session.session_id,
        "agent_id": session.agent_id,
        "runtime": session.runtime,
        "native_id": session.native_id,
        "project": session.project,
        "title": session.display_name,
        "model": session.model,
        "started_at": moment(session.started_at),
        "ended_at": moment(session.ended_at),
        "archived_at": moment(session.updated_at),
        "parent": session.parent_session_id,
        "session_key": session.session_key,
        "status": session.status,
        "lines": session.line_count,
        "bad_lines": session.bad_line_count,
        "size_bytes": session.size_bytes,
        "sha256": session.content_sha256,
    }
