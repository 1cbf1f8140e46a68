"""From conversations to candidates: S1-47 to S1-54."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ontoref.lesson.capture import (
    Claim,
    Corrections,
    candidates,
    entries_of_events,
    handle_claim,
    insights_of,
    without_prefix,
)
from ontoref.lesson.factory import open_store
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout
from ontoref.state.placement import JsonlPlacement
from ontoref.transcript.event import ReplayEvent
from ontoref.vocabulary.load import load_table
from tests.lesson.samples import NOW

PREFIX = "[Ana laptop 2026-01-02T03:04:05Z] "
SCOPE = {"agent_id": "main"}


@pytest.fixture(scope="module")
def corrections() -> Corrections:
    return Corrections(load_table("corrections"))


@pytest.fixture
def store(tmp_path: Path) -> TableLessonStore:
    return open_store(JsonlPlacement(str(tmp_path)), Layout(str(tmp_path)))


def entry(text: Any, id: str = "e1", **fields: Any) -> dict[str, Any]:
    """A stored conversation entry."""
    return {
        "entry_id": id,
        "session_id": "s-1",
        "from": "Ana",
        "host": "laptop",
        "timestamp": "2026-01-02T03:04:05Z",
        "text": text,
        "direction": "in",
        **fields,
    }


def claim(*entries: dict[str, Any]) -> Claim:
    return Claim("claim-1", "s-1", SCOPE, entries)


def handle(one: Claim, store: Any, corrections: Corrections, mode: str = "capture", **more: Any) -> list[str]:
    acks: list[str] = []
    given = {"ack": acks.append, "warn": lambda text: acks.append(text)} | more
    handle_claim(one, mode=mode, store=store, corrections=corrections, now=NOW, **given)
    return acks


def test_off_keeps_nothing_and_says_so(store: TableLessonStore, corrections: Corrections) -> None:
    """S1-47"""
    assert handle(claim(entry("no, use tabs")), store, corrections, "off") == ["processed"]
    assert store.list_pending_candidates() == []


@pytest.mark.parametrize(
    "entries", [[], [entry("")], [entry("   ")], [entry(PREFIX)], [entry(None)], [entry("Hello.")]]
)
def test_without_an_excerpt_there_is_no_candidate(
    store: TableLessonStore, corrections: Corrections, entries: list[dict[str, Any]]
) -> None:
    """S1-48"""
    assert handle(claim(*entries), store, corrections) == ["processed"]
    assert store.list_pending_candidates() == []


class OnlyCandidates:
    """A store that fails when capture writes more than candidates."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def upsert_candidate(self, candidate: Any) -> Any:
        self.kept.append(candidate)
        return candidate

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"capture called {name}")


def test_capture_writes_candidates_alone(corrections: Corrections) -> None:
    """S1-49"""
    double = OnlyCandidates()
    assert handle(claim(entry("no, use tabs")), double, corrections) == ["processed"]
    assert [one["excerpt"] for one in double.kept] == ["no, use tabs"]


@pytest.mark.parametrize("ack_fails", [False, True])
def test_a_failure_is_told_before_it_is_acknowledged(corrections: Corrections, ack_fails: bool) -> None:
    """S1-50"""
    order: list[str] = []

    class Broken:
        def upsert_candidate(self, candidate: Any) -> Any:
            raise OSError("disk full")

    def ack(status: str) -> None:
        order.append(status)
        if ack_fails:
            raise RuntimeError("nobody listens")

    with pytest.raises(OSError, match="disk full"):
        handle(claim(entry("no, use tabs")), Broken(), corrections, ack=ack, warn=order.append)
    warning, status = order
    assert all(part in warning for part in ("disk full", "OSError", "claim-1", "s-1"))
    assert status == "failed"


def test_the_same_claim_twice_is_one_candidate(store: TableLessonStore, corrections: Corrections) -> None:
    """S1-51"""
    for _ in range(2):
        handle(claim(entry("no, use tabs"), entry(PREFIX + "no, use tabs", "e2")), store, corrections)
    assert len(store.list_pending_candidates()) == 2


def test_a_shape_that_is_never_stored_gives_nothing(store: TableLessonStore, corrections: Corrections) -> None:
    """S1-52"""
    for wrong in (
        {"role": "user", "content": "no, use tabs"},
        entry("no, use tabs", direction="out"),
        {"text": "no, x"},
    ):
        assert handle(claim(wrong), store, corrections) == ["processed"]
    assert store.list_pending_candidates() == []


@pytest.mark.parametrize(
    "text",
    [
        "no, use tabs",
        "No. That is the old API.",
        "don't touch the lock file",
        "Please don't commit",
        "that's wrong",
        "This is not what I asked for",
        "stop",
        "actually, keep it",
        "I said tabs",
        "you forgot the tests",
        "Always use pathlib here.",
        "use ruff instead",
        "from now on run the tests first",
    ],
)
def test_corrections_are_found_with_the_prefix_and_without(corrections: Corrections, text: str) -> None:
    """S1-53"""
    assert corrections.mean(text)
    assert corrections.mean(PREFIX + text)


