"""The trace of a session: one question, everything that was said and done, and the last answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent

__all__ = ["Conversation", "compact", "events_trace", "openclaw_trace", "result_text"]

_CALLS = frozenset({"toolCall", "tool_use"})
_RESULTS = frozenset({"toolResult", "tool_result"})
# What Claude Code itself puts under role user. OpenClaw's injected users do count: a trace follows its rules.
_BESIDE = frozenset({"context", "interrupt"})


class Conversation:
    """Collects what was said and done, in order, and makes the trace of it.

    Shape:  `reasoning` has one entry for each block, joined with a newline, the text verbatim and whole:
            `[user] …`, `[thinking] …`, `[response] …`, `[tool:NAME] ARGUMENTS`, `[tool_result:NAME] …`,
            `[tool_result:NAME:error] …`. A block without text is left out, a tool call never.
    Source: schemas of a trace: docs/transcripts.md.
    """

    __slots__ = ("answer", "calls", "entries", "failed", "model", "names", "question", "tokens")

    def __init__(self) -> None:
        self.entries: list[str] = []
        self.names: dict[str, str] = {}
        self.question = ""
        self.answer = ""
        self.calls = 0
        self.failed = 0
        self.tokens = 0
        self.model = ""

    def ask(self, text: str) -> None:
        """The whole of one user message. The first that is not blank is the question."""
        if not self.question and text.strip():
            self.question = text

    def user(self, text: str) -> None:
        self._add("user", text)

    def thinking(self, text: str) -> None:
        self._add("thinking", text)

    def response(self, text: str) -> None:
        self._add("response", text)
        if text and (text.strip() or not self.answer):
            self.answer = text

    def call(self, call_id: str, name: str, arguments: Any) -> None:
        self.calls += 1
        if call_id and name:
            self.names[call_id] = name
        if arguments is None:
            arguments = {}
        text = arguments if isinstance(arguments, str) else compact(arguments)
        self.entries.append(f"[tool:{name or 'unknown'}] {text}")

    def result(self, call_id: str, name: str, text: str, *, marked: bool, failed: bool = False) -> None:
        """One result. marked: the runtime itself calls it an error; failed: it is one by any sign."""
        name = name or self.names.get(call_id, "") or "unknown"
        self.failed += marked or failed
        self._add(f"tool_result:{name}:error" if marked else f"tool_result:{name}", text)

    def note(self, text: str) -> None:
        """Whatever else belongs to the conversation, as an entry of its own."""
        if text:
            self.entries.append(text)

    def spent(self, tokens: Any) -> None:
        if isinstance(tokens, (int, float)) and not isinstance(tokens, bool) and 0 < tokens < 1 << 53:
            self.tokens += int(tokens)

    def feedback(self) -> str:
        """`Session completed with N tool calls`, then what else is known."""
        parts = [f"Session completed with {self.calls} tool calls"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.model:
            parts.append(f"model: {self.model}")
        if self.tokens:
            parts.append(f"{self.tokens} tokens")
        return ", ".join(parts)

    def trace(self) -> dict[str, Any] | None:
        """The trace, or None if no user said anything."""
        if not self.question:
            return None
        return {
            "question": self.question,
            "reasoning": "\n".join(self.entries),
            "answer": self.answer,
            "skill_ids": [],
            "feedback": self.feedback(),
            "ground_truth": None,
        }

    def _add(self, tag: str, text: str) -> None:
        if text:
            self.entries.append(f"[{tag}] {text}")


def compact(value: Any) -> str:
    """A JSON value on one line, non-ASCII characters readable, keys in their own order."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def events_trace(events: Iterable[ReplayEvent]) -> dict[str, Any] | None:
    """The trace of any runtime's events, or None if no user said anything.

    Shape: as `openclaw_trace`. A sub-agent's prompt inside its parent's file is part of the conversation, and
           never the question; what a runtime put in beside the person's words is so only where nothing else is.
    """
    conversation = Conversation()
    fallback = ""
    for event in events:
        kind, payload = event.kind, event.payload
        if kind == e.LLM_CALL:
            text = _text(payload.get("text"))
            conversation.user(text)
            if event.parent_span_id is None and payload.get("origin") not in _BESIDE:
                conversation.ask(text)
            fallback = fallback or (text if text.strip() else "")
        elif kind == e.THINKING:
            conversation.thinking(_text(payload.get("text")))
        elif kind == e.LLM_RESPONSE:
            conversation.response(_text(payload.get("text")))
            if not payload.get("synthetic"):
                conversation.model = _text(payload.get("model")) or conversation.model
        elif kind in (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START):
            conversation.call(_text(payload.get("tool_use_id")), _text(payload.get("name")), payload.get("input"))
        elif kind in (e.TOOL_RESULT, e.AGENT_RETURN, e.WORKFLOW_END):
            name = "" if payload.get("name") == "unknown" else _text(payload.get("name"))
            marked = payload.get("is_error") is True
            conversation.result(_text(payload.get("tool_use_id")), name, result_text(payload), marked=marked)
        conversation.spent(_total(payload.get("tokens")))
    conversation.ask(fallback)
    return conversation.trace()


