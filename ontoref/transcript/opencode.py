"""OpenCode's sessions: the stream of `opencode run --format json`, and the rows of its database as lines.

Format: docs/transcripts.md. The stream holds the agent's parts alone; the database also the user's messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import records, seconds
from ontoref.transcript.report import Child, Report, SessionInfo
from ontoref.transcript.small import Pass
from ontoref.transcript.source import Head, Source

__all__ = ["claims", "read", "report"]

RUNTIME = "opencode"
_STREAM = {"step_start", "step_finish", "text", "reasoning", "tool_use", "error", "message", "part", "session"}
# Parts that say nothing of their own: marks of steps, snapshots for undoing, names of attached agents.
_SILENT = {"step-start", "snapshot", "patch", "agent", "retry", "subtask", "file"}


def claims(head: Head) -> int:
    """2 for events of a session whose id is named as only OpenCode names it."""
    for record in head.records:
        if isinstance(record.get("sessionID"), str) and str(record.get("type")) in _STREAM:
            return 2
    return 0


def report(source: Source) -> Report:
    """A report with the file's name for an id, until the lines tell a better one."""
    name = source.stem or "unknown"
    return Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one session, in write order; a message's are held back until its token counts are known."""
    reading = _Reading(report)
    for number, record in records(source, report):
        if record is not None:
            reading.record(number, record)
        if record is None or reading.finished or len(reading.out.made) > 512:
            yield from reading.out.take()
            reading.finished = False
    yield from reading.out.take()


