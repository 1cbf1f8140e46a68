"""What becomes of each line of Claude Code, whatever it holds."""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.claude_agents import Agents, agent_of, child_session
from ontoref.transcript.claude_prompts import origin_of, plan_approved, refusal_of
from ontoref.transcript.event import Approval, ReplayEvent
from ontoref.transcript.native import parts, shown, tokens
from ontoref.transcript.outbox import Outbox
from ontoref.transcript.paths import normal_path
from ontoref.transcript.report import Report
from ontoref.transcript.source import Source

__all__ = ["CONVERSATION", "META", "OWN_WAY", "PLAN", "RUNTIME", "Lines"]

RUNTIME = "claude-code"
CONVERSATION = {"user", "assistant", "system", "attachment", "progress"}
# Lines about the session, of which no event is made.
META = {
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "permission-mode",
    "last-prompt",
    "ai-title",
    "custom-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "mode",
    "pr-link",
    "tag",
    "worktree-state",
    "content-replacement",
    "attribution-snapshot",
    "speculation-accept",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "task-summary",
    "started",
    "result",
}
_SPAWNS = {"Task", "Agent"}
_EDIT_TOOLS = {"Write": "write", "Edit": "update", "MultiEdit": "update", "NotebookEdit": "update"}
PLAN = ("EnterPlanMode", "ExitPlanMode", "exit_plan_mode")
# Tools whose calls are more than a call.
OWN_WAY = {*_SPAWNS, *_EDIT_TOOLS, "Workflow", "", "unknown"}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMPACTED = "compaction"

_new = tuple.__new__


