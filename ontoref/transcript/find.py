"""Sessions on this machine: where each runtime keeps them, and what their first lines tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ontoref.errors import MissingExtra, OntorefError
from ontoref.places import environment_path
from ontoref.transcript import openclaw_store, opencode_store
from ontoref.transcript.reader import READERS, Transcript, detect, head_of, read_source
from ontoref.transcript.report import SessionInfo
from ontoref.transcript.source import Memory, Source, TranscriptError, half_a_second, lines_of
from ontoref.transcript.tree import Unread, files_below, files_like, silently

__all__ = [
    "LAYOUTS",
    "STORES",
    "AmbiguousSession",
    "Found",
    "Layout",
    "UnknownSession",
    "find",
    "look",
    "read_stored",
    "resolve",
    "roots",
    "store_of",
    "stored",
]

_HEAD_LINES = 40
_HEAD_BYTES = 64 << 10
_LONGEST_LINE_BYTES = 1 << 20
_DOCUMENT_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a runtime keeps its sessions.

    Shape: variables name its folder, the first that is set wins; else every folder of folders that is there
           (`~` is the home folder, `$NAME/…` a variable's). sessions, children and stores are globs below it.
    """

    variables: tuple[str, ...]
    folders: tuple[str, ...]
    sessions: tuple[str, ...]
    children: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()


LAYOUTS: dict[str, Layout] = {
    "openclaw": Layout(
        ("OPENCLAW_STATE_DIR",),
        ("~/.openclaw", "~/.clawdbot", "~/.moltbot", "~/.moldbot"),
        ("agents/*/sessions/*.jsonl*",),
        stores=("agents/*/agent/openclaw-agent.sqlite",),
    ),
    "claude-code": Layout(
        ("CLAUDE_CONFIG_DIR",),
        ("~/.claude", "$XDG_CONFIG_HOME/claude", "~/.config/claude"),
        ("projects/*/*.jsonl",),
        ("projects/*/*/subagents/**/agent-*.jsonl",),
    ),
    "codex": Layout(
        ("CODEX_HOME",),
        ("~/.codex",),
        ("sessions/**/rollout-*.jsonl*", "archived_sessions/**/rollout-*.jsonl*"),
    ),
    "pi": Layout(("PI_CODING_AGENT_DIR",), ("~/.pi/agent",), ("sessions/*/*.jsonl",)),
    "opencode": Layout(
        (),
        ("$XDG_DATA_HOME/opencode", "~/.local/share/opencode"),
        (),
        stores=("opencode*.db",),
    ),
    "gemini": Layout(("GEMINI_DIR",), ("~/.gemini",), ("tmp/*/chats/session-*.json*",)),
}
# One line for each runtime that keeps many sessions in one database: module with sessions(path), lines(path, id).
STORES: dict[str, Any] = {"opencode": opencode_store, "openclaw": openclaw_store}

# Copies of a session that stands in another file as well, and files beside one.
_NO_SESSION = (".trajectory.jsonl", ".checkpoint.", ".jsonl.bak", ".jsonl.lock", ".jsonl.tmp")
_ENDINGS = (".jsonl", ".jsonl.zst", ".json")


class UnknownSession(OntorefError):
    """No session has the id. The answer is no, so the command exits 1."""

    kind = "not-found"
    exit_code = 1

    def __init__(self, given: str) -> None:
        super().__init__(f"no session is named {given!r}", hint="list them: ontoref transcript find")


class AmbiguousSession(OntorefError):
    """Several sessions begin so."""

    kind = "ambiguous"

    def __init__(self, given: str, known: list[str]) -> None:
        some = ", ".join(known[:5]) + (f" and {len(known) - 5} more" if len(known) > 5 else "")
        super().__init__(f"{given!r} is the beginning of several sessions", hint=f"one of: {some}")


@dataclass(frozen=True, slots=True)
class Found:
    """One session on this machine.

    Shape: project is the session's folder; parent the delegating session, for a sub-agent; store is true where
           path is a database of many sessions.
    Units: started and modified in seconds since 1970; size_bytes of the file, in a database of its rows.
    """

    runtime: str
    session_id: str
    native_id: str
    path: str
    project: str | None
    started: float | None
    modified: float
    size_bytes: int
    title: str | None = None
    model: str | None = None
    parent: str | None = None
    store: bool = False

    @property
    def id(self) -> str:
        """The session's id in the archive."""
        return f"{self.runtime}:{self.session_id}"


