"""The session-end hook for Claude Code, run as Claude Code runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ontoref import resources
from tests.conftest import App

HOOK = Path(resources.folder("hooks")) / "claude-code" / "draft.py"
LINE = {
    "type": "user",
    "uuid": "1",
    "parentUuid": None,
    "sessionId": "c",
    "cwd": "/w",
    "timestamp": "2026-01-01T00:00:00Z",
    "message": {"role": "user", "content": "ask"},
}


def run(app: App, event: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = folder / "bin" / "ontoref"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ontoref "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, HOOK],
        input=event,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the installed command is a shell script")
def test_the_end_of_a_session_leaves_one_draft(app: App, tmp_path: Path) -> None:
    session = tmp_path / "c.jsonl"
    session.write_text(json.dumps(LINE) + "\n")
    event = json.dumps({"session_id": "c", "transcript_path": str(session), "cwd": str(app.folder), "reason": "exit"})
    for _ in range(2):
        done = run(app, event, tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (draft,) = (app.folder / ".ontoref" / "drafts").glob("*.jsonl")
    assert len(draft.read_text().splitlines()) == 1
    assert not (app.folder / ".ontoref" / "interactions").exists()


@pytest.mark.parametrize("event", ["", "[]", "{}", '{"transcript_path": "/nowhere.jsonl"}', '{"transcript_path": 5}'])
def test_an_event_of_another_shape_does_nothing(app: App, tmp_path: Path, event: str) -> None:
    done = run(app, event, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (app.folder / ".ontoref").exists()
