"""What a trace holds of a session: everything, in order, and one question and one answer."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.transcript.steps import load_events
from ontoref.transcript.trace import compact, openclaw_trace

CASES = Path(__file__).parent / "cases"


def text(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def message(role: Any, *content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": list(content), **more}}


def result(call_id: str, value: str, **more: Any) -> dict[str, Any]:
    return message("toolResult", text(value), toolCallId=call_id, **more)


SESSION = {"type": "session", "version": 3, "id": "s", "cwd": "/home/ada"}
ASK = message("user", text("why?"))


def trace(*events: Any) -> dict[str, Any]:
    made = openclaw_trace(events)
    assert made is not None
    return made


def test_s0_24_to_s0_42_the_golden_trace_byte_for_byte() -> None:
    """A file with every block type; the expected text stands beside it."""
    made = openclaw_trace(load_events(CASES / "every-block.jsonl").events)
    expected = (CASES / "every-block.trace.json").read_bytes()
    assert json.dumps(made, ensure_ascii=False, indent=1).encode() + b"\n" == expected


def test_s0_24_s0_25_the_keys_of_a_trace() -> None:
    made = trace(ASK)
    assert list(made) == ["question", "reasoning", "answer", "skill_ids", "feedback", "ground_truth"]
    assert made["skill_ids"] == []
    assert made["ground_truth"] is None


@pytest.mark.parametrize(
    ("events", "question"),
    [
        pytest.param([ASK, message("user", text("and?"))], "why?", id="S0-26 the first only"),
        pytest.param([message("user", text("a"), text("b"))], "a\nb", id="edge 4: two text blocks"),
        pytest.param([message("user", {"type": "image"}, text("see"))], "see", id="edge 5: image and text"),
        pytest.param([message("user", text(" \n")), ASK], "why?", id="S0-32 a blank one does not count"),
        pytest.param([message("assistant", text("hello")), ASK], "why?", id="edge 3: assistant first"),
        pytest.param([message("user", "str")], "str", id="S0-23 an item that is a string"),
        pytest.param([{"type": "message", "message": {"role": "user", "content": "s"}}], "s", id="S0-22 a string"),
        pytest.param([message("user", {"type": "tool_result", "content": "r"}), ASK], "why?", id="only results"),
    ],
)
def test_the_question(events: list[Any], question: str) -> None:
    assert trace(*events)["question"] == question


@pytest.mark.parametrize(
    ("events", "answer"),
    [
        pytest.param([message("assistant", text("a")), message("assistant", text("b"))], "b", id="S0-27 the last"),
        pytest.param(
            [message("assistant", text("a")), message("assistant", call("1", "x"))], "a", id="S0-27 a later call"
        ),
        pytest.param(
            [message("assistant", text("a")), message("assistant", {"type": "thinking", "thinking": "t"})],
            "a",
            id="S0-27 a later thought",
        ),
        pytest.param([], "", id="S0-27 edge 2: none"),
        pytest.param([message("assistant", text("a")), message("assistant", text("  "))], "a", id="edge 20: blank"),
    ],
)
def test_the_answer(events: list[Any], answer: str) -> None:
    assert trace(ASK, *events)["answer"] == answer


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([SESSION], id="edge 1: only a header"),
        pytest.param([SESSION, message("assistant", text("a"))], id="S0-31 only the assistant"),
        pytest.param([message("user", text("  "))], id="S0-32 only blanks"),
        pytest.param([message("system", text("s"))], id="S0-19 another role"),
    ],
)
def test_s0_31_without_a_user_message_there_is_no_trace(events: list[Any]) -> None:
    assert openclaw_trace(events) is None


def test_s0_28_reasoning_is_the_conversation_in_order() -> None:
    made = trace(
        SESSION,
        message("assistant", text("hello")),
        ASK,
        message("assistant", {"type": "thinking", "thinking": "hm"}, text("look"), call("1", "read", p="a"), text("x")),
        result("1", "content"),
        message("user", text("thanks")),
    )
    assert made["reasoning"].split("\n") == [
        "[response] hello",
        "[user] why?",
        "[thinking] hm",
        "[response] look",
        '[tool:read] {"p":"a"}',
        "[response] x",
        "[tool_result:read] content",
        "[user] thanks",
    ]


@pytest.mark.parametrize(
    "noise",
    [
        SESSION,
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "custom", "data": {"text": "x"}},
        {"type": "compaction", "summary": "x"},
        {"type": "message"},
        {"type": "message", "message": None},
        {"type": "message", "message": {"role": "user", "content": {"type": "text", "text": "x"}}},
        {"type": "message", "message": {"role": None, "content": [text("x")]}},
        {"type": "message", "message": {"content": [text("x")]}},
        {"type": ["message"], "message": ASK["message"]},
        message("user"),
        message("assistant", {"type": "image", "data": "x"}, {"type": ["text"]}, {"text": "x"}, None, 7),
        message("assistant", {"type": "thinking"}, {"type": "thinking", "thinkingSignature": "x"}),
        message("assistant", text(None), text(5), {"type": "text"}),
        message("toolResult", toolCallId="1"),
        42,
        None,
    ],
)
def test_s0_17_s0_19_s0_20_what_says_nothing_changes_nothing(noise: Any) -> None:
    """Also edge cases 13, 18 and 19."""
    answer = message("assistant", text("so"))
    assert trace(ASK, noise, answer) == trace(ASK, answer)


def test_s0_21_both_forms_of_a_result_read_the_same() -> None:
    asked = message("assistant", call("1", "read"))
    whole = message("toolResult", text("a"), text("b"), toolCallId="1", isError=True)
    block = {"type": "toolResult", "toolCallId": "1", "content": [text("a"), text("b")], "isError": True}
    alias = {"type": "tool_result", "tool_use_id": "1", "content": "a\nb", "is_error": True}
    expected = trace(ASK, asked, whole)
    assert expected["reasoning"].endswith("\n[tool_result:read:error] a\nb")
    for inner in (block, alias):
        assert trace(ASK, asked, message("user", inner)) == expected
        assert trace(ASK, asked, message("assistant", inner)) == expected


def test_edge_6_names_are_paired_by_id_and_order_is_that_of_the_file() -> None:
    made = trace(ASK, message("assistant", call("1", "a"), call("2", "b")), result("2", "two"), result("1", "one"))
    assert made["reasoning"].endswith("[tool:a] {}\n[tool:b] {}\n[tool_result:b] two\n[tool_result:a] one")


def test_edge_7_a_result_without_a_call_is_named_by_itself_or_unknown() -> None:
    made = trace(ASK, result("9", "x"), result("9", "y", toolName="exec"))
    assert made["reasoning"].endswith("[tool_result:unknown] x\n[tool_result:exec] y")
    assert made["feedback"] == "Session completed with 0 tool calls"


def test_s0_40_a_result_without_text_shows_its_blocks() -> None:
    made = trace(ASK, message("toolResult", {"type": "image", "data": "é"}, toolName="shot"))
    assert made["reasoning"].endswith('\n[tool_result:shot] [{"type":"image","data":"é"}]')


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"b": 1, "a": "ü"}, '{"b":1,"a":"ü"}'),
        ({}, "{}"),
        (None, "{}"),
        ("raw {", "raw {"),
        ("", ""),
        ([1], "[1]"),
        (5, "5"),
    ],
)
def test_s0_39_arguments(arguments: Any, shown: str) -> None:
    made = trace(ASK, message("assistant", {"type": "toolCall", "id": "1", "arguments": arguments}))
    assert made["reasoning"].endswith(f"\n[tool:unknown] {shown}")


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_s0_30_s0_36_feedback_counts_calls_and_never_results(number: int) -> None:
    """Also edge cases 8 and 12."""
    calls = [message("assistant", call(str(i), "x")) for i in range(number)]
    made = trace(ASK, *calls, result("0", "r"), message("toolResult", toolCallId="0"))
    assert made["feedback"] == f"Session completed with {number} tool calls"


def test_s0_35_s0_36_feedback_adds_what_is_known() -> None:
    made = trace(
        SESSION,
        {"type": "custom", "customType": "model-snapshot", "data": {"modelId": "m-1"}},
        ASK,
        message("assistant", call("1", "x"), usage={"totalTokens": 5}),
        result("1", "no", isError=True),
        message("assistant", text("a"), usage={"totalTokens": 7}, model="m-2"),
        message("assistant", text("b"), usage={"totalTokens": 0}, model="delivery-mirror", provider="openclaw"),
    )
    assert made["feedback"] == "Session completed with 1 tool calls, 1 failed, model: m-2, 12 tokens"


@pytest.mark.parametrize(
    "usage", [None, "x", [], {}, {"totalTokens": None}, {"totalTokens": "9"}, {"totalTokens": True}]
)
def test_edge_17_usage_of_another_kind_is_ignored(usage: Any) -> None:
    made = trace(SESSION, ASK, message("assistant", text("a"), usage=usage))
    assert made["feedback"] == "Session completed with 0 tool calls"
    assert "/home/ada" not in made["feedback"]


def test_edge_9_10_11_ids_and_parents_do_not_matter() -> None:
    first = {**message("user", text("one")), "id": "b", "parentId": "a"}
    second = {**message("user", text("two")), "id": "a", "parentId": None}
    again = {**message("user", text("three")), "id": "a"}
    assert trace(first, second, again)["reasoning"] == "[user] one\n[user] two\n[user] three"


def test_s0_29_edge_15_a_large_result_stays_whole() -> None:
    large = "x" * 1_000_000 + "end"
    assert trace(ASK, result("1", large))["reasoning"].endswith(f"\n[tool_result:unknown] {large}")


def test_edge_16_a_hundred_thousand_events_take_linear_time() -> None:
    events = [ASK, *[message("assistant", text("a"), call("1", "x", p=1)) for _ in range(100_000)]]
    start = time.monotonic()
    assert trace(*events)["feedback"].startswith("Session completed with 100000 tool calls")
    assert time.monotonic() - start < 20


def test_s0_34_the_input_is_not_touched() -> None:
    events = load_events(CASES / "every-block.jsonl").events
    before = copy.deepcopy(events)
    openclaw_trace(events)
    assert events == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
blocks = st.one_of(
    st.builds(text, st.text()),
    st.builds(lambda t: {"type": "thinking", "thinking": t}, st.text()),
    st.builds(
        lambda i, n, a: {"type": "toolCall", "id": i, "name": n, "arguments": a},
        st.text(),
        st.text(),
        st.dictionaries(st.text(max_size=4), json_values, max_size=3) | st.text(),
    ),
    st.builds(lambda i, t: {"type": "toolResult", "toolCallId": i, "content": [text(t)]}, st.text(), st.text()),
)
messages = st.builds(
    lambda role, content: message(role, *content),
    st.sampled_from(["user", "assistant"]),
    st.lists(blocks, max_size=4),
) | st.builds(result, st.text(max_size=3), st.text())


@settings(max_examples=150, deadline=None)
@given(st.lists(messages, max_size=8))
def test_s0_37_to_s0_42_nothing_that_was_said_or_done_is_missing(events: list[dict[str, Any]]) -> None:
    made = trace(ASK, *events)["reasoning"]
    for event in events:
        for block in event["message"]["content"]:
            if block["type"] == "text":
                assert block["text"] in made
            elif block["type"] == "thinking":
                assert block["thinking"] in made
            elif block["type"] == "toolResult":
                assert block["content"][0]["text"] in made
            elif isinstance(block["arguments"], str):
                assert block["arguments"] in made
            else:
                assert all(compact(value) in made for value in block["arguments"].values())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        json_values
        | st.builds(lambda m: {"type": "message", "message": m}, json_values)
        | st.builds(
            lambda r, c: {"type": "message", "message": {"role": r, "content": c, "usage": c, "details": c}},
            st.sampled_from(["user", "assistant", "toolResult"]),
            json_values
            | st.lists(
                st.builds(
                    lambda t, v, w: {
                        "type": t,
                        "text": v,
                        "thinking": v,
                        "name": w,
                        "arguments": v,
                        "content": w,
                        "id": w,
                    },
                    st.sampled_from(["text", "thinking", "toolCall", "tool_result", "x"]) | json_values,
                    json_values,
                    json_values,
                )
            ),
        ),
        max_size=6,
    )
)
def test_s0_23_no_input_raises(events: list[Any]) -> None:
    made = openclaw_trace(events)
    assert made is None or made["question"].strip()
