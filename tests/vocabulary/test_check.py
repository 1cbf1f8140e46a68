"""Every rule of a vocabulary, shown by a file that breaks it; a broken vocabulary judges nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ontoref.vocabulary import VocabularyError
from ontoref.vocabulary.check import RULES, Breach, check
from ontoref.vocabulary.compile import compile_files, parse_files
from ontoref.vocabulary.load import read_files
from tests.conftest import App
from tests.vocabulary.cases import CASES, broken, change, copy_schemas, read_case


def breaches_in(folder: Path) -> list[Breach]:
    return check(parse_files(str(folder), read_files(str(folder))))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_broken_vocabulary_is_refused_and_its_place_is_named(path: Path, tmp_path: Path) -> None:
    """S4-12, S4-21: a vocabulary that is missing, unreadable, contradictory or open to prose never judges."""
    case = broken(path, tmp_path)
    if case.shows == "unreadable":
        with pytest.raises(VocabularyError) as unreadable:
            breaches_in(tmp_path)
        error = unreadable.value
        message, line = f"{error.message} {error.hint}", error.line
        assert os.path.basename(error.path) == case.file
    else:
        found = breaches_in(tmp_path)
        shown = [breach for breach in found if breach.rule == case.shows and breach.document == case.file]
        assert shown, found
        message, line = f"{shown[0].message} {shown[0].hint}", shown[0].line
    if case.at is not None:
        assert line is not None
        assert case.at in (tmp_path / case.file).read_text(encoding="utf-8").splitlines()[line - 1]
    if case.says is not None:
        assert case.says in message
    if case.shows != "undescribed":
        with pytest.raises(VocabularyError) as refusal:
            compile_files(str(tmp_path), read_files(str(tmp_path)))
        assert os.path.basename(refusal.value.path) == case.file


def test_every_rule_has_a_case() -> None:
    assert set(RULES) - {read_case(path).shows for path in CASES} == set()


def test_our_own_vocabulary_keeps_every_rule(tmp_path: Path) -> None:
    """S4-3, S4-9, S4-21: the shipped words keep what they ask of others."""
    assert breaches_in(copy_schemas(tmp_path)) == []


@pytest.mark.parametrize(
    "shape",
    [
        "{description: d, type: integer, minimum: 0, maximum: 5}",
        "{description: d, type: boolean}",
        "{description: d, type: array, uniqueItems: true, maxItems: 3, items: {$ref: 'coder.yaml#/$defs/Domain'}}",
        "{description: d, type: array, prefixItems: [{const: a}, {type: integer}], items: false}",
        "{description: d, type: string, $ref: '#/$defs/Label', maxLength: 20}",
        "{description: d, type: string, allOf: [{$ref: '#/$defs/Label'}, {$ref: '#/$defs/Slug'}]}",
        "{description: d, type: [string, 'null'], pattern: '^[a-z]{2}$'}",
        "{description: d, type: number, multipleOf: 0.5}",
        "{description: d, type: object, additionalProperties: false, dependentRequired: {a: [b]}, "
        "properties: {a: {description: d, type: boolean}, b: {description: d, type: boolean}}}",
        "{description: d, anyOf: [{type: integer}, {$ref: 'coder.yaml#/$defs/Confidence'}]}",
    ],
)
def test_structural_keywords_of_json_schema_may_be_used(shape: str, tmp_path: Path) -> None:
    copy_schemas(tmp_path)
    change(tmp_path, "interaction.yaml", "      op_ref:\n", f"      more: {shape}\n      op_ref:\n")
    assert breaches_in(tmp_path) == []
    compile_files(str(tmp_path), read_files(str(tmp_path)))


def test_a_condition_on_words_may_be_used(tmp_path: Path) -> None:
    copy_schemas(tmp_path)
    was = "    description: One moment of a segment.\n"
    rule = "    allOf:\n      - if: {properties: {kind: {const: Finding}}}\n        then: {required: [at]}\n"
    change(tmp_path, "interaction.yaml", was, was + rule)
    assert breaches_in(tmp_path) == []


def test_every_breach_is_told_not_the_first_alone(app: App) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    change(folder, "coder.yaml", "{const: Fix,", "{const: fix-it,")
    change(folder, "interaction.yaml", "        x-prose: true\n", "")
    told = app("vocabulary", "check")
    assert told.code == 1
    assert "coder.yaml:" in told.out
    assert "[member]" in told.out
    assert "[open-string]" in told.out
    assert "2 breaches" in told.err


@pytest.mark.parametrize("words", [("record", "-"), ("validate", "-"), ("records",), ("template",)])
def test_a_broken_vocabulary_stops_every_command_with_exit_2(app: App, words: tuple[str, ...]) -> None:
    """S4-12: never "everything is valid"."""
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    change(folder, "coder.yaml", "  Domain:\n", "  Domain: 1\n  Domain: 2\n")
    told = app("interaction", *words, stdin="{}")
    assert (told.code, told.out) == (2, "")
    assert "coder.yaml:" in told.err
    assert "Traceback" not in told.err
    assert app("vocabulary", "check").code == 2


def test_a_broken_vocabulary_is_refused_each_time_and_mended_at_once(app: App) -> None:
    """What is cached is only ever a vocabulary that keeps the rules."""
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    change(folder, "coder.yaml", "{const: Fix,", "{const: fix-it,")
    for _ in range(2):
        assert app("interaction", "validate", "-").code == 2
    change(folder, "coder.yaml", "{const: fix-it,", "{const: FixIt,")
    assert app("interaction", "validate", "-").code == 0


def test_a_folder_that_is_none_is_named(app: App) -> None:
    told = app("interaction", "validate", "-", "--schemas", "nowhere")
    assert told.code == 2
    assert "nowhere" in told.err


def test_a_file_that_cannot_be_read_is_named(app: App) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    (folder / "core.yaml").unlink()
    (folder / "core.yaml").mkdir()
    told = app("interaction", "validate", "-")
    assert told.code == 2
    assert "core.yaml" in told.err


def test_a_file_that_is_not_utf_8_names_its_line(app: App) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    (folder / "core.yaml").write_bytes(b"$defs:\n  A: \xff\n")
    told = app("interaction", "validate", "-")
    assert told.code == 2
    assert "core.yaml:2: the file is not UTF-8" in told.err


def test_a_huge_or_deep_file_is_refused_before_it_costs_anything(tmp_path: Path) -> None:
    copy_schemas(tmp_path)
    for content in (b"# " + b"x" * (1 << 18), b"a: " + b"[" * 100_000):
        (tmp_path / "core.yaml").write_bytes(content)
        started = time.process_time()
        with pytest.raises(VocabularyError):
            parse_files(str(tmp_path), read_files(str(tmp_path)))
        assert time.process_time() - started < 5


def test_a_damaged_cache_is_made_anew(app: App, machine: Path) -> None:
    copy_schemas(app.folder / ".ontoref" / "schemas")
    cached = machine / "cache" / "vocabulary"
    assert app("interaction", "validate", "-").code == 0
    for path in cached.iterdir():
        path.write_text("[]")
    assert app("interaction", "validate", "-").code == 0


def test_breaches_as_json_have_rule_path_and_line(app: App) -> None:
    import json

    folder = copy_schemas(app.folder / "words")
    change(folder, "coder.yaml", "{const: Fix,", "{const: fix-it,")
    told = app("vocabulary", "check", "--schemas", "words", "--format", "json")
    assert told.code == 1
    (breach,) = json.loads(told.out)
    assert breach["rule"] == "member"
    assert breach["path"] == os.path.join("words", "coder.yaml")
    assert "fix-it" in (folder / "coder.yaml").read_text(encoding="utf-8").splitlines()[breach["line"] - 1]
