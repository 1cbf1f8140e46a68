"""pi's transcripts: the family of OpenClaw's, without its injected users, index and settings.

Format: docs/transcripts.md. Header versions 1 (entries without ids), 2 and 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontoref.transcript import openclaw
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.family import Reading
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["claims", "read", "report"]

RUNTIME = "pi"
_STEM = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z_(.+)")


def claims(head: Head) -> int:
    """2 for a header that only pi writes or a file where pi keeps its own; 1 for one of the family."""
    if re.search(r"/\.pi/(agent/)?sessions?/", head.name) or _STEM.fullmatch(_stem(head.name)):
        return 2 if openclaw.claims(head) else 0
    for record in head.records:
        if record.get("type") == "session":
            own = {"branchedFrom", "parentSession", "modelId"} & record.keys()
            return 2 if own or record.get("version") in (1, 2) else 0
    return 0


def report(source: Source) -> Report:
    """A report with the session id that the file's name tells."""
    match = _STEM.fullmatch(source.stem)
    name = match.group(1) if match else source.stem or "unknown"
    return Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one pi transcript, in write order."""
    return Reading(source, report, RUNTIME).events()


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".jsonl")
