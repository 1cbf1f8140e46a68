"""A session in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.reader import Transcript

__all__ = ["COUNTS", "Stats", "count"]

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
    totals = dict.fromkeys(COUNTS, 0)
    messages: set[str] = set()
    calls: set[str] = set()
    results: set[str] = set()
    failed: set[str] = set()
    spawns: set[str] = set()
    named: dict[str, list[str]] = {}
    files: set[str] = set()
    succeeded: set[str] = set()
    for event in transcript.events:
        kind, payload = event.kind, event.payload
        message = payload.get("message_id")
        if message is not None:
            messages.add(message)
        if kind == e.LLM_CALL:
            if payload.get("origin") != _BESIDE:
                totals["user"] += 1
                totals["human"] += payload.get("human") is True
        elif kind == e.THINKING:
            totals["thinking"] += 1
        elif kind == e.COMPACTION:
            totals["compactions"] += 1
        elif kind in (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START):
            if payload.get("hosted"):
                continue
            native = payload["tool_use_id"]
            calls.add(native)
            if kind == e.AGENT_SPAWN:
                spawns.add(native)
            names = [entry["name"] for entry in payload.get("files") or ()]
            if names:
                files.update(names)
                named.setdefault(native, []).extend(names)
        elif kind in (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END):
            native = payload.get("tool_use_id")
            if native is None:
                continue
            results.add(native)
            if payload.get("is_error"):
                failed.add(native)
            else:
                succeeded.add(native)
    # Samples glued together have results before their calls.
    done = {name for native, names in named.items() if native in succeeded for name in names}
    report = transcript.report
    counters = report.counters
    found: dict[str, int | None] = dict(totals)
    found["user"] = totals["user"] + counters.get("user", 0)
    found["assistant"] = len(messages)
    found["calls"], found["results"], found["errors"] = len(calls), len(results), len(failed)
    found["delegations"] = len(spawns)
    found["modes"] = counters.get("modes", 0)
    found["files"], found["files_ok"] = len(files), len(done)
    found["sidechain"] = counters.get("sidechain")
    if report.apart:
        found = dict.fromkeys(COUNTS)
    return Stats(report.path, report.runtime, report.lines, report.bad.count, found)
