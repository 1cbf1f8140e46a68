"""Agents wired to ontoref: shown first, ours alone, proven, and taken out again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.interaction.adoption.agents import AGENTS
from tests.conftest import App


@pytest.fixture
def path_with_ontoref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ontoref"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ontoref "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts and not path.name.endswith(".before-ontoref")
    }


def states(app: App) -> dict[str, Any]:
    return {row["hook"]: row for row in json.loads(app("hook", "status", "--format", "json").out)}


@pytest.mark.parametrize("name", AGENTS)
def test_wired_proven_and_taken_out_without_a_trace(
    app: App, git: Callable[..., str], path_with_ontoref: None, name: str
) -> None:
    (app.folder / "AGENTS.md").write_text("# Mine\n")
    (app.folder / ".claude").mkdir()
    other = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "model": "x"}
    (app.folder / ".claude/settings.json").write_text(json.dumps(other, indent=2) + "\n")
    (app.folder / ".cursor").mkdir()
    (app.folder / ".cursor/mcp.json").write_text('{\n  "mcpServers": {\n    "other": {}\n  }\n}\n')
    (app.folder / ".codex").mkdir()
    (app.folder / ".codex/config.toml").write_text('model = "x"\n')
    before = tree(app.folder)
    shown = app("hook", "install", name, "--dry-run")
    assert shown.code == 0, shown.err
    assert "+++ b/" in shown.out
    assert tree(app.folder) == before, "a dry run writes nothing"
    assert app("hook", "install", name).code == 2, "nobody is there to be asked"
    assert tree(app.folder) == before
    assert app("hook", "install", name, "--yes").code == 0
    row = states(app)[name]
    assert (row["state"], row["works"], row["problem"]) == ("installed", True, None)
    wired = tree(app.folder)
    assert "already" in app("hook", "install", name, "--yes").out
    assert tree(app.folder) == wired
    assert app("hook", "uninstall", name, "--yes").code == 0
    assert tree(app.folder) == before
    assert states(app)[name]["state"] == "absent"


def test_settings_that_cannot_be_read_are_left_alone(app: App, git: Callable[..., str]) -> None:
    path = app.folder / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text("{ // mine\n}\n")
    result = app("hook", "install", "claude-code", "--yes")
    assert result.code == 2
    assert "not JSON" in result.err
    assert path.read_text() == "{ // mine\n}\n"
    assert states(app)["claude-code"]["state"] == "unreadable"


def test_wiring_that_does_not_work_is_found(app: App, git: Callable[..., str], path_with_ontoref: None) -> None:
    app("hook", "install", "claude-code", "--yes")
    (app.folder / ".claude/hooks/ontoref-remind.py").write_text("raise SystemExit(3)\n")
    result = app("hook", "status")
    assert result.code == 1
    assert "failed" in result.out


def test_the_reminder_asks_once_and_only_where_something_was_changed_and_nothing_recorded(
    app: App, git: Callable[..., str], path_with_ontoref: None
) -> None:
    import subprocess

    app("hook", "install", "claude-code", "--yes")
    git("add", "-A")
    git("commit", "-q", "-m", "hooks")
    hook = app.folder / ".claude/hooks/ontoref-remind.py"

    def stop(**more: Any) -> str:
        event = json.dumps({"session_id": "s-1", "cwd": str(app.folder), **more})
        done = subprocess.run([sys.executable, hook], input=event, capture_output=True, text=True, check=True)
        return done.stdout

    assert stop() == "", "nothing was changed"
    (app.folder / "a").write_text("a")
    assert json.loads(stop())["decision"] == "block"
    assert stop(stop_hook_active=True) == ""
    app("interaction", "record", "--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--actor", "Human",
        "--summary", "x", "--session", "s-1")  # fmt: skip
    assert stop() == "", "it has recorded"


def test_the_block_that_init_keeps_outlives_an_agent(
    app: App, git: Callable[..., str], path_with_ontoref: None
) -> None:
    app("init")
    before = (app.folder / "AGENTS.md").read_text()
    app("hook", "install", "codex", "--yes")
    app("hook", "uninstall", "codex", "--yes")
    assert (app.folder / "AGENTS.md").read_text() == before