@pytest.mark.parametrize(
    "text",
    [
        "Now the README, please.",
        "nothing else",
        "Notes on the design follow.",
        "Norway",
        "Stopwatch support",
        "ok",
        "now",
    ],
)
def test_other_messages_are_none(corrections: Corrections, text: str) -> None:
    """S1-53"""
    assert not corrections.mean(text)
    assert not corrections.mean(PREFIX + text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PREFIX + "no, use tabs", "no, use tabs"),
        (PREFIX + PREFIX + "twice", PREFIX + "twice"),
        ("[Ana Maria Silva laptop 2026-01-02T03:04:05.678+01:00] hi", "hi"),
        ("[x] done", "[x] done"),
        ("[ ] to do", "[ ] to do"),
        ("[a b c] text", "[a b c] text"),
        ("[Ana 2026-01-02T03:04:05Z] two fields", "[Ana 2026-01-02T03:04:05Z] two fields"),
        (PREFIX.rstrip() + "no space", PREFIX.rstrip() + "no space"),
        ("[a\nb 2026-01-02T03:04:05Z] x", "[a\nb 2026-01-02T03:04:05Z] x"),
        ("see " + PREFIX + "later", "see " + PREFIX + "later"),
    ],
)
def test_exactly_one_leading_prefix_is_taken(text: str, said: str) -> None:
    """S1-54"""
    assert without_prefix(text) == said


def test_a_candidate_tells_where_and_after_what(corrections: Corrections) -> None:
    long = "x" * 5000
    one, two = candidates(
        claim(
            entry("Here it is: " + long, "e0", direction="out"),
            entry(PREFIX + "no, my key is AKIAABCDEFGHIJKLMNOP " + long),
            entry("stop \ud800 \0", "e2", timestamp="when?"),
        ),
        corrections,
        NOW,
    )
    assert (one["session_id"], one["event_id"], one["claim_id"]) == ("s-1", "e1", "claim-1")
    assert (one["created_at"], two["created_at"]) == ("2026-01-02T03:04:05Z", NOW)
    assert "AKIA" not in one["excerpt"]
    assert "[redacted:aws-key]" in one["excerpt"]
    assert (len(one["excerpt"]), len(one["context"])) == (2000, 300)
    assert two["excerpt"] == "stop ?"


def event(kind: str, text: str = "", span: str = "s", approval: Any = None, **payload: Any) -> ReplayEvent:
    return ReplayEvent(1780567200.0, kind, span, None, "s-1", "codex", {"text": text, **payload}, None, approval)


def test_a_sessions_events_tell_corrections_stops_and_refusals(corrections: Corrections) -> None:
    denied = {"status": "denied", "decision_reason": "not in my home folder", "resolver": "user", "edit_diff": None}
    by_rule = {"status": "denied", "decision_reason": "rule", "resolver": "policy", "edit_diff": None}
    events = [
        event("llm.call", "Do not use tabs; write a Makefile.", "p1", human=True),
        event("llm.response", "Done.", "r1"),
        event("llm.call", "no, tabs", "p2", human=True),
        event("approval.decided", span="d1", approval=denied),
        event("llm.call", "", "i1", origin="interrupt", human=False),
        event("llm.call", "The other folder.", "p3", human=True),
        event("approval.decided", span="d2", approval=by_rule),
        event("llm.call", "Then do it by hand.", "p4", human=True),
        event("llm.call", "no, said the machine", "p5", human=False),
        event("llm.call", "Go on.", "p6", human=True),
    ]
    found = list(candidates(claim(*entries_of_events(events)), corrections, NOW))
    assert [(one["event_id"], one["signals"]) for one in found] == [
        ("p2", ["correction"]),
        ("d1", ["refusal"]),
        ("p3", ["interruption"]),
        ("p4", ["refusal"]),
    ]
    assert found[0]["created_at"] == "2026-06-04T10:00:00Z"


def test_insights_of_a_record_are_candidates() -> None:
    record = {
        "id": "01JE4Q8ZT3W6M1K9V2C5N7X0RB",
        "session_id": "s-9",
        "recorded_at": "2026-11-30T10:00:00Z",
        "insights": [
            {"kind": "Pitfall", "subject": "orjson refuses lone surrogates", "confidence": "High"},
            {"kind": "Risk"},
            "text",
        ],
    }
    (one,) = insights_of(record, SCOPE, NOW)
    assert (one["excerpt"], one["signals"]) == ("orjson refuses lone surrogates", ["insight", "Pitfall"])
    assert (one["session_id"], one["record_id"], one["confidence"]) == ("s-9", record["id"], "High")
    assert list(insights_of({"insights": None}, SCOPE, NOW)) == []
