"""Codex CLI's rollouts: old and new lines, texts that are stored twice, threads that start threads.

Format: docs/transcripts.md. What the model saw (response items) is read; what the interface showed (events) is
read only for prompts and where the first is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.codex_calls import arguments_of, call_files, output_of
from ontoref.transcript.codex_words import EVENTS, ITEMS, LEGACY, LINES, injected, own_start, request_of
from ontoref.transcript.event import Approval, ReplayEvent
from ontoref.transcript.native import parts, records, seconds, shown, string, text_of, tokens
from ontoref.transcript.outbox import Outbox
from ontoref.transcript.report import Child, Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["RUNTIME", "claims", "read", "report"]

RUNTIME = "codex"

_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output"}
_HOSTED = {"web_search_call", "tool_search_call", "image_generation_call", "file_search_call", "code_interpreter_call"}
_STEM = re.compile(r"rollout-.*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_USAGE = "usage"
_TWIN = "twin"


def claims(head: Head) -> int:
    """2 if a line has the marks of a rollout, old or new."""
    name = head.name.rpartition("/")[2]
    for record in head.records:
        kind = record.get("type")
        if isinstance(kind, str) and kind in LINES and isinstance(record.get("payload"), dict):
            return 2
        if record.get("record_type") == "state" or ("instructions" in record and "id" in record and "git" in record):
            return 2
        if "thread_name" in record and "id" in record and "updated_at" in record:
            return 2
        if isinstance(kind, str) and kind in ("function_call", "function_call_output") and "call_id" in record:
            return 1
    return 1 if _STEM.match(name) and head.records else 0


def report(source: Source) -> Report:
    """A report with the thread id that the file's name tells."""
    match = _STEM.match(source.stem)
    name = match.group(1) if match else source.stem or "unknown"
    found = Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))
    if source.name.rpartition("/")[2] == "session_index.jsonl":
        found.apart = "codex-index"
    return found


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one rollout; none of the index of threads."""
    if report.apart:
        for _ in records(source, report):
            report.count(report.apart)
        return iter(())
    return _Reading(source, report).events()


class _Reading:
    """One pass over one rollout."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.info = report.session
        self.out = Outbox()
        self.ts = 0.0
        self.line = 0
        self.begun = False
        self.prefix = ""
        self.cwd: str | None = None
        self.child = False
        # A child or a fork begins with its parent's history, which is not its own work.
        self.replaying = False
        self.mode: tuple[Any, Any, Any] | None = None
        self.turns = 0
        self.contexts = 0
        self.calls: dict[str, tuple[str, str, dict[str, Any]]] = {}
        self.children: dict[str, Child] = {}
        self.returned: set[str] = set()
        # The payload that the next token count belongs to, and the total at the last one.
        self.counted: dict[str, Any] | None = None
        self.total: Any = None
        self.events_prompt = False
        self.candidate: tuple[str, list[Any], int, float] | None = None
        self.aborted = False
        # Texts that an event held before any item of that kind came: waiting for their item, or given out.
        self.from_items: set[str] = set()
        self.waiting: list[ReplayEvent] = []
        self.given_out: set[tuple[str, str]] = set()
        self.compactions = {"compacted": 0, "context_compacted": 0}

    def events(self) -> Iterator[ReplayEvent]:
        out = self.out
        for number, record in records(self.source, self.report):
            if record is None:
                self.let_go()
                yield from out.all()
                continue
            self.line = number
            self.entry(record)
            if out.events:
                if not out.held:
                    yield from out.ready()
                elif out.full or number == self.report.large:
                    self.let_go()
                    yield from out.all()
        self.let_go()
        yield from out.all()
        self.finish()

    def let_go(self) -> None:
        """Settle what waits for a later line."""
        self.settle_candidate()
        self.settle_twins()
        self.counted = None

    def entry(self, record: dict[str, Any]) -> None:
        time = record.get("timestamp")
        if time is not None:
            self.ts = seconds(time, self.ts)
        kind = record.get("type")
        kind = kind if isinstance(kind, str) else ""
        payload = record.get("payload")
        if not self.begun:
            self.begin(kind, record, payload)
        if not isinstance(payload, dict):
            self.legacy(kind, record)
            return
        if self.replaying:
            if kind == "event_msg" and own_start(payload, self.info.started):
                self.replaying = False
            else:
                if kind != "session_meta":
                    self.report.count("replayed")
                return
        if kind == "response_item":
            self.item(payload)
        elif kind == "event_msg":
            self.event(payload)
        elif kind == "turn_context":
            self.context(payload)
        elif kind == "compacted":
            self.compacted(kind, payload)
        elif kind == "session_meta":
            self.again(payload)
        elif kind not in LINES:
            self.report.unknown.add(self.line, f"line of type {shown(record.get('type'))}")

    # -- the session

    def begin(self, kind: str, record: dict[str, Any], payload: Any) -> None:
        """The first session_meta is the file's identity; without one the name is."""
        self.begun = True
        info = self.info
        meta = payload if kind == "session_meta" and isinstance(payload, dict) else None
        if meta is None and "id" in record and "instructions" in record:
            meta = record
        if meta is not None:
            native = meta.get("id")
            if isinstance(native, str) and native:
                info.session_id = info.native_id = native
            info.started = seconds(meta.get("timestamp"), self.ts) or None
            self.cwd = info.cwd = string(meta.get("cwd"))
            info.version = string(meta.get("cli_version"))
            info.provider = string(meta.get("model_provider"))
            git = meta.get("git")
            info.branch = string(git.get("branch")) if isinstance(git, dict) else None
            source = meta.get("source")
            self.origin(source, meta)
        self.prefix = f"{RUNTIME}:{info.session_id}:"

    def origin(self, source: Any, meta: dict[str, Any]) -> None:
        info = self.info
        if isinstance(source, str):
            info.source = source
        elif isinstance(source, dict) and "subagent" in source:
            self.child = True
            info.source = "subagent"
            spawn = source["subagent"]
            spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
            if isinstance(spawn, dict):
                info.parent_session_id = string(spawn.get("parent_thread_id"))
                info.agent = string(spawn.get("agent_role", spawn.get("agent_nickname")))
        info.parent_session_id = info.parent_session_id or string(meta.get("forked_from_id"))

    def again(self, payload: dict[str, Any]) -> None:
        """A later session_meta: the session was resumed, or its parent's history follows."""
        native = payload.get("id")
        if native == self.info.session_id or not isinstance(native, str):
            return
        if self.turns == 0 and self.contexts == 0 and (self.child or self.info.parent_session_id):
            self.replaying = True
        else:
            self.report.notes.add(self.line, f"a header of another thread, {shown(native)}")

    def context(self, payload: dict[str, Any]) -> None:
        cwd = string(payload.get("cwd"))
        if cwd:
            self.cwd = cwd
            self.info.cwd = self.info.cwd or cwd
        self.info.model = string(payload.get("model")) or self.info.model
        sandbox = payload.get("sandbox_policy")
        if isinstance(sandbox, dict):
            sandbox = sandbox.get("type", sandbox.get("mode"))
        collaboration = payload.get("collaboration_mode")
        if isinstance(collaboration, dict):
            collaboration = collaboration.get("mode")
        mode = (string(payload.get("approval_policy")), string(sandbox), string(collaboration))
        if mode != self.mode and self.contexts:
            self.report.count("modes")
        self.contexts += 1
        self.changed(mode)

    def changed(self, mode: tuple[str | None, str | None, str | None]) -> None:
        if mode == self.mode or mode == (None, None, None):
            return
        self.mode = mode
        policy, sandbox, collaboration = mode
        permission = "yolo" if policy == "never" and sandbox == "danger-full-access" else "default"
        payload = {
            "line": self.line,
            "native": {"approval_policy": policy, "sandbox": sandbox, "collaboration": collaboration},
            "cwd": self.cwd,
        }
        found: e.Mode = {"permission": permission, "sandbox": sandbox, "collaboration": collaboration}
        self.add(e.MODE_CHANGED, payload, mode=found)

    def legacy(self, kind: str, record: dict[str, Any]) -> None:
        """A line of the layout before 2025-09: the item itself, without a time."""
        if kind in ITEMS:
            self.item(record)
        elif record.get("record_type") in LEGACY:
            self.report.count(str(record["record_type"]))
        elif "id" in record and "instructions" in record:
            self.report.count("header")
        else:
            what = f"line of type {shown(record.get('type'))}" if "type" in record else "line without a type"
            self.report.unknown.add(self.line, what)

    # -- items: what the model saw

    def item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == "message":
            self.message(item)
        elif kind == "reasoning":
            self.settle_candidate()
            self.reasoning(item)
        elif kind in _CALLS if isinstance(kind, str) else False:
            self.settle_candidate()
            self.call(item)
        elif kind in _OUTPUTS if isinstance(kind, str) else False:
            self.output(item)
        elif kind in _HOSTED if isinstance(kind, str) else False:
            self.settle_candidate()
            self.hosted(item)
        elif isinstance(kind, str) and kind in ITEMS:
            self.report.count(kind)
        else:
            self.report.unknown.add(self.line, f"item of type {shown(kind)}")

    def message(self, item: dict[str, Any]) -> None:
        role = item.get("role")
        texts, others = parts(item.get("content"))
        text = "\n".join(texts)
        if role == "assistant":
            self.settle_candidate()
            if not self.replaces(e.LLM_RESPONSE, text):
                self.response(text, others, item)
        elif role == "user":
            if injected(text) or (not text and not others):
                self.report.count("context")
                self.environment(text)
            else:
                self.settle_candidate()
                if not self.events_prompt:
                    # An event with the same text may follow; then that one is the prompt.
                    self.candidate = (text, others, self.line, self.ts)
                else:
                    self.report.count("context")
        elif role in ("developer", "system"):
            self.report.count("context")
        else:
            self.report.unknown.add(self.line, f"message with role {shown(role)}")

    def environment(self, text: str) -> None:
        """Before there were turn contexts, folder and modes stood in an injected text."""
        if self.contexts or not text.lstrip().startswith("<environment_context>"):
            return
        found = dict(re.findall(r"<(cwd|approval_policy|sandbox_mode)>([^<]*)</\1>", text))
        self.cwd = self.info.cwd = self.info.cwd or found.get("cwd")
        self.changed((found.get("approval_policy"), found.get("sandbox_mode"), None))

    def response(self, text: str, others: list[Any], item: dict[str, Any]) -> None:
        native = item.get("id")
        payload: dict[str, Any] = {
            "line": self.line,
            "text": text,
            "message_id": native if isinstance(native, str) and native else f"#{self.line}",
            "model": self.info.model,
        }
        if item.get("phase") is not None:
            payload["phase"] = item["phase"]
        if others:
            payload["blocks"] = others
        self.add(e.LLM_RESPONSE, payload)
        self.counts_on(payload)

    def reasoning(self, item: dict[str, Any]) -> None:
        summary = _joined(item.get("summary"))
        content = _joined(item.get("content"))
        payload: dict[str, Any] = {"line": self.line, "text": "\n".join(t for t in (summary, content) if t)}
        if self.replaces(e.THINKING, payload["text"]):
            return
        if not payload["text"] and item.get("encrypted_content"):
            payload["redacted"] = True
        self.add(e.THINKING, payload)
        self.counts_on(payload)

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

    # -- events: what the interface showed

    def event(self, payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        if kind == "user_message":
            self.prompted(payload.get("message"), payload)
        elif kind == "agent_message":
            self.twin(e.LLM_RESPONSE, payload.get("message"))
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            self.twin(e.THINKING, payload.get("text"))
        elif kind == "token_count":
            self.usage(payload.get("info"))
        elif kind == "item_completed":
            self.completed(payload.get("item"))
        elif kind == "context_compacted":
            self.compacted(kind, payload)
        elif kind in ("exec_approval_request", "apply_patch_approval_request"):
            self.asked(payload)
        elif isinstance(kind, str) and kind in EVENTS:
            self.report.count(kind)
            if kind in ("task_started", "turn_started"):
                self.turns += 1
            elif kind in ("task_complete", "turn_complete", "turn_aborted"):
                self.aborted = kind == "turn_aborted"
                self.let_go()
                self.out.release(_USAGE)
        else:
            self.report.unknown.add(self.line, f"event of type {shown(kind)}")

    def completed(self, item: Any) -> None:
        """A finished item of the paginated history."""
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "UserMessage":
            self.prompted(text_of(item.get("content")), {})
        elif kind == "AgentMessage":
            self.twin(e.LLM_RESPONSE, text_of(item.get("content")))
        elif kind == "Reasoning":
            self.twin(e.THINKING, _joined(item.get("summary_text", item.get("summary"))))
        elif isinstance(kind, str):
            self.report.count(f"item/{kind}")
        else:
            self.report.unknown.add(self.line, f"completed item of type {shown(kind)}")

    def prompted(self, message: Any, payload: dict[str, Any]) -> None:
        self.events_prompt = True
        self.candidate = None
        self.let_go()
        self.out.release(_USAGE)
        if payload.get("kind") in ("environment_context", "user_instructions"):
            self.report.count("context")
            return
        others = [image for key in ("images", "local_images") for image in payload.get(key) or ()]
        self.prompt(message if isinstance(message, str) else "", others, self.line)

    def prompt(self, text: str, others: list[Any], line: int) -> None:
        origin = "task" if self.child else "human"
        payload: dict[str, Any] = {"line": line, "text": text, "human": origin == "human", "origin": origin}
        request = request_of(text)
        if request is not None:
            payload["request"] = request
        if others:
            payload["blocks"] = others
        if self.aborted:
            payload["after"] = "interrupt"
            self.aborted = False
        self.add(e.LLM_CALL, payload, line=line)

    def settle_candidate(self) -> None:
        """A user item that no event repeated is the prompt itself."""
        if self.candidate is not None:
            text, others, line, ts = self.candidate
            self.candidate = None
            now, self.ts = self.ts, ts
            self.prompt(text, others, line)
            self.ts = now

    def twin(self, kind: str, text: Any) -> None:
        """A text that an item repeats, as a rule the next one: kept only if none does."""
        if kind in self.from_items:
            return
        payload: dict[str, Any] = {"line": self.line, "text": text if isinstance(text, str) else ""}
        if kind == e.LLM_RESPONSE:
            payload |= {"message_id": f"#{self.line}", "model": self.info.model}
        self.settle_candidate()
        self.add(kind, payload, part="twin")
        self.waiting.append(self.out.events[-1])
        self.out.hold(_TWIN)

    def replaces(self, kind: str, text: str) -> bool:
        """An item came: it takes the place of the events that wait with its text. True if one of them was
        given out already, so that the item is the one to leave out."""
        self.from_items.add(kind)
        key = (kind, text.strip())
        if key in self.given_out:
            self.given_out.discard(key)
            return True
        gone = {x.span_id for x in self.waiting if x.kind == kind and x.payload["text"].strip() in key[1]}
        if gone:
            self.waiting = [x for x in self.waiting if x.span_id not in gone]
            self.out.events[:] = [x for x in self.out.events if x.span_id not in gone]
            if not self.waiting:
                self.out.release(_TWIN)
        return False

    def settle_twins(self) -> None:
        """No item came for these: the events stay."""
        self.given_out.update((x.kind, x.payload["text"].strip()) for x in self.waiting)
        self.waiting.clear()
        self.out.release(_TWIN)

    def asked(self, payload: dict[str, Any]) -> None:
        native = payload.get("call_id")
        native = native if isinstance(native, str) else f"#{self.line}"
        _, span, call = self.calls.get(native, (e.TOOL_CALL, "", {}))
        self.approval(native, call, span, "requested", string(payload.get("reason")), None)

    # -- counts

    def counts_on(self, payload: dict[str, Any]) -> None:
        """The count that follows belongs to the request's last answer, else to its last event."""
        if self.counted is None or "message_id" in payload or "message_id" not in self.counted:
            self.counted = payload
        self.out.hold(_USAGE)

    def usage(self, info: Any) -> None:
        if not isinstance(info, dict):
            return
        total = info.get("total_token_usage")
        last = info.get("last_token_usage")
        if total == self.total or not isinstance(last, dict):
            return
        self.total = total
        if self.counted is not None:
            self.counted["usage"] = last
            self.counted["tokens"] = tokens(last)
            self.counted = None
        self.out.release(_USAGE)

    def compacted(self, kind: str, payload: dict[str, Any]) -> None:
        """A line and an event tell of the same compaction; whichever comes first makes it."""
        before = max(self.compactions.values())
        self.compactions[kind] += 1
        if max(self.compactions.values()) == before:
            return
        summary = payload.get("message")
        found = {"line": self.line, "summary": summary if isinstance(summary, str) else "", "trigger": None}
        found |= {"tokens_before": None, "tokens_after": None}
        self.add(e.COMPACTION, found)

    def add(
        self,
        kind: str,
        payload: dict[str, Any],
        *,
        part: str = "0",
        line: int | None = None,
        parent: str | None = None,
        mode: e.Mode | None = None,
        approval: Approval | None = None,
    ) -> str:
        span = f"{self.prefix}#{line or self.line}:{part}"
        self.out.events.append(
            ReplayEvent(self.ts, kind, span, parent, self.info.session_id, RUNTIME, payload, mode, approval)
        )
        return span

    def finish(self) -> None:
        self.info.ended = self.ts or None
        if self.info.started is None and self.report.lines:
            self.info.started = self.ts or None
        self.info.children = list(self.children.values())
        if self.calls:
            self.report.count("open_calls", len(self.calls))


def _joined(content: Any) -> str:
    """Texts of a reasoning's parts, whose blocks have types of their own."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = (block.get("text") if isinstance(block, dict) else block for block in content)
    return "\n".join(text for text in texts if isinstance(text, str))
