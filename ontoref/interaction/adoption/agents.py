"""How each coding agent is wired to ontoref in a project: files that tell it, and how they are taken out again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from ontoref import resources
from ontoref.errors import OntorefError
from ontoref.interaction.adoption.block import put, take_out
from ontoref.interaction.adoption.change import Change, Verb, planned, read
from ontoref.interaction.adoption.migrate import LEDGER
from ontoref.interaction.adoption.setup import AGENTS_BEGIN, AGENTS_END, AGENTS_TEXT

__all__ = ["AGENTS", "SHARED", "Agent", "SettingsError"]

# Where instructions for any agent stand.
SHARED = "AGENTS.md"

_SERVER = {"command": "ontoref", "args": ["mcp"]}
_TOML_BEGIN, _TOML_END = "# ontoref:begin", "# ontoref:end"
_TOML = '[mcp_servers.ontoref]\ncommand = "ontoref"\nargs = ["mcp"]\n'
_RULE = """\
---
description: Recording what a session decided and did
alwaysApply: true
---
"""


class SettingsError(OntorefError):
    """An agent's settings file cannot be changed by us."""

    kind = "settings"


class Agent(NamedTuple):
    """One agent. Shape: wire and unwire plan changes of a project's files; prove says what does not work, None if
    all does; both halves only ever touch what is ours."""

    title: str
    wire: Callable[[str], list[Change]]
    unwire: Callable[[str], list[Change]]
    prove: Callable[[str], str | None]


def _json_file(root: str, path: str) -> dict[str, Any]:
    content = read(root, path)
    if content is None or not content.strip():
        return {}
    try:
        value = orjson.loads(content)
    except ValueError as error:
        raise SettingsError(
            f"the file is not JSON: {error}", location=path, hint="mend it, or wire the hook by hand"
        ) from None
    if not isinstance(value, dict):
        raise SettingsError("the file is not a JSON object", location=path, hint="wire the hook by hand")
    return value


def _json_change(root: str, path: str, value: Mapping[str, Any], why: str) -> Change:
    content = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    present = read(root, path)
    if present is not None and present.strip() and _json_file(root, path) == value:
        return Change(path, Verb.keep, None, why)
    if not value and present is not None:
        return Change(path, Verb.remove, None, "nothing else was in it")
    return planned(root, path, content, why)


def _block_change(root: str, path: str, begin: str, end: str, body: str | None, why: str) -> Change:
    """Our block in somebody's text file; body None takes it out."""
    present = read(root, path)
    text = (present or b"").decode()
    changed = take_out(text, begin, end, path=path) if body is None else put(text, begin, end, body, path=path)
    if body is None and present is None:
        return Change(path, Verb.keep, None, why)
    if body is None and not changed.strip():
        return Change(path, Verb.remove, None, "nothing else was in it")
    return planned(root, path, changed.encode(), why)


# Claude Code: two hooks and their entries in the project's settings.
_CLAUDE_SETTINGS = ".claude/settings.json"
_CLAUDE_HOOKS = {"Stop": "remind", "SessionEnd": "draft"}


def _claude_command(name: str) -> str:
    return f'python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/ontoref-{name}.py'


def _claude_settings(root: str, *, wired: bool) -> dict[str, Any]:
    """The settings with our entries, and every other as it was."""
    settings = _json_file(root, _CLAUDE_SETTINGS)
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise SettingsError("hooks is not an object", location=_CLAUDE_SETTINGS, hint="wire the hook by hand")
    result = {event: groups for event, groups in hooks.items() if event not in _CLAUDE_HOOKS}
    for event, name in _CLAUDE_HOOKS.items():
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise SettingsError(f"hooks.{event} is not a list", location=_CLAUDE_SETTINGS, hint="wire the hook by hand")
        kept = [group for group in groups if _claude_command(name) not in str(group).replace('\\"', '"')]
        if wired:
            kept.append({"hooks": [{"type": "command", "command": _claude_command(name)}]})
        if kept:
            result[event] = kept
    if result:
        return {**settings, "hooks": result}
    return {key: value for key, value in settings.items() if key != "hooks"}


def _wire_claude(root: str) -> list[Change]:
    changes = [
        planned(
            root,
            f".claude/hooks/ontoref-{name}.py",
            resources.text("hooks", f"claude-code/{name}.py").encode(),
            "what the hook runs",
            executable=True,
        )
        for name in _CLAUDE_HOOKS.values()
    ]
    present = _json_file(root, _CLAUDE_SETTINGS)
    if not _claude_is_wired(present):
        settings = _claude_settings(root, wired=True)
        changes.append(_json_change(root, _CLAUDE_SETTINGS, settings, "reminds at a stop, drafts at an end"))
    else:
        changes.append(Change(_CLAUDE_SETTINGS, Verb.keep))
    return changes


def _claude_is_wired(settings: Mapping[str, Any]) -> bool:
    text = orjson.dumps(settings).decode().replace('\\"', '"')
    return all(_claude_command(name) in text for name in _CLAUDE_HOOKS.values())