def roots(runtime: str, environ: Mapping[str, str], home: str) -> list[str]:
    """Folders of a runtime that are there, each once."""
    layout = LAYOUTS[runtime]
    for variable in layout.variables:
        given = environment_path(variable, environ)
        if given:
            return [given] if os.path.isdir(given) else []
    found: dict[str, str] = {}
    for folder in layout.folders:
        if folder.startswith("$"):
            variable, _, rest = folder[1:].partition("/")
            base = environment_path(variable, environ)
            if not base:
                continue
            folder = os.path.join(base, rest)
        elif folder.startswith("~"):
            folder = os.path.join(home, *folder[2:].split("/"))
        if os.path.isdir(folder):
            # ~/.clawdbot is often a link to ~/.openclaw.
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def find(
    environ: Mapping[str, str],
    home: str,
    *,
    runtimes: Iterable[str] = (),
    root: str | None = None,
    children: bool = False,
    unread: Unread = silently,
) -> list[Found]:
    """Sessions, newest first.

    Shape:  runtimes limits the search; root is any folder to search instead of the runtimes' own, its files
            told apart by their first lines; children adds sub-agents' sessions. unread is
            told of what cannot be read.
    Errors: none for files: what cannot be read or is no session is left out.
    """
    wanted = [name for name in LAYOUTS if name in set(runtimes)] if runtimes else list(LAYOUTS)
    found: dict[str, Found] = {}
    for runtime, path in _candidates(environ, home, wanted, root, children, unread):
        if runtime in STORES and _is_store(os.path.basename(path)):
            try:
                some = stored(runtime, path)
            except (OSError, TranscriptError) as error:
                unread(
                    path,
                    error.message if isinstance(error, TranscriptError) else f"it cannot be read: {error.strerror}",
                )
                continue
        else:
            one = look(path, runtime or None)
            if one is None and (why := _refusal(path)):
                unread(path, why)
            some = [one] if one is not None and one.runtime in wanted else []
        for session in some:
            if children or session.parent is None:
                found[f"{session.path}\n{session.session_id}"] = session
    return sorted(found.values(), key=lambda s: (-(s.started or s.modified), s.runtime, s.path, s.session_id))


def resolve(given: str, sessions: Iterable[Found]) -> Found:
    """The one session that an archive id, a native id or a unique beginning of either names.

    Shape:  a whole id wins over a beginning; of several files of one session the live one, then the newest.
    Errors: UnknownSession, AmbiguousSession.
    """
    exact: list[Found] = []
    begins: list[Found] = []
    for session in sessions:
        names = (session.id, session.session_id, session.native_id)
        if given in names:
            exact.append(session)
        elif given and any(name.startswith(given) for name in names):
            begins.append(session)
    chosen = exact or begins
    if not chosen:
        raise UnknownSession(given)
    ids = sorted({session.id for session in chosen})
    if len(ids) > 1:
        raise AmbiguousSession(given, ids)
    return max(chosen, key=lambda s: (s.path.endswith((".jsonl", ".db", ".sqlite", ".json")), s.modified))


def look(path: str, runtime: str | None = None) -> Found | None:
    """What the first lines of one file tell, None if it is no session or cannot be read."""
    try:
        stat = os.stat(path)
        lines = _head(path, stat.st_size)
        if runtime is None:
            runtime = detect(head_of(path, lines))
        elif runtime not in READERS:
            return None
        transcript = read_source(Source(path.replace(os.sep, "/"), lines, Memory(), open=True), runtime)
        for _ in transcript.events:
            pass
    except (OSError, ValueError, OntorefError):
        return None
    report = transcript.report
    if report.apart or not (lines and len(report.bad.kept) + report.blank < report.lines):
        return None
    return _found(report.session, path, stat.st_mtime, stat.st_size)


