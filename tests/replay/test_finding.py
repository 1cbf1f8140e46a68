"""Where events stand, and how one is found: by span, by a runtime's reference, by time, by text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.replay import build_tree
from ontoref.replay.answers import BadParameter
from ontoref.replay.finding import Finding
from ontoref.replay.places import place_json, places_of
from ontoref.replay.source import Memory
from ontoref.replay.titles import title_of
from ontoref.replay.trees import Trees
from tests.replay.events import KIND, event, session


@pytest.fixture
def finding() -> Finding:
    events = [
        event("m0", mode={"permission": "plan", "sandbox": None, "collaboration": None}),
        event("u1", ts=10.0, text="Please mend the PARSER"),
        event("t1", ts=11.0, tool_use_id="call-1", name="Read", input={"path": ["deep", {"in": "here"}]}),
        event("s1", ts=12.0, label="look"),
        event("a1", "s1", ts=13.0, text="inside"),
        event("b1", "s1", ts=14.0, output="found it"),
        event("q1", "t1", ts=15.0),
        event("u2", ts=20.0, text="Thanks", human=False),
    ]
    return Finding(Trees(Memory({"codex:s": events})))


@pytest.mark.parametrize(
    ("asked", "span", "place"),
    [
        ({"span": "t1"}, "t1", ("u1", [], "events", None)),
        ({"span": "a1"}, "a1", ("u1", ["s1"], "events", "s1")),
        ({"span": "s1"}, "s1", ("u1", [], "spawn", None)),
        ({"span": "b1"}, "b1", ("u1", ["s1"], "return", "s1")),
        ({"span": "q1"}, "q1", ("u1", [], "approvals", None)),
        ({"span": "m0"}, "m0", (None, [], "mode_changes", None)),
        ({"op_ref": "call-1"}, "t1", ("u1", [], "events", None)),
        ({"op_ref": "u2"}, "u2", ("u2", [], "events", None)),
        ({"at": "1970-01-01T00:00:13.500Z"}, "a1", ("u1", ["s1"], "events", "s1")),
        ({"at": "1970-01-01T00:00:00Z"}, "m0", (None, [], "mode_changes", None)),
        ({"at": "2030-01-01"}, "u2", ("u2", [], "events", None)),
        ({"span": "gone", "op_ref": "gone", "at": "1970-01-01T00:00:11Z"}, "t1", ("u1", [], "events", None)),
    ],
)
def test_an_event_is_located(
    finding: Finding, asked: dict[str, str], span: str, place: tuple[str | None, list[str], str, str | None]
) -> None:
    found = finding.locate("codex:s", asked.get("span"), asked.get("op_ref"), asked.get("at"))
    assert found["span_id"] == span
    assert (found["turn_id"], found["path"], found["where"], found["node"]) == place


def test_what_is_not_there(finding: Finding) -> None:
    with pytest.raises(LookupError):
        finding.locate("codex:s", "gone", None, None)
    with pytest.raises(LookupError):
        finding.locate("codex:nobody", "u1", None, None)
    with pytest.raises(BadParameter, match="RFC 3339"):
        finding.locate("codex:s", None, None, "yesterday")


def test_a_search_takes_any_case_and_every_text(finding: Finding) -> None:
    assert [hit["span_id"] for hit in finding.search("codex:s", "parser")["hits"]] == ["u1"]
    assert [hit["span_id"] for hit in finding.search("codex:s", "HERE")["hits"]] == ["t1"]
    assert finding.search("codex:s", "")["hits"] == []
    assert finding.search("codex:nobody", "parser")["hits"] == []
    limited = finding.search("codex:s", "n", limit=1)
    assert (len(limited["hits"]), limited["more"]) == (1, True)


def test_an_outline_is_a_line_a_turn(finding: Finding) -> None:
    found = finding.outline("codex:s")
    assert [(turn["turn_id"], turn["text"], turn["human"], turn["agents"]) for turn in found["turns"]] == [
        ("u1", "Please mend the PARSER", True, 1),
        ("u2", "Thanks", False, 0),
    ]
    assert finding.outline("codex:nobody")["known"] is False


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("<ide_opened_file>a.py</ide_opened_file>\nMend  it\nplease", "Mend it please"),
        ("<command-name>/init</command-name>", "<command-name>/init</command-name>"),
        ("<b>never closed", "<b>never closed"),
        ("x" * 500, "x" * 20),
    ],
)
def test_a_title_leaves_out_what_a_runtime_wrapped_around(text: str, title: str) -> None:
    assert title_of(text, 20 if text[0] == "x" else 100) == title


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(list(KIND)), st.none() | st.integers(0, 12)), max_size=25), st.randoms())
def test_every_event_has_one_place(drawn: list[tuple[str, int | None]], chance: random.Random) -> None:
    words = []
    for number, (letter, parent) in enumerate(drawn):
        name = f"{letter}{number}"
        above = words[parent % len(words)].partition("<")[0] if parent is not None and words else ""
        words.append(f"{name}<{above}" if above else name)
    pairs = session(" ".join(words))
    places = places_of(build_tree(pairs))
    assert sorted(places) == [ordinal for ordinal, _ in pairs]
    chance.shuffle(pairs)
    again = places_of(build_tree(pairs))
    assert {n: place_json(p) for n, p in places.items()} == {n: place_json(p) for n, p in again.items()}
