"""`ontoref transcript trace` and `show`, run as a person runs them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ontoref.transcript import TranscriptError, read
from ontoref.transcript.steps import load_events
from ontoref.transcript.trace import compact, events_trace, openclaw_trace, result_text
from tests.conftest import SHARED, App

CASES = Path(__file__).parent / "cases"
WHOLE = CASES / "every-block.jsonl"


def message(role: str, text: str) -> str:
    return json.dumps({"type": "message", "id": "a", "message": {"role": role, "content": text}}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "h" / ".openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    for name in ("b", "a"):
        (folder / f"{name}.jsonl").write_text(message("user", f"ask {name}") + message("assistant", "so"))
    (folder / "empty.jsonl").touch()
    (folder / "bad.jsonl").write_text("no json\n")
    return tmp_path / "h"


def test_the_golden_file_through_the_command(app: App) -> None:
    done = app("transcript", "trace", WHOLE, "--format", "json")
    assert done.code == 0
    assert json.loads(done.out) == json.loads((CASES / "every-block.trace.json").read_text())
    assert "1 line skipped" in done.err


def test_s0_14_the_numbers_of_skipped_lines(app: App) -> None:
    assert "1 line skipped: 7" in app("transcript", "trace", WHOLE, "--verbose").err


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "garbage\n", "42\n[]\n", '{"type":"session","version":3,"id":"s"}\n', message("assistant", "x")],
)
def test_s0_31_without_a_question_the_trace_is_null(app: App, content: str) -> None:
    path = app.folder / "s.jsonl"
    path.write_text(content)
    done = app("transcript", "trace", path, "--format", "json")
    assert (done.code, done.out) == (0, "null\n")
    assert "no trace" in done.err


def test_half_a_character_can_still_be_printed(app: App) -> None:
    done = app("transcript", "trace", "-", "--format", "json", stdin=message("user", "a\ud800b"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["question"].startswith("a")


def test_control_characters_never_reach_the_terminal_raw(app: App) -> None:
    for command in ("trace", "show"):
        done = app("transcript", command, "-", "--runtime", "openclaw", stdin=message("user", "a\x1b[31m\u202eb"))
        assert done.code == 0, done.err
        assert "\\x1b[31m\\u202eb" in done.out
        assert "\x1b" not in done.out


def test_several_sessions_are_a_list_and_a_missing_one_is_a_warning(app: App) -> None:
    """S0-44: an explicit file that is missing warns, and the others go on."""
    done = app("transcript", "trace", WHOLE, "none.jsonl", WHOLE, "--format", "json")
    assert done.code == 1
    assert [row["session"] for row in json.loads(done.out)] == [str(WHOLE)] * 2
    assert "none.jsonl" in done.err
    assert app("transcript", "trace", "none.jsonl").code == 2
    assert app("transcript", "trace", "nothing-of-that-id").code == 1


def test_s0_43_each_new_session_is_made_once(app: App, home: Path) -> None:
    env = {"HOME": str(home), "USERPROFILE": str(home)}
    log = app.folder / "processed.txt"
    words = ("transcript", "trace", "--new", "--runtime", "openclaw", "--processed", log, "--format", "jsonl")
    dry = app(*words, "--dry-run", env=env)
    assert (dry.code, dry.out, log.exists()) == (0, "", False)
    first = app(*words, env=env)
    assert first.code == 0, first.err
    assert [json.loads(line)["trace"]["question"] for line in first.out.splitlines()] == ["ask a", "ask b"]
    assert log.read_bytes() == b"a.jsonl\nb.jsonl\n"
    again = app(*words, env=env)
    assert (again.code, again.out) == (0, "")
    assert len(app(*words, "--reprocess", env=env).out.splitlines()) == 2
    assert app(*words, "--reprocess", "--agent", "other", env=env).out == ""
    assert log.read_bytes() == b"a.jsonl\nb.jsonl\n"


def test_s0_44_files_bypass_discovery_and_malformed_ones_are_counted(app: App, home: Path) -> None:
    log = app.folder / "log" / "processed.txt"
    folder = home / ".openclaw" / "agents" / "main" / "sessions"
    files = [folder / "b.jsonl", folder / "empty.jsonl", folder / "bad.jsonl", folder / "none.jsonl"]
    done = app("transcript", "trace", "--new", "--processed", log, *files, "--format", "jsonl")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    assert "1 new, 2 without a trace" in done.err
    assert "none.jsonl" in done.err
    assert log.read_bytes() == b"b.jsonl\n"


def test_s0_44_without_a_folder_of_sessions_the_answer_is_no(app: App, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path / "nobody"), "USERPROFILE": str(tmp_path / "nobody")}
    assert app("transcript", "trace", "--new", "--processed", tmp_path / "done.txt", env=env).code == 1
    assert (
        app(
            "transcript", "trace", "--new", "--processed", tmp_path / "done.txt", "--root", tmp_path / "none", env=env
        ).code
        == 1
    )


def test_show_folds_and_unfolds(app: App) -> None:
    short = app("transcript", "show", WHOLE)
    assert short.code == 0, short.err
    assert "Why is the" in short.out
    assert "▸ read  src/größe.py" in short.out
    assert "then guess" not in short.out
    assert "1 bad (line 7)" in short.out
    whole = app("transcript", "show", WHOLE, "--full")
    assert "then guess" in whole.out
    assert '"b":[1,2.5,null,true]' in whole.out
    rows = json.loads(app("transcript", "show", WHOLE, "--format", "json").out)
    assert rows[0]["style"] in ("mode", "text")


@pytest.mark.shared
def test_s0_37_to_s0_42_the_trace_of_any_runtime_lacks_nothing_that_was_said() -> None:
    for path in sorted((SHARED / "transcripts").rglob("*.jsonl*")):
        try:
            events = list(read(path).events)
        except TranscriptError:
            continue
        reasoning = (events_trace(events) or {}).get("reasoning")
        if reasoning is None:
            continue
        for event in events:
            payload = event.payload
            if event.kind in ("llm.call", "llm.response", "thinking"):
                assert payload["text"] in reasoning
            elif event.kind in ("tool.call", "agent.spawn", "workflow.start"):
                given = payload["input"]
                assert (given if isinstance(given, str) else compact(given)) in reasoning
            elif event.kind in ("tool.result", "agent.return", "workflow.end"):
                assert result_text(payload) in reasoning


@pytest.mark.shared
def test_events_and_raw_lines_of_openclaw_give_the_same_conversation() -> None:
    for path in sorted((SHARED / "transcripts" / "openclaw").rglob("*.jsonl*")):
        if ".trajectory." in path.name:
            continue
        raw, made = openclaw_trace(load_events(path).events), events_trace(read(path, "openclaw").events)
        assert raw is not None
        assert made is not None
        assert made["question"] == raw["question"]
        assert made["answer"].strip() == raw["answer"].strip()
        assert made["reasoning"].replace(":error]", "]") == raw["reasoning"].replace(":error]", "]")


def test_a_database_of_openclaw_gives_the_trace_of_its_file(app: App, tmp_path: Path) -> None:
    path = tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as database:
        database.execute("create table transcript_events(session_id text, seq integer, event_json, created_at integer)")
        for number, line in enumerate(WHOLE.read_text().splitlines()):
            database.execute("insert into transcript_events values('s-1', ?, ?, 1)", (number, line))
    database.close()
    done = app("transcript", "trace", path, "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out) == json.loads((CASES / "every-block.trace.json").read_text())


def test_the_log_of_processed_sessions_is_named_by_the_person(app: App) -> None:
    """S3-108: nothing is written that was not asked for; local state lies in databases."""
    refused = app("transcript", "trace", "--new")
    assert refused.code == 2
    assert "--processed FILE" in refused.err
