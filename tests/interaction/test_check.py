"""One line, judged: what is said, where it is said to be, and that the fast way and the exact way agree."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref.interaction.check import Checker, has_duplicate_keys, holds_a_key_twice
from ontoref.interaction.finding import Finding, nearest
from ontoref.interaction.json_text import examine
from ontoref.interaction.report import as_text
from ontoref.interaction.witness import Prose
from ontoref.vocabulary import load
from tests.interaction.mutations import mutated, places
from tests.strategies import records, texts

VOCABULARY = load()
CHECKER = Checker(VOCABULARY)
PROSE = Prose(VOCABULARY)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

GOOD: dict[str, Any] = {
    "schema_version": 1,
    "id": "01JE4Q8ZT3W6M1K9V2C5N7X0RB",
    "session_id": "s-42",
    "recorded_at": "2026-11-30T18:04:05Z",
    "actor": "AgentClaude",
    "kind": "Fix",
    "domain": "Cli",
    "outcome": "Completed",
    "summary": "Mended the help.",
}


def line(**fields: Any) -> bytes:
    return json.dumps({**GOOD, **fields}, ensure_ascii=False, separators=(",", ":")).encode()


def only(content: bytes, *, first: bool = False) -> Finding:
    (finding,) = CHECKER.check_line(content, "rec.json", 1, first=first)
    return finding


def test_a_wrong_word_is_shown_with_place_and_choice() -> None:
    """The first lines a person or an agent sees: place, value, rule, pointer, the likely word, all words."""
    content = line(kind="Fxi")
    column = content.index(b'"Fxi"') + 1
    first, second = as_text(only(content)).splitlines()
    assert first.split("  ")[0].rstrip() == f'rec.json:1:{column}: kind: "Fxi" is not a Kind'
    assert first.endswith("[enum] /kind")
    assert second.startswith('    did you mean "Fix"?  one of: Feature Fix ')


def test_a_missing_field_shows_what_it_is_for() -> None:
    finding = only(line(decisions=[{"id": "a", "adr_candidate": True}]))
    assert finding.message == 'decisions[0]: "reversible" is missing'
    assert (finding.rule, finding.pointer, finding.allowed) == ("required", "/decisions/0", ("true", "false"))
    assert finding.hint == "true if undoing it later is cheap, else false."


def test_columns_count_characters_and_not_bytes() -> None:
    """A finding behind text beyond ASCII stands where an editor shows it."""
    content = line(summary="漢字🙂é")[:-1] + b',"mood":1}'
    finding = only(content)
    assert finding.column == content.decode().index('"mood"') + 1


@pytest.mark.parametrize(
    ("content", "rules"),
    [
        pytest.param(b"\xef\xbb\xbf" + line(), ["bom"], id="mark"),
        pytest.param(b"\xef\xbb\xbf" + line(kind="Fxi"), ["bom", "enum"], id="mark and word"),
        pytest.param(b"\xef\xbb\xbf" + line()[:-1] + b',"kind":"Fix"}', ["bom", "duplicate-key"], id="mark and key"),
        pytest.param(line() + b"\r", ["crlf"], id="carriage return"),
        pytest.param(line(kind="Fxi") + b"\r", ["enum", "crlf"], id="carriage return and word"),
        pytest.param(b"\xef\xbb\xbf" + line() + b"\r", ["bom", "crlf"], id="mark and carriage return"),
        pytest.param(line()[:60] + b"\r", ["torn", "crlf"], id="carriage return and torn"),
        pytest.param(line(kind="Fxi", mood=1, outcome=None), ["enum", "null", "unknown-field"], id="three faults"),
        pytest.param(line(kind="Fxi")[:-1] + b',"domain":"Cli"}', ["enum", "duplicate-key"], id="word and key"),
        pytest.param(line(kind=7), ["type"], id="a number is no word: said once"),
        pytest.param(line(summary=None), ["null"], id="null is no text: said once"),
        pytest.param(line(recorded_at="soon"), ["pattern"], id="no moment: said once"),
        pytest.param(b"  " + line() + b" \t", [], id="white space around"),
        pytest.param(b"\x00" * 50, ["syntax"], id="zeros, as a crash leaves them"),
        pytest.param(b"\xff\xfe{", ["encoding"], id="another encoding"),
        pytest.param(b"   ", ["blank"], id="spaces"),
        pytest.param(line(schema_version=2**70), ["schema-version"], id="a version past 64 bits"),
        pytest.param(line(schema_version=True), ["schema-version"], id="true is not 1"),
        pytest.param(line(summary="\ufeff"), [], id="a mark within a text"),
    ],
)
def test_everything_wrong_with_a_line_is_said_once(content: bytes, rules: list[str]) -> None:
    found = CHECKER.check_line(content, "x", 1, first=True)
    assert sorted(finding.rule for finding in found) == sorted(rules)
    assert [finding.column for finding in found] == sorted(finding.column for finding in found)
    assert (CHECKER.accepts(content) is not None) == (not rules)


@pytest.mark.parametrize("field", ["recorded_at", "started_at", "at"])
@pytest.mark.parametrize(
    ("moment", "rule"),
    [
        ("yesterday", "pattern"),
        ("2026-11-30", "pattern"),
        ("2026-11-30T18:04:05", "pattern"),
        ("2026-11-30T18:04:05+01:00", "pattern"),
        ("2026-11-30T18:04:05Z\n", "pattern"),
        ("2026-11-30T18:04:60Z", "pattern"),
        ("2026-13-45T99:00:00Z", "pattern"),
        ("2026-02-30T10:00:00Z", "format"),
    ],
)
def test_a_bad_moment_is_one_finding(field: str, moment: str, rule: str) -> None:
    """Its form where that is wrong, and only else that there is no such day."""
    bad = line(events=[{"kind": "Finding", "at": moment}]) if field == "at" else line(**{field: moment})
    assert [finding.rule for finding in CHECKER.check_line(bad, "x", 1)] == [rule]


def test_a_mark_inside_a_file_is_not_a_mark() -> None:
    assert only(b"\xef\xbb\xbf" + line()).rule == "syntax"


def test_a_newer_version_says_what_this_ontoref_reads() -> None:
    finding = only(line(schema_version=2))
    assert "reads (1)" in finding.message
    assert "upgrade" in (finding.hint or "")


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("Fxi", ("Feature", "Fix"), "Fix"),
        ("FIX", ("Feature", "Fix"), "Fix"),
        ("zzz", ("Feature", "Fix"), None),
        ("", ("Fix",), None),
        ("adrCandidate", ("adr_candidate",), "adr_candidate"),
    ],
)
def test_the_nearest_word_is_offered_or_none(word: str, known: tuple[str, ...], expected: str | None) -> None:
    assert nearest(word, known) == expected


@given(mutated(VOCABULARY.schema), st.booleans(), st.sampled_from([None, 1]))
@SLOW
def test_the_fast_way_and_the_exact_way_agree(record: Any, escaped: bool, indent: int | None) -> None:
    """However a record is written, the loop over raw lines accepts it just if nothing is to be said."""
    content = json.dumps(record, ensure_ascii=escaped, indent=indent).replace("\n", " ").encode()
    found = CHECKER.check_line(content, "x", 1)
    assert (CHECKER.accepts(content) is not None) == (found == [])
    exact = sorted(CHECKER._findings(content, "x", 1, False), key=lambda finding: finding.column)
    assert found == ([] if CHECKER.accepts(content) is not None else exact)
    if CHECKER.accepts(content) is not None:
        assert exact == []


@given(records(), st.data())
@SLOW
def test_prose_decides_nothing(record: dict[str, Any], data: st.DataObject) -> None:
    """S4-4, S4-6, S4-21: replacing the three prose fields by any text never changes the verdict."""
    faulty = data.draw(mutated(VOCABULARY.schema))
    for value in (record, faulty):
        if not isinstance(value, dict):
            continue
        before = [(f.rule, f.pointer, f.message) for f in CHECKER.check_value(value, "x")]
        for at in list(places(value)):
            node: Any = value
            for step in at[:-1]:
                node = node[step]
            is_top = len(at) == 1 and at[0] in PROSE.top
            is_nested = len(at) == 3 and (at[0], at[2]) in PROSE.nested
            if at and (is_top or is_nested) and isinstance(node[at[-1]], str):
                node[at[-1]] = data.draw(texts() | st.sampled_from(["", "x", "n/a", "TODO", "x" * 100_000]))
        assert [(f.rule, f.pointer, f.message) for f in CHECKER.check_value(value, "x")] == before


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(['"a"', '"b"', '"\\u0061"', '"\\""', '"\\u0022"']),
        st.sampled_from(["1", '"x"', '"\\""', '"\\u0022"']),
    ),
    max_size=4,
)


@given(
    st.recursive(
        PAIRS.map(lambda pairs: [(k, v) for k, v in pairs]), lambda inner: st.tuples(PAIRS, inner), max_leaves=3
    )
)
@settings(max_examples=300, deadline=None)
def test_counting_quotes_tells_keys_that_stand_twice(drawn: Any) -> None:
    """The quick proof, the parser with a hook and the scanner give one answer."""

    def written(value: Any) -> str:
        pairs, inner = value if isinstance(value, tuple) else (value, None)
        parts = [f"{key} : {text}" for key, text in pairs]
        if inner is not None:
            parts.append(f'"c":[{written(inner)}]')
        return "{" + ",".join(parts) + "}"

    text = written(drawn)
    content = text.encode()
    expected = bool(examine(text).duplicates)
    assert has_duplicate_keys(content) == expected
    assert holds_a_key_twice(content, orjson.dumps(orjson.loads(content))) == expected


@given(st.binary(max_size=60) | st.binary(max_size=20).map(lambda junk: line()[:40] + junk + line()[40:]))
@settings(max_examples=300, deadline=None)
def test_any_bytes_have_an_answer(content: bytes) -> None:
    """Bad input is data: no exception, and a place within the line."""
    content = content.replace(b"\n", b"")
    for finding in CHECKER.check_line(content, "x", 3, first=True):
        assert finding.line == 3
        assert 0 <= finding.column <= len(content) + 2
        orjson.dumps(finding.as_json())
        assert "\x1b" not in as_text(finding)