class Lines:
    """One pass over one transcript: what becomes of each line.

    Shape: `assistant`, `user` and `other` take one line each; `line` and `ts` are set before. Events go to out.
    """

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.info = report.session
        self.out = Outbox()
        self.ts = 0.0
        self.line = 0
        self.begun = False
        self.prefix = ""
        self.session = ""
        self.agent = agent_of(source.name)
        self.agents = Agents(source.side, source.stem)
        self.uuids: set[str] = set()
        # Those of the last lines, which join the others when one has to be looked up.
        self.answered: list[str] = []
        # The message of each chain that may go on: chain -> [id, payload of its last event, usage, its uuids …].
        self.messages: dict[str, list[Any]] = {}
        # Messages that are over, as above with output tokens for the usage: a line that comes again is known
        # by them, and a late one adds only what is new.
        self.given: dict[str, list[Any]] = {}
        # Calls without a result: id -> (kind, span, payload).
        self.calls: dict[str, tuple[str, str, dict[str, Any]]] = {}
        self.compaction: dict[str, Any] | None = None
        self.permission: str | None = None
        self.before_plan: str | None = None
        self.sidechain = 0
        self.model: str | None = None
        self.settled = 0
        self.summaries: dict[str, str] = {}
        self.described = False
        # Nothing waits that an assistant's line would have to settle first.
        self.usual = False
        self.append = self.out.events.append

    def is_new(self, uuid: str, record: dict[str, Any]) -> bool:
        """Whether no line before had the uuid; a repeated one is counted."""
        if self.answered:
            self.uuids.update(self.answered)
            self.answered.clear()
        if uuid in self.uuids:
            self.report.count("duplicate")
            self.sidechain += record.get("isSidechain") is True
            return False
        self.uuids.add(uuid)
        return True

    def other(self, kind: Any, record: dict[str, Any], uuid: str) -> None:
        """A line that is no message."""
        if record.get("isSidechain") is True:
            self.sidechain += 1
        if "permissionMode" in record:
            self.mode(record["permissionMode"], f"{self.prefix}{uuid}:mode")
        if kind == "progress":
            self.progress(record)
        elif kind == "attachment":
            self.attachment(record, uuid)
        elif kind == "system":
            self.system(record, uuid)
        elif type(kind) is str and kind in META:
            self.meta(kind, record)
        else:
            self.report.unknown.add(self.line, f"line of type {shown(kind)}")

    # -- the session

    def begin(self, record: dict[str, Any]) -> None:
        """Take the identity from the first line that has one; what comes before makes no event."""
        info = self.info
        native = record.get("sessionId")
        if not isinstance(native, str) or not native:
            if record.get("type") not in ("user", "assistant", "system", "attachment", "permission-mode"):
                return
            native = ""
        self.begun = True
        if self.agent is not None:
            folder = re.search(r"(?:^|/)([^/]+)/subagents/", self.source.name)
            parent = folder.group(1) if folder else native or "unknown"
            info.parent_session_id = parent
            info.native_id = f"agent-{self.agent}"
            info.session_id = child_session(parent, self.agent)
        else:
            named = _UUID.fullmatch(self.source.stem) is not None
            info.session_id = info.native_id = self.source.stem if named or not native else native
            if native and native != info.session_id:
                self.report.notes.add(self.line, f"its lines have the session id {shown(native)}")
        self.session = info.session_id
        self.agents.session = info.parent_session_id or self.session
        self.prefix = f"{RUNTIME}:{self.session}:"

    def describe(self, record: dict[str, Any]) -> None:
        """Fill in what the first lines tell about the session."""
        info = self.info
        if self.ts and info.started is None:
            info.started = self.ts
        for field, key in (("cwd", "cwd"), ("version", "version"), ("branch", "gitBranch")):
            value = record.get(key)
            if getattr(info, field) is None and isinstance(value, str) and value:
                setattr(info, field, value)
        self.described = info.cwd is not None and info.started is not None
        self.usual = self.described and self.compaction is None

    def meta(self, kind: str, record: dict[str, Any]) -> None:
        self.report.count(kind)
        if kind in ("ai-title", "custom-title"):
            title = record.get("customTitle", record.get("aiTitle", record.get("title")))
            if isinstance(title, str):
                self.info.title = title
        elif kind == "summary" and isinstance(record.get("leafUuid"), str) and isinstance(record.get("summary"), str):
            self.summaries[record["leafUuid"]] = record["summary"]

    def titled(self) -> None:
        """Take a summary for the title if it is about a line of this file; in 1.x most are about other sessions."""
        messages = [*self.messages.values(), *self.given.values()] if self.summaries else []
        mine = {uuid for message in messages for uuid in message[3:] if uuid in self.summaries}
        self.uuids.update(self.answered)
        for leaf, summary in self.summaries.items():
            if leaf in mine or leaf in self.uuids:
                self.info.title = summary

    def mode(self, value: Any, span: str, by: str | None = None) -> None:
        if not isinstance(value, str) or not value or value == self.permission or not self.begun:
            return
        if self.permission is not None and by is None:
            self.report.count("modes")
        self.permission = value
        payload = {"line": self.line, "native": value}
        if by is not None:
            payload["by"] = by
        mode: e.Mode = {"permission": value, "sandbox": None, "collaboration": None}
        self.add(e.MODE_CHANGED, span, payload, None, mode)

    # -- assistants

    def assistant(self, record: dict[str, Any], uuid: str) -> None:
        message = record.get("message")
        if type(message) is not dict:
            self.report.unknown.add(self.line, f"assistant without a message but {shown(message)}")
            return
        native = message.get("id")
        if type(native) is not str:
            native = uuid
        parent = None
        chain = ""
        if record.get("isSidechain") is True:
            self.sidechain += 1
            if self.agent is None:
                parent = self.agents.sidechain(record, None)
                chain = parent or "side"
        open_ = self.messages.get(chain)
        if open_ is None or open_[0] != native:
            if open_ is not None:
                self.close(chain)
                if not self.out.held:
                    self.settled = len(self.out.events)
            before = self.given.get(native)
            if before is not None and uuid in before:
                self.report.count("duplicate")
                return
            open_ = self.messages[chain] = [native, None, None, uuid]
            self.out.held.add(chain)
        elif uuid in open_:
            self.report.count("duplicate")
            return
        else:
            open_.append(uuid)
        if self.compaction is not None:
            self.release_compaction()
        model = message.get("model")
        content = message.get("content")
        payload: dict[str, Any] | None = None
        position = 0
        block: Any
        for block in content if type(content) is list else (content,):
            kind = block.get("type") if type(block) is dict else "text" if type(block) is str else None
            if kind == "tool_use":
                name, given, call = block.get("name"), block.get("input"), block.get("id")
                if type(name) is not str or name in OWN_WAY or type(call) is not str or given is None:
                    payload = self.call(record, uuid, position, block, parent, native)
                else:
                    payload = {
                        "line": self.line,
                        "tool_use_id": call,
                        "name": name,
                        "input": given,
                        "message_id": native,
                    }
                    span = f"{self.prefix}{uuid}:{position}"
                    self.calls[call] = (e.TOOL_CALL, span, payload)
                    self.append(
                        _new(
                            ReplayEvent,
                            (self.ts, e.TOOL_CALL, span, parent, self.session, RUNTIME, payload, None, None),
                        )
                    )
            elif kind == "text":
                text = block if type(block) is str else block.get("text")
                payload = {
                    "line": self.line,
                    "text": text if type(text) is str else "",
                    "message_id": native,
                    "model": model,
                    "stop_reason": message.get("stop_reason"),
                }
                if model == "<synthetic>" or "isApiErrorMessage" in record:
                    payload["synthetic"] = True
                    if record.get("isApiErrorMessage"):
                        payload["error"] = record.get("error") or True
                self.add(e.LLM_RESPONSE, f"{self.prefix}{uuid}:{position}", payload, parent)
            elif kind == "thinking" or kind == "redacted_thinking":
                text = block.get("thinking")
                payload = {"line": self.line, "text": text if type(text) is str else "", "message_id": native}
                if kind == "redacted_thinking" or not payload["text"]:
                    payload["redacted"] = True
                self.add(e.THINKING, f"{self.prefix}{uuid}:{position}", payload, parent)
            elif kind is not None or block is not None:
                payload = self.other_block(uuid, position, block, kind, parent, native) or payload
            position += 1
        if payload is not None:
            open_[1] = payload
        elif open_[1] is None:
            open_[1] = payload = {"line": self.line, "text": "", "message_id": native, "model": model}
            self.add(e.LLM_RESPONSE, f"{self.prefix}{uuid}:{position}", payload, parent)
        usage = message.get("usage")
        if type(usage) is dict:
            open_[2] = usage
        if model is not self.model and type(model) is str and model != "<synthetic>":
            self.model = self.info.model = model
        if not self.described:
            self.describe(record)

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

    def other_block(
        self, uuid: str, position: int, block: Any, kind: Any, parent: str | None, message: str
    ) -> dict[str, Any] | None:
        """A block that is rare in an assistant's message: a tool of the server, its result, something new."""
        if type(kind) is str and kind.endswith("tool_use"):
            return self.call({}, uuid, position, block, parent, message)
        if type(kind) is str and kind.endswith("tool_result"):
            self.result({}, uuid, position, block, parent, None)
            return None
        self.report.unknown.add(self.line, f"assistant's block of type {shown(kind or block)}")
        return None

    def close(self, chain: str) -> None:
        """A chain's message is over: its usage goes onto its last event, once."""
        message = self.messages.pop(chain)
        self.out.held.discard(chain)
        self.counted(message)

    def counted(self, message: list[Any]) -> None:
        """Put the usage of a message that is over onto its last event, and remember the message."""
        native, payload, usage = message[0], message[1], message[2]
        message[1] = None
        message[2] = 0
        before = self.given.get(native)
        if before is not None:
            # It went on after it seemed to be over: only what is new counts.
            before += message[3:]
            more = tokens(usage).get("output", 0) - before[2]
            if more > 0 and payload is not None:
                payload["tokens"] = {"output": more}
                before[2] += more
            return
        self.given[native] = message
        if payload is not None and usage is not None:
            payload["usage"] = usage
            payload["tokens"] = counts = _tokens(usage)
            message[2] = counts.get("output", 0)

    def close_all(self) -> None:
        for chain in list(self.messages):
            self.close(chain)
        self.compaction = None

    # -- users

    def user(self, record: dict[str, Any], uuid: str) -> None:
        message = record.get("message")
        side = record.get("isSidechain") is True
        if side:
            self.sidechain += 1
        content = message.get("content") if type(message) is dict else message
        if content is None or (type(message) is not dict and type(message) is not str):
            self.report.unknown.add(self.line, f"user without content: {shown(message)}")
            return
        parent = None
        own: list[Any] = []
        if type(content) is list:
            results = 0
            if side and self.agent is None:
                own = [b for b in content if not _is_result(b)]
                parent = self.agents.sidechain(record, "\n".join(parts(own)[0]) if own else None)
            own = []
            for position, block in enumerate(content):
                if _is_result(block):
                    self.result(record, uuid, position, block, parent, record.get("toolUseResult"))
                    results += 1
                elif block is not None:
                    own.append(block)
            if not own:
                if not results:
                    self.report.unknown.add(self.line, "user with empty content")
                return
            texts, others = parts(own)
        else:
            if side and self.agent is None:
                parent = self.agents.sidechain(record, content if type(content) is str else None)
            texts, others = parts(content)
        if not self.described:
            self.describe(record)
        if record.get("isCompactSummary") is True:
            self.summary(uuid, "\n".join(texts))
            return
        if self.compaction is not None:
            self.release_compaction()
        if record.get("isMeta") is True:
            self.report.count("meta")
            return
        origin = origin_of(texts)
        if origin == "echo":
            # What a local command printed: neither a prompt nor an answer, though role user.
            self.report.count("user")
            return
        if side:
            origin = "task" if record.get("parentUuid") is None else "sidechain"
        self.prompt(uuid, "\n".join(texts), others, origin, parent, side)

    def prompt(self, uuid: str, text: str, others: list[Any], origin: str, parent: str | None, side: bool) -> None:
        if not side:
            for chain in list(self.messages):
                self.close(chain)
        payload: dict[str, Any] = {"line": self.line, "text": text, "human": origin == "human", "origin": origin}
        if others:
            payload["blocks"] = others
        if origin == "notification":
            self.notified(uuid, text)
        self.add(e.LLM_CALL, f"{self.prefix}{uuid}:0", payload, parent)

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

    # -- everything else

    def system(self, record: dict[str, Any], uuid: str) -> None:
        subtype = record.get("subtype")
        self.report.count(f"system/{subtype}" if type(subtype) is str else "system")
        if subtype != "compact_boundary":
            return
        for chain in list(self.messages):
            self.close(chain)
        known = record.get("compactMetadata")
        known = known if isinstance(known, dict) else {}
        payload = {"line": self.line, "summary": "", "trigger": known.get("trigger")}
        payload |= {"tokens_before": known.get("preTokens"), "tokens_after": known.get("postTokens"), "details": known}
        self.compaction = payload
        self.usual = False
        self.out.hold(_COMPACTED)
        self.add(e.COMPACTION, f"{self.prefix}{uuid}:0", payload)

    def summary(self, uuid: str, text: str) -> None:
        """The summary after a boundary belongs to it; before 2.0 it stands alone."""
        if self.compaction is not None:
            self.compaction["summary"] = text
            self.compaction["summary_line"] = self.line
            self.release_compaction()
            return
        payload = {"line": self.line, "summary": text, "trigger": None, "tokens_before": None, "tokens_after": None}
        self.add(e.COMPACTION, f"{self.prefix}{uuid}:0", payload)

    def release_compaction(self) -> None:
        self.compaction = None
        self.usual = self.described
        self.out.release(_COMPACTED)

    def attachment(self, record: dict[str, Any], uuid: str) -> None:
        found = record.get("attachment")
        if type(found) is not dict:
            self.report.unknown.add(self.line, f"attachment that is {shown(found)}")
            return
        kind = found.get("type")
        self.report.count(f"attachment/{kind}" if type(kind) is str else "attachment")
        if kind == "queued_command":
            texts, others = parts(found.get("prompt", found.get("content")))
            self.prompt(uuid, "\n".join(texts), others, "queued", None, False)
        elif found.get("hookEvent") == "PreToolUse":
            self.hook(found, uuid)

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

    def add(
        self,
        kind: str,
        span: str,
        payload: dict[str, Any],
        parent: str | None = None,
        mode: e.Mode | None = None,
        approval: Approval | None = None,
    ) -> None:
        self.append(_new(ReplayEvent, (self.ts, kind, span, parent, self.session, RUNTIME, payload, mode, approval)))

    def finish(self) -> None:
        if self.info.title is None:
            self.titled()
        self.info.ended = self.ts or None
        self.info.children = self.agents.finish() if self.agent is None else []
        self.report.counters["sidechain"] = self.sidechain
        if self.calls:
            self.report.count("open_calls", len(self.calls))


def _tokens(usage: dict[str, Any]) -> dict[str, int]:
    """As `native.tokens`, for usage that has the usual four counts."""
    try:
        given, out = usage["input_tokens"], usage["output_tokens"]
        read, write = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        # Negative if one of them is; an error if one is no whole number.
        if given | out | read | write >= 0:
            return {"input": given, "output": out, "cache_read": read, "cache_write": write}
    except (KeyError, TypeError):
        pass
    return tokens(usage)


def _is_result(block: Any) -> bool:
    return type(block) is dict and block.get("type") == "tool_result"
