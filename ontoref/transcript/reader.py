"""Any transcript as events: which reader knows the file, and the table of all readers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ontoref.transcript import claude_code, codex, gemini, openclaw, opencode, pi
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import parse
from ontoref.transcript.report import Report
from ontoref.transcript.source import Folder, Head, Source, TranscriptError, UnknownFormat, follow, lines_of

__all__ = ["READERS", "Reader", "Transcript", "detect", "head_of", "read", "read_source"]

_HEAD_LINES = 50
_HEAD_BYTES = 4 << 20
# What a reader claims at most.
_CERTAIN = 2


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's events and what cannot be one.

    Shape: events can be consumed once, lazily; report fills meanwhile and is complete at their end.
    """

    events: Iterator[ReplayEvent]
    report: Report


class Reader(Protocol):
    """What a runtime's module offers: `ontoref/transcript/<runtime>.py`."""

    def claims(self, head: Head) -> int:
        """How sure it is that the head is of its format: 0 no, 1 the family, 2 surely."""

    def read(self, source: Source, report: Report) -> Iterator[ReplayEvent]:
        """Events in write order. Never raises for what the lines hold."""

    def report(self, source: Source) -> Report:
        """A report with what the name alone tells."""


# One line a runtime. The order decides between readers that are equally sure.
READERS: dict[str, Reader] = {
    "openclaw": openclaw,
    "claude-code": claude_code,
    "codex": codex,
    "pi": pi,
    "opencode": opencode,
    "gemini": gemini,
}


def read(path: str | os.PathLike[str], runtime: str | None = None, *, live: bool = False) -> Transcript:
    """A transcript file as events.

    Shape:  runtime names the reader; without it the first good lines tell. live follows a file that is still
            being written and ends only when the consumer stops.
    Errors: TranscriptError for a file that no reader knows or that cannot be read, MissingExtra for a zstd
            file without its binding.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb"):
            pass
        name = runtime or detect(head_of(path), path)
        source = Source(
            name=path.replace(os.sep, "/"),
            lines=follow(path) if live else lines_of(path),
            side=Folder(os.path.dirname(path) or "."),
            open=not path.endswith(".zst"),
        )
        return read_source(source, name)
    except OSError as error:
        raise TranscriptError(f"the file cannot be read: {error.strerror}", location=path) from None


def read_source(source: Source, runtime: str) -> Transcript:
    """Lines from anywhere, say an archive, as events. Errors: TranscriptError for an unknown runtime."""
    reader = READERS.get(runtime)
    if reader is None:
        raise UnknownFormat(f"no reader is named {runtime!r}", hint=f"known: {', '.join(READERS)}")
    report = reader.report(source)
    return Transcript(reader.read(source, report), report)


def detect(head: Head, location: str | None = None) -> str:
    """The runtime that wrote a transcript. Errors: TranscriptError naming the runtimes, if none did."""
    best, sure = "", 0
    for name, reader in READERS.items():
        claim = reader.claims(head)
        if claim > sure:
            best, sure = name, claim
        if sure == _CERTAIN:
            break
    if not best:
        raise UnknownFormat(
            "no known transcript format",
            hint=f"name the runtime: {', '.join(READERS)}",
            location=location,
        )
    return best


def head_of(path: str, lines: Iterable[bytes | None] | None = None) -> Head:
    """The head of a file, or of lines that are given. Errors: as `lines_of`."""
    start = b""
    found = []
    seen = 0
    for count, raw in enumerate(lines_of(path) if lines is None else lines, 1):
        if raw is None:
            break
        start += raw[: 4096 - len(start)]
        seen += len(raw)
        try:
            record = parse(raw.removeprefix(b"\xef\xbb\xbf") if count == 1 else raw)
        except ValueError:
            record = None
        if isinstance(record, dict):
            found.append(record)
        if len(found) >= _HEAD_LINES or count >= 20 * _HEAD_LINES or seen > _HEAD_BYTES:
            break
    return Head(path.replace(os.sep, "/"), start, tuple(found))
