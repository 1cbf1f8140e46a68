"""The neutral event that every transcript becomes.

docs/transcripts.md lists what the payload of each kind holds. Nothing here reads a file or knows a runtime.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

__all__ = [
    "AGENT_RETURN",
    "AGENT_SPAWN",
    "APPROVAL_DECIDED",
    "APPROVAL_REQUESTED",
    "COMPACTION",
    "KINDS",
    "LLM_CALL",
    "LLM_RESPONSE",
    "MODE_CHANGED",
    "STATUSES",
    "THINKING",
    "TOOL_CALL",
    "TOOL_RESULT",
    "WORKFLOW_END",
    "WORKFLOW_STAGE",
    "WORKFLOW_START",
    "Approval",
    "Mode",
    "ReplayEvent",
    "validate",
]

KINDS = (
    LLM_CALL := "llm.call",
    LLM_RESPONSE := "llm.response",
    TOOL_CALL := "tool.call",
    TOOL_RESULT := "tool.result",
    AGENT_SPAWN := "agent.spawn",
    AGENT_RETURN := "agent.return",
    WORKFLOW_START := "workflow.start",
    WORKFLOW_STAGE := "workflow.stage",
    WORKFLOW_END := "workflow.end",
    APPROVAL_REQUESTED := "approval.requested",
    APPROVAL_DECIDED := "approval.decided",
    MODE_CHANGED := "mode.changed",
    THINKING := "thinking",
    COMPACTION := "compaction",
)
STATUSES = ("requested", "approved", "denied", "edited", "timeout")


class Mode(TypedDict):
    """The three axes of a session's mode; None means unchanged or unknown."""

    permission: str | None
    sandbox: str | None
    collaboration: str | None


class Approval(TypedDict):
    """A question whether something may run, or its answer."""

    status: str
    decision_reason: str | None
    resolver: str | None
    edit_diff: dict[str, Any] | None


class ReplayEvent(NamedTuple):
    """One thing that happened in a session.

    Shape:  schemas/replay.yaml. payload["line"] is the 1-based line of the transcript that it came from.
    Units:  ts in seconds since 1970, UTC; for display only, order in the file decides.
    """

    ts: float
    kind: str
    span_id: str
    parent_span_id: str | None
    session_id: str
    runtime: str
    payload: dict[str, Any]
    mode: Mode | None = None
    approval: Approval | None = None


def validate(event: ReplayEvent | Mapping[str, Any]) -> list[str]:
    """What is wrong with an event, one sentence each; empty if nothing is. Never raises."""
    if isinstance(event, ReplayEvent):
        event = event._asdict()
    if not isinstance(event, Mapping):
        return ["an event is an object"]
    found = []
    ts = event.get("ts")
    if isinstance(ts, bool) or not isinstance(ts, int | float):
        found.append("ts is missing or no number")
    elif not math.isfinite(ts):
        found.append("ts is not finite")
    kind = event.get("kind")
    if kind not in KINDS:
        found.append(f"kind {kind!r} is none of {', '.join(KINDS)}")
    for name in ("span_id", "session_id", "runtime"):
        value = event.get(name)
        if not isinstance(value, str) or not value:
            found.append(f"{name} is missing or empty")
    parent = event.get("parent_span_id")
    if parent is not None and (not isinstance(parent, str) or not parent):
        found.append("parent_span_id is neither null nor a span id")
    if not isinstance(event.get("payload"), Mapping):
        found.append("payload is missing or no object")
    found += [f"{name!r} is no field of an event" for name in event if name not in ReplayEvent._fields]
    return found + _mode_faults(kind, event.get("mode")) + _approval_faults(kind, event.get("approval"))


def _mode_faults(kind: Any, mode: Any) -> list[str]:
    if kind != MODE_CHANGED:
        return [] if mode is None else ["mode belongs to mode.changed alone"]
    if not isinstance(mode, Mapping):
        return ["mode.changed needs a mode"]
    faults = [f"mode.{name} is no field of a mode" for name in mode if name not in Mode.__annotations__]
    return faults + [
        f"mode.{name} is neither null nor a word"
        for name in Mode.__annotations__
        if not isinstance(mode.get(name), str | None)
    ]


def _approval_faults(kind: Any, approval: Any) -> list[str]:
    if kind not in (APPROVAL_REQUESTED, APPROVAL_DECIDED):
        return [] if approval is None else ["approval belongs to the two approval kinds alone"]
    if not isinstance(approval, Mapping):
        return [f"{kind} needs an approval"]
    status = approval.get("status")
    if status not in STATUSES:
        return [f"approval.status {status!r} is none of {', '.join(STATUSES)}"]
    if (status == "requested") != (kind == APPROVAL_REQUESTED):
        return [f"approval.status {status} does not go with {kind}"]
    return []
