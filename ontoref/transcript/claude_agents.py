"""Sub-agents of Claude Code: which call started which, wherever their lines are kept.

Three layouts: lines with isSidechain inside the main file (1.x), `agent-<id>.jsonl` beside it (2.0), and
`<session>/subagents/agent-<id>.jsonl` with a `.meta.json` (2.1), workflows one folder deeper.
"""

from __future__ import annotations

import re
from typing import Any

from ontoref.transcript.native import parse, text_of
from ontoref.transcript.report import Child
from ontoref.transcript.source import SideFiles

__all__ = ["Agents", "agent_of", "child_session"]

_AGENT_FILE = re.compile(r"(?:^|/)agent-([A-Za-z0-9_-]+)\.(jsonl|meta\.json)$")
_SAVED = re.compile(r"tool-results[/\\]([A-Za-z0-9_.-]+)")


def agent_of(name: str) -> str | None:
    """Id of the sub-agent whose transcript has this name."""
    match = _AGENT_FILE.search(name)
    return match.group(1) if match and match.group(2) == "jsonl" else None


def child_session(session: str, agent: str) -> str:
    """Session id of a sub-agent's own events."""
    return f"{session}:agent-{agent}"


class Agents:
    """The sub-agents of one session. Bounded by their number, not by their lines (sidechains apart)."""

    def __init__(self, side: SideFiles, folder: str) -> None:
        self.side = side
        self.folder = folder
        self.session = folder
        # tool_use id -> agent id, from side files and progress lines, before any result tells.
        self.known: dict[str, str] = {}
        self.children: dict[str, Child] = {}
        self.spans: dict[str, str] = {}
        self.prompts: dict[str, list[str]] = {}
        # Lines of a sidechain inside the main file: uuid -> span of the spawn.
        self.lines: dict[str, str | None] = {}
        self.files: dict[str, str] = {}
        self.beside: frozenset[str] | None = None
        self._read_folder(f"{folder}/subagents")

    def _read_folder(self, folder: str) -> None:
        for name in self.side.names(folder):
            match = _AGENT_FILE.search(name)
            if match is None:
                continue
            if match.group(2) == "jsonl":
                self.files[match.group(1)] = name
                continue
            meta = _object(self.side.read(name))
            call = meta.get("toolUseId")
            if isinstance(call, str):
                self.known[call] = match.group(1)

    def spawned(self, call: str, span: str, payload: dict[str, Any]) -> None:
        """A call that starts a sub-agent."""
        prompt = payload.get("prompt")
        if isinstance(prompt, str):
            self.prompts.setdefault(prompt, []).append(span)
        agent = self.known.get(call)
        child = Child(None, span, call, label=payload.get("label"))
        self.children[call] = child
        if agent is not None:
            self.joined(call, agent)

    def joined(self, call: str, agent: str) -> str:
        """Now it is known which sub-agent a call started; gives the session id of its events."""
        session = child_session(self.session, agent)
        self.known[call] = agent
        child = self.children.setdefault(call, Child(None, None, call))
        child.session_id = session
        child.path = self.files.get(agent) or self._beside(agent)
        if child.span_id is not None:
            self.spans[agent] = child.span_id
        return session

    def _beside(self, agent: str) -> str | None:
        name = f"agent-{agent}.jsonl"
        if self.beside is None:
            self.beside = frozenset(self.side.names(""))
        return name if name in self.beside else None

    def sidechain(self, record: dict[str, Any], text: str | None) -> str | None:
        """Span of the spawn that a sidechain line in the main file belongs to, None if nothing tells.

        Shape: text is the prompt if the line is one.
        """
        span = None
        parent = record.get("parentUuid")
        for key in ("sourceToolUseID", "parentToolUseID"):
            child = self.children.get(record[key]) if isinstance(record.get(key), str) else None
            span = span or (child.span_id if child else None)
        agent = record.get("agentId")
        if span is None and isinstance(agent, str):
            span = self.spans.get(agent)
        if span is None and isinstance(parent, str):
            span = self.lines.get(parent)
        if span is None and text is not None:
            # Calls with equal prompts: the first that has no sidechain yet.
            waiting = self.prompts.get(text)
            span = waiting.pop(0) if waiting else None
        if span is not None and isinstance(agent, str):
            self.spans.setdefault(agent, span)
        uuid = record.get("uuid")
        if isinstance(uuid, str):
            self.lines[uuid] = span
        return span

    def saved_output(self, text: str) -> str | None:
        """The whole output of which the text is only a preview, from `<session>/tool-results/`."""
        match = _SAVED.search(text[:2000])
        if match is None or match.group(1).startswith("."):
            return None
        content = self.side.read(f"{self.folder}/tool-results/{match.group(1)}")
        return None if content is None else content.decode("utf-8", "replace")

    def stages(self, run: str) -> list[tuple[str, str, str]]:
        """Stages of a workflow from its journal, in order of their start: (key, agent id, status)."""
        folder = f"{self.folder}/subagents/workflows/{run}"
        self._read_folder(folder)
        found: dict[str, tuple[str, str, str]] = {}
        for raw in (self.side.read(f"{folder}/journal.jsonl") or b"").split(b"\n"):
            entry = _object(raw)
            key, agent = entry.get("key"), entry.get("agentId")
            if isinstance(key, str) and isinstance(agent, str):
                status = "completed" if entry.get("type") == "result" else "running"
                found[key] = (key, agent, status)
        return list(found.values())

    def finish(self) -> list[Child]:
        """All children; a file that no call claimed is matched by its first prompt, else listed alone."""
        claimed = {child.session_id for child in self.children.values()}
        orphans = []
        for agent, name in sorted(self.files.items()):
            session = child_session(self.session, agent)
            if session in claimed:
                continue
            prompt = _first_prompt(self.side.read(name))
            waiting = [c for c in self.children.values() if c.session_id is None and c.span_id is not None]
            spans = self.prompts.get(prompt or "", [])
            match = next((c for c in waiting if c.span_id in spans), None)
            if match is not None:
                match.session_id, match.path = session, name
            else:
                orphans.append(Child(session, path=name))
        return [*self.children.values(), *orphans]


def _first_prompt(content: bytes | None) -> str | None:
    record = _object((content or b"").partition(b"\n")[0])
    message = record.get("message")
    return text_of(message.get("content")) if isinstance(message, dict) else None


def _object(content: bytes | None) -> dict[str, Any]:
    try:
        found = parse(content) if content and content.strip() else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
