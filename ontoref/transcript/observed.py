"""What a draft sees in a session: its moments, its calls and how it ended, in words of our own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent

__all__ = ["Call", "Moment", "Observed", "observe"]

_LONGEST = 4000
_DENIED = frozenset({"denied", "timeout"})
_STOPPED = frozenset({"aborted", "interrupted", "cancelled"})


@dataclass(slots=True)
class Call:
    """One call of a tool. Shape: ended is ok, error, denied or open; files as the readers give them."""

    name: str
    given: Any
    files: list[dict[str, Any]]
    spawn: bool = False
    ended: str = "open"


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at one time. Shape: signal is a key of `events` in drafting.yaml; call is set
    where it is about one. Units: ts in seconds since 1970, 0 if unknown."""

    signal: str
    ts: float
    call: Call | None = None


@dataclass(slots=True)
class Observed:
    """A session as far as a draft needs it; bounded by the number of its calls, never by its texts."""

    moments: list[Moment] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    prompts: int = 0
    answers: int = 0
    errors: int = 0
    spawns: int = 0
    compactions: int = 0
    prompt: str = ""
    model: str | None = None
    ended: str = "silent"

    def changed_files(self) -> list[dict[str, Any]]:
        """Files of the calls that succeeded, in order; a file may stand twice."""
        return [file for call in self.calls if call.ended == "ok" for file in call.files]


def observe(events: Iterable[ReplayEvent]) -> Observed:
    """Read a session once. Shape: ended is one of the endings in drafting.yaml without its `-changed` form."""
    seen = _Observer()
    for event in events:
        seen.event(event)
    return seen.finish()


class _Observer:
    def __init__(self) -> None:
        self.seen = Observed()
        self.by_id: dict[str, Call] = {}
        self.by_span: dict[str, Call] = {}
        self.messages: str | None = None
        self.last = "silent"
        self.after = ""  # what the next prompt answers to: an interruption or a refusal

    def event(self, event: ReplayEvent) -> None:
        kind = event.kind
        if kind == e.LLM_CALL:
            self.prompt(event)
        elif kind == e.LLM_RESPONSE:
            self.response(event)
        elif kind in (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START):
            self.call(event)
        elif kind in (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END):
            self.result(event)
        elif kind == e.APPROVAL_DECIDED:
            self.decided(event)
        elif kind == e.COMPACTION:
            self.seen.compactions += 1

    def prompt(self, event: ReplayEvent) -> None:
        payload = event.payload
        if payload.get("origin") in ("interrupt", "abort"):
            self.last = self.after = "interrupted"
            return
        if not payload.get("human") or event.parent_span_id is not None:
            return
        if payload.get("after") == "interrupt":
            self.after = "interrupted"
        # Editors put what is open around what was asked for.
        text = payload.get("request") or payload.get("text")
        self.seen.prompts += 1
        if not self.seen.prompt and isinstance(text, str):
            self.seen.prompt = text.strip()
        signal = {"interrupted": "prompt-after-interruption", "refused": "prompt-after-refusal"}.get(
            self.after, "prompt"
        )
        self.after = ""
        self.seen.moments.append(Moment(signal, event.ts))
        self.last = "open" if self.seen.answers else "silent"

    def response(self, event: ReplayEvent) -> None:
        payload = event.payload
        if event.parent_span_id is not None:
            return
        model = payload.get("model")
        if isinstance(model, str) and model and not payload.get("synthetic"):
            self.seen.model = model
        stop = payload.get("stop_reason")
        if stop in _STOPPED:
            self.last = self.after = "interrupted"
        elif stop == "error" or payload.get("error"):
            self.last = "error"
        elif payload.get("text"):
            message = payload.get("message_id") or event.span_id
            if message != self.messages:
                self.seen.answers += 1
                self.messages = message
            self.last = "answered"

    def call(self, event: ReplayEvent) -> None:
        payload = event.payload
        name = payload.get("name")
        files = payload.get("files")
        call = Call(
            name if isinstance(name, str) and name else event.kind,
            _small(payload.get("input")),
            [f for f in files if isinstance(f, dict)] if isinstance(files, list) else [],
            event.kind != e.TOOL_CALL,
        )
        self.seen.calls.append(call)
        self.by_span[event.span_id] = call
        native = payload.get("tool_use_id")
        if isinstance(native, str):
            self.by_id[native] = call
        if event.kind == e.AGENT_SPAWN:
            self.seen.spawns += 1
            self.seen.moments.append(Moment("spawn", event.ts, call))
        if event.parent_span_id is None:
            self.last = "open"

    def result(self, event: ReplayEvent) -> None:
        payload = event.payload
        native = payload.get("tool_use_id")
        call = self.by_id.get(native) if isinstance(native, str) else None
        if call is None:
            call = self.by_span.get(payload.get("spawn_span_id") or event.parent_span_id or "")
        failed = payload.get("is_error") is True
        if call is not None and call.ended != "denied":
            call.ended = "error" if failed else "ok"
        if failed:
            self.seen.moments.append(Moment("error", event.ts, call))
        if event.parent_span_id is None and self.last not in ("refused", "interrupted"):
            self.last = "open"

    def decided(self, event: ReplayEvent) -> None:
        status = event.approval["status"] if event.approval else ""
        call = self.by_span.get(event.parent_span_id or "")
        self.seen.moments.append(Moment(status, event.ts, call))
        if status in _DENIED:
            if call is not None:
                call.ended = "denied"
            self.last = self.after = "refused"

    def finish(self) -> Observed:
        seen = self.seen
        # A refused call has an error for a result; that is the refusal once more.
        seen.moments = [m for m in seen.moments if m.signal != "error" or m.call is None or m.call.ended != "denied"]
        seen.errors = sum(m.signal == "error" for m in seen.moments)
        seen.ended = self.last
        return seen


def _small(given: Any) -> Any:
    """What a draft looks at of a call's arguments: short texts. The rest, which may be a whole file, is let go."""
    if isinstance(given, dict):
        return {key: value for key, value in given.items() if _is_short(value)}
    return given[:_LONGEST] if isinstance(given, str) else None


def _is_short(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) < 100 and all(isinstance(word, str) and len(word) <= _LONGEST for word in value)
    return isinstance(value, str) and len(value) <= _LONGEST