def result_text(payload: Mapping[str, Any]) -> str:
    """What a result says: its texts, or where it has none its other blocks as JSON."""
    output = payload.get("output")
    if isinstance(output, str) and output:
        return output
    blocks = payload.get("blocks")
    if blocks:
        return compact(blocks)
    return "" if output is None or isinstance(output, str) else compact(output)


def _total(tokens: Any) -> int:
    """All tokens of one message, in and out. Reasoning is counted within the output."""
    if not isinstance(tokens, Mapping):
        return 0
    if "total" in tokens:
        return int(tokens["total"])
    return sum(int(tokens.get(name, 0)) for name in ("input", "output", "cache_read", "cache_write"))


def openclaw_trace(events: Iterable[Any]) -> dict[str, Any] | None:
    """The trace of raw OpenClaw (or pi) events, or None if no user said anything.

    Shape:  question, reasoning, answer, skill_ids (always []), feedback, ground_truth (always None). What is
            no message, has no known role or no content counts for nothing. Order is that of the file.
    Errors: none: a value of a wrong type is left out, never raised.
    """
    conversation = Conversation()
    for event in events:
        if not isinstance(event, Mapping):
            continue
        kind = event.get("type")
        if kind == "message":
            message = event.get("message")
            if isinstance(message, Mapping):
                _message(conversation, message)
        elif kind == "custom" and event.get("customType") == "model-snapshot":
            data = event.get("data")
            if isinstance(data, Mapping):
                conversation.model = _text(data.get("modelId")) or conversation.model
    return conversation.trace()


def _message(conversation: Conversation, message: Mapping[str, Any]) -> None:
    role = message.get("role")
    content = message.get("content")
    if isinstance(content, str):
        content = [content]
    if role not in ("user", "assistant", "toolResult") or not isinstance(content, list) or not content:
        return
    if role == "toolResult":
        _result(conversation, message, content)
    else:
        _blocks(conversation, message, content, user=role == "user")
    usage = message.get("usage")
    if isinstance(usage, Mapping):
        conversation.spent(usage.get("totalTokens"))
    # What OpenClaw itself writes in the assistant's name names a model that does not exist.
    if message.get("provider") != "openclaw":
        conversation.model = _text(message.get("model")) or conversation.model


def _blocks(conversation: Conversation, message: Mapping[str, Any], content: list[Any], *, user: bool) -> None:
    said = []
    for block in content:
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if not isinstance(block, Mapping):
            continue
        kind = block.get("type")
        if kind == "text":
            text = _text(block.get("text"))
            if user:
                conversation.user(text)
                said.append(text)
            else:
                conversation.response(text)
        elif kind == "thinking":
            conversation.thinking(_text(block.get("thinking")))
        elif isinstance(kind, str) and kind in _CALLS:
            conversation.call(
                _text(block.get("id")),
                _text(block.get("name")),
                block.get("arguments", block.get("input")),
            )
        elif isinstance(kind, str) and kind in _RESULTS:
            inner = block.get("content")
            _result(conversation, block, [inner] if isinstance(inner, str) else inner)
    conversation.ask("\n".join(text for text in said if text))


def _result(conversation: Conversation, holder: Mapping[str, Any], content: Any) -> None:
    """A tool's result: a message of its own or a block inside one, which name the same things differently."""
    texts: list[str] = []
    others: list[Any] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping) and block.get("type") == "text":
            texts.append(_text(block.get("text")))
        elif isinstance(block, Mapping) and block.get("type") in ("toolResult", "tool_result"):
            inner = block.get("content")
            _result(conversation, block, [inner] if isinstance(inner, str) else inner)
        elif block is not None:
            others.append(block)
    text = "\n".join(texts) if texts else compact(others) if others else ""
    marked = holder.get("isError", holder.get("is_error")) is True
    conversation.result(
        _text(holder.get("toolCallId", holder.get("tool_use_id"))),
        _text(holder.get("toolName")),
        text,
        marked=marked,
        failed=_failed(holder.get("details")),
    )


def _failed(details: Any) -> bool:
    """Whether a result's details tell of a failure that its error mark does not."""
    if not isinstance(details, Mapping):
        return False
    code = details.get("exitCode")
    return details.get("status") in ("error", "failed", "forbidden") or (
        isinstance(code, int) and not isinstance(code, bool) and code != 0
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