def _unwire_claude(root: str) -> list[Change]:
    changes = [
        Change(path, Verb.remove, None, "ours")
        for path in (f".claude/hooks/ontoref-{name}.py" for name in _CLAUDE_HOOKS.values())
        if read(root, path) is not None
    ]
    if read(root, _CLAUDE_SETTINGS) is not None:
        changes.append(
            _json_change(root, _CLAUDE_SETTINGS, _claude_settings(root, wired=False), "our entries taken out")
        )
    return changes


def _prove_claude(root: str) -> str | None:
    if not _claude_is_wired(_json_file(root, _CLAUDE_SETTINGS)):
        return "the settings do not name the hooks"
    for name in _CLAUDE_HOOKS.values():
        path = os.path.join(root, ".claude", "hooks", f"ontoref-{name}.py")
        if not os.path.isfile(path):
            return f"{path} is not there"
        # An event that asks for nothing: the hook has to run and to stay silent.
        event = orjson.dumps({"stop_hook_active": True, "session_id": "dry-run", "cwd": root})
        done = subprocess.run(
            [sys.executable, path], input=event, capture_output=True, timeout=30, cwd=root, check=False
        )
        if done.returncode != 0:
            return f"the {name} hook failed: {done.stderr.decode('utf-8', 'replace').strip()[-200:]}"
    return _on_path()


def _wire_instructions(root: str) -> list[Change]:
    return [_block_change(root, SHARED, AGENTS_BEGIN, AGENTS_END, AGENTS_TEXT, "tells the agent how to record")]


def _unwire_instructions(root: str) -> list[Change]:
    return [_block_change(root, SHARED, AGENTS_BEGIN, AGENTS_END, None, "our block taken out")]


def _prove_instructions(root: str) -> str | None:
    content = read(root, SHARED) or b""
    return _on_path() if AGENTS_BEGIN.encode() in content else "AGENTS.md has no block of ours"


def _wire_codex(root: str) -> list[Change]:
    server = _block_change(
        root, ".codex/config.toml", _TOML_BEGIN, _TOML_END, _TOML, "offers the tools of `ontoref mcp`"
    )
    return [server, *_wire_instructions(root)]


def _unwire_codex(root: str) -> list[Change]:
    server = _block_change(root, ".codex/config.toml", _TOML_BEGIN, _TOML_END, None, "our server taken out")
    # In a project that was set up the block is `init`'s, for every agent.
    return [server] if read(root, LEDGER) is not None else [server, *_unwire_instructions(root)]


def _prove_codex(root: str) -> str | None:
    import tomllib

    try:
        settings = tomllib.loads((read(root, ".codex/config.toml") or b"").decode())
    except ValueError as error:
        return f".codex/config.toml is not TOML: {error}"
    if "ontoref" not in settings.get("mcp_servers", {}):
        return ".codex/config.toml names no server of ours"
    return _prove_instructions(root)


def _wire_cursor(root: str) -> list[Change]:
    settings = _json_file(root, ".cursor/mcp.json")
    servers = {**settings.get("mcpServers", {}), "ontoref": _SERVER}
    rule = _RULE + AGENTS_TEXT
    return [
        _json_change(
            root, ".cursor/mcp.json", {**settings, "mcpServers": servers}, "offers the tools of `ontoref mcp`"
        ),
        planned(root, ".cursor/rules/ontoref.mdc", rule.encode(), "tells the agent how to record"),
    ]


def _unwire_cursor(root: str) -> list[Change]:
    changes = []
    settings = _json_file(root, ".cursor/mcp.json")
    if "ontoref" in settings.get("mcpServers", {}):
        servers = {name: server for name, server in settings["mcpServers"].items() if name != "ontoref"}
        rest = {key: value for key, value in settings.items() if key != "mcpServers"}
        value = {**rest, "mcpServers": servers} if servers else rest
        changes.append(_json_change(root, ".cursor/mcp.json", value, "our server taken out"))
    if read(root, ".cursor/rules/ontoref.mdc") is not None:
        changes.append(Change(".cursor/rules/ontoref.mdc", Verb.remove, None, "ours"))
    return changes


def _prove_cursor(root: str) -> str | None:
    if _json_file(root, ".cursor/mcp.json").get("mcpServers", {}).get("ontoref") != _SERVER:
        return ".cursor/mcp.json names no server of ours"
    return _on_path()


def _on_path() -> str | None:
    import shutil

    return None if shutil.which("ontoref") else "ontoref is not on the PATH, where the agent would look for it"


AGENTS: dict[str, Agent] = {
    "claude-code": Agent("Claude Code", _wire_claude, _unwire_claude, _prove_claude),
    "codex": Agent("Codex CLI", _wire_codex, _unwire_codex, _prove_codex),
    "openclaw": Agent("OpenClaw", _wire_instructions, _unwire_instructions, _prove_instructions),
    "cursor": Agent("Cursor", _wire_cursor, _unwire_cursor, _prove_cursor),
}