class _Reading:
    def __init__(self, report: Report) -> None:
        self.out = Pass(report)
        self.roles: dict[str, str] = {}
        self.infos: dict[str, Mapping[str, Any]] = {}
        self.turns: dict[str, int] = {}
        self.named = False
        self.finished = False

    def record(self, number: int, record: dict[str, Any]) -> None:
        out = self.out
        part = record.get("part")
        kind = record.get("type")
        native = record.get("sessionID")
        if not self.named and isinstance(native, str) and native:
            out.info.session_id = out.info.native_id = native
            self.named = True
        out.at(number, seconds(record.get("timestamp"), out.ts))
        if kind == "session":
            self.session(record.get("info"))
        elif kind == "message" and isinstance(record.get("info"), dict):
            self.message(record["info"])
        elif kind == "error":
            self.error(record.get("error"))
        elif isinstance(part, dict):
            self.part(number, part)
        else:
            out.report.unknown.add(number, f"event of type {str(kind)[:40]}")

    def session(self, found: Any) -> None:
        if not isinstance(found, dict):
            return
        info = self.out.info
        for ours, theirs in (("cwd", "directory"), ("title", "title"), ("version", "version")):
            if isinstance(found.get(theirs), str):
                setattr(info, ours, found[theirs])
        if isinstance(found.get("parent_id"), str):
            info.parent_session_id = found["parent_id"]

    def message(self, found: Mapping[str, Any]) -> None:
        """A message of the database; its parts follow."""
        native, role = found.get("id"), found.get("role")
        if isinstance(native, str) and isinstance(role, str):
            self.roles[native] = role
            self.infos[native] = found
        self.finished = True
        info = self.out.info
        place = found.get("path")
        if isinstance(place, dict) and isinstance(place.get("cwd"), str):
            info.cwd = info.cwd or place["cwd"]
        if isinstance(found.get("modelID"), str):
            info.model = found["modelID"]
        if isinstance(found.get("providerID"), str):
            info.provider = found["providerID"]
        if found.get("error"):
            self.error(found["error"], native)

    def error(self, found: Any, native: Any = None) -> None:
        """The model or its service failed: an answer without a text."""
        what = found
        if isinstance(found, dict):
            data = found.get("data")
            what = data.get("message") if isinstance(data, dict) else None
            what = what or found.get("message") or found.get("name")
        payload = {"text": "", "message_id": native or f"#{self.out.line}", "synthetic": True}
        self.out.add(
            e.LLM_RESPONSE, native, "error", payload | {"error": what if isinstance(what, str) else str(found)}
        )
        self.finished = True

    def part(self, number: int, part: Mapping[str, Any]) -> None:
        kind = part.get("type")
        owner = part.get("messageID")
        owner = owner if isinstance(owner, str) else ""
        text = part.get("text")
        text = text if isinstance(text, str) else ""
        shared = {"message_id": owner or f"#{number}"}
        info = self.infos.get(owner, {})
        if kind == "text" and self.roles.get(owner) == "user":
            self.prompt(part, owner, text)
        elif kind == "text":
            known = {"model": info.get("modelID"), "provider": info.get("providerID")}
            self.out.add(e.LLM_RESPONSE, part.get("id"), 0, shared | {"text": text} | known)
        elif kind == "reasoning":
            self.out.add(e.THINKING, part.get("id"), 0, shared | {"text": text})
        elif kind == "tool":
            self.tool(part, shared)
        elif kind == "step-finish":
            self.step(part, owner)
        elif kind == "compaction":
            self.out.add(
                e.COMPACTION, part.get("id"), 0, {"summary": "", "trigger": "auto" if part.get("auto") else None}
            )
        elif isinstance(kind, str) and kind in _SILENT:
            self.out.report.count(str(kind))
        else:
            self.out.report.unknown.add(number, f"part of type {str(kind)[:40]}")

    def prompt(self, part: Mapping[str, Any], owner: str, text: str) -> None:
        turn = self.turns.setdefault(owner, len(self.turns) + 1)
        human = not part.get("synthetic")
        origin = "human" if human else "context"
        payload = {"text": text, "human": human, "origin": origin, "turn": turn}
        self.out.add(e.LLM_CALL, part.get("id"), 0, payload)

    def tool(self, part: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
        """One part is a call and, once it ended, its result."""
        out = self.out
        state = part.get("state")
        state = state if isinstance(state, dict) else {}
        name = part.get("tool")
        name = name if isinstance(name, str) and name else "unknown"
        native = part.get("callID") or part.get("id")
        native = native if isinstance(native, str) and native else f"#{out.line}"
        given = state.get("input")
        payload = {**shared, "tool_use_id": native, "name": name, "input": {} if given is None else given}
        metadata = state.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        spawn = name == "task"
        if spawn:
            arguments = given if isinstance(given, dict) else {}
            child = metadata.get("sessionId") or metadata.get("sessionID")
            child = child if isinstance(child, str) else None
            payload |= {"prompt": arguments.get("prompt"), "label": arguments.get("description")}
            payload |= {"agent_type": arguments.get("subagent_type"), "child_session_id": child}
        else:
            payload["files"] = out.files(name, given)
        span = out.add(e.AGENT_SPAWN if spawn else e.TOOL_CALL, part.get("id"), "call", payload)
        status = state.get("status")
        if spawn:
            label = payload["label"] if isinstance(payload["label"], str) else None
            out.info.children.append(Child(payload["child_session_id"], span, native, label=label))
        if status not in ("completed", "error"):
            return
        self._result(part, state, metadata, native, name, span if spawn else None)

    def _result(
        self,
        part: Mapping[str, Any],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        native: str,
        name: str,
        spawn: str | None,
    ) -> None:
        code = metadata.get("exit")
        code = code if isinstance(code, int) and not isinstance(code, bool) else None
        failed = state.get("status") == "error"
        said = state.get("output")
        if not isinstance(said, str):
            said = state.get("error") if isinstance(state.get("error"), str) else ""
        times = state.get("time")
        if isinstance(times, dict):
            self.out.ts = seconds(times.get("end"), self.out.ts)
        payload: dict[str, Any] = {
            "tool_use_id": native,
            "name": name,
            "is_error": failed or bool(code),
            "error_sign": "status" if failed else "exit" if code else None,
            "exit_code": code,
            "output": said,
            "status": state.get("status"),
        }
        if spawn is None:
            self.out.add(e.TOOL_RESULT, part.get("id"), "result", payload)
        else:
            payload |= {"spawn_span_id": spawn, "child_session_id": metadata.get("sessionId")}
            self.out.add(e.AGENT_RETURN, part.get("id"), "result", payload, parent=spawn)

    def step(self, part: Mapping[str, Any], owner: str) -> None:
        """The end of one answer: its token counts go to its last event, its reason to its last text."""
        self.finished = True
        own = [m for m in self.out.made if m.payload.get("message_id") == (owner or m.payload.get("message_id"))]
        if not own:
            return
        found = part.get("tokens")
        if isinstance(found, dict):
            cache = found.get("cache")
            flat = {k: v for k, v in found.items() if k in ("input", "output", "reasoning", "total")}
            if isinstance(cache, dict):
                flat |= {"cache_read": cache.get("read"), "cache_write": cache.get("write")}
            counts = {k: v for k, v in flat.items() if type(v) is int and v >= 0}
            own[-1].payload.update(usage=found, tokens=counts)
        texts = [m for m in own if m.kind == e.LLM_RESPONSE]
        if texts:
            texts[-1].payload["stop_reason"] = part.get("reason")