def _found(info: SessionInfo, path: str, modified: float, size_bytes: int) -> Found:
    parent = info.parent_session_id
    if parent is None and info.session_id != info.native_id:
        parent = info.session_id.partition(":")[0]
    return Found(
        info.runtime,
        info.session_id,
        info.native_id,
        path,
        info.cwd,
        info.started,
        modified,
        size_bytes,
        info.title,
        info.model,
        parent,
    )


def store_of(path: str) -> str | None:
    """The runtime whose database a file is, None if it is none."""
    with open(path, "rb") as file:
        if file.read(16) != b"SQLite format 3\0":
            return None
    return "openclaw" if path.endswith(".sqlite") or openclaw_store.recognises(path) else "opencode"


def stored(runtime: str, path: str) -> list[Found]:
    """The sessions of a database. Errors: TranscriptError if it is not the runtime's."""
    modified = os.stat(path).st_mtime
    return [
        Found(
            runtime,
            row.session_id,
            row.session_id,
            path,
            row.project,
            row.started,
            row.modified or modified,
            row.size_bytes,
            row.title,
            parent=row.parent,
            store=True,
        )
        for row in STORES[runtime].sessions(path)
    ]


def read_stored(session: Found, *, live: bool = False) -> Transcript:
    """One session of a database as events. Shape: live follows one of OpenClaw's for ever.

    Errors: TranscriptError if it cannot be read.
    """
    if session.runtime == "openclaw":
        rows = openclaw_store.lines(session.path, session.session_id, wait=half_a_second if live else None)
        name, side = openclaw_store.name_of(session.path, session.session_id), openclaw_store.side(session.path)
        return read_source(Source(name, rows, side), session.runtime)
    lines = STORES[session.runtime].lines(session.path, session.session_id)
    return read_source(Source(session.path.replace(os.sep, "/"), lines, Memory()), session.runtime)


def _head(path: str, size: int) -> list[bytes]:
    """The first lines of a file, whole ones only; a document of one value is read whole."""
    if path.endswith(".zst"):
        found: list[bytes] = []
        try:
            for line in lines_of(path):
                found.append(line)
                if len(found) >= _HEAD_LINES:
                    break
        except MissingExtra:
            return []
        return found
    with open(path, "rb") as file:
        if path.endswith(".json"):
            return [file.read()] if size <= _DOCUMENT_BYTES else []
        start = file.read(_HEAD_BYTES)
        while b"\n" not in start and len(start) < min(size, _LONGEST_LINE_BYTES):
            more = file.read(_HEAD_BYTES)
            if not more:
                break
            start += more
    pieces = start.split(b"\n")
    whole = pieces[:-1] if len(start) < size else [piece for piece in pieces if piece]
    return [piece + b"\n" for piece in whole[:_HEAD_LINES]]


def _candidates(
    environ: Mapping[str, str], home: str, wanted: list[str], root: str | None, children: bool, unread: Unread
) -> Iterator[tuple[str, str]]:
    """Files that may be sessions, each with its runtime; with "" where only its lines can tell."""
    if root is not None:
        for path in files_below(root, unread):
            name = os.path.basename(path)
            if _is_store(name):
                runtime = "openclaw" if name.endswith(".sqlite") else "opencode"
                if runtime in wanted:
                    yield runtime, path
            elif _may_be_session(name):
                yield "", path
        return
    for runtime in wanted:
        layout = LAYOUTS[runtime]
        patterns = layout.sessions + layout.stores + (layout.children if children else ())
        for base in roots(runtime, environ, home):
            for pattern in patterns:
                for path in files_like(base, pattern, unread):
                    name = os.path.basename(path)
                    if _is_store(name) or _may_be_session(name):
                        yield runtime, path


def _is_store(name: str) -> bool:
    return (name.endswith(".db") and name.startswith("opencode")) or name == "openclaw-agent.sqlite"


def _refusal(path: str) -> str | None:
    """Why a file cannot be read; None if it can."""
    try:
        with open(path, "rb"):
            return None
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def _may_be_session(name: str) -> bool:
    if any(mark in name for mark in _NO_SESSION) or name.endswith(".meta.json"):
        return False
    return name.endswith(_ENDINGS) or ".jsonl.reset." in name or ".jsonl.deleted." in name
