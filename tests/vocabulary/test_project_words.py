"""What a project changes in its own files is in force at once, with no other change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App
from tests.vocabulary.cases import change, copy_schemas

RECORD = {"actor": "Human", "kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "s", "session_id": "s-1"}


@pytest.fixture
def words(app: App) -> Path:
    return copy_schemas(app.folder / ".ontoref" / "schemas")


def record(app: App, **fields: Any) -> tuple[int, str]:
    told = app("interaction", "record", "-", stdin=json.dumps(RECORD | fields))
    return told.code, told.err


def rows(app: App, *command: str) -> list[dict[str, Any]]:
    told = app("interaction", *command, "--format", "json")
    assert told.code == 0, told.err
    found: list[dict[str, Any]] = json.loads(told.out)
    return found


def test_an_added_member_is_accepted_offered_and_filtered(app: App, words: Path) -> None:
    """S4-10, must hold 5: adding a member changes what is accepted and what an error offers."""
    code, said = record(app, kind="Spike")
    assert code == 1
    assert "Spike" not in said.split("one of:")[1]
    change(words, "coder.yaml", "      - {const: Fix,", "      - {const: Spike, description: d}\n      - {const: Fix,")
    assert record(app, kind="Spike")[0] == 0
    assert "Spike" in record(app, kind="Spiek")[1]
    assert [row["kind"] for row in rows(app, "records", "--kind", "Spike")] == ["Spike"]
    assert "Spike" in app("interaction", "template").out
    assert "Spike" in app("vocabulary", "show", "Kind").out


def test_a_removed_member_is_refused(app: App, words: Path) -> None:
    """S4-10."""
    change(words, "coder.yaml", "      - {const: Fix, description: A fault removed.}\n", "")
    code, said = record(app)
    assert code == 1
    assert "Fix" in said


def test_a_member_with_a_leading_tick_is_none(app: App) -> None:
    """S4-11: tags are plain words."""
    assert record(app, actor="'AgentClaude")[0] == 1


@pytest.mark.parametrize(
    "shape",
    [
        "{description: How bad it was., $ref: 'coder.yaml#/$defs/Severity'}",
        "{description: How bad it was., type: string, oneOf: [{const: Minor, description: m}, "
        "{const: Major, description: M}]}",
    ],
    ids=["referred to", "at the field"],
)
def test_an_added_facet_is_validated_shown_and_filtered(app: App, words: Path, shape: str) -> None:
    """A facet that a project adds needs no code."""
    change(words, "interaction.yaml", "      op_ref:\n", f"      severity: {shape}\n      op_ref:\n")
    enum = "  Severity:\n    description: How bad something was.\n    type: string\n    oneOf:\n"
    enum += "      - {const: Minor, description: m}\n      - {const: Major, description: M}\n"
    if "$ref" in shape:
        change(words, "coder.yaml", "  Outcome:\n", f"{enum}  Outcome:\n")
    assert app("vocabulary", "check").code == 0
    kind = "Obstacle"
    code, said = record(app, events=[{"kind": kind, "severity": "Majr"}])
    assert code == 1
    assert "severity" in said
    assert 'did you mean "Major"?' in said
    assert record(app, events=[{"kind": kind, "severity": "Major"}, {"kind": kind, "severity": "Minor"}])[0] == 0
    (found,) = rows(app, "events", "--where", "severity=Major")
    assert found["severity"] == "Major"
    assert "severity" in app("interaction", "events").out.splitlines()[0]
    refused = app("interaction", "events", "--where", "severity=Majr")
    assert refused.code == 2
    assert "Major" in refused.err
    told = app(env={"_ONTOREF_COMPLETE": "bash_complete", "COMP_LINE": "ontoref interaction events --where severity=M"})
    assert [line.partition(",")[2] for line in told.out.splitlines()] == ["Minor", "Major"]
    assert "severity" in app("interaction", "stats").out
    assert "severity" in app("vocabulary", "show", "Event").out


def test_a_deprecated_member_warns_and_stays_valid(app: App, words: Path) -> None:
    was = "{const: Refactor, description: The same behaviour in a better shape.}"
    now = was.replace("}", ", deprecated: true, x-replaced-by: Fix}")
    change(words, "coder.yaml", was, now)
    code, said = record(app, kind="Refactor")
    assert code == 0
    assert "Fix" in said
    told = app("interaction", "validate")
    assert told.code == 0
    assert "Refactor" in told.out + told.err
    assert app("interaction", "validate", "--strict").code == 1
    assert "Refactor" not in app("interaction", "template").out


def test_an_open_word_that_nobody_listed_warns(app: App, words: Path) -> None:
    """S4-17: a tension that core.yaml does not list is a warning."""
    code, said = record(app, tensions_engaged=["cost-vs-quality"])
    assert code == 0
    assert "cost-vs-quality" in said


def test_given_words_win_over_the_project_and_the_project_over_ours(app: App, words: Path, tmp_path: Path) -> None:
    other = copy_schemas(tmp_path / "other")
    change(words, "coder.yaml", "{const: Fix,", "{const: Mend,")
    change(other, "coder.yaml", "{const: Fix,", "{const: Cure,")
    assert "Mend" in app("vocabulary", "show", "Kind").out
    assert "Cure" in app("vocabulary", "show", "Kind", "--schemas", other).out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "Fix" in app("vocabulary", "show", "Kind", cwd=elsewhere).out


@pytest.mark.parametrize("options", [(), ("--minimal",), ("--actor", "Human", "--kind", "Fix", "--minimal")])
def test_a_template_becomes_a_record_once_its_placeholders_are_filled(app: App, options: tuple[str, ...]) -> None:
    """Each placeholder says what may stand in its place: the first word that it names does."""
    told = app("interaction", "template", *options)
    assert told.code == 0
    filled = json.dumps(_filled(json.loads(told.out)))
    assert "<" not in filled
    done = app("interaction", "record", "-", stdin=filled)
    assert (done.code, done.err.count("[")) == (0, 0), done.err


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ("summary", "required"),
        ("model", "placeholder"),
        ("files_touched", "placeholder"),
        ("alternatives_rejected", "placeholder"),
        ("target", "placeholder"),
        ("subject", "placeholder"),
    ],
)
def test_a_placeholder_that_was_forgotten_is_refused(app: App, field: str, rule: str) -> None:
    template = json.loads(app("interaction", "template").out)
    left = json.dumps(_filled(template, leave=field), indent=1)
    done = app("interaction", "record", "-", "--format", "json", stdin=left)
    assert done.code == 1
    (finding,) = json.loads(done.err.splitlines()[-1])["error"]["findings"]
    assert finding["rule"] == rule
    assert field in finding["pointer"] + finding["message"]
    if rule == "placeholder":
        column, text = finding["column"], left.splitlines()[finding["line"] - 1]
        assert text[column - 1 :].startswith('"<')


# What a person would write where a placeholder describes no list of words.
_SAID = {
    "summary": "s", "note": "n", "rationale": "r", "subject": "s", "target": "t", "model": "m", "id": "some-decision",
    "files_touched": "a/b.py", "alternatives_rejected": "none", "at": "2026-11-30T10:00:00Z", "refs": "a",
}  # fmt: skip


def _filled(value: Any, name: str = "", leave: str = "-") -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, key, leave) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, name, leave) for inner in value]
    if name == leave:
        return value
    if value is None:
        return _SAID[name]
    if not (isinstance(value, str) and value.startswith("<")):
        return value
    if value.startswith("<true or false"):
        return True
    first = value[1:-1].split(" | ")[0]
    return _SAID.get(name, first)


def test_a_template_refuses_a_word_that_is_none(app: App) -> None:
    told = app("interaction", "template", "--kind", "Fxi")
    assert told.code == 2
    assert 'did you mean "Fix"?' in told.err
