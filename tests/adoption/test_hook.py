"""The pre-commit hook: in, out, beside others, and doing its work in a real repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, App


@pytest.fixture
def path_with_ontoref(tmp_path: Path) -> str:
    """A PATH on which `ontoref` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ontoref"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ontoref "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def hook_of(app: App) -> Path:
    return app.folder / ".git/hooks/pre-commit"


def test_installed_seen_and_taken_out_again(
    app: App, git: Callable[..., str], path_with_ontoref: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_with_ontoref)
    assert app("hook", "status").code == 1
    assert app("hook", "install").code == 0
    assert app("hook", "status").code == 0
    assert "already" in app("hook", "install").out
    assert app("hook", "uninstall").code == 0
    assert not hook_of(app).exists()


def test_a_hook_that_stands_there_keeps_its_work(app: App, git: Callable[..., str]) -> None:
    text = "#!/bin/sh\necho mine\n"
    hook_of(app).parent.mkdir(exist_ok=True)
    hook_of(app).write_text(text)
    hook_of(app).chmod(0o755)
    app("hook", "install")
    assert hook_of(app).read_text().startswith(text)
    app("hook", "uninstall")
    assert hook_of(app).read_text() == text


def test_a_hook_in_another_language_is_left_alone(app: App, git: Callable[..., str]) -> None:
    hook_of(app).parent.mkdir(exist_ok=True)
    hook_of(app).write_text("#!/usr/bin/env python3\n")
    result = app("hook", "install")
    assert result.code == 2
    assert "no shell script" in result.err
    assert hook_of(app).read_text() == "#!/usr/bin/env python3\n"


def test_outside_a_repository_it_says_so(app: App) -> None:
    result = app("hook", "install")
    assert result.code == 2
    assert "not a git repository" in result.err


def test_a_commit_with_a_broken_record_is_refused(app: App, git: Callable[..., str], path_with_ontoref: str) -> None:
    app("hook", "install")
    log = app.folder / ".ontoref/interactions/2026/11/s.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text('{"kind":"Fxi"}\n')
    git("add", "-A")
    env = {**os.environ, "PATH": path_with_ontoref}
    done = subprocess.run(["git", "commit", "-m", "x"], cwd=app.folder, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Fix" in done.stdout + done.stderr
    shutil.rmtree(app.folder / ".ontoref")
    git("add", "-A")
    (app.folder / "a").write_text("a")
    git("add", "-A")
    done = subprocess.run(["git", "commit", "-m", "x"], cwd=app.folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.checkout
def test_the_real_pre_commit_runs_our_hook_from_a_clone(app: App, git: Callable[..., str], tmp_path: Path) -> None:
    """The definition in .pre-commit-hooks.yaml works with the real tool."""
    clone = tmp_path / "clone"
    shutil.copytree(
        ROOT, clone, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", ".*_cache", ".hypothesis")
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        git(*words, cwd=clone)
    revision = git("rev-parse", "HEAD", cwd=clone).strip()
    (app.folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {clone.as_uri()}\n  rev: {revision}\n  hooks:\n  - id: ontoref-validate\n"
    )
    log = app.folder / ".ontoref/interactions/2026/11/s.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text('{"kind":"Fxi"}\n')
    git("add", "-A")
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"]
    done = subprocess.run(command, cwd=app.folder, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 1, done.stdout + done.stderr
    assert 'did you mean "Fix"' in done.stdout
    log.unlink()
    git("add", "-A")
    done = subprocess.run(command, cwd=app.folder, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
