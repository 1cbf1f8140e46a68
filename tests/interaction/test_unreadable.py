"""Files of a log that cannot be read: told, and everything else is judged and answered all the same."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ontoref.interaction import ask
from ontoref.interaction.check import Checker
from ontoref.interaction.filters import conditions_of
from ontoref.interaction.query import answer
from ontoref.interaction.question import Question
from ontoref.interaction.rows import ROWS
from ontoref.interaction.validate import Input, validate
from ontoref.vocabulary import load
from tests.conftest import App
from tests.interaction.logs import identity, put, record

LOG = ".ontoref/interactions"
DECISION = {"id": "one-file", "reversible": True, "adr_candidate": True}
WORDS = load()
CHECKER = Checker(WORDS, often=True)


@pytest.fixture
def log(app: App) -> Path:
    """A log with two good files, a link that leads nowhere and one that leads to itself between them."""
    folder = app.folder / LOG
    put(folder / "a.jsonl", record(1, decisions=[DECISION]))
    put(folder / "z.jsonl", record(2, decisions=[DECISION], kind="Fxi"))
    (folder / "gone.jsonl").symlink_to("nowhere")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    return folder


def test_each_is_one_finding_and_the_others_are_judged(app: App, log: Path) -> None:
    done = app("interaction", "validate", "--format", "json")
    assert done.code == 1
    told = json.loads(done.out)
    assert [(f["rule"], Path(f["path"]).name) for f in told["findings"]] == [
        ("unreadable", "gone.jsonl"),
        ("unreadable", "loop.jsonl"),
        ("enum", "z.jsonl"),
    ]
    assert told["summary"]["records"] == 2
    for form in ("text", "github", "sarif", "junit"):
        assert "gone.jsonl" in app("interaction", "validate", "--format", form).out


@pytest.mark.parametrize(
    "words",
    [
        ("interaction", "records"),
        ("interaction", "decisions"),
        ("interaction", "decisions", "--where", "reversible=true"),
        ("interaction", "decisions", "--jobs", "1", "--history"),
        ("interaction", "stats"),
        ("interaction", "show", "one-file"),
        ("adr", "candidates"),
    ],
    ids=" ".join,
)
def test_queries_answer_from_the_rest_and_name_what_they_skipped(app: App, log: Path, words: tuple[str, ...]) -> None:
    done = app(*words, "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)
    told = [json.loads(line) for line in done.err.splitlines()]
    places = [one["warning"]["location"] for one in told if "warning" in one]
    assert places == [f"{LOG}/gone.jsonl", f"{LOG}/loop.jsonl"]
    as_text = app(*words)
    assert f"{LOG}/gone.jsonl: skipped: " in as_text.err


def test_what_is_skipped_is_told_as_json_where_json_was_asked_for(app: App) -> None:
    """A program that reads stderr by the line gets JSON only, whatever is said there."""
    put(app.folder / LOG / "a.jsonl", *[b"{"] * 7, record(1))
    done = app("interaction", "records", "--format", "json")
    assert done.code == 1
    told = [json.loads(line) for line in done.err.splitlines()]
    assert [next(iter(one)) for one in told] == ["warning"] * 5 + ["note"] * 2
    assert told[0]["warning"] == {
        "kind": "skipped",
        "message": "the line is no JSON object",
        "location": f"{LOG}/a.jsonl:1",
    }
    checked = app("interaction", "validate", "--format", "jsonl")
    assert all("note" in json.loads(line) for line in checked.err.splitlines())


def test_a_file_that_is_named_has_to_be_there(app: App, log: Path) -> None:
    for command in ("validate", "records"):
        done = app("interaction", command, f"{LOG}/a.jsonl", f"{LOG}/gone.jsonl")
        assert done.code == 2
        assert "gone.jsonl: there is no such file or folder" in done.err
        # What a pattern finds nobody has named.
        assert app("interaction", command, f"{LOG}/*.jsonl").code == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_and_a_folder_without_the_right_to_read(app: App) -> None:
    put(app.folder / LOG / "a.jsonl", record(1))
    secret = put(app.folder / LOG / "b.jsonl", record(2))
    shut = put(app.folder / LOG / "shut" / "c.jsonl", record(3)).parent
    secret.chmod(0)
    shut.chmod(0)
    try:
        done = app("interaction", "validate", "--format", "jsonl")
        assert done.code == 1
        told = [json.loads(line) for line in done.out.splitlines()]
        assert {(one["rule"], Path(one["path"]).name) for one in told} == {
            ("unreadable", "b.jsonl"),
            ("unreadable", "shut"),
        }
        assert app("interaction", "records").err.count("skipped: ") == 2
        assert app("interaction", "validate", f"{LOG}/b.jsonl").code == 2
    finally:
        secret.chmod(0o600)
        shut.chmod(0o700)


def test_a_file_that_goes_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size was known, so it is only missed when it is opened."""
    here = put(tmp_path / "a.jsonl", record(1))
    gone = put(tmp_path / "b.jsonl", record(2, parent_record=identity(1)))
    after = put(tmp_path / "c.jsonl", record(3, parent_record=identity(2)))
    _lose(monkeypatch, gone)
    found = list(validate([Input(p.name, str(p)) for p in (here, gone, after)], CHECKER))
    assert [(f.rule, f.path, f.line) for f in found] == [("unreadable", "b.jsonl", 0), ("unknown-record", "c.jsonl", 1)]
    told = answer(Question(ROWS["records"]), [str(here), str(gone), str(after)], WORDS)
    assert (told.found, len(list(told.rows))) == (2, 2)
    assert [(one.path, one.line_number()) for one in told.skipped] == [(str(gone), None)]


