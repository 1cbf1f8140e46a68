"""A log beside its past: what is staged, what a branch adds, and that nothing recorded is changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App
from tests.interaction.logs import encode, identity, put, record

Git = Callable[..., str]
LOG = ".ontoref/interactions/2026/11"


@pytest.fixture
def log(app: App, git: Git) -> Path:
    """A repository with a base commit of two good records and a broken line, on a branch that grew from it."""
    path = put(app.folder / LOG / "a.jsonl", record(1), record(2, decisions=[decision("Because.")]), b'{"torn')
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "work")
    return path


def decision(why: str) -> dict[str, Any]:
    return {"id": "a-b", "rationale": why, "reversible": True, "adr_candidate": False}


def found(app: App, *words: str, code: int | None = None) -> list[tuple[str, str, int]]:
    done = app("interaction", "validate", *words, "--format", "json")
    assert "Traceback" not in done.err
    if code is not None:
        assert done.code == code, done.err
    return [(f["rule"], f["path"].rpartition("/")[2], f.get("line", 0)) for f in json.loads(done.out)["findings"]]


def add(path: Path, *items: dict[str, Any] | bytes) -> None:
    with open(path, "ab") as file:
        file.writelines(encode(item) + b"\n" for item in items)


def test_staged_judges_the_index_and_not_the_work_tree(app: App, git: Git, log: Path) -> None:
    good = put(log.parent / "b.jsonl", record(3))
    git("add", "-A")
    put(good, record(3, kind="Fxi"))
    assert found(app, "--staged", code=0) == []
    git("add", "-A")
    put(good, record(3))
    assert found(app, "--staged", code=1) == [("enum", "b.jsonl", 1)]


def test_staged_with_nothing_staged_is_clean(app: App, log: Path) -> None:
    put(log.parent / "b.jsonl", b"not added")
    assert found(app, "--staged", code=0) == []


def test_staged_knows_the_records_of_files_that_are_not_staged(app: App, git: Git, log: Path) -> None:
    """A record may name one of another file, and may not take its id."""
    put(log.parent / "b.jsonl", record(3, parent_record=identity(1)), record(4, parent_record=identity(77)))
    git("add", "-A")
    assert found(app, "--staged", code=1) == [("unknown-record", "b.jsonl", 2)]
    put(log.parent / "b.jsonl", record(1))
    git("add", "-A")
    assert found(app, "--staged", code=1) == [("duplicate-id", "b.jsonl", 1)]


def test_staged_works_before_the_first_commit_and_with_odd_names(app: App, git: Git) -> None:
    put(app.folder / LOG / 'naïve " name\t.jsonl', record(1, kind="Fxi"))
    git("add", "-A")
    assert [rule for rule, _, _ in found(app, "--staged", code=1)] == ["enum"]


def test_staged_outside_git_says_so(app: App) -> None:
    done = app("interaction", "validate", "--staged")
    assert done.code == 2
    assert "git" in done.err


def test_since_judges_only_what_the_revision_lacks(app: App, git: Git, log: Path) -> None:
    """A base with faults of its own does not stop a branch; moving its lines to another file is no news."""
    assert found(app, code=1) == [("torn", "a.jsonl", 3)]
    assert found(app, "--since", "main", code=0) == []
    add(log, record(5, kind="Fxi"))
    assert found(app, "--since", "main", code=1) == [("enum", "a.jsonl", 4)]
    git("mv", f"{LOG}/a.jsonl", f"{LOG}/moved.jsonl")
    assert found(app, "--since", "main", code=1) == [("enum", "moved.jsonl", 4)]


def test_since_is_against_where_the_branches_parted(app: App, git: Git, log: Path) -> None:
    """What main gained meanwhile is neither missing here nor excused."""
    git("checkout", "-q", "main")
    put(log.parent / "main.jsonl", record(8))
    git("add", "-A")
    git("commit", "-qm", "main goes on")
    git("checkout", "-q", "work")
    put(log.parent / "b.jsonl", record(3, kind="Fxi"))
    assert found(app, "--since", "main", code=1) == [("enum", "b.jsonl", 1)]
    assert found(app, "--append-only", "main") == [("torn", "a.jsonl", 3), ("enum", "b.jsonl", 1)]


GOOD = [record(1), record(2, decisions=[decision("Because.")])]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([*GOOD, b'{"torn'], [], id="as it was"),
        pytest.param([*GOOD, record(3)], [], id="appended, and the broken line is gone"),
        pytest.param([GOOD[1], GOOD[0]], [], id="in another order"),
        pytest.param([dict(reversed(GOOD[0].items())), GOOD[1]], [], id="keys in another order"),
        pytest.param([GOOD[0]], [("removed-record", 2)], id="gone"),
        pytest.param(
            [GOOD[0], record(2, outcome="Failed", decisions=[decision("Because.")])], [("changed-record", 2)], id="word"
        ),
        pytest.param([GOOD[0], record(2)], [("changed-record", 2)], id="a decision is gone"),
        pytest.param([GOOD[0], record(2, decisions=[decision("[redacted]")])], [("withheld-text", 2)], id="rationale"),
        pytest.param([record(1, summary=""), GOOD[1]], [("withheld-text", 1)], id="summary"),
        pytest.param([GOOD[0], GOOD[1], record(3, supersedes=[identity(1)])], [], id="a correction"),
    ],
)
def test_what_is_recorded_stays(app: App, log: Path, lines: list[Any], expected: list[tuple[str, int]]) -> None:
    """A valid record that is changed or gone is a finding, other prose a warning; broken lines are not protected."""
    put(log, *lines)
    code = 1 if any(rule != "withheld-text" for rule, _ in expected) else 0
    rules = [(rule, line) for rule, _, line in found(app, "--append-only", "main", "--since", "main", code=code)]
    assert rules == expected


def test_salts_may_be_taken_out_and_digests_may_not(app: App, git: Git) -> None:
    def witnessed(salt: Any, digest: str = "1" * 64) -> dict[str, Any]:
        entry = {"at": "/summary", "digest": f"sha256:{digest}", **({"salt": salt} if salt else {})}
        return record(1, witness={"op_id": "o", "state_root": "0" * 40, "signature": "AA==", "prose": [entry]})

    path = put(app.folder / LOG / "a.jsonl", witnessed("2" * 32))
    git("add", "-A")
    git("commit", "-qm", "base")
    put(path, witnessed(None))
    assert [rule for rule, _, _ in found(app, "--append-only", "HEAD", code=0)] == ["withheld-text"]
    put(path, witnessed("2" * 32, "3" * 64))
    assert [rule for rule, _, _ in found(app, "--append-only", "HEAD", code=1)] == ["changed-record"]


def test_a_record_may_move_to_another_file(app: App, git: Git, log: Path) -> None:
    """By id across files: splitting or renaming a file changes no record."""
    git("mv", f"{LOG}/a.jsonl", f"{LOG}/z.jsonl")
    assert found(app, "--append-only", "main", "--since", "main", code=0) == []
    (log.parent / "z.jsonl").unlink()
    rules = found(app, "--append-only", "main", code=1)
    assert rules == [("removed-record", "a.jsonl", 1), ("removed-record", "a.jsonl", 2)]


def test_staged_and_append_only_go_together(app: App, git: Git, log: Path) -> None:
    put(log, GOOD[0])
    assert found(app, "--staged", "--append-only", "main", code=0) == []
    git("add", "-A")
    assert found(app, "--staged", "--append-only", "main", code=1) == [("removed-record", "a.jsonl", 2)]


def test_line_endings_of_windows_change_no_record(app: App, log: Path) -> None:
    log.write_bytes(log.read_bytes().replace(b"\n", b"\r\n"))
    assert found(app, "--append-only", "main", "--since", "main", code=0) == []


def test_a_shallow_clone_is_told_what_to_fetch(app: App, git: Git, log: Path, tmp_path: Path) -> None:
    git("checkout", "-q", "main")
    put(log.parent / "m.jsonl", record(6))
    git("add", "-A")
    git("commit", "-qm", "on main")
    git("checkout", "-q", "work")
    put(log.parent / "w.jsonl", record(7))
    git("add", "-A")
    git("commit", "-qm", "on work")
    clone = tmp_path / "clone"
    git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{app.folder}", str(clone))
    for option in ("--append-only", "--since"):
        done = app("interaction", "validate", option, "origin/main", cwd=clone)
        assert done.code == 2
        assert "depth" in done.err


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", ""])
def test_a_revision_that_git_does_not_know_is_an_error(app: App, log: Path, revision: str) -> None:
    done = app("interaction", "validate", f"--since={revision}")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert not (app.folder / "x").exists()
