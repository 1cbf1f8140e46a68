"""Which session a file is the transcript of, and what else a folder of transcripts holds."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from ontoref.state import sources
from ontoref.state.errors import BadAgentId
from ontoref.state.layout import agent_id_of
from ontoref.transcript.reader import detect, head_of, read_source
from ontoref.transcript.report import SessionInfo
from ontoref.transcript.source import Folder, Source, TranscriptError
from ontoref.transcript.tree import Unread, files_below, silently

__all__ = ["Candidate", "Identified", "agent_of", "candidates", "identify", "real_path"]

_HEAD_LINES = 40
_TRANSCRIPT = re.compile(r".+\.jsonl(\.zst|\.reset\..+|\.deleted\..+)?")
_STORE = re.compile(r"opencode.*\.db|openclaw-agent\.sqlite")
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", "tool-results", "__pycache__"})
# Beside transcripts and no transcript: kept with the session they belong to, or of no session.
_NO_TRANSCRIPT = frozenset({"journal.jsonl", "history.jsonl", "session_index.jsonl"})
INDEX = "sessions.json"
TRAJECTORY = ".trajectory.jsonl"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to import. kind is `transcript`, `trajectory` or `routes`."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Identified:
    """Whose transcript a file is. session_id is the id in the archive."""

    runtime: str
    agent_id: str
    session_id: str
    info: SessionInfo


def real_path(path: str) -> str:
    """The one name of a file that everything goes by."""
    return os.path.realpath(path)


def identify(path: str, runtime: str | None = None) -> Identified:
    """Read the beginning of a transcript and say whose it is.

    Errors: TranscriptError for what no reader knows, OSError, MissingExtra.
    """
    place = sources.in_store(path)
    coming, looked_at = iter(sources.lines(path)), list[bytes]()
    name = runtime or (place[0] if place else detect(head_of(path, _kept(coming, looked_at)), path))
    # A document of one value may stand on one line or on ten thousand.
    lines = islice(chain(looked_at, coming), None if path.endswith(".json") else _HEAD_LINES)
    source = Source(
        name=sources.name_of(path).replace(os.sep, "/"),
        lines=list(lines),
        side=Folder(os.path.dirname(sources.name_of(path)) or "."),
        open=True,
    )
    transcript = read_source(source, name)
    # An archive that waits for a reader without faults would come too late.
    with contextlib.suppress(Exception):
        for _ in transcript.events:
            pass
    info = transcript.report.session
    return Identified(name, agent_of(name, info.agent), f"{name}:{info.session_id}", info)


def _kept(lines: Iterator[bytes], into: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        into.append(line)
        yield line


def agent_of(runtime: str, native_agent: str | None) -> str:
    """Whose database: the runtime's, for OpenClaw that of its agent."""
    if runtime != "openclaw":
        return agent_id_of(runtime)
    wanted = f"{runtime}-{native_agent or 'main'}"
    try:
        return agent_id_of(wanted)
    except BadAgentId:
        # A name that makes no folder keeps an agent of its own.
        return f"{runtime}-{hashlib.sha256(wanted.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def candidates(path: str, unread: Unread = silently) -> Iterator[Candidate]:
    """What there is to import at a path: transcripts, then what needs them.

    Shape: a folder is walked in order of names; a file brings the transcripts of its sub-agents along. unread is
           told of folders that cannot be listed, and of databases that cannot be opened.
    """
    path = real_path(path)
    if not os.path.isdir(path):
        try:
            inside = sources.stored_sessions(path)
        except OSError:
            # Who reads it will tell why it cannot.
            inside = []
        except TranscriptError as error:
            unread(path, error.message)
            return
        if inside:
            yield from (Candidate(place, "transcript") for place in inside)
            return
        yield _candidate(path)
        folder = path.removesuffix(".jsonl")
        if folder != path and os.path.isdir(folder):
            yield from candidates(folder, unread)
        return
    later = []
    for file in files_below(path, unread, skipped=_SKIPPED_FOLDERS):
        name = os.path.basename(file)
        if _STORE.fullmatch(name):
            yield from candidates(file, unread)
            continue
        # A checkpoint is a copy of a session that stands beside it.
        if name in _NO_TRANSCRIPT or ".checkpoint." in name:
            continue
        if name != INDEX and not _TRANSCRIPT.fullmatch(name):
            continue
        found = _candidate(file)
        if found.kind == "transcript":
            yield found
        else:
            later.append(found)
    yield from later


def _candidate(path: str) -> Candidate:
    name = os.path.basename(path)
    if name == INDEX:
        return Candidate(path, "routes")
    return Candidate(path, "trajectory" if name.endswith(TRAJECTORY) else "transcript")
