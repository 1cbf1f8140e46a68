"""Queries as a reviewer asks them: the real commands over small logs."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ontoref import resources
from tests.conftest import App

JQ = shutil.which("jq")
needs_jq = pytest.mark.skipif(JQ is None, reason="jq is not installed")


def record(number: int, session: str, day: int, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": f"01JE4Q8ZT3W6M1K9V2C5N7X{number:03}",
        "session_id": session,
        "recorded_at": f"2026-11-{day:02}T10:00:00Z",
        "actor": "AgentClaude",
        "kind": "Design",
        "domain": "Storage",
        "outcome": "Completed",
        "summary": "zebra in prose",
    } | more


def decision(name: str, *, flagged: bool = False, reversible: bool = True, **more: Any) -> dict[str, Any]:
    return {"id": name, "reversible": reversible, "adr_candidate": flagged, **more}


LOGS = {
    "one.jsonl": [
        record(1, "s-1", 1, decisions=[decision("store", flagged=True, rationale="zebra", reversible=False)]),
        record(2, "s-1", 2, kind="Fix", decisions=[decision("parser")], files_touched=["ontoref/vocabulary/load.py"]),
    ],
    "two.jsonl": [
        record(3, "s-2", 3, actor="Human", decisions=[decision("store", status="Accepted", adr="ADR-0001")]),
        record(4, "s-2", 4, domain="Query", decisions=[decision("index", flagged=True), decision("cache")]),
        record(5, "s-2", 5, decisions=[decision("wrong", flagged=True)], tensions_engaged=["speed-vs-safety"]),
    ],
    "three.jsonl": [
        record(6, "s-3", 6, supersedes=["01JE4Q8ZT3W6M1K9V2C5N7X005"], decisions=[decision("right", flagged=True)]),
        record(7, "s-3", 7, decisions=[decision("no", flagged=True, status="Rejected")], category="Insight"),
        record(
            8,
            "s-3",
            8,
            events=[{"kind": "Request", "note": "zebra"}, {"kind": "Finding"}],
            actions=[{"kind": "Run", "target": "pytest", "result": "Failed"}],
            insights=[{"kind": "Pitfall", "subject": "torn lines"}],
            files_touched=["ontoref/vocabulary/load.py", "docs/a.md"],
            decisions=[decision("tense", tensions_engaged=["speed-vs-safety"])],
        ),
    ],
}


@pytest.fixture
def log(app: App) -> App:
    folder = app.folder / ".ontoref" / "interactions" / "2026" / "11"
    folder.mkdir(parents=True)
    for name, records in LOGS.items():
        (folder / name).write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return app


def rows(app: App, *words: str) -> list[dict[str, Any]]:
    done = app("interaction", *words, "--format", "json")
    assert (done.code, done.err) == (0, ""), done.err
    found = json.loads(done.out)
    assert isinstance(found, list)
    return found


def ids(found: list[dict[str, Any]]) -> list[Any]:
    return [row["id"] for row in found]


def jq(program: str, folder: Path) -> list[Any]:
    assert JQ is not None
    files = sorted(folder.rglob("*.jsonl"))
    done = subprocess.run([JQ, "-c", program, *files], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_adr_candidates_are_listed_across_sessions_in_one_query(log: App) -> None:
    """S4-16: three files, mixed flags. An id that was ever flagged is kept, shown as its latest entry stands."""
    found = rows(log, "decisions", "--adr-candidates")
    assert ids(found) == ["store", "index", "right", "no"]
    store = found[0]
    assert (store["times"], store["sessions"], store["adr"], store["record"]["session_id"]) == (2, 2, "ADR-0001", "s-2")


def test_open_candidates_are_those_whose_latest_state_still_stands(log: App) -> None:
    assert ids(rows(log, "decisions", "--adr-candidates", "--open")) == ["index", "right"]
    assert ids(rows(log, "decisions", "--open")) == ["index", "right"]


def test_history_shows_every_entry_of_superseded_records_too(log: App) -> None:
    assert ids(rows(log, "decisions", "--adr-candidates", "--history")) == ["store", "index", "wrong", "right", "no"]
    assert ids(rows(log, "records")) == [r["id"] for name in LOGS for r in LOGS[name] if not r["id"].endswith("005")]
    assert len(rows(log, "records", "--history")) == 8


def test_a_row_has_its_nouns_fields_and_its_record_beside_them(log: App) -> None:
    """S4-17: what a decision carries comes back as it was written."""
    (row,) = rows(log, "decisions", "--where", "id=store", "--history", "--where", "reversible=false")
    header = row.pop("record")
    assert row == decision("store", flagged=True, rationale="zebra", reversible=False)
    assert header == {k: v for k, v in LOGS["one.jsonl"][0].items() if k not in ("summary", "decisions")}
    assert rows(log, "records", "--where", "id=01JE4Q8ZT3W6M1K9V2C5N7X001") == [LOGS["one.jsonl"][0]]


@needs_jq
def test_the_candidates_agree_entry_by_entry_with_jq(log: App) -> None:
    """S4-16, S4-18 and the goal: the same question asked by jq."""
    program = ". as $r | .decisions[]? | select(.adr_candidate) | [$r.recorded_at, $r.id, .id]"
    asked = sorted(jq(program, log.folder))
    entries = rows(log, "decisions", "--adr-candidates", "--history")
    assert [[e["record"]["recorded_at"], e["record"]["id"], e["id"]] for e in entries] == asked
    superseded = set(jq(".supersedes[]?", log.folder))
    current = {name for _, record_id, name in asked if record_id not in superseded}
    assert set(ids(rows(log, "decisions", "--adr-candidates"))) == current


@needs_jq
def test_review_questions_have_the_answers_that_jq_gives(log: App) -> None:
    """S4-18: decisions of the last sessions, sessions touching a layer, ADR candidates."""
    superseded = set(jq(".supersedes[]?", log.folder))
    asked = jq(
        'select(.session_id == "s-2" or .session_id == "s-3") | .id as $r | .decisions[]? | [$r, .id]', log.folder
    )
    want = {name for record_id, name in asked if record_id not in superseded}
    assert set(ids(rows(log, "decisions", "--session", "s-2", "--session", "s-3"))) == want
    touching = jq('select(any(.files_touched[]?; startswith("ontoref/vocabulary/"))) | .session_id', log.folder)
    (row,) = rows(log, "files", "ontoref/vocabulary/**")
    assert row["sessions"] == len(set(touching)) == 2
    assert {r["session_id"] for r in rows(log, "records", "--file", "ontoref/vocabulary")} == set(touching)


@pytest.mark.parametrize(
    "command", ["records", "decisions", "events", "actions", "insights", "files", "tensions", "stats"]
)
def test_prose_is_no_filter_and_no_default_column(log: App, command: str) -> None:
    """S4-4: a word that stands only in prose selects nothing and is not shown; a prose field is refused."""
    for field in ("summary", "decisions.rationale", "events.note"):
        refused = log("interaction", command, "--where", f"{field}=zebra")
        assert refused.code == 2
        assert "prose is never a filter (ADR-0002)" in refused.err
    help_text = log("interaction", command, "--help").out
    assert "--summary" not in help_text
    assert "--grep" not in help_text
    for form in ("table", "markdown", "csv"):
        assert "zebra" not in log("interaction", command, "--format", form).out


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["records", "--kind", "Fix"], 1),
        (["records", "--kind", "Fix,Design"], 7),
        (["records", "--kind", "Fix", "--kind", "Design"], 7),
        (["records", "--actor", "Human"], 1),
        (["records", "--domain", "Query"], 1),
        (["records", "--category", "Insight"], 1),
        (["records", "--outcome", "Failed"], 0),
        (["records", "--session", "s-1"], 2),
        (["records", "--file", "docs/*"], 1),
        (["records", "--tension", "speed-vs-safety"], 1),
        (["records", "--tension", "speed-vs-safety", "--history"], 2),
        (["decisions", "--tension", "speed-vs-safety"], 1),
        (["records", "--since", "2026-11-06"], 3),
        (["records", "--until", "2026-11-02"], 1),
        (["records", "--since", "2026-11-02T10:00:00Z", "--until", "2026-11-03T10:00:00Z"], 1),
        (["records", "--where", "decisions.reversible=false"], 1),
        (["records", "--where", "kind=Design", "--where", "domain!=Storage"], 1),
        (["decisions", "--irreversible"], 1),
        (["decisions", "--reversible", "--session", "s-1"], 1),
        (["events"], 2),
        (["events", "--where", "kind=Request"], 1),
        (["actions", "--where", "result=Failed"], 1),
        (["insights", "--where", "subject=torn lines"], 1),
        (["files"], 2),
        (["files", "docs"], 1),
        (["tensions"], 1),
        (["records", "--limit", "3"], 3),
        (["records", "--limit", "0"], 0),
    ],
)
def test_options_select(log: App, words: list[str], count: int) -> None:
    assert len(rows(log, *words)) == count


def test_files_tell_by_how_many_sessions_and_whom(log: App) -> None:
    assert rows(log, "files", "ontoref/**") == [
        {
            "file": "ontoref/vocabulary/load.py",
            "sessions": 2,
            "records": 2,
            "last": "2026-11-08T10:00:00Z",
            "actors": ["AgentClaude"],
        }
    ]
    assert rows(log, "tensions", "--history")[0]["records"] == 2


def test_a_path_of_files_is_a_log_or_a_glob(log: App) -> None:
    other = log.folder / "elsewhere"
    other.mkdir()
    (other / "x.jsonl").write_text(json.dumps(record(9, "s-9", 9, files_touched=["elsewhere/y"])) + "\n")
    assert [r["file"] for r in rows(log, "files", "elsewhere")] == ["elsewhere/y"]
    assert [r["file"] for r in rows(log, "files", "elsewhere/x.jsonl", "*/y")] == ["elsewhere/y"]
    assert rows(log, "files", "--file", "elsewhere") == []


def test_order_and_its_reverse_and_other_columns_to_sort_by(log: App) -> None:
    assert ids(rows(log, "decisions")) == ["parser", "store", "index", "cache", "right", "no", "tense"]
    assert ids(rows(log, "decisions", "--reverse", "--limit", "2")) == ["tense", "no"]
    assert ids(rows(log, "decisions", "--sort", "decision", "--limit", "2")) == ["cache", "index"]
    assert ids(rows(log, "decisions", "--sort", "times,last", "--reverse"))[0] == "store"
    assert ids(rows(log, "records", "--sort", "domain"))[0].endswith("004")
    bad = log("interaction", "decisions", "--sort", "tiems")
    assert bad.code == 2
    assert 'did you mean "times"?' in bad.err


def test_a_table_answers_on_one_screen_and_the_footer_is_talk(log: App) -> None:
    done = log("interaction", "decisions", "--adr-candidates", "--open")
    assert done.code == 0
    header, first, second = done.out.splitlines()
    assert header.split() == ["decision", "last", "times", "sessions", "reversible", "domain"]
    assert first.split() == ["index", "2026-11-04", "1", "1", "yes", "Query"]
    assert second.startswith("right")
    assert done.err.startswith("2 open candidates in 8 records (")


def test_csv_and_columns(log: App) -> None:
    done = log("interaction", "decisions", "--columns", "decision,times,record.domain", "--format", "csv")
    found = list(csv.reader(io.StringIO(done.out)))
    assert found[0] == ["id", "times", "record.domain"]
    assert ["store", "2", "Storage"] in found
    lines = log("interaction", "records", "--columns", "id", "--format", "jsonl", "--limit", "2").out.splitlines()
    assert [json.loads(line) for line in lines] == [{"id": r["id"]} for r in LOGS["one.jsonl"]]


def test_an_empty_answer_is_yes(log: App) -> None:
    done = log("interaction", "records", "--kind", "Incident")
    assert (done.code, done.out) == (0, "")
    assert "0 of 8 records" in done.err


def test_no_project_no_log_no_cost(app: App) -> None:
    assert rows(app, "decisions", "--adr-candidates") == []
    assert list(app.folder.iterdir()) == []


def test_a_line_that_is_no_record_is_told_and_the_rest_still_answers(log: App) -> None:
    path = next(log.folder.rglob("two.jsonl"))
    text = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([text[0], text[1][:70], "", *text[2:]]) + "\n[1]\n", encoding="utf-8")
    done = log("interaction", "decisions", "--adr-candidates")
    assert done.code == 1
    assert "store" in done.out
    assert "two.jsonl:2: skipped: the line is no JSON object" in done.err
    assert "two.jsonl:5: skipped" in done.err


def test_paths_and_stdin_are_logs_too(log: App) -> None:
    path = next(log.folder.rglob("two.jsonl"))
    assert len(rows(log, "records", str(path))) == 3
    assert len(rows(log, "records", ".ontoref/**/t*.jsonl")) == 5
    done = log("interaction", "records", "-", "--format", "jsonl", stdin=path.read_bytes())
    assert len(done.out.splitlines()) == 3
    missing = log("interaction", "records", "nowhere", "--format", "json")
    assert missing.code == 2
    assert json.loads(missing.err)["error"]["location"] == "nowhere"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes as files")
@pytest.mark.parametrize("words", [["records"], ["decisions", "--adr-candidates"]])
def test_a_pipe_is_a_log_though_it_is_read_once(log: App, words: list[str]) -> None:
    """`ontoref interaction records <(zcat old.jsonl.gz)`"""
    path, pipe = next(log.folder.rglob("two.jsonl")), log.folder / "pipe.jsonl"
    os.mkfifo(pipe)
    expected = log("interaction", *words, path, "--format", "json")
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    found = log("interaction", *words, pipe, "--format", "json")
    writer.join()
    assert (found.code, found.out) == (expected.code, expected.out)
    assert json.loads(found.out)


@pytest.mark.parametrize(
    "words",
    [
        ["--since", "soon"],
        ["--until", "7q"],
        ["--limit", "-1"],
        ["--kind", "Fxi"],
        ["--columns", "nope"],
        ["--where", "x"],
    ],
)
def test_what_cannot_be_read_is_an_error(log: App, words: list[str]) -> None:
    done = log("interaction", "records", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")


def test_a_facet_that_a_project_adds_is_filterable_and_shown_at_once(log: App) -> None:
    """Severity on Event: a change of the project's files alone."""
    own = log.folder / ".ontoref" / "schemas"
    shutil.copytree(resources.folder("schemas"), own, ignore=shutil.ignore_patterns("compiled"))
    coder, interaction = own / "coder.yaml", own / "interaction.yaml"
    coder.write_text(
        coder.read_text(encoding="utf-8")
        + "  Severity:\n    description: How bad.\n    type: string\n    oneOf:\n"
        + "      - {const: Minor, description: Bearable.}\n      - {const: Major, description: Not so.}\n",
        encoding="utf-8",
    )
    text = interaction.read_text(encoding="utf-8")
    anchor = "        $ref: 'coder.yaml#/$defs/EventKind'\n"
    assert anchor in text
    added = anchor + "      severity:\n        description: How bad.\n        $ref: 'coder.yaml#/$defs/Severity'\n"
    interaction.write_text(text.replace(anchor, added), encoding="utf-8")
    events = [{"kind": "Finding", "severity": "Major"}, {"kind": "Finding", "severity": "Minor"}, {"kind": "Request"}]
    next(log.folder.rglob("one.jsonl")).write_text(json.dumps(record(1, "s-1", 1, events=events)) + "\n")
    found = rows(log, "events", "--where", "severity=Major")
    assert [row["severity"] for row in found] == ["Major"]
    assert ids(rows(log, "records", "--where", "events.severity=Minor")) == ["01JE4Q8ZT3W6M1K9V2C5N7X001"]
    shown = log("interaction", "events", "--session", "s-1").out.splitlines()
    assert "severity" in shown[0]
    assert "Major" in shown[1]
    assert {"facet": "events.severity", "value": "Major", "count": 1} in rows(log, "stats")
    refused = log("interaction", "events", "--where", "severity=Mayor")
    assert refused.code == 2
    assert 'severity: "Mayor" is not a Severity' in refused.err
    assert 'did you mean "Major"?  one of: Minor Major' in refused.err


def test_stats_count_every_facet(log: App) -> None:
    found = {(row["facet"], row["value"]): row["count"] for row in rows(log, "stats")}
    assert found["kind", "Design"] == 6
    assert found["decisions.adr_candidate", True] == 4
    assert found["actions.result", "Failed"] == 1
    assert found["decisions.tensions_engaged", "speed-vs-safety"] == 1
    assert not any("summary" in facet for facet, _ in found)
    assert "1 of 8 records" in log("interaction", "stats", "--kind", "Fix").err


def test_text_of_a_record_cannot_steer_the_terminal(log: App) -> None:
    hostile = record(1, "s-1", 1, insights=[{"kind": "Risk", "subject": "\x1b[2J\u202ered"}], summary="\x1b[31m")
    next(log.folder.rglob("one.jsonl")).write_text(json.dumps(hostile) + "\n")
    for words in (["insights"], ["records", "--columns", "summary"], ["show", "01JE4Q8ZT3W6M1K9V2C5N7X001"]):
        done = log("interaction", *words)
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
        assert "\\x1b" in done.out
