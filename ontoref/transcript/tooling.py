"""Calls of tools as kinds of actions, by the table `schemas/tables/tools.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Tooling"]

_MCP = re.compile(r"mcp__.+?__(?P<tool>.+)|(?P<server>.+?)__(?P<bare>.+)", re.DOTALL)
_WORD = re.compile(r"[_\-. /:]|(?<=[a-z])(?=[A-Z])")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "pwsh", "powershell", "cmd"})
# Words before a command that say nothing of what it does.
_BEFORE = frozenset({"sudo", "env", "time", "nohup", "command", "exec", "then", "do", "npx", "uvx"})
_LONGEST = 4


@dataclass(frozen=True, slots=True)
class Tooling:
    """The table in a form to ask. Shape: words in lower case to members of ActionKind."""

    ignored: frozenset[str]
    tools: Mapping[str, str]
    verbs: Mapping[str, str]
    commands: Mapping[str, str]
    shells: frozenset[str]
    changes: Mapping[str, str]
    paths: tuple[str, ...]
    other: str

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Tooling:
        return cls(
            frozenset(table["ignored"]),
            table["tools"],
            table["verbs"],
            table["commands"],
            frozenset(table["shells"]),
            table["changes"],
            tuple(table["paths"]),
            table["other"],
        )

    def kind(self, name: str, given: Any) -> str | None:
        """What sort of action a call is, None if it does nothing to the world."""
        low = name.lower()
        if low in self.ignored:
            return None
        kind = self.tools.get(low)
        if kind is None:
            match = _MCP.fullmatch(name)
            if match:
                name = match["tool"] or match["bare"]
                if name.lower() in self.ignored:
                    return None
                kind = self.tools.get(name.lower())
        if kind is None:
            first = next((word for word in _WORD.split(name[:200]) if word), "")
            return self.verbs.get(first.lower(), self.other)
        if low in self.shells:
            return self._command(given) or kind
        return kind

    def path(self, given: Any) -> str | None:
        """The path that a call's arguments name, if one."""
        if isinstance(given, Mapping):
            for key in self.paths:
                value = given.get(key)
                if isinstance(value, str) and value.strip():
                    return value
        return None

    def _command(self, given: Any) -> str | None:
        """What a command line does: the first of its commands that the table knows."""
        line = given
        if isinstance(given, Mapping):
            line = given.get("command", given.get("cmd"))
        if isinstance(line, list):
            words = [word for word in line if isinstance(word, str)]
            # ["bash", "-lc", "…"]: the command line is the last word.
            shell = words and words[0].rpartition("/")[2].removesuffix(".exe") in _SHELLS
            line = words[-1] if shell and len(words) > 2 else " ".join(words)
        if not isinstance(line, str):
            return None
        for part in _SEPARATOR.split(line[:4000]):
            words = part.split()
            while words and (words[0] in _BEFORE or _ASSIGNMENT.match(words[0])):
                words = words[1:]
            for length in range(min(_LONGEST, len(words)), 0, -1):
                kind = self.commands.get(" ".join(words[:length]))
                if kind is not None:
                    return kind
        return None
