"""Codex CLI's rollouts: old and new lines, texts that are stored twice, threads that start threads.

Format: docs/transcripts.md. What the model saw (response items) is read; what the interface showed (events) is
read only for prompts and where the first is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.codex_pass import RUNTIME, USAGE
from ontoref.transcript.codex_tools import Tools
from ontoref.transcript.codex_words import EVENTS, ITEMS, LEGACY, LINES, injected, own_start, request_of
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import parts, records, seconds, shown, text_of
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["RUNTIME", "claims", "read", "report"]

_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output"}
_HOSTED = {"web_search_call", "tool_search_call", "image_generation_call", "file_search_call", "code_interpreter_call"}
_STEM = re.compile(r"rollout-.*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
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


class _Reading(Tools):
    """One pass over one rollout."""

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
                self.out.release(USAGE)
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
        self.out.release(USAGE)
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


def _joined(content: Any) -> str:
    """Texts of a reasoning's parts, whose blocks have types of their own."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = (block.get("text") if isinstance(block, dict) else block for block in content)
    return "\n".join(text for text in texts if isinstance(text, str))
