"""The tree in the terminal, and the figures beside it."""

from __future__ import annotations

from typing import Any

import pytest

from ontoref.replay.source import Memory
from ontoref.replay.terminal import Outline, duration, figures
from ontoref.replay.totals import Totals, totals_of
from ontoref.transcript.event import ReplayEvent
from tests.replay.events import event, pairs


def shown(sessions: dict[str, list[ReplayEvent]], **options: Any) -> list[str]:
    source = Memory(sessions)
    name = next(iter(sessions))
    lines = Outline(source, **options).lines(name, source.rows(name) or ())
    return [f"{'  ' * line.level}{line.text}".rstrip() for line in lines]


DENIED = event("d1", "t1", name="Bash")._replace(
    approval={"status": "denied", "decision_reason": "not now", "resolver": "user", "edit_diff": None}
)
EDITED = event("d2", "t2", name="Bash")._replace(
    approval={"status": "edited", "decision_reason": None, "resolver": "user", "edit_diff": {"before": 1, "after": 2}}
)


def test_nothing_that_others_lose_is_lost() -> None:
    """S2-56, S2-57."""
    text = shown({
        "codex:s": [
            event("m0", mode={"permission": "plan", "sandbox": None, "collaboration": None}),
            event("u1", text="Do it\nwell", human=True, ts=10.0),
            event("k1", text="hm"),
            event("t1", name="Bash", tool_use_id="c", input={"command": "make"}),
            event("q1", "t1", name="Bash"),
            DENIED,
            event("t2", name="Bash", tool_use_id="d", input={"command": "ls"}),
            EDITED,
            event("c1", summary="short"),
            event("m1", mode={"permission": "acceptEdits", "sandbox": None, "collaboration": None}),
            event("w1", label="build"),
            event("g1", "w1", name="compile"),
            event("e1", "w1", status="failed"),
            event("a1", "gone", text="done"),
        ]
    })  # fmt: skip
    assert text == [
        "codex  s  acceptEdits",
        "1 turn, 14 events, 1 workflow, 3 calls",
        "· mode  permission: plan",
        "",
        "1  1970-01-01 00:00  Do it …",
        "  10 events, 2 calls",
        "  well",
        "  · thinking  hm",
        "  ▸ Bash  make",
        "  ⚖ Bash requested",
        "  ⚖ Bash denied by user: not now",
        "  ▸ Bash  ls",
        "  ⚖ Bash edited by user  (its arguments were edited)",
        "  · compacted",
        "  · mode  permission: acceptEdits",
        "  done",
        "",
        "▾ workflow  build  failed, 3 events, 1 call",
        "  ▸ workflow.start",
        "  · stage compile",
        "    result: ok",
        "",
        "1 event whose parent is missing",
    ]


FAMILY = {
    "codex:s": [event("u1", text="go"), event("s1", child_session_id="a", label="first")],
    "codex:a": [event("u1", text="x"), event("s2", child_session_id="b", label="second"), event("b2", "s2")],
    "codex:b": [event("u1", text="deep", tokens={"total": 7, "output": 3}), event("s3", child_session_id="s")],
}


def test_levels_are_folded_and_figures_are_not() -> None:
    """S2-57: what a sub-agent's sub-agent took counts for both."""
    folded = shown(FAMILY, depth=0)
    assert folded[-1] == "  ▸ sub-agent  first  open, 5 events, 2 calls, 7 tokens (3 out)"
    once = shown(FAMILY, depth=1)
    assert "    ▸ sub-agent  second  returned, 2 events, 1 call, 7 tokens (3 out)" in once
    whole = shown(FAMILY, depth=9)
    assert whole[-1].strip() != ""
    assert any("calls a session that called it" in line for line in whole)


def test_a_sub_agent_whose_session_is_gone_is_told() -> None:
    text = shown({"codex:s": [event("u1"), event("s1", child_session_id="gone")]})
    assert "its session is not here" in text[-1]
    assert "sub-agents not all counted" in text[1]


def test_an_empty_session() -> None:
    assert shown({"codex:s": []}) == ["", "0 turns, 0 events"]


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(1, "0.0s"), (9_400, "9.4s"), (59_000, "59s"), (61_000, "1m 01s"), (7_260_000, "2h 01m")]
)
def test_stretches_of_time(milliseconds: int, text: str) -> None:
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"cost": {"total": 0.0123}}, 12_300),
        ({"cost": 2}, 2_000_000),
        ({"cost": {"total": "1"}}, None),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({}, None),
        (None, None),
        ("free", None),
    ],
)
def test_a_stated_cost_is_kept_in_whole_millionths(usage: Any, expected: int | None) -> None:
    rows = [row for row in Memory({"s": [event("a1", usage=usage), event("a2")]}).rows("s") or ()]
    assert totals_of(rows).cost_micro == expected


def test_sums_add_up() -> None:
    rows = Memory({"s": [one for _, one in pairs(
        event("t1", ts=10.0, tokens={"input": 5, "output": 1, "odd": "x", "no": True}),
        event("r1", ts=12.5, is_error=True, tokens={"output": 2}),
    )]}).rows("s") or ()  # fmt: skip
    both = Totals()
    both.add(totals_of(rows[:1]))
    both.add(totals_of(rows[1:]))
    assert both.as_json() == totals_of(rows).as_json()
    assert (both.calls, both.errors, both.tokens, both.duration_ms) == (1, 1, {"input": 5, "output": 3}, 2500)
    assert figures(both) == ["2 events", "1 call", "1 failed", "8 tokens (3 out)", "2.5s"]
