"""The commands of `ontoref replay`, as a person runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import App
from tests.replay.test_sources import CHILD, PARENT, line, write_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_session(tmp_path, children=2)


def test_show_unfolds_sub_agents_below_who_called_them(app: App, session: Path) -> None:
    """S2-56, S2-57."""
    done = app("replay", "show", str(session))
    assert done.code == 0
    assert done.out == (Path(__file__).parent / "shown.txt").read_text(encoding="utf-8")
    folded = app("replay", "show", str(session), "--depth", "0").out
    assert "▸ sub-agent  look 1 (Explore)  returned, 3 events, 1 call" in folded
    assert "Bash" not in folded


def test_tree_opens_what_it_is_told_to(app: App, session: Path) -> None:
    """S2-23, S2-49, S2-51."""
    tree = json.loads(app("replay", "tree", str(session), "--format", "json").out)
    (turn,) = tree["turns"]
    assert [node["expanded"] for node in turn["delegations"]] == [False, False]
    span = turn["delegations"][1]["span_id"]
    opened = json.loads(app("replay", "tree", str(session), "--expand", span, "--format", "json").out)
    assert [node["expanded"] for node in opened["turns"][0]["delegations"]] == [False, True]
    text = app("replay", "tree", str(session)).out
    assert "sub-agent  look 2 (Explore)  returned, not opened" in text


def test_an_unknown_session_is_no(app: App) -> None:
    """S2-23."""
    done = app("replay", "tree", "nobody")
    assert (done.code, done.out) == (1, "")
    assert "nobody" in done.err


@pytest.mark.parametrize("options", [["--depth", "11"], ["--limit", "0"], ["--cursor", "x"], ["--turn", "x"]])
def test_wrong_options_are_refused(app: App, session: Path, options: list[str]) -> None:
    """S2-49."""
    done = app("replay", "tree", str(session), "--format", "json", *options)
    assert done.code == 2
    assert json.loads(done.err)["error"]["kind"] == "usage"


def test_standard_input_is_a_session(app: App, session: Path) -> None:
    done = app("replay", "tree", "-", "--format", "json", stdin=session.read_bytes())
    assert json.loads(done.out)["row_count"] == 6


def test_what_a_transcript_holds_cannot_steer_the_terminal(app: App, tmp_path: Path) -> None:
    """S2-55."""
    path = tmp_path / "00000000-aaaa-4bbb-8ccc-000000000001.jsonl"
    path.write_text(json.dumps(line(1, "user", "\x1b[31mred\u202e\x07")) + "\n", encoding="utf-8")
    for verb in ("show", "tree"):
        out = app("replay", verb, str(path)).out
        assert "red" in out
        assert not {"\x1b", "\u202e", "\x07"} & set(out)


def test_an_export_answers_in_sql_and_as_a_tree(app: App, session: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    store = str(tmp_path / "x.duckdb")
    child = session.with_suffix("") / "subagents" / "agent-a1.jsonl"
    for _ in range(2):
        done = app("replay", "export", "--duckdb", store, str(session), str(child))
        assert (done.code, done.out) == (0, "")
        assert "9 events of 2 sessions" in done.err
    question = "SELECT session_id, count(*) AS n FROM replay_events GROUP BY ALL ORDER BY n"
    done = app("replay", "query", question, "--store", store, "--format", "json")
    assert json.loads(done.out) == [{"session_id": CHILD, "n": 3}, {"session_id": PARENT, "n": 6}]
    live = json.loads(app("replay", "tree", str(session), "--depth", "1", "--format", "json").out)
    kept = json.loads(app("replay", "tree", PARENT, "--store", store, "--depth", "1", "--format", "json").out)
    assert kept["turns"][0]["delegations"][0] == live["turns"][0]["delegations"][0]
    assert app("replay", "tree", PARENT[:20], "--store", store).code == 2
    assert app("replay", "tree", CHILD, "--store", store).code == 0
    assert app("replay", "tree", "nobody", "--store", store).code == 1


@pytest.mark.parametrize(
    "sql", ["DELETE FROM replay_events", "SELECT * FROM read_text('/etc/hostname')", "SELEKT 1", "SET threads = 1"]
)
def test_a_question_only_reads(app: App, session: Path, tmp_path: Path, sql: str) -> None:
    pytest.importorskip("duckdb")
    store = str(tmp_path / "x.duckdb")
    app("replay", "export", "--duckdb", store, str(session))
    before = Path(store).read_bytes()
    done = app("replay", "query", sql, "--store", store)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert Path(store).read_bytes() == before


@pytest.mark.parametrize("arguments", [[], ["--duckdb", "x"], ["--duckdb", "x", "--all", "y"], ["x"]])
def test_an_export_is_told_what_and_where(app: App, arguments: list[str]) -> None:
    assert app("replay", "export", *arguments).code == 2
    assert os.listdir(app.folder) == []


def test_a_store_that_is_none(app: App, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    wrong = tmp_path / "wrong"
    wrong.write_text("no database", encoding="utf-8")
    for path in (str(wrong), str(tmp_path / "missing")):
        done = app("replay", "query", "SELECT 1", "--store", path)
        assert done.code == 2
        assert "Traceback" not in done.err
