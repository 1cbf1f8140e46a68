"""One pass over a transcript of the family of OpenClaw and pi: whose it is, and what is known so far."""

from __future__ import annotations

from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import Mode, ReplayEvent
from ontoref.transcript.one_pass import OnePass
from ontoref.transcript.openclaw_index import Index, Setting
from ontoref.transcript.report import Report
from ontoref.transcript.source import Source

__all__ = ["Pass"]


class Pass(OnePass):
    """What every line may need: the session, and what waits for a later line. Shape: index tells what OpenClaw keeps
    beside; None for pi."""

    def __init__(self, source: Source, report: Report, runtime: str, index: Index | None = None) -> None:
        super().__init__(source, report)
        self.runtime = runtime
        self.ids: set[str] = set()
        # Calls whose result has not come: id -> (name, span id, is a spawn, payload).
        self.calls: dict[str, tuple[str, str, bool, dict[str, Any]]] = {}
        self.spawns: dict[str, str] = {}
        self.index = index
        self.setting: Setting | None = None
        self.turn = 0

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

    def child_id(self, key: Any) -> str | None:
        return self.index.session_of(key) if self.index and isinstance(key, str) else None

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
