"""What becomes of each line of the family of OpenClaw and pi, whose transcripts look the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.family_tools import Tools
from ontoref.transcript.native import parts, records, seconds, shown, string, tokens

__all__ = ["ENTRY_TYPES", "Reading"]

# Entry types that the family shares; anything else is unknown.
ENTRY_TYPES = {
    "session",
    "message",
    "model_change",
    "thinking_level_change",
    "custom",
    "custom_message",
    "compaction",
    "branch_summary",
    "label",
    "session_info",
}
# Texts of role user that nobody typed, by how they begin after an optional time stamp.
_STAMP = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]]*\]\s*")
_INJECTED = (
    ("[Inter-session message]", "inter-session"),
    ("[Subagent Context]", "task"),
    ("[OpenClaw heartbeat", "heartbeat"),
    ("Read HEARTBEAT.md", "heartbeat"),
    ("[cron:", "cron"),
    ("System:", "system"),
    ("A new session was started", "startup"),
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "context"),
)


class Reading(Tools):
    """One pass over one transcript."""

    def events(self) -> Iterator[ReplayEvent]:
        out = self.out
        for number, record in records(self.source, self.report):
            if record is None:
                yield from out.all()
                continue
            self.line = number
            self.entry(record)
            if out.events:
                if out.full or number == self.report.large:
                    yield from out.all()
                elif not out.held:
                    yield from out.ready()
        yield from out.all()
        self.finish()

    def entry(self, record: dict[str, Any]) -> None:
        kind = string(record.get("type")) or ""
        self.ts = seconds(record.get("timestamp"), self.ts)
        if not self.prefix:
            self.begin(record)
        if self.info.started is None and self.ts:
            self.info.started = self.ts
        self.info.ended = self.ts or None
        if kind == "message":
            self.message(record)
        elif kind == "compaction":
            self.compaction(record)
        elif kind == "session":
            self.header(record)
        elif kind == "model_change":
            self.report.count("model_change")
            self.report.count("modes")
            self.model(record.get("modelId"), record.get("provider"))
        elif kind == "custom" and record.get("customType") == "model-snapshot":
            data = record.get("data")
            if isinstance(data, dict):
                self.model(data.get("modelId"), data.get("provider"))
        elif kind not in ENTRY_TYPES:
            self.report.unknown.add(self.line, f"entry of type {shown(record.get('type'))}")
        if kind == "thinking_level_change":
            self.report.count("modes")
        if kind in ENTRY_TYPES and kind not in ("message", "compaction", "session", "model_change"):
            self.report.count(kind)
            if kind == "session_info" and isinstance(record.get("name"), str):
                self.info.title = record["name"]
        native = record.get("id")
        if isinstance(native, str):
            parent = record.get("parentId")
            if isinstance(parent, str) and parent not in self.ids:
                self.report.notes.add(self.line, f"its parent {shown(parent)} is not in the file")
            self.ids.add(native)

    def message(self, record: dict[str, Any]) -> None:
        message = record.get("message")
        if not isinstance(message, dict):
            self.report.unknown.add(self.line, f"message with no message but {shown(message)}")
            return
        role = message.get("role")
        if role == "user":
            self.user(record, message)
        elif role == "assistant":
            self.assistant(record, message)
        elif role in ("toolResult", "tool"):
            self.result(
                record,
                0,
                message.get("toolCallId"),
                message.get("toolName"),
                message.get("content"),
                message.get("isError"),
                message.get("details"),
            )
        else:
            self.report.unknown.add(self.line, f"message with role {shown(role)}")

    def user(self, record: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        rest: list[Any] = []
        position = 1
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, dict) and block.get("type") in ("toolResult", "tool_result"):
                self.block_result(record, position, block)
                position += 1
            elif block is not None:
                rest.append(block)
        if not rest and position > 1:
            return
        texts, others = parts(rest if isinstance(content, list) else content)
        text = "\n".join(texts)
        origin = self.origin(text, message.get("provenance"))
        self.turn += 1
        payload = {"line": self.line, "text": text, "human": origin == "human", "origin": origin, "turn": self.turn}
        if others:
            payload["blocks"] = others
        source = message.get("provenance")
        if isinstance(source, dict):
            payload["provenance"] = source
            self.announced(record, source)
        self.add(e.LLM_CALL, self.span(record, 0), payload)

    def origin(self, text: str, provenance: Any) -> str:
        """Who is behind a text of role user: human, or what put it there."""
        if isinstance(provenance, dict) and provenance.get("kind") not in (None, "external_user"):
            return str(provenance.get("kind")).replace("_", "-")
        if self.index is None:
            return "human"
        stamp = _STAMP.match(text)
        begin = text[stamp.end() :] if stamp else text
        for mark, origin in _INJECTED:
            if begin.startswith(mark):
                return origin
        return "human"

    def announced(self, record: dict[str, Any], provenance: dict[str, Any]) -> None:
        """A child's result that came back as a user: the delegation's end, whose text is the next prompt's."""
        key = provenance.get("sourceSessionKey")
        span = self.spawns.get(key) if isinstance(key, str) else None
        if span is None or not isinstance(key, str):
            return
        payload = {"line": self.line, "child_session_key": key, "child_session_id": self.child_id(key)}
        payload |= {"spawn_span_id": span, "is_error": False, "status": "announced", "output": None}
        self.add(e.AGENT_RETURN, self.span(record, "return"), payload, parent=span)

    def assistant(self, record: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        native = record.get("id")
        shared: dict[str, Any] = {"line": self.line, "message_id": native if isinstance(native, str) else None}
        if shared["message_id"] is None:
            shared["message_id"] = f"#{self.line}"
        own = message.get("provider") == "openclaw"
        if not own:
            self.model(message.get("model"), message.get("provider"))
        calls = sum(1 for b in blocks if isinstance(b, dict) and b.get("type") in ("toolCall", "tool_use"))
        response: dict[str, Any] | None = None
        for position, block in enumerate(blocks, 1):
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(block, str) or kind == "text":
                text = block if isinstance(block, str) else block.get("text")
                response = shared | {"text": text if isinstance(text, str) else ""}
                self.add(e.LLM_RESPONSE, self.span(record, position), response)
            elif kind in ("thinking", "redacted_thinking"):
                self.thinking(record, position, block, shared)
            elif kind in ("toolCall", "tool_use"):
                if response is None:
                    response = shared | {"text": ""}
                    self.add(e.LLM_RESPONSE, self.span(record, 0), response)
                self.call(record, position, block, shared)
            elif kind in ("toolResult", "tool_result"):
                self.block_result(record, position, block)
            elif block is not None:
                self.report.unknown.add(self.line, f"block of type {shown(kind)}")
        if response is None:
            response = shared | {"text": ""}
            self.add(e.LLM_RESPONSE, self.span(record, 0), response)
        for name, key in (("model", "model"), ("provider", "provider"), ("api", "api"), ("stop_reason", "stopReason")):
            response[name] = message.get(key)
        usage = message.get("usage")
        response["usage"] = usage if isinstance(usage, dict) else None
        response["tokens"] = tokens(usage)
        response["tool_calls"] = calls
        if own:
            response["synthetic"] = True
        if message.get("errorMessage"):
            response["error"] = message["errorMessage"]

    def thinking(self, record: dict[str, Any], position: int, block: dict[str, Any], shared: dict[str, Any]) -> None:
        text = block.get("thinking")
        payload = shared | {"text": text if isinstance(text, str) else ""}
        if not payload["text"] and (block.get("redacted") or block.get("thinkingSignature") or block.get("data")):
            payload["redacted"] = True
        self.add(e.THINKING, self.span(record, position), payload)
