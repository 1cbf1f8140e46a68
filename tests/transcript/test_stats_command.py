"""`transcript stats` and `transcript events` as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import App
from tests.transcript.lines import SESSIONS

KEYS = (
    "file runtime lines bad user human assistant thinking calls results errors delegations sidechain compactions modes "
    "files files_ok"
)


@pytest.fixture
def rollout(app: App) -> Path:
    path = app.folder / "rollout.jsonl"
    path.write_bytes(b"".join(SESSIONS["codex"]) + b"\0\0\n" + b'{"type":"future"}\n{"half')
    return path


def test_counts_as_json_are_an_object_a_file(app: App, rollout: Path) -> None:
    done = app("transcript", "stats", rollout, "--format", "json")
    (row,) = json.loads(done.out)
    assert " ".join(row) == KEYS
    assert {k: row[k] for k in ("runtime", "lines", "bad", "user", "calls", "errors", "files_ok")} == {
        "runtime": "codex",
        "lines": 33,
        "bad": 1,
        "user": 2,
        "calls": 5,
        "errors": 1,
        "files_ok": 1,
    }
    assert f"{rollout}:31: bad: no JSON" in done.err
    assert f"{rollout}:32: unknown: line of type future" in done.err
    assert f"{rollout}:33: pending" in done.err
    assert done.code == 0


def test_a_file_that_is_no_transcript_is_named_and_the_others_are_counted(app: App, rollout: Path) -> None:
    (app.folder / "other.jsonl").write_text('{"a": 1}\n')
    done = app("transcript", "stats", "other.jsonl", rollout, "--format", "jsonl")
    assert (done.code, done.out.count("\n")) == (2, 1)
    assert "no known transcript format" in done.err
    assert "Traceback" not in done.err


def test_events_are_one_object_a_line(app: App, rollout: Path) -> None:
    done = app("transcript", "events", rollout)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert found[0]["kind"] == "llm.call"
    assert len(found) == 22
    assert app("transcript", "events", rollout, "--kind", "llm.call").out.count("\n") == 2
    assert [e["kind"] for e in json.loads(app("transcript", "events", rollout, "--limit", "1", "--format", "json").out)]
    wrong = app("transcript", "events", rollout, "--kind", "llm.reply")
    assert (wrong.code, "known: llm.call" in wrong.err) == (2, True)


def test_events_print_what_nests_deeply_and_never_steer_a_terminal(app: App) -> None:
    deep = b'{"a":' * 300 + b"1" + b"}" * 300
    line = (
        b'{"type":"response_item","payload":{"type":"function_call","name":"x\\u001b","call_id":"c","arguments":%s}}\n'
    )
    (app.folder / "deep.jsonl").write_bytes(line % json.dumps(deep.decode()).encode())
    done = app("transcript", "events", "deep.jsonl")
    assert (done.code, done.out.count('{"a":')) == (0, 300)
    assert "\x1b" not in app("transcript", "events", "deep.jsonl", "--format", "table").out
