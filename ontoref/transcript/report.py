"""What a transcript holds beside its events: the session's identity and every line that is no event."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Child", "Place", "Places", "Report", "SessionInfo"]

# A file of a gigabyte may be nothing but bad lines; the count stays exact, the list does not grow with it.
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One line and what is said of it. Units: line_number is 1-based."""

    line_number: int
    what: str


@dataclass(slots=True)
class Places:
    """Lines of one sort: how many there were, and the first thousand of them."""

    count: int = 0
    kept: list[Place] = field(default_factory=list)

    def add(self, line_number: int, what: str) -> None:
        self.count += 1
        if len(self.kept) < _KEPT:
            self.kept.append(Place(line_number, what))


@dataclass(slots=True)
class Child:
    """A session that this one delegated to.

    Shape: session_id as the child's own events have it, None while nothing joins the two; span_id is the
           spawn's; path is relative to the folder of the parent's transcript, where a file is known.
    """

    session_id: str | None
    span_id: str | None = None
    tool_use_id: str | None = None
    session_key: str | None = None
    path: str | None = None
    label: str | None = None
    status: str | None = None


@dataclass(slots=True)
class SessionInfo:
    """Whose transcript it is. Complete once the events are read to their end.

    Shape: session_id is what the events carry; f"{runtime}:{session_id}" is the id in the archive. native_id
           is the id in the runtime's own words (a sub-agent of Claude Code: `agent-<id>`), session_key
           OpenClaw's key, agent its agent, parent_session_id the delegating session.
    Units: started and ended are seconds since 1970, of the first and the last line that has a time.
    """

    runtime: str
    session_id: str
    native_id: str
    cwd: str | None = None
    model: str | None = None
    provider: str | None = None
    version: str | None = None
    title: str | None = None
    branch: str | None = None
    agent: str | None = None
    session_key: str | None = None
    parent_session_id: str | None = None
    source: str | None = None
    started: float | None = None
    ended: float | None = None
    children: list[Child] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """What reading found. It fills while the events are consumed and is complete at their end.

    Shape: lines counts every piece between line ends, blank ones too; bad lines are no JSON object where one
           must stand, unknown ones are sound but of a type that the reader does not know, notes are remarks
           (a missing parent, a companion that could not be read); counters are the runtime's own numbers:
           native line types, `sidechain`, `user` and `meta` for texts that are no event. apart names what
           the file is when it is no transcript (an index, a trajectory): it has lines and no events. asked are
           the session keys that were looked up in the runtime's own index.
    Units: pending is the size in bytes of an unterminated last piece that is no whole record, else None; large
           is the number of the last very long line.
    """

    path: str
    runtime: str
    session: SessionInfo
    lines: int = 0
    blank: int = 0
    pending: int | None = None
    large: int = 0
    apart: str | None = None
    bad: Places = field(default_factory=Places)
    unknown: Places = field(default_factory=Places)
    notes: Places = field(default_factory=Places)
    counters: dict[str, int] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def count(self, name: str, by: int = 1) -> None:
        self.counters[name] = self.counters.get(name, 0) + by
