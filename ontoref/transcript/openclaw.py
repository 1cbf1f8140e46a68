"""OpenClaw's transcripts: version 3 lines, with or without a header, and their companions.

Format: docs/transcripts.md. The chain of `parentId` is the transcript's own and never a delegation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.family import ENTRY_TYPES, Reading
from ontoref.transcript.native import records, string
from ontoref.transcript.openclaw_index import Index
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["RUNTIME", "claims", "read", "report"]

RUNTIME = "openclaw"
TRAJECTORY = "openclaw-trajectory"

_STEM = re.compile(r"(.+?)(?:\.checkpoint\..+|-topic-[^.]+)?$")


def claims(head: Head) -> int:
    """2 for a transcript with OpenClaw's own marks, 1 for one of the family (pi's look the same)."""
    name = head.name.rpartition("/")[2]
    if name == "sessions.json":
        return 2
    sure = 0
    for record in head.records:
        kind = string(record.get("type")) or ""
        if record.get("traceSchema") == TRAJECTORY:
            return 2
        if kind == "session" and "version" in record and "id" in record:
            sure = max(sure, 1)
        if kind in ENTRY_TYPES and isinstance(record.get("id"), str) and ("parentId" in record or "message" in record):
            sure = max(sure, 1)
        custom = record.get("customType")
        if isinstance(custom, str) and custom.startswith(("openclaw", "model-snapshot")):
            return 2
    if sure and ("/.openclaw/" in head.name or re.search(r"/agents/[^/]+/sessions/", head.name)):
        return 2
    return sure


def report(source: Source) -> Report:
    """A report with the session id that the file's name tells."""
    match = _STEM.match(source.stem.removesuffix(".trajectory"))
    name = (match.group(1) if match else "") or "unknown"
    found = Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))
    agent = re.search(r"(?:^|/)agents/([^/]+)/sessions/", source.name)
    found.session.agent = agent.group(1) if agent else None
    if source.name.endswith(".trajectory.jsonl"):
        found.apart = TRAJECTORY
    elif source.name.rpartition("/")[2] == "sessions.json":
        found.apart = "openclaw-index"
    return found


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one OpenClaw transcript; none of a trajectory or an index, which are no transcript."""
    if report.apart:
        if report.apart == TRAJECTORY:
            for _ in records(source, report):
                report.count("trajectory")
        else:
            report.lines = sum(1 for raw in source.lines if raw is not None)
        return iter(())
    return Reading(source, report, RUNTIME, Index(source.side)).events()
