"""The scanner that says where things stand, beside a parser that does not."""

from __future__ import annotations

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.interaction.json_text import DEEPEST, examine

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
WRITTEN = st.tuples(VALUES, st.booleans(), st.sampled_from([None, 1])).map(
    lambda drawn: json.dumps(drawn[0], ensure_ascii=drawn[1], indent=drawn[2]).replace("\n", "\t")
)


def parses(text: str) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        value = value[int(step) if isinstance(value, list) else step]
    return value


@given(WRITTEN)
@settings(max_examples=200, deadline=None)
def test_each_place_is_where_the_value_begins(text: str) -> None:
    layout = examine(text)
    assert layout.flaw is None
    assert layout.duplicates == []
    whole = json.loads(text)
    for pointer, place in layout.places.items():
        value, _ = json.JSONDecoder().raw_decode(text, place.value - 1)
        assert value == at(whole, pointer)
        if place.key:
            key, _ = json.JSONDecoder().raw_decode(text, place.key - 1)
            assert pointer.endswith("/" + key.replace("~", "~0").replace("/", "~1"))


@given(WRITTEN, st.data())
@settings(max_examples=400, deadline=None)
def test_it_refuses_just_what_the_parser_refuses(text: str, data: st.DataObject) -> None:
    """A text with a piece cut out or put in: both read it, or neither does."""
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 3)))
    piece = data.draw(
        st.sampled_from(["", '"', "\\", "{", "]", ",", ":", "0", "-", "e", ".", "\x00", "\\ud800", "nul"])
    )
    changed = text[:start] + piece + text[stop:]
    flaw = examine(changed).flaw
    assert (flaw is None) == parses(changed), (changed, flaw)
    if flaw is not None:
        assert 1 <= flaw.column <= len(changed) + 1


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), st.data())
@settings(max_examples=200, deadline=None)
def test_the_beginning_of_an_object_is_torn(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    stop = data.draw(st.integers(1, len(text) - 1))
    flaw = examine(text[:stop]).flaw
    assert flaw is not None
    assert flaw.rule == "torn"


@pytest.mark.parametrize(
    ("text", "rule", "column", "words"),
    [
        ("", "torn", 1, "empty"),
        ('{"a":', "torn", 6, "value"),
        ('{"a": "b', "torn", 9, "string that began at column 7"),
        ('{"a": tru', "torn", 10, "value"),
        ('{"a":1}{"b":2}', "syntax", 8, "follows"),
        ("{'a':1}", "syntax", 2, "key"),
        ("{\"a\":'b'}", "syntax", 6, '"'),
        ('{"a":01}', "syntax", 6, "number"),
        ('{"a":1.}', "syntax", 6, "number"),
        ('{"a":-}', "syntax", 6, "number"),
        ('{"a":NaN}', "syntax", 6, "NaN"),
        ('{"a":-Infinity}', "syntax", 6, "-Infinity"),
        ('{"a":"\t"}', "syntax", 7, "U+0009"),
        ('{"a":"\\x"}', "syntax", 7, "escape"),
        ('{"a":"\\ud800 "}', "syntax", 7, "half"),
        ('{"a":1,}', "syntax", 8, "key"),
        ("[1 2]", "syntax", 4, ","),
        ("[" * 501, "too-deep", 501, "500"),
    ],
)
def test_a_flaw_is_named_with_its_column(text: str, rule: str, column: int, words: str) -> None:
    flaw = examine(text).flaw
    assert flaw is not None
    assert (flaw.rule, flaw.column) == (rule, column), flaw
    assert words in flaw.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1,"a":2}', [("/a", 8)]),
        ('{"a":1,"\\u0061":2}', [("/a", 8)]),
        ('{"x":[{"b":1},{"b":1,"b":1}]}', [("/x/1/b", 22)]),
        ('{"a/b":1,"a~1b":2}', []),
        ('{"a":1,"a":2,"a":3}', [("/a", 8), ("/a", 14)]),
        ('{"🙂":1,"🙂":2}', [("/🙂", 8)]),
    ],
)
def test_a_key_that_stands_twice_is_found_with_its_column(text: str, expected: list[tuple[str, int]]) -> None:
    assert examine(text).duplicates == expected


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_depth_costs_nothing(text: str) -> None:
    """Hostile input: a hundred thousand levels are refused at the five hundred and first."""
    began = time.perf_counter()
    flaw = examine(text).flaw
    assert flaw is not None
    assert flaw.rule == "too-deep"
    assert str(DEEPEST) in flaw.message
    assert time.perf_counter() - began < 2


def test_a_text_of_megabytes_takes_seconds_at_most() -> None:
    text = json.dumps({"a": "x\\" * 2_000_000, "b": list(range(200_000))})
    began = time.perf_counter()
    assert examine(text).flaw is None
    assert time.perf_counter() - began < 10
