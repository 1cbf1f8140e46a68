"""What changed between two vocabularies, and whether old records still hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ontoref.vocabulary import load
from ontoref.vocabulary.diff import diff
from tests.conftest import App
from tests.vocabulary.cases import change, copy_schemas

FIX = "      - {const: Fix, description: A fault removed.}\n"
NOTE = "      note:\n        description: More about it, in the author's own words.\n"
SUBJECT = "        $ref: '#/$defs/Label'\n      confidence:"


@pytest.mark.parametrize(
    ("file", "was", "now", "lines"),
    [
        ("coder.yaml", FIX, f"{FIX}      - {{const: Spike, description: d}}\n", ["+ Kind.Spike member added"]),
        ("coder.yaml", FIX, "", ["- Kind.Fix member removed !"]),
        ("coder.yaml", FIX, FIX.replace("removed", "mended"), ["~ Kind.Fix description changed"]),
        (
            "coder.yaml",
            FIX,
            FIX.replace("}", ", deprecated: true, x-replaced-by: Review}"),
            ["~ Kind.Fix deprecated, replaced by Review"],
        ),
        # An open word only warns of what it does not know.
        (
            "core.yaml",
            "      - {const: build-vs-adopt, description: Our own code against somebody's library.}\n",
            "",
            ["- Tension.build-vs-adopt member removed"],
        ),
        (
            "interaction.yaml",
            NOTE,
            f"      loud: {{description: d, type: boolean}}\n{NOTE}",
            ["+ Event.loud field added"],
        ),
        (
            "interaction.yaml",
            "    required: [kind, subject]",
            "    required: [kind, subject, confidence]",
            ["~ Insight.confidence now required !"],
        ),
        (
            "interaction.yaml",
            "    required: [kind, subject]",
            "    required: [kind]",
            ["~ Insight.subject no longer required"],
        ),
        ("interaction.yaml", "    maxLength: 120\n    pattern: '^[^", "    maxLength: 200\n    pattern: '^[^", ["~ Label maxLength changed"]),
        ("interaction.yaml", "    maxLength: 120\n    pattern: '^[^", "    maxLength: 80\n    pattern: '^[^", ["~ Label maxLength changed !"]),
        ("interaction.yaml", "'^ADR-[0-9]{4,8}$'", "'^ADR-[0-9]{4}$'", ["~ Decision.adr pattern changed !"]),
        (
            "interaction.yaml",
            SUBJECT,
            SUBJECT.replace("Label", "Slug"),
            ["~ Insight.subject $ref changed !"],
        ),
        ("replay.yaml", "      - {const: thinking, description: Reasoning that the model wrote before its answer.}\n", "", []),
    ],
)  # fmt: skip
def test_each_change_is_told_with_what_it_breaks(
    file: str, was: str, now: str, lines: list[str], tmp_path: Path
) -> None:
    folder = copy_schemas(tmp_path)
    change(folder, file, was, now)
    found = [f"{c.sign} {c.name} {c.what}{' !' if c.breaks else ''}" for c in diff(load(), load(str(folder)))]
    assert found == lines


def test_the_same_vocabulary_has_no_changes(app: App) -> None:
    told = app("vocabulary", "diff", "package", "package")
    assert (told.code, told.out) == (0, "")
    assert "0 changes" in told.err


def test_a_project_is_compared_with_ours(app: App) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    change(folder, "coder.yaml", FIX, f"{FIX}      - {{const: Spike, description: A throw-away experiment.}}\n")
    told = app("vocabulary", "diff", "package", "project")
    assert told.code == 0
    assert told.out == "+ Kind.Spike  member added; old records stay valid\n"
    told = app("vocabulary", "diff", "project", "package", "--format", "json")
    (row,) = json.loads(told.out)
    assert row == {"sign": "-", "name": "Kind.Spike", "change": "member removed", "invalidates_old_records": True}


def test_a_revision_is_compared_with_the_work_tree(app: App, git: Callable[..., str]) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    git("add", "-A")
    git("commit", "-qm", "words")
    change(folder, "coder.yaml", FIX, "")
    for old in ("HEAD:", "HEAD:.ontoref/schemas"):
        told = app("vocabulary", "diff", old, "project")
        assert told.code == 0, told.err
        assert told.out.startswith("- Kind.Fix")
    assert app("vocabulary", "diff", "HEAD:", "HEAD:").out == ""
    for unknown in ("nowhere:", "HEAD:nowhere", "no/folder"):
        told = app("vocabulary", "diff", unknown, "project")
        assert told.code == 2
        assert "nowhere" in told.err or "no/folder" in told.err
