"""Every file in examples/valid and examples/invalid is a case, just by lying there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontoref.interaction.check import Checker
from ontoref.interaction.finding import Finding
from ontoref.interaction.rules import RULES
from ontoref.interaction.validate import Input, validate
from ontoref.vocabulary import load
from tests.conftest import ROOT, App

EXAMPLES = ROOT / "examples"
VALID = sorted((EXAMPLES / "valid").glob("*.jsonl"))
INVALID = sorted((EXAMPLES / "invalid").glob("*.jsonl"))
CHECKER = Checker(load())

# Rules that no small file by itself can break: a size, rights, a vocabulary with deprecated words, a history.
NOT_SHOWN = {
    "unreadable",
    "placeholder",
    "time-order",
    "too-long",
    "shape",
    "deprecated",
    "changed-record",
    "removed-record",
    "withheld-text",
}


def findings(path: Path) -> list[Finding]:
    return list(validate([Input(path.name, str(path))], CHECKER))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_example_has_no_finding(path: Path) -> None:
    """S4-1, S4-5, S4-6, S4-7, S4-8: shape is checked, prose is not."""
    assert findings(path) == []


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_example_breaks_the_rule_that_its_name_says_and_no_other(path: Path) -> None:
    """S4-2, S4-3, S4-5, S4-11: each violation, with its rule, its place and, for a value, its pointer."""
    found = findings(path)
    assert {finding.rule for finding in found} == {path.stem.partition("--")[0]}
    assert all(finding.line >= 1 and finding.column >= 1 and finding.message for finding in found)


def test_every_rule_that_a_file_can_break_is_shown() -> None:
    shown = {path.stem.partition("--")[0] for path in INVALID}
    assert shown | NOT_SHOWN == set(RULES)
    assert not shown & NOT_SHOWN


def test_the_command_says_no_to_every_invalid_example_and_yes_to_the_valid_ones(app: App) -> None:
    """S4-15: one run names every bad file; good ones exit 0."""
    done = app("interaction", "validate", EXAMPLES / "invalid", "--strict", "--jobs", "1")
    assert done.code == 1
    assert all(path.name in done.out for path in INVALID)
    done = app("interaction", "validate", EXAMPLES / "valid", "--strict")
    assert (done.code, done.out) == (0, "")


def test_flipping_one_word_of_the_real_examples_is_found_in_every_format(app: App, tmp_path: Path) -> None:
    """The examples validate; with one word changed each format names path, line, column, pointer and rule."""
    real = EXAMPLES / "interactions"
    assert app("interaction", "validate", real).code == 0
    source = next(real.rglob("*.jsonl"))
    changed = source.read_text().replace('"outcome":"', '"outcome":"X', 1)
    (app.folder / "log.jsonl").write_text(changed)
    column = changed.index('"outcome":"') + len('"outcome":') + 1
    for form in ("text", "json", "jsonl", "github", "sarif", "junit"):
        done = app("interaction", "validate", "log.jsonl", "--format", form)
        assert done.code == 1, form
        for expected in ("log.jsonl", str(column), "/outcome", "enum"):
            assert expected in done.out, (form, expected)


@pytest.mark.checkout
def test_the_guide_lists_every_rule() -> None:
    guide = (ROOT / "docs" / "validation.md").read_text()
    for name, rule in RULES.items():
        assert f"| `{name}` | {rule.severity} | {rule.description} |" in guide