def test_a_file_of_the_log_that_cannot_be_read_is_told_where_its_records_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = put(tmp_path / "a.jsonl", record(1))
    here = put(tmp_path / "b.jsonl", record(2, parent_record=identity(1)))
    _lose(monkeypatch, gone)
    known = [Input(path.name, str(path)) for path in (gone, here)]
    found = [(f.rule, f.path) for f in validate(known[1:], CHECKER, known=known)]
    assert found == [("unreadable", "a.jsonl"), ("unknown-record", "b.jsonl")]


def test_a_file_that_goes_between_the_looks_at_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The places of a decision are known by then, and fetched from the files that are left."""
    paths = [
        str(put(tmp_path / f"{number}.jsonl", *[record(10 * number + i, decisions=[DECISION]) for i in range(9)]))
        for number in range(3)
    ]
    flagged = record(99, decisions=[{**DECISION, "adr": "ADR-0007"}])
    paths.append(str(put(tmp_path / "flag.jsonl", flagged, *[record(100 + i) for i in range(300)])))
    conditions = conditions_of(ROWS["decisions"], WORDS, where=["adr=ADR-0007"], options={}, files=[], tensions=[])
    noted = ask.Ask.survey

    def survey(self: Any, *given: Any) -> Any:
        report = noted(self, *given)
        os.unlink(paths[1])
        return report

    monkeypatch.setattr(ask.Ask, "survey", survey)
    told = answer(Question(ROWS["decisions"], conditions), paths, WORDS, jobs=1)
    (row,) = map(json.loads, told.rows)
    assert row["times"] == 19
    assert [(one.path, one.line_number()) for one in told.skipped] == [(paths[1], None)]


def _lose(monkeypatch: pytest.MonkeyPatch, lost: Path) -> None:
    """From now on the file cannot be opened, as if it went after somebody looked at it."""
    opened = builtins.open

    def open_(path: Any, *given: Any, **named: Any) -> Any:
        if path == str(lost):
            raise FileNotFoundError(2, "No such file or directory", path)
        return opened(path, *given, **named)

    monkeypatch.setattr(builtins, "open", open_)
