"""The session-end hook that feeds lessons, run as Claude Code runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ontoref import resources
from tests.conftest import App
from tests.lesson.running import Lessons
from tests.lesson.test_end_to_end import transcript

HOOK = Path(resources.folder("hooks")) / "claude-code" / "learn.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for the installed command is a shell script")
def test_the_end_of_a_session_leaves_a_proposal(app: App, tmp_path: Path) -> None:
    """S1-47: fed by the hook; run twice it leaves one."""
    cli = Lessons(app, tmp_path / "state")
    command = tmp_path / "bin" / "ontoref"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ontoref "$@"\n')
    command.chmod(0o755)
    event = json.dumps({"transcript_path": str(transcript(tmp_path)), "cwd": str(app.folder)})
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **cli.env, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    for given in (event, event, "[]", "", '{"transcript_path": 5}'):
        done = subprocess.run(
            [sys.executable, HOOK], input=given, capture_output=True, text=True, env=env, cwd=tmp_path, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (waiting,) = cli.json("lesson", "proposals")
    assert waiting["draft"]["statement"].startswith("no, use tabs")
    assert not (app.folder / ".ontoref").exists()
