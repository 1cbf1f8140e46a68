"""What holds for any record: it comes back as it was given, and prose decides nothing."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref.cli.main import run
from ontoref.interaction.check import Checker
from ontoref.interaction.given import Given, parse
from ontoref.interaction.record import Context, complete, prepare
from ontoref.interaction.witness import Prose
from ontoref.vocabulary import load
from tests.strategies import records, texts

# typer uses names that click will drop in version 9.
pytestmark = pytest.mark.filterwarnings("ignore:.*removed in Click:DeprecationWarning")

VOCABULARY = load()
CHECKER = Checker(VOCABULARY)
PROSE = Prose(VOCABULARY)
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def context(**more: Any) -> Context:
    return Context(VOCABULARY, "2026-11-30T18:04:05Z", lambda: "01JE4Q8ZT3W6M1K9V2C5N7X0RB", {}, **more)


@given(records())
@SLOW
def test_any_record_that_the_schema_allows_is_recorded_and_comes_back_equal(record: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rec.json"
        path.write_text(json.dumps(record))
        assert run(["interaction", "record", str(path), "--log", f"{folder}/log"]) == 0
        assert run(["interaction", "record", str(path), "--log", f"{folder}/log"]) == 0
        (log,) = Path(folder, "log").rglob("*.jsonl")
        (line,) = log.read_bytes().split(b"\n")[:-1]
    written = json.loads(line)
    assert {name: written[name] for name in record} == record
    assert set(written) - set(record) <= {"actor", "revision", "vocabulary", "origin", "session_id"}


@given(records(), st.lists(texts(200), min_size=1, max_size=4))
@SLOW
def test_prose_never_changes_the_verdict(record: dict[str, Any], words: list[str]) -> None:
    """S4-6 as record sees it: any text may stand in the three prose fields."""
    for number, (pointer, _) in enumerate(PROSE.places(record)):
        *way, last = [int(step) if step.isdecimal() else step for step in pointer.split("/")[1:]]
        node: Any = record
        for step in way:
            node = node[step]
        node[last] = words[number % len(words)]
    item = prepare(Given(record, b""), context(), CHECKER, "drawn")
    assert not item.refused
    assert json.loads(item.line) == item.record


@given(records(strict=True), st.sampled_from(["object", "spread", "array", "lines"]))
@SLOW
def test_every_spelling_of_the_input_is_read_alike(record: dict[str, Any], form: str) -> None:
    text = {
        "object": json.dumps(record, ensure_ascii=False),
        "spread": json.dumps(record, indent=3),
        "array": json.dumps([record]),
        "lines": json.dumps(record) + "\n\n" + json.dumps(record) + "\n",
    }[form]
    for value in parse(text.encode(), "drawn"):
        item = prepare(value, context(), CHECKER, "drawn")
        # Drawn at random, a segment may end before it begins.
        assert {finding.rule for finding in item.findings} <= {"time-order"}
        assert item.record == record


@given(st.binary(max_size=300) | texts(300).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_get_an_answer(content: bytes) -> None:
    for value in parse(content, "drawn"):
        item = prepare(value, context(), CHECKER, "drawn")
        assert item.refused
        assert all(finding.line >= 1 for finding in item.findings)


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_session_id_of_any_text_never_writes_outside_the_log(session: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rec.json")
        path.write_text(json.dumps({"session_id": session, "kind": "x"}))
        before = set(os.listdir(folder)) | {"log"}
        code = run(["interaction", "record", str(path), "--no-validate", "--log", f"{folder}/log"])
        assert code == (1 if any("\ud800" <= c <= "\udfff" for c in session) else 0)
        assert set(os.listdir(folder)) <= before
        assert all(p.is_dir() or p.suffix == ".jsonl" for p in Path(folder, "log").rglob("*"))


def test_nulls_are_dropped_at_any_depth() -> None:
    """S4-7: an optional field is left out, never null."""
    value = {"kind": None, "events": [{"kind": "Finding", "at": None}]}
    item = prepare(Given(value, b""), context(), CHECKER, "drawn")
    assert item.stated == {"events": [{"kind": "Finding"}]}
    assert list(complete({"zzz": 1, "kind": "Fix"}, context()))[-1] == "zzz"
