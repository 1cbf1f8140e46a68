"""No line, however broken, stops a reader or costs a good neighbour."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref.transcript import READERS, ReplayEvent, Report, Source, read_source, validate
from tests.transcript.lines import SESSIONS

RUNTIMES = tuple(SESSIONS)
MUTATIONS = 10_000


def events_of(runtime: str, lines: list[bytes], name: str = "x.jsonl") -> tuple[list[ReplayEvent], Report]:
    transcript = read_source(Source(name, lines, open=True), runtime)
    return list(transcript.events), transcript.report


def strip(events: list[ReplayEvent], line: int) -> list[tuple[Any, ...]]:
    """What an event says, without what a foreign line before it may change: its time and its numbers."""
    return [(e.kind, e.payload.get("text"), e.payload.get("output")) for e in events if e.payload.get("line") == line]


# One way each to spoil a line; the result may hold several pieces, or none.
def cut(raw: bytes, rng: random.Random) -> list[bytes]:
    return [raw[: rng.randrange(len(raw))] + b"\n"]


def behead(raw: bytes, rng: random.Random) -> list[bytes]:
    return [raw[rng.randrange(1, len(raw)) :]]


def glue(raw: bytes, rng: random.Random) -> list[bytes]:
    return [raw[: rng.randrange(1, len(raw))] + raw]


def nul(raw: bytes, rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(raw))
    return [raw[:at] + b"\0" * rng.randrange(1, 300) + raw[at:]]


def garbage(raw: bytes, rng: random.Random) -> list[bytes]:
    at = rng.randrange(len(raw) - 1)
    return [raw[:at] + rng.choice([b"\xff", b"\xc3", b"\x85", b"\x1b", b"\r", b"\\ud83d", b"\xed\xa0\x80"]) + raw[at:]]


def deep(raw: bytes, rng: random.Random) -> list[bytes]:
    return [rng.choice([b"[", b'{"a":']) * rng.choice([200, 900, 5000]) + b"\n"]


def no_object(raw: bytes, rng: random.Random) -> list[bytes]:
    return [rng.choice([b"null\n", b"42\n", b"[]\n", b'"x"\n', b"{}\n", b"true\n", b"   \n", b"NaN\n", b"\n"])]


ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1e308,
    2**70,
    "",
    "x",
    "\ud83d",
    [],
    [None],
    [[]],
    {},
    {"type": []},
    [1, "a"],
]


def swapped(raw: bytes, rng: random.Random) -> list[bytes]:
    """The same record with one value, anywhere in it, made another type or taken away."""
    record = orjson.loads(raw)
    spots: list[tuple[Any, Any]] = []
    walk = [record]
    while walk:
        value = walk.pop()
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            spots.append((value, key))
            if isinstance(value[key], dict | list):
                walk.append(value[key])
    for _ in range(rng.randrange(1, 4)):
        place, key = rng.choice(spots)
        try:
            if rng.random() < 0.25:
                del place[key]
            else:
                place[key] = rng.choice(ODD)
        except (IndexError, KeyError):
            continue
    import json

    return [json.dumps(record).encode() + b"\n"]


WAYS: tuple[Callable[[bytes, random.Random], list[bytes]], ...] = (
    cut,
    behead,
    glue,
    nul,
    garbage,
    deep,
    no_object,
    swapped,
    swapped,
    swapped,
)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_mutated_lines_never_raise_and_their_neighbours_stay(runtime: str) -> None:
    """Ten thousand mutations over all runtimes. S0-2, S0-10 … S0-15, S0-23"""
    rng = random.Random(runtime)
    # Two good lines that stand on their own, after everything that could hold them back.
    lines, last = SESSIONS[runtime][:-2], SESSIONS[runtime][-2:]
    assert all(b"NEIGHBOUR" in line for line in last)
    for number in range(MUTATIONS // len(RUNTIMES)):
        at = rng.randrange(len(lines))
        bad = rng.choice(WAYS)(lines[at], rng)
        mutated = [*lines[:at], *bad, *lines[at + 1 :], *last]
        try:
            events, report = events_of(runtime, mutated)
        except Exception as error:
            raise AssertionError(f"mutation {number}, line {at + 1}: {bad[0][:300]!r}") from error
        assert report.lines == len(mutated)
        said = "\n".join(str(e.payload.get("text")) for e in events)
        missing = [word for word in ("NEIGHBOUR one", "NEIGHBOUR two") if word not in said]
        assert not missing, f"mutation {number}, line {at + 1}: {bad[0][:300]!r}"
        if number % 10 == 0:
            ids = [event.span_id for event in events]
            assert len(ids) == len(set(ids)), bad[0][:300]
            for event in events:
                assert validate(event) == [], bad[0][:300]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_bad_line_between_any_two_changes_nothing_else(runtime: str) -> None:
    lines = SESSIONS[runtime]
    whole, _ = events_of(runtime, lines)
    for at in range(1, len(lines) + 1):
        for bad in (b"{\n", b"\0" * 300 + b"\n", b"\n", b"[" * 100_000 + b"\n", b"42\n"):
            events, report = events_of(runtime, [*lines[:at], bad, *lines[at:]])
            assert [(e.kind, e.payload.get("text")) for e in events] == [(e.kind, e.payload.get("text")) for e in whole]
            assert report.bad.count + report.blank + report.unknown.count >= 1


@pytest.mark.parametrize("runtime", sorted(READERS))
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"\xef\xbb\xbf",
        b"{",
        b"[" * 100_000,
        b"\0" * 5000,
        b"{}\n{}\n",
        b'{"type":"user"}\n',
        b"\xff\xfe{}\n",
    ],
)
def test_files_that_hold_nothing_give_no_event_and_no_error(runtime: str, text: bytes) -> None:
    """S0-4, S0-15"""
    events, _ = events_of(runtime, text.splitlines(keepends=True))
    assert not any(e.payload.get("text") for e in events)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "type",
        "message",
        "payload",
        "role",
        "content",
        "id",
        "uuid",
        "parentUuid",
        "sessionId",
        "timestamp",
        "user",
        "assistant",
        "text",
        "tool_use",
        "tool_result",
        "toolCall",
        "toolResult",
        "name",
        "input",
        "arguments",
        "usage",
        "function_call",
        "call_id",
        "output",
        "response_item",
        "event_msg",
        "user_message",
        "session_meta",
        "turn_context",
        "session",
        "version",
        "custom",
        "compaction",
        "isSidechain",
    ]
)
RECORD = st.recursive(
    JSON | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(records=st.lists(st.dictionaries(WORDS, RECORD, min_size=1, max_size=8), max_size=4))
def test_objects_of_the_right_words_in_the_wrong_places_never_raise(records: list[dict[str, Any]]) -> None:
    import json

    lines = [json.dumps(record).encode("utf-8", "replace") + b"\n" for record in records]
    for runtime in READERS:
        events, _ = events_of(runtime, lines)
        for event in events:
            assert validate(event) == []
