"""Tool calls of Claude Code and what becomes of them: results, refusals, plans, sub-agents, workflows."""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.claude_agents import child_session
from ontoref.transcript.claude_pass import Pass
from ontoref.transcript.claude_prompts import plan_approved, refusal_of
from ontoref.transcript.event import Approval
from ontoref.transcript.native import parts
from ontoref.transcript.paths import normal_path

__all__ = ["OWN_WAY", "PLAN", "Tools"]

_SPAWNS = {"Task", "Agent"}
_EDIT_TOOLS = {"Write": "write", "Edit": "update", "MultiEdit": "update", "NotebookEdit": "update"}
PLAN = ("EnterPlanMode", "ExitPlanMode", "exit_plan_mode")
# Tools whose calls are more than a call.
OWN_WAY = {*_SPAWNS, *_EDIT_TOOLS, "Workflow", "", "unknown"}


class Tools(Pass):
    """Calls wait in `calls` for their results."""

    def call(
        self, record: dict[str, Any], uuid: str, position: int, block: dict[str, Any], parent: str | None, message: str
    ) -> dict[str, Any]:
        name = block.get("name")
        if type(name) is not str or not name:
            name = "unknown"
        given = block.get("input")
        native = block.get("id")
        if type(native) is not str or not native:
            native = f"{uuid}:{position}"
        span = f"{self.prefix}{uuid}:{position}"
        payload: dict[str, Any] = {
            "line": self.line,
            "tool_use_id": native,
            "name": name,
            "input": {} if given is None else given,
            "message_id": message,
        }
        kind = e.TOOL_CALL
        if name in _EDIT_TOOLS:
            payload["files"] = self.files(name, given, record.get("cwd"))
        elif name in _SPAWNS:
            kind = e.AGENT_SPAWN
            self.spawn(native, span, payload, given)
        elif name == "Workflow":
            kind = e.WORKFLOW_START
            payload["label"] = given.get("name") if isinstance(given, dict) else None
            payload["run_id"] = None
            self.out.hold(native)
        self.calls[native] = (kind, span, payload)
        self.add(kind, span, payload, parent)
        return payload

    def spawn(self, native: str, span: str, payload: dict[str, Any], given: Any) -> None:
        arguments = given if isinstance(given, dict) else {}
        payload["prompt"] = arguments.get("prompt")
        payload["label"] = arguments.get("description")
        payload["agent_type"] = arguments.get("subagent_type")
        payload["model"] = arguments.get("model")
        self.agents.spawned(native, span, payload)
        payload["child_session_id"] = self.agents.children[native].session_id
        if payload["child_session_id"] is None:
            self.out.hold(native)

    def files(self, name: str, given: Any, cwd: Any) -> list[dict[str, Any]]:
        if not isinstance(given, dict):
            return []
        path = given.get("notebook_path") if name == "NotebookEdit" else given.get("file_path")
        if not isinstance(path, str) or not path:
            return []
        cwd = cwd if isinstance(cwd, str) else self.info.cwd
        return [{"name": path, "path": normal_path(path, cwd), "op": _EDIT_TOOLS[name]}]

    def result(
        self, record: dict[str, Any], uuid: str, position: int, block: dict[str, Any], parent: str | None, details: Any
    ) -> None:
        native = block.get("tool_use_id")
        span = f"{self.prefix}{uuid}:{position}"
        if type(native) is not str or not native:
            native = f"{uuid}:{position}"
        called = self.calls.pop(native, None)
        content = block.get("content")
        if type(content) is str:
            text, others = content, None
        else:
            texts, others = parts(content)
            text = "\n".join(texts)
        failed = block.get("is_error") is True
        payload: dict[str, Any] = {
            "line": self.line,
            "tool_use_id": native,
            "name": called[2]["name"] if called is not None else "unknown",
            "is_error": failed,
            "output": text,
        }
        if others:
            payload["blocks"] = others
        if details is not None:
            payload["details"] = details
        if "tool-results" in text[:500]:
            whole = self.agents.saved_output(text)
            if whole is not None:
                payload["preview"], payload["output"] = text, whole
        if failed:
            payload["error_sign"] = "flag"
            self.refused(native, text, span, payload, called)
        kind = e.TOOL_RESULT
        if called is not None and called[0] is not e.TOOL_CALL:
            kind, parent = self.ended(native, called, payload, details, uuid, parent)
        elif type(details) is dict and "agentId" in details and called is None:
            kind = e.AGENT_RETURN
            self.join(native, payload, details)
        elif called is not None and called[2]["name"] in PLAN:
            self.plan(called, text, failed, span)
        self.add(kind, span, payload, parent)

    def refused(
        self, native: str, text: str, span: str, payload: dict[str, Any], called: tuple[str, str, dict[str, Any]] | None
    ) -> None:
        """A refusal is told by its fixed text alone: the question and the answer, then the result."""
        refusal = refusal_of(text)
        if refusal is None:
            return
        payload["refused"] = True
        self.approval(
            native, span, payload["name"], called[1] if called else None, "denied", refusal.resolver, refusal.reason
        )

    def approval(
        self, native: str, span: str, name: str, gated: str | None, status: str, resolver: str, reason: str | None
    ) -> None:
        shared = {"line": self.line, "tool_use_id": native, "name": name, "approval_id": native}
        asked: Approval = {"status": "requested", "decision_reason": None, "resolver": None, "edit_diff": None}
        decided: Approval = {"status": status, "decision_reason": reason, "resolver": resolver, "edit_diff": None}
        self.add(e.APPROVAL_REQUESTED, f"{span}:asked", dict(shared), gated, None, asked)
        self.add(e.APPROVAL_DECIDED, f"{span}:decided", shared, gated, None, decided)

    def plan(self, called: tuple[str, str, dict[str, Any]], text: str, failed: bool, span: str) -> None:
        """Plan mode is entered and left by tools; leaving it needs the person's yes."""
        name = called[2]["name"]
        if failed:
            return
        if name == "EnterPlanMode":
            self.before_plan = self.permission
            self.mode("plan", f"{span}:mode", by=name)
            return
        if plan_approved(text):
            self.approval(called[2]["tool_use_id"], span, name, called[1], "approved", "user", None)
        if self.permission == "plan" and self.before_plan not in (None, "plan"):
            self.mode(self.before_plan, f"{span}:mode", by=name)

    def ended(
        self,
        native: str,
        called: tuple[str, str, dict[str, Any]],
        payload: dict[str, Any],
        details: Any,
        uuid: str,
        parent: str | None,
    ) -> tuple[str, str | None]:
        """The kind and parent of a result that answers a spawn or a workflow."""
        kind, span, call = called
        self.out.release(native)
        known = details if isinstance(details, dict) else {}
        status = known.get("status")
        launched = isinstance(status, str) and status.endswith("launched")
        if isinstance(status, str):
            payload["status"] = status
        if kind is e.WORKFLOW_START:
            run = known.get("runId")
            call["run_id"] = payload["run_id"] = run
            if not launched:
                return e.WORKFLOW_END, span
            if isinstance(run, str) and re.fullmatch(r"[A-Za-z0-9_-]+", run):
                self.workflow(uuid, span, run)
            return e.TOOL_RESULT, parent
        payload["spawn_span_id"] = span
        self.join(native, payload, known)
        call["child_session_id"] = payload["child_session_id"]
        child = self.agents.children.get(native)
        if child is not None:
            child.status = status if isinstance(status, str) else None
        return (e.TOOL_RESULT, parent) if launched else (e.AGENT_RETURN, span)

    def join(self, native: str, payload: dict[str, Any], details: dict[str, Any]) -> None:
        agent = details.get("agentId")
        payload["child_session_id"] = self.agents.joined(native, agent) if isinstance(agent, str) and agent else None
        if payload["child_session_id"] is None and native in self.agents.children:
            payload["child_session_id"] = self.agents.children[native].session_id

    def workflow(self, uuid: str, span: str, run: str) -> None:
        """Stages and end of a workflow that was launched, as its journal tells them."""
        stages = self.agents.stages(run)
        for key, agent, status in stages:
            child = child_session(self.agents.session, agent)
            payload = {"line": self.line, "name": key, "status": status, "agent_id": agent, "child_session_id": child}
            self.add(e.WORKFLOW_STAGE, f"{self.prefix}{uuid}:{run}:{key}", payload, span)
        if stages and all(status == "completed" for _, _, status in stages):
            end = {"line": self.line, "run_id": run, "status": "completed", "is_error": False, "output": None}
            self.add(e.WORKFLOW_END, f"{self.prefix}{uuid}:{run}:", end, span)

    def notified(self, uuid: str, text: str) -> None:
        """A sub-agent that ran in the background ended; its text is the next prompt's."""
        call = re.search(r"<tool-use-id>([^<]+)</tool-use-id>", text)
        task = re.search(r"<task-id>([^<]+)</task-id>", text)
        status = re.search(r"<status>([^<]+)</status>", text)
        for native, child in self.agents.children.items():
            agent = self.agents.known.get(native)
            if child.span_id and ((call and call.group(1) == native) or (task and agent == task.group(1))):
                self.returned(uuid, child.span_id, native, child.session_id, status.group(1) if status else None)
                return

    def returned(self, uuid: str, span: str, call: str, session: str | None, status: str | None) -> None:
        payload = {
            "line": self.line,
            "spawn_span_id": span,
            "child_session_id": session,
            "status": status,
            "is_error": status in ("failed", "error", "killed"),
            "output": None,
        }
        self.add(e.AGENT_RETURN, f"{self.prefix}{uuid}:return", payload, span)

    def hook(self, found: dict[str, Any], uuid: str) -> None:
        """A hook's verdict on a call, where it gave one."""
        verdict = found.get("decision", found.get("permissionDecision"))
        error = found.get("blockingError")
        reason = error.get("blockingError") if isinstance(error, dict) else found.get("reason")
        if found.get("type") == "hook_blocking_error":
            status = "denied"
        elif verdict in ("allow", "approve"):
            status = "approved"
        elif verdict in ("deny", "block"):
            status = "denied"
        else:
            return
        native = found.get("toolUseID")
        called = self.calls.get(native) if isinstance(native, str) else None
        payload = {"line": self.line, "tool_use_id": native, "name": called[2]["name"] if called else None}
        payload["approval_id"] = native
        reason = reason if isinstance(reason, str) else None
        decided: Approval = {"status": status, "decision_reason": reason, "resolver": "hook", "edit_diff": None}
        self.add(e.APPROVAL_DECIDED, f"{self.prefix}{uuid}:0", payload, called[1] if called else None, None, decided)

    def progress(self, record: dict[str, Any]) -> None:
        """Copies of what a sub-agent's own file holds; they only tell which call it belongs to."""
        data = record.get("data")
        kind = data.get("type") if type(data) is dict else None
        self.report.count(f"progress/{kind}" if type(kind) is str else "progress")
        if type(data) is dict and kind == "agent_progress":
            call, agent = record.get("parentToolUseID"), data.get("agentId")
            if isinstance(call, str) and isinstance(agent, str) and agent and call in self.agents.children:
                child = self.agents.children[call]
                if child.session_id is None:
                    session = self.agents.joined(call, agent)
                    if call in self.calls:
                        self.calls[call][2]["child_session_id"] = session
                        self.out.release(call)
