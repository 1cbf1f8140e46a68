"""The tree of a session: every rule of it, and that nothing is ever lost."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.replay import Node, Tree, build_tree, events_of, walk
from ontoref.transcript.event import ReplayEvent
from tests.replay.events import KIND, event, pairs, session


def outline(tree: Tree) -> str:
    """A tree in one line: `u1[u1 a1 (s1: a2)]`, approvals after `!`, mode changes after `~`, workflows in `{}`."""

    def inside(node: Node) -> str:
        parts = [row.event.span_id for row in node.events]
        parts += [f"({d.span_id}: {inside(d)})" if inside(d) else f"({d.span_id})" for d in node.delegations]
        parts += [f"!{row.event.span_id}" for row in node.approvals]
        parts += [f"~{row.event.span_id}" for row in node.mode_changes]
        parts += [f"{{{inside(w)}}}" for w in node.workflows]
        return " ".join(parts)

    parts = [f"~{row.event.span_id}" for row in tree.mode_changes]
    parts += [f"{turn.span_id}[{inside(turn)}]" for turn in tree.turns]
    parts += [f"{{{inside(node)}}}" for node in tree.workflows]
    return " ".join(parts)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("u1 a1 t1 r1 u2 a2", "u1[u1 a1 t1 r1] u2[u2 a2]", id="S2-28 a turn begins at each prompt"),
        pytest.param("k0 u1", "turn-0[k0] u1[u1]", id="S2-29 what comes before the first prompt"),
        pytest.param("m0 u1", "~m0 u1[u1]", id="S2-29 a mode alone makes no turn"),
        pytest.param("w0 u1", "u1[u1] {w0}", id="S2-29 a workflow alone makes no turn"),
        pytest.param("s0 u1", "turn-0[(s0)] u1[u1]", id="S2-29 a delegation makes one"),
        pytest.param("u1 c1 u2", "u1[u1 c1] u2[u2]", id="S2-30 a compaction is an event of its turn"),
        pytest.param("u1 m1 m2 u2 m3", "u1[u1 ~m1 ~m2] u2[u2 ~m3]", id="S2-38 mode changes in place"),
        pytest.param("u1 s1 a1 a2<s1 b1<s1 a3", "u1[u1 a1 a3 (s1: a2)]", id="S2-31 a child's events are inside"),
        pytest.param(
            "u1 s1 a1<s1 s2<a1 s3<s2 t3<s3 a4<s1",
            "u1[u1 (s1: a1 a4 (s2: (s3: t3)))]",
            id="S2-31 any depth",
        ),
        pytest.param("u1 s1 t1<s1 r1<t1 k1<r1", "u1[u1 (s1: t1 r1 k1)]", id="S2-27 other parents are transparent"),
        pytest.param("u1 t1 r1<t1 u2 k2<t1", "u1[u1 t1 r1] u2[u2 k2]", id="S2-27 no delegation above: by place"),
        pytest.param("u1 s1 u2<s1 a2<s1 u3", "u1[u1 (s1: u2 a2)] u3[u3]", id="S2-34 a child's prompt opens no turn"),
        pytest.param("u1 w1 g1<w1 g2<g1 e1<w1", "u1[u1] {w1 g1 g2 e1}", id="S2-39 one group of four"),
        pytest.param("u1 w1 g1<w1 s1<g1 s2<g1 s3<w1 a1<s1", "u1[u1] {w1 g1 (s1: a1) (s2) (s3)}", id="S2-41"),
        pytest.param("u1 g1<gone e1<gone g2", "u1[u1] {g1 e1} {g2}", id="S2-40 stages without a start"),
        pytest.param("u1 s1 w1<s1 g1<w1 a1<g1", "u1[u1 (s1: {w1 g1 a1})]", id="S2-39 a workflow of a child"),
        pytest.param("u1 w1 w2<w1 g2<w2 e1<w1", "u1[u1] {w1 e1 {w2 g2}}", id="S2-39 a workflow in a workflow"),
        pytest.param("u1 a1<gone u2", "u1[u1 a1] u2[u2]", id="S2-42 an unknown parent"),
        pytest.param("u1 s1<s1 a1<s1", "u1[u1 (s1: a1)]", id="S2-43 its own parent"),
        pytest.param("u1 s1<s2 s2<s1 a1<s2", "u1[u1 (s1: (s2: a1))]", id="S2-43 each the other's parent"),
        pytest.param("s1 a1<s1 u1", "turn-0[(s1: a1)] u1[u1]", id="S2-46 a child before the prompt"),
        pytest.param("u1 a1<s1 b1<s1 s1", "u1[u1 (s1: a1)]", id="S2-46 a child before its spawn"),
        pytest.param("u1 b1", "u1[u1]", id="S2-33 a return without a spawn stands in no turn"),
        pytest.param("u1 s1 b1<s1 b2<s1", "u1[u1 (s1: b2)]", id="S2-33 a second return stays with its spawn"),
        pytest.param("u1 t1 u2 q1<t1 d1<q1", "u1[u1 t1 !q1 !d1] u2[u2]", id="S2-35.1 beside the gated call"),
        pytest.param("u1 s1 t1<s1 q1<t1", "u1[u1 (s1: t1 !q1)]", id="S2-36 inside a delegation"),
        pytest.param("u1 w1 g1<w1 q1<g1", "u1[u1] {w1 g1 !q1}", id="S2-36 inside a workflow"),
        pytest.param("u1 s1 q1<s1", "u1[u1 (s1) !q1]", id="S2-35.1 a spawn was gated where it stands"),
        pytest.param("q1 u1", "turn-0[!q1] u1[u1]", id="S2-35.5 nothing but turn-0 is there"),
        pytest.param("u1 q1 u2", "u1[u1 !q1] u2[u2]", id="S2-35.4 by place"),
        pytest.param("u1 t1<q1 q1<t1", "u1[u1 t1 !q1]", id="S2-43 an approval in a cycle"),
    ],
)
def test_shape(given: str, expected: str) -> None:
    rows = session(given)
    assert outline(build_tree(rows)) == expected
    random.Random(given).shuffle(rows)
    assert outline(build_tree(rows)) == expected, "S2-45: the order of the input does not matter"


def test_an_approval_finds_its_call_by_the_calls_id() -> None:
    """S2-35.2, S2-36."""
    rows = pairs(
        event("u1"),
        event("s1"),
        event("t1", "s1", tool_use_id="c1"),
        event("u2"),
        event("q1", tool_use_id="c1"),
        event("q2", "gone", tool_call_id="c1"),
    )
    assert outline(build_tree(rows)) == "u1[u1 (s1: t1 !q1 !q2)] u2[u2]"


def test_an_answer_stands_beside_its_question() -> None:
    """S2-35.3."""
    rows = pairs(event("u1"), event("q1", approval_id="x"), event("u2"), event("d1", approval_id="x"))
    assert outline(build_tree(rows)) == "u1[u1 !q1 !d1] u2[u2]"


def test_questions_and_answers_that_name_each_other_are_placed_by_their_place() -> None:
    """S2-35, S2-43."""
    rows = pairs(event("u1"), event("q1", "d1", approval_id="x"), event("u2"), event("d1", approval_id="x"))
    tree = build_tree(rows)
    assert len(events_of(tree)) == 4
    assert outline(tree) == "u1[u1] u2[u2 !q1 !d1]"


@pytest.mark.parametrize(
    ("ts", "expected"),
    [(15, "u1[u1 !q1] u2[u2]"), (25, "u1[u1] u2[u2 !q1]"), (5, "turn-0[!q1] u1[u1] u2[u2]"), (0, "u1[u1] u2[u2 !q1]")],
    ids=["between", "after", "before all", "no time: by place"],
)
def test_an_approval_that_was_written_late_goes_to_the_turn_of_its_time(ts: float, expected: str) -> None:
    """S2-35.4 and 5."""
    rows = pairs(event("u1", ts=10), event("u2", ts=20), event("q1", ts=ts))
    assert outline(build_tree(rows)) == expected


@pytest.mark.parametrize(
    "answer",
    [
        event("b1", "s1"),
        event("b1", spawn_span_id="s1"),
        event("b1", tool_use_id="c"),
        event("b1", run_id="r"),
        event("b1", child_session_id="k"),
    ],
    ids=["parent", "spawn_span_id", "tool_use_id", "run_id", "child_session_id"],
)
def test_a_return_is_found_by_any_name_of_its_spawn(answer: ReplayEvent) -> None:
    """S2-33."""
    tree = build_tree(pairs(event("u1"), event("s1", tool_use_id="c", run_id="r", child_session_id="k"), answer))
    (node,) = tree.turns[0].delegations
    assert node.returned is not None
    assert node.returned.event is answer
    assert node.status == "returned"


def test_the_first_spawn_without_an_answer_gets_it() -> None:
    """S2-33."""
    rows = pairs(event("s1", run_id="r"), event("s2", run_id="r"), event("b1", run_id="r"), event("b2", run_id="r"))
    first, second = build_tree(rows).turns[0].delegations
    assert first.returned is not None
    assert second.returned is not None
    assert (first.returned.event.span_id, second.returned.event.span_id) == ("b1", "b2")


def test_a_return_without_a_spawn_is_told() -> None:
    """S2-33."""
    tree = build_tree(session("u1 b1<u1"))
    assert [row.event.span_id for row in tree.diagnostics.unplaced] == ["b1"]


@pytest.mark.parametrize(
    ("payload", "status"),
    [({}, "returned"), ({"is_error": True}, "failed"), ({"status": "errored"}, "failed"), ({"status": 3}, "returned")],
)
def test_how_a_delegation_ended(payload: dict[str, Any], status: str) -> None:
    """S2-32."""
    tree = build_tree(pairs(event("s1", child_session_id="k"), event("b1", "s1", **payload)))
    (node,) = tree.turns[0].delegations
    assert (node.status, node.child_session_id) == (status, "k")
    assert build_tree(session("s1")).turns[0].delegations[0].status == "open"
    assert build_tree(session("s1")).turns[0].delegations[0].child_session_id is None


def test_the_first_end_of_a_workflow_decides() -> None:
    """S2-40, S2-39."""
    start, end = event("w1", label="build"), event("e1", "w1", status="failed")
    tree = build_tree(pairs(event("u1"), start, event("g1", "w1"), end, event("e2", "w1", status="completed")))
    (node,) = tree.workflows
    assert (node.status, node.name, node.turn_id, node.orphan) == ("failed", "build", "u1", False)
    assert [row.event.span_id for row in node.stages] == ["g1"]
    assert build_tree(session("w1 g1<w1")).workflows[0].status == "running"
    assert build_tree(session("g1<gone")).workflows[0].orphan


def test_each_axis_of_the_mode_counts_for_itself() -> None:
    """S2-37, S2-38: a child's modes are its own."""
    tree = build_tree(
        pairs(
            event("m0", mode={"permission": "plan"}),
            event("u1"),
            event("m1", mode={"sandbox": "read-only", "permission": None}),
            event("s1"),
            event("m2", "s1", mode={"permission": "yolo"}),
        )
    )
    assert tree.mode == {"permission": "plan", "sandbox": "read-only", "collaboration": None}
    assert [(mark.row.event.span_id, mark.turn_id) for mark in tree.mode_history] == [("m0", None), ("m1", "u1")]
    assert tree.turns[0].delegations[0].mode_changes[0].event.span_id == "m2"
    assert build_tree(session("u1")).mode is None


