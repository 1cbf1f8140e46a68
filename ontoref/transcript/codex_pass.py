"""One pass over a rollout of Codex: whose it is, in which mode, and what was counted."""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import Approval, ReplayEvent
from ontoref.transcript.native import seconds, shown, string, tokens
from ontoref.transcript.one_pass import OnePass
from ontoref.transcript.report import Child, Report
from ontoref.transcript.source import Source

__all__ = ["RUNTIME", "USAGE", "Pass"]

RUNTIME = "codex"
USAGE = "usage"


class Pass(OnePass):
    """What every line may need: the thread, and what waits for a later line."""

    def __init__(self, source: Source, report: Report) -> None:
        super().__init__(source, report)
        self.begun = False
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

    def environment(self, text: str) -> None:
        """Before there were turn contexts, folder and modes stood in an injected text."""
        if self.contexts or not text.lstrip().startswith("<environment_context>"):
            return
        found = dict(re.findall(r"<(cwd|approval_policy|sandbox_mode)>([^<]*)</\1>", text))
        self.cwd = self.info.cwd = self.info.cwd or found.get("cwd")
        self.changed((found.get("approval_policy"), found.get("sandbox_mode"), None))

    def counts_on(self, payload: dict[str, Any]) -> None:
        """The count that follows belongs to the request's last answer, else to its last event."""
        if self.counted is None or "message_id" in payload or "message_id" not in self.counted:
            self.counted = payload
        self.out.hold(USAGE)

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
        self.out.release(USAGE)

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
