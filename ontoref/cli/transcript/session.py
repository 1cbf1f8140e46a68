"""The one resolver of every transcript command: an id or a file into a session that can be read."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoref.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ontoref.replay.statistics import Statistics
    from ontoref.state import State
    from ontoref.transcript import Report, Transcript
    from ontoref.transcript.find import Found
    from ontoref.transcript.stats import Stats

__all__ = ["Session", "find_sessions", "open_session"]


# What was told already.
_told: set[str] = set()


@dataclass(frozen=True, slots=True)
class Session:
    """A session that can be read, more than once unless it is stdin.

    Shape: found is what is known without reading it, None for stdin and for files that no runtime claims; path
           is None for stdin and for a session that only the archive has, which archived then names.
    """

    path: str | None
    runtime: str | None
    found: Found | None = None
    lines: Iterable[bytes] = ()
    archived: str | None = None

    def read(self) -> Transcript:
        """Its events and report. Errors: as `ontoref.transcript.read`."""
        from ontoref.transcript import Memory, Source, read, read_source
        from ontoref.transcript.find import read_stored
        from ontoref.transcript.reader import detect, head_of

        if self.archived is not None:
            return _read_archived(self.archived)
        if self.found is not None and self.found.store:
            return read_stored(self.found)
        if self.path is not None:
            return read(self.path, self.runtime)
        runtime = self.runtime or detect(head_of("-", self.lines), "-")
        return read_source(Source("-", self.lines, Memory()), runtime)

    def counted(self) -> tuple[Stats, Report]:
        """Its counts, and what its lines tell beside events. Errors: as `read`."""
        from ontoref.transcript.stats import count

        found = None if self.archived is None else _kept_statistics(self.archived)
        if found is not None:
            return found.stats, found.report
        transcript = self.read()
        return count(transcript), transcript.report

    def raw(self) -> Iterable[bytes]:
        """Its lines as its runtime wrote them. Errors: as `read`."""
        from ontoref.transcript.find import STORES
        from ontoref.transcript.source import lines_of

        if self.found is not None and self.found.store:
            rows = STORES[self.found.runtime].lines(self.found.path, self.found.session_id)
            return (row for row in rows if row is not None)
        return self.lines if self.path is None else lines_of(self.path)


def find_sessions(runtimes: list[str] | None = None, root: str | None = None, *, children: bool = False) -> list[Found]:
    """Sessions on this machine, newest first. Errors: UsageError for a runtime or a folder that is none."""
    from ontoref.transcript.find import LAYOUTS, find

    for name in runtimes or ():
        if name not in LAYOUTS:
            raise UsageError(f"no runtime is named {name!r}", hint=f"known: {', '.join(LAYOUTS)}")
    if root is not None and not os.path.isdir(root):
        raise UsageError("there is no such folder", location=root, hint="name a folder to search")
    home = os.path.expanduser("~")
    return find(os.environ, home, runtimes=runtimes or (), root=root, children=children, unread=_tell)


def _tell(path: str, why: str) -> None:
    """Warn of what cannot be looked into, once: a server searches again and again."""
    from ontoref.cli.output import note

    if path not in _told:
        _told.add(path)
        note(f"warning: {path}: {why}")


def open_session(given: str, runtime: str | None = None, root: str | None = None) -> Session:
    """The session that a file (`-`: stdin), an archive id, a native id or a unique beginning of one names.

    Errors: UnknownSession, AmbiguousSession, TranscriptError, UsageError.
    """
    from ontoref.transcript.find import UnknownSession, resolve

    if given == "-":
        return Session(None, runtime, None, tuple(sys.stdin.buffer))
    if os.path.isdir(given):
        raise UsageError("this is a folder, not a session", location=given, hint="ontoref transcript find --root DIR")
    if os.path.isfile(given):
        return _file(given, runtime)
    if os.path.exists(given):
        # A pipe, as the shell makes of <(zcat old.jsonl.gz), can be read once, like stdin.
        with open(given, "rb") as pipe:
            return Session(None, runtime, None, tuple(pipe))
    name, _, session = given.rpartition("#")
    if name and os.path.isfile(name):
        return _file(name, runtime, session)
    if _looks_like_a_path(given):
        raise UsageError("there is no such file", location=given)
    kinds = [runtime] if runtime else None
    try:
        found = resolve(given, find_sessions(kinds, root, children=True))
    except UnknownSession:
        kept = _archived(given, runtime)
        if kept is None:
            raise
        return kept
    return Session(found.path, found.runtime, found)


def _archived(given: str, runtime: str | None) -> Session | None:
    """The session that only the archive has, None if it has none by that name. Errors: Ambiguous."""
    from ontoref.state import archive
    from ontoref.state.errors import NoSuchSession

    try:
        kept = archive.resolve(_state(), given)
    except NoSuchSession:
        return None
    if runtime is not None and runtime != kept.runtime:
        return None
    return Session(None, kept.runtime, None, _ArchivedLines(kept.session_id), kept.session_id)


@dataclass(frozen=True, slots=True)
class _ArchivedLines:
    """Lines of an archived session, as often as they are asked for."""

    session_id: str

    def __iter__(self) -> Iterator[bytes]:
        from ontoref.state import archive

        state = _state()
        return archive.lines(state, archive.resolve(state, self.session_id))


def _read_archived(session_id: str) -> Transcript:
    from ontoref.state import archive
    from ontoref.transcript.reader import read_source

    state = _state()
    kept = archive.resolve(state, session_id)
    return read_source(archive.source(state, kept), kept.runtime)


def _kept_statistics(session_id: str) -> Statistics | None:
    """What an import counted of an archived session, if it is as it was then."""
    from ontoref.cli.state.shared import opened
    from ontoref.replay.statistics import kept
    from ontoref.state import archive

    with opened(read_only=True) as state:
        return kept(state, archive.resolve(state, session_id))


def _state() -> State:
    """The archive for reading, open until the process ends: events are read long after they are asked for."""
    import atexit

    from ontoref.cli.state.shared import opened

    state = opened(read_only=True)
    atexit.register(state.close)
    return state


def _file(path: str, runtime: str | None, session: str = "") -> Session:
    from ontoref.transcript.find import UnknownSession, look, store_of, stored

    owner = store_of(path)
    if owner is None:
        return Session(path, runtime, look(path, runtime))
    rows = stored(owner, path)
    chosen = [row for row in rows if row.session_id == session] if session else rows
    if not chosen:
        raise UnknownSession(session or path)
    if len(chosen) > 1:
        some = ", ".join(f"{path}#{row.session_id}" for row in chosen[:3])
        raise UsageError(f"the database holds {len(chosen)} sessions", location=path, hint=f"name one: {some} …")
    return Session(path, chosen[0].runtime, chosen[0])


def _looks_like_a_path(given: str) -> bool:
    return "/" in given or os.sep in given or given.endswith((".jsonl", ".json", ".db", ".sqlite", ".zst"))
