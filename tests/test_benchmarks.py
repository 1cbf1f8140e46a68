"""The benchmarks measure what they say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.interaction.check import Checker
from ontoref.interaction.validate import Input, validate
from ontoref.vocabulary import load
from tests.conftest import ROOT

pytestmark = pytest.mark.checkout
corpus = pytest.importorskip("benchmarks.corpus", reason="about the sources, which are not here")
table = pytest.importorskip("benchmarks.table", reason="about the sources, which are not here")
validators = pytest.importorskip("benchmarks.validators", reason="about the sources, which are not here")


def found(path: Path) -> list[tuple[int, str]]:
    return [(f.line, f.rule) for f in validate([Input("log", str(path))], Checker(load()))]


def test_the_corpus_is_clean_and_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        corpus.write(tmp_path / name, 300, load())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert found(tmp_path / "a") == []
    corpus.write(tmp_path / "c", 300, load(), spaced=True)
    assert found(tmp_path / "c") == []


def test_bodies_that_come_round_again_are_new_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "DISTINCT", 50)
    made = corpus.write(tmp_path / "a", 300, load())
    assert made.records == 300
    assert found(tmp_path / "a") == []


def test_each_fault_is_found_where_it_was_put(tmp_path: Path) -> None:
    """Every spoilt line, by line and rule, and no other line."""
    made = corpus.write(tmp_path / "a", 800, load(), invalid_rate=0.2)
    assert {rule for _, rule in made.faults} == set(corpus.FAULTS)
    rules = found(tmp_path / "a")
    assert {line for line, _ in rules} == {line for line, _ in made.faults}
    for line, rule in made.faults:
        assert (line, rule) in rules


def test_one_command_prints_the_table() -> None:
    words = ["--records", "200", "--rounds", "1", "--only", "one process"]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "run.py", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "| the accepting loop, one process / orjson loop |" in done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Any:
    log = tmp_path / "log.jsonl"
    made = corpus.write(log, 1002, load())
    return table.Place(tmp_path, log, log, made.records, log.read_bytes().split(b"\n")[:-1])


def test_ours_finds_what_other_validators_are_tried_with(place: Any) -> None:
    for name, lines in validators.samples(place, 1).items():
        assert validators.judge(validators.OURS, place, lines) is (name == ""), name


def test_a_validator_that_takes_everything_is_not_timed(place: Any) -> None:
    lax = validators.Tool("lax", lambda place, paths: [place.python, "-c", "pass"])
    with pytest.raises(RuntimeError, match="a 30th of February"):
        validators.faithful(lax, place)


def test_ajv_judges_a_log_to_its_end(place: Any, npm: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validators, "MODULES", npm("ajv@8", "ajv-formats@3") / "node_modules")
    (ajv,) = (tool for tool in validators.tools() if tool.name == "ajv")
    accepted = validators.faithful(ajv, place)
    assert [name for name, yes in accepted.items() if yes] == ["", *validators.BEYOND]
