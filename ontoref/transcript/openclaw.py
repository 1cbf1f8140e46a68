"""OpenClaw's transcripts: version 3 lines, with or without a header, and their companions.

Format: docs/transcripts.md. The chain of `parentId` is the transcript's own and never a delegation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import Mode, ReplayEvent
from ontoref.transcript.native import parts, records, seconds, shown, string, tokens
from ontoref.transcript.openclaw_index import Index, Setting
from ontoref.transcript.outbox import Outbox
from ontoref.transcript.patch import patched_files
from ontoref.transcript.paths import normal_path
from ontoref.transcript.report import Child, Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["RUNTIME", "FamilyReading", "claims", "read", "report"]

RUNTIME = "openclaw"
TRAJECTORY = "openclaw-trajectory"

# Entry types of the family that this reader shares with pi; anything else is unknown.
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
_EDIT_TOOLS = {"write", "edit", "multi_edit", "multiedit"}
_PATH_KEYS = ("path", "file_path", "filePath")
_FAILED = {"error", "failed", "forbidden"}
_SPAWN = "sessions_spawn"
_STEM = re.compile(r"(.+?)(?:\.checkpoint\..+|-topic-[^.]+)?$")
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
    return FamilyReading(source, report, RUNTIME).events()


class FamilyReading:
    """One pass over one transcript of the family (OpenClaw, pi)."""

    def __init__(self, source: Source, report: Report, runtime: str) -> None:
        self.source = source
        self.report = report
        self.info = report.session
        self.runtime = runtime
        self.out = Outbox()
        self.ts = 0.0
        self.line = 0
        self.prefix = ""
        self.ids: set[str] = set()
        # Calls whose result has not come: id -> (name, span id, is a spawn, payload).
        self.calls: dict[str, tuple[str, str, bool, dict[str, Any]]] = {}
        self.spawns: dict[str, str] = {}
        self.index = Index(source.side) if runtime == RUNTIME else None
        self.setting: Setting | None = None
        self.turn = 0

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

    def begin(self, record: dict[str, Any]) -> None:
        """The session's identity is that of the header if the first good line is one, else the file's."""
        info = self.info
        native = record.get("id")
        if record.get("type") == "session" and isinstance(native, str) and native:
            info.session_id = info.native_id = native
        self.prefix = f"{self.runtime}:{info.session_id}:"
        if self.index is None:
            return
        setting = self.setting = self.index.setting(info)
        mode: Mode = {"permission": setting.permission, "sandbox": None, "collaboration": setting.collaboration}
        cwd = record.get("cwd")
        payload = {"line": self.line, "cwd": cwd if isinstance(cwd, str) else None, "version": record.get("version")}
        self.add(e.MODE_CHANGED, f"{self.prefix}mode:0", payload, mode=mode)

    def header(self, record: dict[str, Any]) -> None:
        info = self.info
        cwd = record.get("cwd")
        if info.cwd is None and isinstance(cwd, str):
            info.cwd = cwd
        if record.get("version") is not None:
            info.version = str(record["version"])
        self.model(record.get("modelId"), record.get("provider"))
        parent = record.get("branchedFrom") or record.get("parentSession")
        if isinstance(parent, str):
            info.source = parent

    def model(self, model: Any, provider: Any) -> None:
        if isinstance(model, str) and model:
            self.info.model = model
        if isinstance(provider, str) and provider:
            self.info.provider = provider

    def compaction(self, record: dict[str, Any]) -> None:
        payload: dict[str, Any] = {"line": self.line, "trigger": "hook" if record.get("fromHook") else None}
        payload["tokens_before"] = record.get("tokensBefore")
        payload["tokens_after"] = record.get("tokensAfter")
        summary = record.get("summary")
        payload["summary"] = summary if isinstance(summary, str) else ""
        details = record.get("details")
        if isinstance(details, dict):
            payload["details"] = details
        self.add(e.COMPACTION, self.span(record, 0), payload)

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
        if self.runtime != RUNTIME:
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

    def child_id(self, key: Any) -> str | None:
        return self.index.session_of(key) if self.index and isinstance(key, str) else None

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

    def call(self, record: dict[str, Any], position: int, block: dict[str, Any], shared: dict[str, Any]) -> None:
        name = block.get("name")
        name = name if isinstance(name, str) and name else "unknown"
        given = block.get("arguments", block.get("input"))
        native = block.get("id")
        native = native if isinstance(native, str) and native else f"#{self.line}:{position}"
        span = self.span(record, position)
        payload = shared | {"tool_use_id": native, "name": name, "input": {} if given is None else given}
        spawn = name == _SPAWN
        if spawn:
            arguments = given if isinstance(given, dict) else {}
            payload["prompt"] = arguments.get("task")
            payload["label"] = arguments.get("label")
            payload["agent_type"] = arguments.get("agentId")
            payload["model"] = arguments.get("model")
            payload["child_session_id"] = payload["child_session_key"] = payload["run_id"] = None
            self.out.hold(native)
        else:
            payload["files"] = self.files(name, given)
        self.calls[native] = (name, span, spawn, payload)
        self.add(e.AGENT_SPAWN if spawn else e.TOOL_CALL, span, payload)

    def files(self, name: str, given: Any) -> list[dict[str, Any]]:
        """Files that a call names to change, as written and normalised."""
        cwd = self.info.cwd
        if name == "apply_patch":
            text = given.get("input") or given.get("patch") if isinstance(given, dict) else given
            return patched_files(text, cwd) if isinstance(text, str) else []
        if name not in _EDIT_TOOLS or not isinstance(given, dict):
            return []
        for key in _PATH_KEYS:
            path = given.get(key)
            if isinstance(path, str) and path:
                return [{"name": path, "path": normal_path(path, cwd), "op": "write" if name == "write" else "update"}]
        return []

    def block_result(self, record: dict[str, Any], position: int, block: dict[str, Any]) -> None:
        self.result(
            record,
            position,
            block.get("toolCallId", block.get("tool_use_id")),
            block.get("toolName"),
            block.get("content"),
            block.get("isError", block.get("is_error")),
            block.get("details"),
        )

    def result(
        self, record: dict[str, Any], position: int, native: Any, name: Any, content: Any, flag: Any, details: Any
    ) -> None:
        native = native if isinstance(native, str) and native else f"#{self.line}:{position}"
        called, span, spawn, call = self.calls.pop(native, ("", None, False, {}))
        name = name if isinstance(name, str) and name else called or "unknown"
        texts, others = parts(content)
        known = details if isinstance(details, dict) else {}
        status = known.get("status")
        code = known.get("exitCode")
        code = code if isinstance(code, int) and not isinstance(code, bool) else None
        sign = "flag" if flag is True else "status" if (string(status) or "") in _FAILED else "exit" if code else None
        payload: dict[str, Any] = {
            "line": self.line,
            "tool_use_id": native,
            "name": name,
            "is_error": sign is not None,
            "error_sign": sign,
            "exit_code": code,
            "output": "\n".join(texts),
        }
        if others:
            payload["blocks"] = others
        if details is not None:
            payload["details"] = details
        if isinstance(status, str):
            payload["status"] = status
        own = self.span(record, position)
        if not spawn:
            self.add(e.TOOL_RESULT, own, payload)
            return
        self.out.release(native)
        key, run = known.get("childSessionKey"), known.get("runId")
        joined = {"child_session_key": key, "child_session_id": self.child_id(key), "run_id": run}
        call |= joined
        payload |= joined | {"spawn_span_id": span}
        if sign is None and isinstance(key, str):
            # Accepted: the child runs on and answers later, as an inter-session message.
            self.spawns[key] = span or ""
            entry = self.index.entry(key) if self.index else {}
            child = Child(joined["child_session_id"], span, native, key, None, call.get("label"), entry.get("status"))
            child.path = f"{child.session_id}.jsonl" if child.session_id else None
            self.info.children.append(child)
            self.add(e.TOOL_RESULT, own, payload)
        else:
            self.add(e.AGENT_RETURN, own, payload, parent=span)

    def span(self, record: dict[str, Any], part: int | str) -> str:
        """A span id from the entry's own id, from the line where that is missing or was there before."""
        native = record.get("id")
        if not isinstance(native, str) or not native:
            native = f"#{self.line}"
        elif native in self.ids:
            native = f"{native}#{self.line}"
        return f"{self.prefix}{native}:{part}"

    def add(
        self, kind: str, span: str, payload: dict[str, Any], *, parent: str | None = None, mode: Mode | None = None
    ) -> None:
        self.out.events.append(
            ReplayEvent(self.ts, kind, span, parent, self.info.session_id, self.runtime, payload, mode)
        )

    def finish(self) -> None:
        """What is only known at the end: the key that the index has for this session, and its open calls."""
        if self.calls:
            self.report.count("open_calls", len(self.calls))
        if self.index is not None:
            self.report.asked |= self.index.asked
        if self.index is not None and self.setting is not None:
            self.info.session_key = self.setting.session_key
            self.info.parent_session_id = self.setting.parent_session_id
