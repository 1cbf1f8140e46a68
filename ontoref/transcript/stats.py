"""A session in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.reader import Transcript
from ontoref.transcript.report import Report

__all__ = ["COUNTS", "TOLD", "Counting", "Stats", "count"]

# The counts of a session, in the order in which they are shown.
COUNTS = (
    "user",
    "human",
    "assistant",
    "thinking",
    "calls",
    "results",
    "errors",
    "delegations",
    "sidechain",
    "compactions",
    "modes",
    "files",
    "files_ok",
)
# How many bad lines are told one by one.
TOLD = 10
# A prompt that waited in a queue stands beside the conversation, not in it.
_BESIDE = "queued"


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one transcript.

    Shape: file, runtime, lines and bad are always there; the other counts are None where the file is no
           transcript, sidechain also where a runtime has no such thing.
    """

    file: str
    runtime: str
    lines: int
    bad: int
    counts: dict[str, int | None]

    def as_dict(self) -> dict[str, Any]:
        return {"file": self.file, "runtime": self.runtime, "lines": self.lines, "bad": self.bad, **self.counts}


def count(transcript: Transcript) -> Stats:
    """Read a transcript to its end and count.

    Shape: user are texts of role user that are neither results nor marked as not meant (meta lines,
           summaries); human those that a person typed; assistant distinct messages; calls and results
           distinct call ids, without what the model's host ran itself; errors results that failed; files
           distinct paths that edit tools named, files_ok those of a call that succeeded.
    """
    counting = Counting()
    for event in transcript.events:
        counting.add(event)
    return counting.stats(transcript.report)


class Counting:
    """Counts while events pass, for whoever reads them for another reason too; `count` says what."""

    __slots__ = ("_calls", "_failed", "_files", "_messages", "_named", "_results", "_spawns", "_succeeded", "_totals")

    def __init__(self) -> None:
        self._totals = dict.fromkeys(COUNTS, 0)
        self._messages: set[str] = set()
        self._calls: set[str] = set()
        self._results: set[str] = set()
        self._failed: set[str] = set()
        self._spawns: set[str] = set()
        self._named: dict[str, list[str]] = {}
        self._files: set[str] = set()
        self._succeeded: set[str] = set()

    def add(self, event: e.ReplayEvent) -> None:
        """Take one event in, in its order."""
        kind, payload = event.kind, event.payload
        message = payload.get("message_id")
        if message is not None:
            self._messages.add(message)
        if kind == e.LLM_CALL:
            if payload.get("origin") != _BESIDE:
                self._totals["user"] += 1
                self._totals["human"] += payload.get("human") is True
        elif kind == e.THINKING:
            self._totals["thinking"] += 1
        elif kind == e.COMPACTION:
            self._totals["compactions"] += 1
        elif kind in (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START):
            self._call(kind, payload)
        elif kind in (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END):
            native = payload.get("tool_use_id")
            if native is not None:
                self._results.add(native)
                (self._failed if payload.get("is_error") else self._succeeded).add(native)

    def _call(self, kind: str, payload: dict[str, Any]) -> None:
        if payload.get("hosted"):
            return
        native = payload["tool_use_id"]
        self._calls.add(native)
        if kind == e.AGENT_SPAWN:
            self._spawns.add(native)
        names = [entry["name"] for entry in payload.get("files") or ()]
        if names:
            self._files.update(names)
            self._named.setdefault(native, []).extend(names)

    def stats(self, report: Report) -> Stats:
        """The counts, once the transcript was read to its end."""
        counters = report.counters
        # Samples glued together have results before their calls.
        done = {name for native, names in self._named.items() if native in self._succeeded for name in names}
        found: dict[str, int | None] = dict(self._totals)
        found["user"] = self._totals["user"] + counters.get("user", 0)
        found["assistant"] = len(self._messages)
        found["calls"], found["results"], found["errors"] = len(self._calls), len(self._results), len(self._failed)
        found["delegations"] = len(self._spawns)
        found["modes"] = counters.get("modes", 0)
        found["files"], found["files_ok"] = len(self._files), len(done)
        found["sidechain"] = counters.get("sidechain")
        if report.apart:
            found = dict.fromkeys(COUNTS)
        return Stats(report.path, report.runtime, report.lines, report.bad.count, found)