def test_a_mode_on_any_event_counts() -> None:
    """S2-7."""
    call = event("u1")._replace(mode={"permission": "plan", "sandbox": None, "collaboration": None})
    assert build_tree(pairs(call)).mode == {"permission": "plan", "sandbox": None, "collaboration": None}


def test_the_last_runtime_that_is_named() -> None:
    """S2-25."""
    rows = pairs(event("u1"), event("a1")._replace(runtime="pi"), event("a2")._replace(runtime=""))
    assert build_tree(rows).runtime == "pi"
    assert build_tree([]).runtime is None


def test_what_does_not_fit_is_told() -> None:
    """S2-42, S2-43."""
    tree = build_tree(session("u1 a1<gone s1<s1 s2<s3 s3<s2"))
    assert tree.diagnostics.orphans == ["a1"]
    assert tree.diagnostics.cycles == [["s1"], ["s2", "s3"]]


def test_ten_thousand_delegations_deep() -> None:
    """S2-44."""
    rows = pairs(event("s0"), *(event(f"s{n}", f"s{n - 1}") for n in range(1, 10_000)))
    tree = build_tree(rows)
    assert sum(1 for _ in walk(*tree.turns)) == 10_001
    assert events_of(tree) == rows


NAMES = [f"{letter}{number}" for letter in KIND for number in range(3)]
PAYLOADS = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(["x", "y"])
        for name in ("tool_use_id", "run_id", "child_session_id", "approval_id", "spawn_span_id")
    },
)
EVENTS = st.lists(
    st.builds(
        lambda name, parent, ts, payload: event(name, parent, ts=ts, **payload),
        st.sampled_from(NAMES),
        st.sampled_from([None, "gone", *NAMES]),
        st.sampled_from([0.0, 1.0, 2.0, 3.0]),
        PAYLOADS,
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(EVENTS, st.randoms(use_true_random=False))
def test_every_event_is_placed_once_in_any_order_of_the_input(events: list[ReplayEvent], chance: random.Random) -> None:
    """S2-30, S2-43, S2-45, S2-46; spans may repeat, point anywhere and go round in circles."""
    rows = pairs(*events)
    tree = build_tree(rows)
    assert events_of(tree) == rows
    shuffled = list(rows)
    chance.shuffle(shuffled)
    again = build_tree(shuffled)
    assert outline(again) == outline(tree)
    told, told_again = tree.diagnostics, again.diagnostics
    assert (told_again.cycles, told_again.unplaced) == (told.cycles, told.unplaced)
    assert told_again.orphans == told.orphans


def test_two_hundred_thousand_events_in_seconds() -> None:
    """S2-45; every shape that would be slow if anything in it were square."""
    number = 50_000
    rows = pairs(
        *(event(f"u{n}", ts=n + 1.0) for n in range(number)),
        *(event(f"s{n}", f"s{n - 1}" if n else None, run_id="r") for n in range(number)),
        *(event(f"b{n}", run_id="r") for n in range(number)),
        *(event(f"q{n}", f"q{n - 1}" if n % 2 else None, ts=0.5) for n in range(number)),
    )
    start = time.process_time()
    tree = build_tree(rows)
    assert time.process_time() - start < 10
    assert tree.row_count == 4 * number
