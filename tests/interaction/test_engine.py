"""The fast engine against the reference: they accept the same, and they find the same."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref.interaction import check
from ontoref.interaction.check import Checker
from ontoref.vocabulary import Vocabulary, VocabularyError, load
from ontoref.vocabulary.engine import compile_schema, lean
from ontoref.vocabulary.problem import Engine
from ontoref.vocabulary.reference import is_moment, reference_engine
from tests.interaction.logs import record
from tests.interaction.mutations import ODD, mutated

pytest.importorskip("jsonschema_rs")

VOCABULARY = load()
GOOD = record(1)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def engines(schema: Mapping[str, Any]) -> tuple[Engine, Engine, Engine]:
    return compile_schema(schema), compile_schema(schema, often=True), reference_engine(schema)


FULL, STRICT = engines(VOCABULARY.schema), engines(VOCABULARY.strict)


@given(mutated(VOCABULARY.schema))
@SLOW
def test_the_engines_accept_the_same_records(record: Any) -> None:
    """S4-5: over generated records and records with one fault, full and strict."""
    for trio in (FULL, STRICT):
        assert len({engine.accepts(record) for engine in trio}) == 1, record


def reference_checker() -> Checker:
    checker = Checker(VOCABULARY)
    checker._strict, checker._full = STRICT[2], FULL[2]
    checker.is_clean = STRICT[2].accepts
    return checker


FAST, ORACLE = Checker(VOCABULARY, often=True), reference_checker()


@given(mutated(VOCABULARY.schema))
@SLOW
def test_the_engines_find_the_same(record: Any) -> None:
    """Rule, place, message and hint are the same whichever engine is installed."""
    fast = FAST.check_value(record, "x")
    assert sorted(map(repr, fast)) == sorted(map(repr, ORACLE.check_value(record, "x")))


@given(mutated(VOCABULARY.schema))
@SLOW
def test_strict_accepts_just_what_earns_no_finding(record: Any) -> None:
    found = FAST.check_value(record, "x")
    assert FAST.is_clean(record) == (found == [])
    assert FULL[0].accepts(record) == (not any(finding.is_error for finding in found))


# What a project may write beside our own keywords, each with values on both sides of its edge.
KEYWORDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "minimum": ({"type": "integer", "minimum": 3}, [2, 3, 3.0, 2.999, 2**70]),
    "exclusiveMaximum": ({"type": "number", "exclusiveMaximum": 1}, [1, 0.999, 1.0, -(2**70)]),
    "multipleOf": ({"multipleOf": 5}, [10, 11, 0, 10.0, "x"]),
    "integer as fraction": ({"type": "integer"}, [1.0, 1.5, True, "1"]),
    "minItems": ({"type": "array", "minItems": 1, "maxItems": 2}, [[], [1], [1, 2], [1, 2, 3]]),
    "uniqueItems": ({"uniqueItems": True}, [[1, 1], [1, 1.0], [1, True], [0, False], ["a", "a"], [{}, {}], [[], {}]]),
    "contains": ({"contains": {"const": "a"}, "maxContains": 1}, [[], ["a"], ["a", "a"], ["b"]]),
    "prefixItems": ({"prefixItems": [{"type": "string"}], "items": False}, [[], ["a"], [1], ["a", "b"]]),
    "minProperties": ({"minProperties": 1, "maxProperties": 1}, [{}, {"a": 1}, {"a": 1, "b": 2}]),
    "propertyNames": ({"propertyNames": {"pattern": "^[a-z]+$"}}, [{"a": 1}, {"a\n": 1}, {"A": 1}]),
    "patternProperties": ({"patternProperties": {"^title$": {"type": "integer"}}}, [{"title": 1}, {"title": "x"}]),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 1}, {"b": 1}]),
    "const": ({"const": 1}, [1, 1.0, True, "1"]),
    "enum of many kinds": ({"enum": ["a", 1, None]}, ["a", 1, 1.0, True, None, "1"]),
    "enum beside another type": ({"type": "string", "enum": ["a", 1]}, ["a", 1, "1"]),
    "not": ({"type": "string", "not": {"enum": ["x"]}}, ["x", "y", 1]),
    "if": (
        {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
        [{"a": 1}, {"a": 1, "b": 1}, {"a": 2}, {"c": 1, "a": 2}],
    ),
    "allOf": ({"allOf": [{"minLength": 2}, {"maxLength": 3}]}, ["a", "ab", "abcd", "🙂🙂", "e\u0301"]),
    "oneOf": ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, [2, 3, 6, 1]),
    "a run of one class": ({"type": "string", "pattern": "^ab:[0-9a-f]{40}$"}, [f"ab:{'0' * n}" for n in (39, 40, 41)]),
    "a run with a newline": (
        {"type": "string", "pattern": "^[a-z]{33}$"},
        ["a" * 33, "a" * 33 + "\n", "a" * 32 + "\n"],
    ),
    "a run beside a length": ({"type": "string", "maxLength": 9, "pattern": "^[a-z]{33}$"}, ["a" * 33, "a" * 9]),
    "a run in no text": ({"pattern": "^[a-z]{33}$"}, ["a" * 33, "a" * 34, 7, None]),
    "reference beside a keyword": (
        {"$ref": "#/$defs/A", "maxLength": 2, "$defs": {"A": {"type": "string", "minLength": 1}}},
        ["", "a", "ab", "abc", 1],
    ),
    "reference to itself": (
        {
            "$ref": "#/$defs/Tree",
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
                    "additionalProperties": False,
                }
            },
        },
        [{}, {"children": []}, {"children": [{"children": [{}]}]}, {"children": [{"x": 1}]}, {"children": [1]}],
    ),
    "a field called title": (
        {"type": "object", "properties": {"title": {"type": "integer"}, "description": {"const": 1}}},
        [{"title": 1}, {"title": "x"}, {"description": 2}],
    ),
    "moment": ({"format": "date-time"}, []),
    "moment in a text": ({"type": "string", "format": "date-time"}, []),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_other_keywords_of_a_project_mean_the_same(name: str) -> None:
    shape, values = KEYWORDS[name]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **copy.deepcopy(shape)}
    fast, leaner, reference = engines(schema)
    for value in [*values, *ODD]:
        expected = reference.accepts(value)
        assert fast.accepts(value) == expected, value
        assert leaner.accepts(value) == expected, value
        assert list(leaner.problems(value)) == list(fast.problems(value)), value
        assert bool(list(fast.problems(value))) == (not expected), value


@given(
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.sampled_from(["Z", "z", "+00:00", "-23:59", "+24:00", "+01", "", "-00:60", "Z\n"]),
    st.sampled_from(["", ":60", ".5", ".", ",5"]),
)
@settings(max_examples=200, deadline=None)
def test_both_know_the_same_moments(text: str, zone: str, end: str) -> None:
    engine = compile_schema({"format": "date-time"})
    for moment in (text + end + zone, text[:17] + "60" + end + zone, text.replace("T", "t") + zone):
        assert engine.accepts(moment) == is_moment(moment), moment


def test_without_the_fast_engine_the_reference_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    checker = Checker(VOCABULARY)
    assert checker._strict.accepts.__self__.__class__.__module__.startswith("jsonschema.")  # type: ignore[attr-defined]
    (finding,) = [f for f in checker.check_line(b'{"kind":"Fxi"}', "x", 1) if f.rule == "enum"]
    assert finding.suggestion == "Fix"


@pytest.mark.parametrize("pattern", ["[", "(a)\\1", "(?=a)b", "(a{1000}){1000}"])
def test_a_pattern_that_no_engine_should_run_is_refused(pattern: str) -> None:
    """A broken vocabulary never accepts anything; a pattern takes linear time or is none."""
    with pytest.raises(VocabularyError, match="pattern"):
        compile_schema({"$id": "x", "type": "string", "pattern": pattern})


def test_the_lean_form_has_no_references_left() -> None:
    assert "$ref" not in repr(lean(VOCABULARY.strict))
    assert check.compile_schema is compile_schema


def with_field(shape: Mapping[str, Any]) -> Checker:
    """A checker of our vocabulary in which a record may have one more field, `extra`."""
    grown = []
    for schema in (VOCABULARY.schema, VOCABULARY.strict):
        schema = copy.deepcopy(dict(schema))
        inner = copy.deepcopy(dict(shape))
        schema["$defs"] |= inner.pop("$defs", {})
        schema["$defs"]["InteractionRecord"]["properties"]["extra"] = {"description": "More.", **inner}
        grown.append(schema)
    ours = VOCABULARY
    vocabulary = Vocabulary(ours.folder, ours.digest, ours.documents, ours.lines, schema=grown[0], strict=grown[1])
    return Checker(vocabulary, often=True)


@pytest.mark.parametrize("name", KEYWORDS)
def test_other_keywords_are_explained_too(name: str) -> None:
    """Whatever keyword a project uses: a value that breaks it has a finding that says where, and no other has one."""
    shape, values = KEYWORDS[name]
    checker, reference = with_field(shape), reference_engine(shape)
    for value in [*values, *ODD]:
        line = json.dumps({**GOOD, "extra": value}, ensure_ascii=False).encode()
        found = checker.check_line(line, "x", 1)
        assert bool(found) == (not reference.accepts(value)), value
        for finding in found:
            assert finding.pointer.startswith("/extra"), finding
            assert finding.column >= line.decode().index('"extra"'), finding
            assert finding.message.startswith("extra"), finding
            orjson.dumps(finding.as_json())
