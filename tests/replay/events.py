"""Short ways to write events down."""

from __future__ import annotations

from typing import Any

from ontoref.transcript.event import ReplayEvent

KIND = {
    "u": "llm.call",
    "a": "llm.response",
    "t": "tool.call",
    "r": "tool.result",
    "s": "agent.spawn",
    "b": "agent.return",
    "w": "workflow.start",
    "g": "workflow.stage",
    "e": "workflow.end",
    "q": "approval.requested",
    "d": "approval.decided",
    "m": "mode.changed",
    "k": "thinking",
    "c": "compaction",
}
ASKED = {"status": "requested", "decision_reason": None, "resolver": None, "edit_diff": None}
GRANTED = {"status": "approved", "decision_reason": None, "resolver": "user", "edit_diff": None}


def event(name: str, parent: str | None = None, /, *, ts: float = 0.0, mode: Any = None, **payload: Any) -> ReplayEvent:
    """An event whose name begins with the letter of its kind: `u1` is a prompt."""
    kind = KIND[name[0]]
    approval: Any = {"approval.requested": ASKED, "approval.decided": GRANTED}.get(kind)
    if kind == "mode.changed" and mode is None:
        mode = {"permission": None, "sandbox": None, "collaboration": None}
    return ReplayEvent(ts, kind, name, parent, "s", "codex", payload, mode, approval)


def session(text: str) -> list[tuple[int, ReplayEvent]]:
    """`u1 s1 a1<s1`: events in order, each with its parent after `<`."""
    found = []
    for ordinal, word in enumerate(text.split()):
        name, _, parent = word.partition("<")
        found.append((ordinal, event(name, parent or None)))
    return found


def pairs(*events: ReplayEvent) -> list[tuple[int, ReplayEvent]]:
    return list(enumerate(events))
