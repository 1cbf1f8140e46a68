"""A session as lines for a person: turns, with thinking and tools folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.text import counted
from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.trace import compact, result_text

__all__ = ["Block", "blocks"]

_SHORT = 100
_FOLDED_LINES = 3
# Which argument says most of a call, first hit first.
_TELLING = (
    "command",
    "cmd",
    "file_path",
    "path",
    "filePath",
    "pattern",
    "query",
    "url",
    "description",
    "task",
    "prompt",
)


class Block(NamedTuple):
    """One thing to show. Shape: style is prompt, note, thinking, text, call, result, error or mode; depth is 1
    inside a delegation; the text is as it was and must be made safe to print."""

    style: str
    head: str
    text: str
    ts: float
    depth: int


def blocks(events: Iterable[ReplayEvent], *, full: bool = False) -> Iterator[Block]:
    """What there is to show, in order. full unfolds thinking, arguments and results."""
    for event in events:
        kind, payload = event.kind, event.payload
        depth = (
            1
            if event.parent_span_id is not None
            and kind in (e.LLM_CALL, e.LLM_RESPONSE, e.THINKING, e.TOOL_CALL, e.TOOL_RESULT)
            else 0
        )
        text = payload.get("text")
        text = text if isinstance(text, str) else ""
        if kind == e.LLM_CALL:
            origin = payload.get("origin")
            human = payload.get("human") is True
            head = "prompt" if human else f"prompt by {origin}"
            shown = text if human or full else _folded(text)
            images = payload.get("blocks")
            count = len(images) if isinstance(images, list) else 0
            more = f"\n({count} attachment{'s' * (count > 1)})" if count else ""
            yield Block("prompt" if human else "note", head, shown + more, event.ts, depth)
        elif kind == e.LLM_RESPONSE:
            failure = payload.get("error")
            if failure and isinstance(failure, str):
                yield Block("error", "the model failed", failure, event.ts, depth)
            if text.strip():
                yield Block("text", "", text, event.ts, depth)
        elif kind == e.THINKING and text.strip():
            yield Block("thinking", "thinking", text if full else _first_line(text), event.ts, depth)
        elif kind in (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START):
            yield _call(event, depth, full)
        elif kind in (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END):
            yield _result(event, depth, full)
        elif kind == e.APPROVAL_DECIDED and event.approval:
            who = event.approval.get("resolver")
            yield Block("note", f"{event.approval['status']}{f' by {who}' if who else ''}", "", event.ts, depth)
        elif kind == e.MODE_CHANGED and event.mode:
            words = [f"{axis}: {value}" for axis, value in event.mode.items() if value and value != "unknown"]
            if words:
                yield Block("mode", "mode", ", ".join(words), event.ts, depth)
        elif kind == e.COMPACTION:
            summary = payload.get("summary")
            yield Block(
                "note", "compacted", _folded(summary) if isinstance(summary, str) and full else "", event.ts, depth
            )
        elif kind == e.WORKFLOW_STAGE:
            yield Block("note", f"stage {payload.get('name')}", "", event.ts, depth)


def _call(event: ReplayEvent, depth: int, full: bool) -> Block:
    payload = event.payload
    name = str(payload.get("name") or event.kind)
    given = payload.get("input")
    if full:
        return Block("call", name, given if isinstance(given, str) else compact(given), event.ts, depth)
    return Block("call", name, _telling(given), event.ts, depth)


def _result(event: ReplayEvent, depth: int, full: bool) -> Block:
    payload = event.payload
    failed = payload.get("is_error") is True
    text = result_text(payload)
    lines = text.count("\n") + 1 if text else 0
    code = payload.get("exit_code")
    head = f"{payload.get('name') or 'result'}: "
    head += f"failed{f' (exit {code})' if code else ''}" if failed else "ok"
    if lines > 1:
        head += f", {counted(lines, 'line')}"
    shown = text if full else _folded(text) if failed else ""
    return Block("error" if failed else "result", head, shown, event.ts, depth)


def _telling(given: Any) -> str:
    """The argument that says most of a call, on one line; nothing for a call without arguments."""
    if given is None:
        return ""
    if isinstance(given, Mapping):
        for key in _TELLING:
            value = given.get(key)
            if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
                value = " ".join(value)
            if isinstance(value, str) and value:
                return _first_line(value)
        given = compact(given) if given else ""
    return _first_line(given) if isinstance(given, str) else _first_line(compact(given))


def _first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return first[: _SHORT - 1] + "…" if len(first) > _SHORT or rest else first


def _folded(text: str) -> str:
    """The first lines of a text and how many more there are."""
    lines = text.strip().split("\n")
    shown = [line[:200] + "…" if len(line) > 200 else line for line in lines[:_FOLDED_LINES]]
    more = len(lines) - len(shown)
    return "\n".join(shown) + (f"\n… {more} more line{'s' * (more > 1)}" if more else "")
