"""What left no record."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.conftest import App

FIELDS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--actor", "Human", "--summary", "x"]


def gaps(app: App, *words: str) -> tuple[int, list[dict[str, Any]]]:
    result = app("interaction", "coverage", "--format", "json", *words)
    return result.code, json.loads(result.out)


def commit(app: App, git: Callable[..., str], name: str) -> str:
    (app.folder / name).write_text(name)
    git("add", "-A")
    git("commit", "-q", "-m", f"add {name}")
    return git("rev-parse", "HEAD").strip()


def test_a_commit_without_a_record_is_named_and_one_that_brings_a_record_is_not(
    app: App, git: Callable[..., str]
) -> None:
    lonely = commit(app, git, "a")
    app("interaction", "record", *FIELDS)
    commit(app, git, "b")
    code, found = gaps(app)
    assert code == 0
    assert [row["what"] for row in found if row["gap"] == "commit"] == [lonely[:12]]


def test_a_record_that_touched_the_files_covers_the_commit(app: App, git: Callable[..., str]) -> None:
    base = commit(app, git, "a")
    commit(app, git, "b")
    assert len([row for row in gaps(app, "--since", base)[1] if row["gap"] == "commit"]) == 1
    app("interaction", "record", *FIELDS, "--file", "b")
    assert not [row for row in gaps(app, "--since", base)[1] if row["gap"] == "commit"]


def test_a_gate_can_ask_for_a_share(app: App, git: Callable[..., str]) -> None:
    commit(app, git, "a")
    assert app("interaction", "coverage", "--fail-under", "50").code == 1
    app("interaction", "record", *FIELDS, "--file", "a")
    assert app("interaction", "coverage", "--fail-under", "100").code == 0


def test_actors_that_never_record_are_named(app: App, git: Callable[..., str]) -> None:
    commit(app, git, "a")
    app("interaction", "record", *FIELDS)
    silent = {row["what"] for row in gaps(app)[1] if row["gap"] == "actor"}
    assert "AgentClaude" in silent
    assert "Human" not in silent
