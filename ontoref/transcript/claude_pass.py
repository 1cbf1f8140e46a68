"""One pass over a transcript of Claude Code: whose it is, and what is known so far."""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.claude_agents import Agents, agent_of, child_session
from ontoref.transcript.event import Approval, ReplayEvent
from ontoref.transcript.native import shown
from ontoref.transcript.one_pass import OnePass
from ontoref.transcript.report import Report
from ontoref.transcript.source import Source

__all__ = ["CONVERSATION", "META", "RUNTIME", "Pass"]

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
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_new = tuple.__new__


class Pass(OnePass):
    """What every line may need: the session, and what waits for a later line."""

    def __init__(self, source: Source, report: Report) -> None:
        super().__init__(source, report)
        self.begun = False
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
