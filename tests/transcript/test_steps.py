"""Loading a session file as a pipeline step."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from ontoref.transcript.steps import LoadTracesStep, OpenClawToTraceStep, load_events


@dataclass(frozen=True)
class Context:
    """A context as a pipeline of somebody else has it."""

    sample: Any = None
    trace: Any = None

    def replace(self, **fields: Any) -> Context:
        return replace(self, **fields)


def write(folder: Path, *lines: bytes) -> Path:
    path = folder / "s.jsonl"
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("as_text", [True, False], ids=["str", "Path"])
def test_s0_1_loads_objects_in_file_order(tmp_path: Path, as_text: bool) -> None:
    path = write(tmp_path, b'{"type":"session"}\n', b'{"type":"message"}\n', b'{"type":"custom"}\n')
    loaded = LoadTracesStep()(Context(sample=str(path) if as_text else path)).trace
    assert [event["type"] for event in loaded] == ["session", "message", "custom"]


@pytest.mark.parametrize(
    ("content", "numbers", "bad"),
    [
        pytest.param(b'{"n":1}\ngarbage\n{"n":2}\n', [1, 2], [2], id="S0-2 a bad line between good ones"),
        pytest.param(b"", [], [], id="S0-4 an empty file"),
        pytest.param(b'\n{"n":1}\n   \t\n\n{"n":2}\n', [1, 2], [], id="S0-5 blank lines are not bad"),
        pytest.param(b'{"n":1}\r\n  {"n":2}  \r\n', [1, 2], [], id="S0-6 CRLF and white space"),
        pytest.param(b'42\n[]\n"x"\nnull\n{"n":1}\n', [1], [1, 2, 3, 4], id="S0-10 no objects"),
        pytest.param(b'\xef\xbb\xbf{"n":1}\n', [1], [], id="S0-11 a BOM"),
        pytest.param(b'/stray{"n":0}\n{"n":1}\n', [1], [1], id="S0-13 a corrupted first line"),
        pytest.param(b'x\n{"n":1}\ny', [1], [1, 3], id="S0-14 numbers of bad lines"),
        pytest.param(b'{"n":9,"n":1}\n', [1], [], id="S0-15 a key twice"),
        pytest.param(b"[" * 100_000 + b'\n{"n":1}\n', [1], [1], id="S0-15 deep nesting"),
        pytest.param(b'{"n":' + b"[" * 100_000 + b'\n{"n":1}\n', [1], [1], id="S0-15 deep nesting inside"),
        pytest.param(b'{"n":1}\n{"n":2}', [1, 2], [], id="no final newline"),
        pytest.param(b"\x00" * 300 + b'\n{"n":1}\n', [1], [1], id="a run of NULs"),
    ],
)
def test_a_line_is_one_object_or_is_skipped(tmp_path: Path, content: bytes, numbers: list[int], bad: list[int]) -> None:
    loaded = load_events(write(tmp_path, content))
    assert [event["n"] for event in loaded.events] == numbers
    assert loaded.bad == bad
    assert loaded.problem is None


def test_s0_11_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"t":"a\xffb"}\n')
    assert load_events(path).events == [{"t": "a\ufffdb"}]


def test_s0_15_nan_and_infinity_load(tmp_path: Path) -> None:
    (event,) = load_events(write(tmp_path, b'{"a":NaN,"b":-Infinity,"c":1e999}\n')).events
    assert event["a"] != event["a"]
    assert event["b"] == -float("inf")


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x7f"])
def test_s0_12_only_a_newline_ends_a_line(tmp_path: Path, character: str) -> None:
    path = write(tmp_path, f'{{"t":"a{character}b"}}\n'.encode())
    assert load_events(path).events == [{"t": f"a{character}b"}]


def test_s0_3_a_missing_file_is_an_empty_list(tmp_path: Path) -> None:
    assert LoadTracesStep()(Context(sample=tmp_path / "none.jsonl")).trace == []


@pytest.mark.parametrize("sample", ["a\x00b", None, 7], ids=["NUL in the path", "None", "a number"])
def test_a_sample_that_is_no_path_is_an_empty_list(sample: Any) -> None:
    assert LoadTracesStep()(Context(sample=sample)).trace == []


def test_s0_7_a_folder_is_an_empty_list_and_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert LoadTracesStep()(Context(sample=tmp_path)).trace == []
    assert str(tmp_path) in caplog.text


def test_s0_8_s0_9_values_stay_whole_and_the_file_untouched(tmp_path: Path) -> None:
    event = {"type": "message", "id": "é", "message": {"role": "user", "content": [{"text": "ü" * 10_000}]}}
    path = write(tmp_path, json.dumps(event).encode() + b"\n")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    context = Context(sample=path)
    assert LoadTracesStep()(context).trace == [event]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert context.trace is None


def test_s0_16_s0_18_every_field_of_an_event_is_kept(tmp_path: Path) -> None:
    events = [
        {"type": "session", "id": "s", "timestamp": "2026-05-01T10:00:00.000Z", "version": 3, "cwd": "/w"},
        {"type": "thinking_level_change", "id": "a", "parentId": None, "timestamp": "t", "thinkingLevel": "low"},
        {"type": "custom", "id": "b", "parentId": "a", "timestamp": "t", "customType": "c", "data": {"x": [1]}},
        {
            "type": "message",
            "id": "c",
            "parentId": "b",
            "timestamp": "t",
            "message": {
                "role": "assistant",
                "content": [],
                "api": "openai-completions",
                "provider": "p",
                "model": "m",
                "usage": {"totalTokens": 1},
                "stopReason": "stop",
                "timestamp": 1777629602000,
            },
        },
    ]
    path = write(tmp_path, *(json.dumps(event).encode() + b"\n" for event in events))
    assert load_events(path).events == events


def test_s0_46_the_steps_say_what_they_need_and_give() -> None:
    assert LoadTracesStep.requires == {"sample"}
    assert LoadTracesStep.provides == {"trace"}
    assert OpenClawToTraceStep.requires == OpenClawToTraceStep.provides == {"trace"}


@pytest.mark.parametrize("trace", [None, [], {"question": "q"}, "text"])
def test_s0_33_nothing_to_convert_passes_unchanged(trace: Any) -> None:
    assert OpenClawToTraceStep()(Context(trace=trace)).trace == trace


def test_the_two_steps_in_a_row(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        b'{"type":"message","message":{"role":"user","content":"why?"}}\n',
        b'{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"so."}]}}\n',
    )
    context = OpenClawToTraceStep()(LoadTracesStep()(Context(sample=path)))
    assert context.trace["question"] == "why?"
    assert context.trace["answer"] == "so."
    assert context.sample == path
