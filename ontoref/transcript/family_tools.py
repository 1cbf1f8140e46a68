"""Tool calls of the family of OpenClaw and pi and what becomes of them: results, changed files, sub-agents."""

from __future__ import annotations

from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.family_pass import Pass
from ontoref.transcript.native import parts, string
from ontoref.transcript.patch import patched_files
from ontoref.transcript.paths import normal_path
from ontoref.transcript.report import Child

__all__ = ["Tools"]

_EDIT_TOOLS = {"write", "edit", "multi_edit", "multiedit"}
_PATH_KEYS = ("path", "file_path", "filePath")
_FAILED = {"error", "failed", "forbidden"}
_SPAWN = "sessions_spawn"


class Tools(Pass):
    """Calls wait in `calls` for their results."""

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
