"""pi, OpenCode and Gemini CLI: messages, tools, errors, files."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ontoref.transcript import READERS, Memory, ReplayEvent, Source, Transcript, read, read_source, validate
from tests.conftest import SHARED

OTHER = SHARED / "transcripts" / "other"


def lines(*records: Any) -> list[bytes]:
    return [json.dumps(record).encode() + b"\n" for record in records]


def events(runtime: str, *records: Any, name: str = "x.jsonl") -> tuple[list[ReplayEvent], Transcript]:
    transcript = read_source(Source(name, lines(*records), Memory()), runtime)
    found = list(transcript.events)
    assert [validate(event) for event in found if validate(event)] == []
    assert len({event.span_id for event in found}) == len(found)
    return found, transcript


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        (
            "pi/session.jsonl",
            {"llm.call": 2, "thinking": 2, "llm.response": 2, "tool.call": 1, "tool.result": 1, "compaction": 1},
        ),
        (
            "gemini/session-sample.jsonl",
            {"llm.call": 2, "thinking": 2, "llm.response": 3, "tool.call": 1, "tool.result": 1},
        ),
        ("opencode/fixture-opencode.jsonl", {"thinking": 1, "llm.response": 2, "tool.call": 3, "tool.result": 3}),
    ],
)
def test_s2_61_real_files_are_recognised_and_read_whole(path: str, kinds: dict[str, int]) -> None:
    transcript = read(OTHER / path)
    assert Counter(event.kind for event in transcript.events) == kinds
    assert transcript.report.runtime == path.partition("/")[0]


@pytest.mark.shared
def test_pi_tells_its_bad_and_its_unknown_line() -> None:
    transcript = read(OTHER / "pi" / "session.jsonl")
    list(transcript.events)
    assert [place.line_number for place in transcript.report.bad.kept] == [10]
    assert [place.line_number for place in transcript.report.unknown.kept] == [11]


def test_pi_version_1_has_no_ids_and_names_its_model_in_the_header() -> None:
    found, transcript = events(
        "pi",
        {
            "type": "session",
            "id": "s",
            "version": 1,
            "provider": "p",
            "modelId": "m",
            "cwd": "/w",
            "timestamp": "2026-01-01T00:00:00Z",
        },
        {"type": "message", "message": {"role": "user", "content": "System: not injected here"}},
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}},
    )
    assert [event.kind for event in found] == ["llm.call", "llm.response"]
    assert found[0].payload["human"] is True
    assert transcript.report.session.model == "m"


def test_gemini_a_document_over_many_lines_is_one_session(tmp_path: Path) -> None:
    document = {
        "sessionId": "g-1",
        "projectHash": "h",
        "startTime": "2026-01-01T00:00:00.000Z",
        "messages": [
            {"type": "user", "id": "1", "content": [{"text": "look"}, {"inlineData": {"mimeType": "image/png"}}]},
            {
                "type": "gemini",
                "id": "2",
                "content": "done",
                "model": "gemini-x",
                "toolCalls": [
                    {
                        "id": "c1",
                        "name": "write_file",
                        "args": {"file_path": "/w/a.py", "content": "x"},
                        "status": "success",
                        "result": [{"functionResponse": {"id": "c1", "response": {"output": "ok"}}}],
                    },
                    {"id": "c2", "name": "run_shell_command", "args": {"command": "false"}, "status": "error"},
                ],
            },
            {"type": "error", "id": "3", "content": "quota"},
            {"type": "info", "id": "4", "content": "hello"},
            {"type": "novel", "id": "5"},
        ],
    }
    path = tmp_path / "session-2026-01-01T00-00-abc.json"
    path.write_text(json.dumps(document, indent=2))
    transcript = read(path)
    found = list(transcript.events)
    assert [event.kind for event in found] == [
        "llm.call",
        "llm.response",
        "tool.call",
        "tool.call",
        "tool.result",
        "tool.result",
        "llm.response",
    ]
    assert found[0].payload["text"] == "look"
    assert found[2].payload["files"] == [{"name": "/w/a.py", "path": "/w/a.py", "op": "write"}]
    assert [event.payload["is_error"] for event in found[4:6]] == [False, True]
    assert found[4].payload["output"] == "ok"
    assert found[6].payload["error"] == "quota"
    assert transcript.report.session.session_id == "g-1"
    assert transcript.report.unknown.count == 1
    assert transcript.report.counters == {"info": 1}


def test_gemini_lines_that_repeat_a_message_add_only_what_is_new() -> None:
    call = {"id": "c", "name": "search", "args": {}}
    answer = {"type": "gemini", "id": "2", "content": "a"}
    found, transcript = events(
        "gemini",
        {"sessionId": "g", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"},
        {"type": "user", "id": "1", "content": "q"},
        answer,
        answer | {"toolCalls": [call]},
        answer | {"toolCalls": [call | {"status": "success", "result": "r"}]},
        {"$set": {"summary": "about q"}},
        {"$rewindTo": "1"},
    )
    assert [event.kind for event in found] == ["llm.call", "llm.response", "tool.call", "tool.result"]
    assert transcript.report.session.title == "about q"


def test_gemini_a_cut_document_is_told_and_nothing_raises() -> None:
    whole = json.dumps({"sessionId": "g", "messages": [{"type": "user", "content": "q"}]}, indent=1).encode()
    cut = [line + b"\n" for line in whole[:-20].split(b"\n")]
    transcript = read_source(Source("s.json", cut), "gemini")
    assert list(transcript.events) == []
    assert transcript.report.bad.count > 0


def opencode(kind: str, **part: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": 1774712786456, "sessionID": "ses_1", "part": {"messageID": "m1", **part}}


def test_opencode_a_task_is_a_delegation_with_its_child() -> None:
    state = {
        "status": "completed",
        "input": {"prompt": "p", "description": "d", "subagent_type": "explore"},
        "output": "found",
        "metadata": {"sessionId": "ses_2"},
    }
    found, transcript = events(
        "opencode", opencode("tool_use", id="p1", type="tool", tool="task", callID="c", state=state)
    )
    assert [event.kind for event in found] == ["agent.spawn", "agent.return"]
    assert found[1].parent_span_id == found[0].span_id
    assert transcript.report.session.children[0].session_id == "ses_2"


def test_opencode_tokens_stand_once_on_the_last_event_of_an_answer() -> None:
    found, _ = events(
        "opencode",
        opencode("step_start", id="a", type="step-start"),
        opencode("text", id="b", type="text", text="hi"),
        opencode(
            "step_finish",
            id="c",
            type="step-finish",
            reason="stop",
            tokens={"input": 1, "output": 2, "cache": {"read": 3}},
        ),
    )
    assert found[0].payload["tokens"] == {"input": 1, "output": 2, "cache_read": 3}
    assert found[0].payload["stop_reason"] == "stop"


def test_opencode_rows_of_its_database_know_the_user() -> None:
    found, transcript = events(
        "opencode",
        {"type": "session", "sessionID": "ses_1", "info": {"directory": "/w", "title": "t", "version": "1"}},
        {"type": "message", "sessionID": "ses_1", "info": {"id": "m0", "role": "user"}},
        opencode("part", id="a", type="text", text="please", messageID="m0"),
        opencode("part", id="b", type="text", text="a file", messageID="m0", synthetic=True),
        {"type": "message", "sessionID": "ses_1", "info": {"id": "m1", "role": "assistant", "modelID": "x"}},
        opencode(
            "part",
            id="c",
            type="tool",
            tool="edit",
            callID="1",
            state={"status": "running", "input": {"filePath": "b.py"}},
        ),
        {
            "type": "message",
            "sessionID": "ses_1",
            "info": {"id": "m2", "role": "assistant", "error": {"name": "E", "data": {"message": "over"}}},
        },
        {"type": "error", "sessionID": "ses_1", "error": {"name": "Other"}},
        opencode("part", id="d", type="hologram"),
    )
    assert [event.kind for event in found] == ["llm.call", "llm.call", "tool.call", "llm.response", "llm.response"]
    assert [event.payload["human"] for event in found[:2]] == [True, False]
    assert found[2].payload["files"][0]["path"] == "/w/b.py"
    assert [event.payload["error"] for event in found[3:]] == ["over", "Other"]
    assert transcript.report.session.model == "x"
    assert transcript.report.unknown.count == 1


@pytest.mark.parametrize("runtime", ["pi", "opencode", "gemini"])
def test_no_line_makes_a_small_reader_raise(runtime: str) -> None:
    """Cut, glued and retyped lines; whatever stays whole is still read."""
    seeds = [
        *lines(
            {"type": "session", "version": 3, "id": "s", "branchedFrom": "x"},
            {"type": "message", "id": "1", "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}},
            {
                "sessionId": "g",
                "projectHash": "h",
                "messages": [{"type": "gemini", "id": "1", "toolCalls": [{"id": "c", "result": [1]}]}],
            },
            {"type": "gemini", "id": "2", "content": "a", "thoughts": [{"subject": "s"}], "tokens": {"input": 1}},
            opencode(
                "tool_use",
                id="p",
                type="tool",
                tool="bash",
                callID="c",
                state={"status": "error", "metadata": {"exit": 1}},
            ),
            {"type": "message", "sessionID": "s", "info": {"id": "m", "role": "user", "path": {"cwd": "/"}}},
        ),
        b"\x00" * 30 + b"\n",
        b"[" * 100_000 + b"\n",
    ]
    values: list[Any] = [None, 1, -1.5, True, "x", [], [[]], {}, {"type": "text"}, "\ud800"]
    rng = random.Random(7)

    def changed(value: Any) -> Any:
        if rng.random() < 0.2:
            return rng.choice(values)
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    for _ in range(300):
        some = []
        for line in rng.choices(seeds, k=5):
            choice = rng.random()
            if choice < 0.15:
                line = line[: rng.randrange(len(line))] + b"\n"
            elif choice < 0.3:
                line = line[:-1] + rng.choice(seeds)
            elif choice < 0.8 and len(line) < 1000 and line[:1] == b"{":
                line = json.dumps(changed(json.loads(line))).encode() + b"\n"
            some.append(line)
        transcript = read_source(Source("s.jsonl", some, open=True), runtime)
        for event in transcript.events:
            assert validate(event) == []
    assert runtime in READERS
