"""Session files of agents as one stream of neutral events, and what is made of it."""

from __future__ import annotations

from ontoref.transcript.event import KINDS, ReplayEvent, validate
from ontoref.transcript.reader import READERS, Transcript, detect, read, read_source
from ontoref.transcript.report import Child, Place, Places, Report, SessionInfo
from ontoref.transcript.source import Folder, Memory, Source, TranscriptError

__all__ = [
    "KINDS",
    "READERS",
    "Child",
    "Folder",
    "Memory",
    "Place",
    "Places",
    "ReplayEvent",
    "Report",
    "SessionInfo",
    "Source",
    "Transcript",
    "TranscriptError",
    "detect",
    "read",
    "read_source",
    "validate",
]
