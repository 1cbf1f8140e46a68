"""Signing, verifying and withholding through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, App

pytest.importorskip("cryptography")

FIELDS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--actor", "AgentClaude", "--session", "s"]
EVENT = '{"kind": "Finding", "note": "The key was 1234."}'


@pytest.fixture
def signed(app: App, git: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log with one signed record."""
    monkeypatch.setenv("ONTOREF_CONFIG_DIR", str(tmp_path / "config"))
    git("commit", "-q", "--allow-empty", "-m", "x")
    assert app("key", "new", "--id", "ana", "--owner", "Ana").code == 0
    done = app("interaction", "record", *FIELDS, "--summary", "Done.", "--event", EVENT, "--sign", "--key", "ana")
    assert done.code == 0, done.err
    (path,) = app.folder.rglob(".ontoref/interactions/**/*.jsonl")
    return path


def verdicts(app: App, *words: str) -> tuple[int, list[str]]:
    result = app("interaction", "verify", "--format", "json", *words)
    return result.code, [row["verdict"] for row in json.loads(result.out)]


def edit(path: Path, **fields: Any) -> None:
    record = json.loads(path.read_text())
    record.update(fields)
    path.write_text(json.dumps(record) + "\n")


def test_a_signed_record_verifies_and_any_edit_shows(app: App, signed: Path) -> None:
    assert verdicts(app) == (0, ["valid"])
    edit(signed, outcome="Failed")
    assert verdicts(app) == (1, ["modified"])


def test_prose_is_signed_too_and_can_be_withheld(app: App, signed: Path) -> None:
    identity = json.loads(signed.read_text())["id"]
    done = app("interaction", "redact", identity, "--field", "/events/0/note")
    assert done.code == 0, done.err
    assert "1234" not in signed.read_text()
    assert verdicts(app) == (0, ["withheld"])
    assert app("interaction", "validate").code == 0
    edit(signed, summary="Other.")
    assert verdicts(app) == (1, ["modified"])


def test_what_is_required_must_be_signed(app: App, signed: Path) -> None:
    app("interaction", "record", *FIELDS[:-4], "--actor", "Human", "--summary", "x")
    assert verdicts(app)[0] == 0
    assert verdicts(app, "--require", "actor=AgentClaude")[0] == 0
    assert verdicts(app, "--require", "actor=Human")[0] == 1


def test_a_lost_tail_is_noticed(app: App, signed: Path, git: Callable[..., str]) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "all")
    assert app("interaction", "verify", "--base", "HEAD").code == 0
    signed.write_text("")
    gone = app("interaction", "verify", "--base", "HEAD")
    assert gone.code == 1
    assert "is gone" in gone.err
    assert app("interaction", "validate", "--append-only", "HEAD").code == 1


def test_the_tree_that_was_signed_for_is_looked_up(app: App, signed: Path) -> None:
    row = json.loads(app("interaction", "verify", "--git", "--format", "json").out)[0]
    assert row["notes"] == []
    edit(signed, **{"witness": {"op_id": "x", "state_root": "a" * 40, "signature": "QUJD"}})
    row = json.loads(app("interaction", "verify", "--git", "--format", "json").out)[0]
    assert row["verdict"] == "unknown-key"
    assert any("git has no tree" in note for note in row["notes"])


def test_a_line_that_cannot_be_read_is_malformed_and_hides_no_other(app: App, signed: Path) -> None:
    text = signed.read_text()
    twice = text.rstrip("\n")[:-1] + ',"outcome":"Failed"}\n'
    signed.write_text("{torn\n" + text + twice)
    assert verdicts(app) == (1, ["malformed", "valid", "malformed"])


def test_rotation_keeps_the_past_and_revocation_does_not(app: App, signed: Path) -> None:
    assert app("key", "rotate", "ana", "--id", "ana-2").code == 0
    assert verdicts(app) == (0, ["valid"])
    assert app("key", "revoke", "ana", "--reason", "lost").code == 0
    assert verdicts(app) == (0, ["revoked-key"])
    assert verdicts(app, "--require", "actor=AgentClaude")[0] == 1


def test_without_witnesses_everything_but_verify_is_as_it_was(app: App) -> None:
    """S4-7, S4-21: a witness is never needed."""
    log = app.folder / "log"
    log.mkdir()
    lines = [
        line for path in (ROOT / "examples/interactions").rglob("*.jsonl") for line in path.read_text().splitlines()
    ]
    (log / "with.jsonl").write_text("\n".join(lines) + "\n")
    commands = [("records",), ("decisions",), ("events",), ("actions",), ("insights",), ("files",), ("tensions",)]

    def answers() -> list[list[dict[str, Any]]]:
        rows = [json.loads(app("interaction", *words, "log", "--format", "json").out) for words in commands]
        return [[{k: v for k, v in row.items() if k != "witness"} for row in answer] for answer in rows]

    before = answers()
    bare = [json.dumps({k: v for k, v in json.loads(line).items() if k != "witness"}) for line in lines]
    assert any("witness" in line for line in lines)
    (log / "with.jsonl").write_text("\n".join(bare) + "\n")
    assert answers() == before
    assert app("interaction", "validate", "log").code == 0
    result = app("interaction", "verify", "log", "--format", "json")
    assert {row["verdict"] for row in json.loads(result.out)} == {"unsigned"}
