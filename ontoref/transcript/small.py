"""One pass of a small reader: what those of OpenCode and Gemini CLI share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.patch import patched_files
from ontoref.transcript.paths import normal_path
from ontoref.transcript.report import Report

__all__ = ["Pass"]

_PATHS = ("filePath", "file_path", "path", "absolute_path")
_PATCHES = ("patchText", "input", "patch")
_OPERATIONS = {"write": "write", "write_file": "write", "edit": "update", "multiedit": "update", "replace": "update"}


class Pass:
    """Events made and not yet given out, and where the reading is.

    Shape: `take()` gives out what is ready. A span id is `runtime:session:native id:part`; a native id that was
           there before, and a missing one, are told by the line.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.info = report.session
        self.ts = 0.0
        self.line = 0
        self.made: list[ReplayEvent] = []
        self._spans: set[str] = set()

    def at(self, line: int, ts: float) -> None:
        """Go on to a line and its time."""
        self.line, self.ts = line, ts
        if ts:
            if self.info.started is None:
                self.info.started = ts
            self.info.ended = ts

    def add(
        self, kind: str, native: Any, part: int | str, payload: Mapping[str, Any], *, parent: str | None = None
    ) -> str:
        """Add one event; its span id."""
        native = native if isinstance(native, str) and native else f"#{self.line}"
        span = f"{self.info.runtime}:{self.info.session_id}:{native}:{part}"
        if span in self._spans:
            span = f"{self.info.runtime}:{self.info.session_id}:{native}#{self.line}:{part}"
            while span in self._spans:
                span += "'"
        self._spans.add(span)
        self.made.append(
            ReplayEvent(
                self.ts,
                kind,
                span,
                parent,
                self.info.session_id,
                self.info.runtime,
                {"line": self.line, **payload},
            )
        )
        return span

    def take(self) -> list[ReplayEvent]:
        found, self.made = self.made, []
        return found

    def files(self, name: str, given: Any) -> list[dict[str, Any]]:
        """Files that a call names to change, as written and normalised."""
        if not isinstance(given, Mapping):
            return []
        if name in ("patch", "apply_patch"):
            text = next((given[key] for key in _PATCHES if isinstance(given.get(key), str)), "")
            return patched_files(text, self.info.cwd)
        op = _OPERATIONS.get(name)
        if op is None:
            return []
        path = next((given[key] for key in _PATHS if isinstance(given.get(key), str) and given[key]), None)
        return [{"name": path, "path": normal_path(path, self.info.cwd), "op": op}] if path else []
