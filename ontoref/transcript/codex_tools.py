"""Tool calls of Codex and what becomes of them: outputs, approvals, threads that a thread starts."""

from __future__ import annotations

from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.codex_calls import arguments_of, call_files, output_of
from ontoref.transcript.codex_pass import Pass
from ontoref.transcript.event import Approval
from ontoref.transcript.native import string
from ontoref.transcript.report import Child

__all__ = ["Tools"]


class Tools(Pass):
    """Calls wait in `calls` for their outputs."""

    def call(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        given: Any
        if kind == "custom_tool_call":
            given = item.get("input")
        elif kind == "local_shell_call":
            given = item.get("action")
        else:
            given = arguments_of(item.get("arguments"))
        given = {} if given is None else given
        name = item.get("name")
        name = name if isinstance(name, str) and name else "local_shell" if kind == "local_shell_call" else "unknown"
        native = item.get("call_id") or item.get("id")
        native = native if isinstance(native, str) else f"#{self.line}"
        payload: dict[str, Any] = {"line": self.line, "tool_use_id": native, "name": name, "input": given}
        event = e.TOOL_CALL
        if name.rpartition(".")[2] == "spawn_agent":
            event = e.AGENT_SPAWN
            arguments = given if isinstance(given, dict) else {}
            payload["prompt"] = arguments.get("message", arguments.get("prompt"))
            payload["agent_type"] = payload["label"] = arguments.get("agent_type")
            payload["model"] = arguments.get("model")
            payload["child_session_id"] = None
            self.out.hold(native)
        else:
            files = call_files(name, given, self.cwd)
            if files or name == "apply_patch":
                payload["files"] = files
        span = self.add(event, payload)
        self.calls[native] = (event, span, payload)
        self.counts_on(payload)
        if isinstance(given, dict) and given.get("sandbox_permissions") == "require_escalated":
            self.approval(native, payload, span, "requested", string(given.get("justification")), None)

    def hosted(self, item: dict[str, Any]) -> None:
        """A search that the model's host ran itself; its result is in no line."""
        name = str(item["type"]).removesuffix("_call")
        payload = {"line": self.line, "tool_use_id": item.get("id") or f"#{self.line}", "name": name, "hosted": True}
        payload |= {"input": item.get("action") or {}, "status": item.get("status")}
        self.add(e.TOOL_CALL, payload)
        self.report.count("hosted")

    def output(self, item: dict[str, Any]) -> None:
        native = item.get("call_id")
        native = native if isinstance(native, str) and native else f"#{self.line}"
        kind, span, call = self.calls.pop(native, (e.TOOL_CALL, "", {}))
        found = output_of(item.get("output"))
        payload: dict[str, Any] = {
            "line": self.line,
            "tool_use_id": native,
            "name": call.get("name", "unknown"),
            "is_error": found.failed,
            "error_sign": ("exit" if found.exit_code else "flag") if found.failed else None,
            "exit_code": found.exit_code,
            "output": found.text,
        }
        if found.blocks:
            payload["blocks"] = found.blocks
        if found.refused:
            payload["refused"] = True
        asked = isinstance(call.get("input"), dict) and call["input"].get("sandbox_permissions") == "require_escalated"
        if found.refused and not asked:
            self.approval(native, call or payload, span, "requested", None, None)
        if found.refused:
            self.approval(native, call or payload, span, "denied", found.text, "user")
        elif asked:
            self.approval(native, call, span, "approved", None, "unknown")
        if kind is e.AGENT_SPAWN:
            self.spawned(native, span, call, payload, found.value or {})
            return
        self.add(e.TOOL_RESULT, payload)
        if found.value is not None:
            self.waited(call, found.value)

    def spawned(
        self, native: str, span: str, call: dict[str, Any], payload: dict[str, Any], value: dict[str, Any]
    ) -> None:
        self.out.release(native)
        child = string(value.get("agent_id", value.get("thread_id", value.get("new_thread_id"))))
        payload |= {"spawn_span_id": span, "child_session_id": child}
        call["child_session_id"] = child
        if child is None:
            self.add(e.AGENT_RETURN, payload | {"status": "refused"}, parent=span)
            return
        self.children[child] = Child(child, span, native, label=string(call.get("label")))
        self.add(e.TOOL_RESULT, payload)

    def waited(self, call: dict[str, Any], value: dict[str, Any]) -> None:
        """Answers of sub-agents inside the output of wait or close_agent: each ends its delegation once."""
        name = str(call.get("name")).rpartition(".")[2]
        if name not in ("wait", "wait_agent", "close_agent") or not self.children:
            return
        states = value.get("status", value.get("previous_status"))
        if name == "close_agent":
            given = call.get("input")
            target = given.get("id", given.get("target")) if isinstance(given, dict) else None
            states = {target: states} if isinstance(target, str) else {}
        for thread, state in states.items() if isinstance(states, dict) else ():
            child = self.children.get(thread)
            status = next(iter(state), None) if isinstance(state, dict) else state
            if child is None or thread in self.returned or status in (None, "running", "pending_init"):
                continue
            self.returned.add(thread)
            child.status = string(status)
            payload = {"line": self.line, "spawn_span_id": child.span_id, "child_session_id": thread}
            payload |= {"status": status, "is_error": status in ("errored", "failed", "not_found"), "output": None}
            self.add(e.AGENT_RETURN, payload, part=f"return:{thread}", parent=child.span_id)

    def approval(
        self, native: str, call: dict[str, Any], span: str, status: str, reason: str | None, resolver: str | None
    ) -> None:
        kind = e.APPROVAL_REQUESTED if status == "requested" else e.APPROVAL_DECIDED
        payload = {"line": self.line, "tool_use_id": native, "name": call.get("name"), "approval_id": native}
        found: Approval = {"status": status, "decision_reason": reason, "resolver": resolver, "edit_diff": None}
        self.add(kind, payload, part=f"{status}", parent=span or None, approval=found)

    def asked(self, payload: dict[str, Any]) -> None:
        native = payload.get("call_id")
        native = native if isinstance(native, str) else f"#{self.line}"
        _, span, call = self.calls.get(native, (e.TOOL_CALL, "", {}))
        self.approval(native, call, span, "requested", string(payload.get("reason")), None)
