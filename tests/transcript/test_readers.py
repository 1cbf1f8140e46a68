"""What each native line becomes: golden kinds for small sessions, and the facts that hang on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ontoref.transcript import KINDS, Memory, ReplayEvent, Report, Source, TranscriptError, read, read_source
from ontoref.transcript.source import follow
from tests.transcript import lines as made
from tests.transcript.lines import SESSIONS, claude, codex, item, openclaw, packed, said, shown, text, words


def events_of(
    runtime: str, records: list[dict[str, Any]] | list[bytes], name: str = "x.jsonl", **side: bytes
) -> tuple[list[ReplayEvent], Report]:
    lines = [r if isinstance(r, bytes) else packed([r])[0] for r in records]
    transcript = read_source(Source(name, lines, Memory({k.replace("__", "/"): v for k, v in side.items()})), runtime)
    return list(transcript.events), transcript.report


GOLDEN = {
    "claude-code": """
        1 mode.changed
        3 llm.call please | 4 thinking hm | 5 tool.call Read | 6 tool.result Read
        7 tool.call Edit | 8 tool.result Edit
        9 llm.call <system-reminder>x</system-reminder>
        10 agent.spawn Task | 11 llm.call look there | 12 llm.response looking | 13 agent.return Task
        15 tool.call Bash | 16 approval.requested Bash | 16 approval.decided Bash | 16 tool.result Bash
        17 llm.call [Request interrupted by user for tool use]
        18 workflow.start Workflow | 19 workflow.end Workflow
        20 approval.decided | 21 llm.call and then
        22 compaction
        25 llm.call <command-name>/x</command-name>
        27 mode.changed | 27 llm.call edit
        28 thinking | 28 tool.call unknown
        30 llm.call NEIGHBOUR one | 31 llm.response NEIGHBOUR two
    """,
    "openclaw": """
        1 mode.changed
        5 llm.call hello
        6 thinking hm | 6 llm.response a | 6 tool.call write | 6 tool.call exec
        7 tool.result exec | 8 tool.result write
        9 llm.response | 9 agent.spawn sessions_spawn | 9 agent.spawn sessions_spawn
        10 tool.result sessions_spawn | 11 agent.return sessions_spawn
        13 agent.return | 13 llm.call [Inter-session message] x
        14 llm.response | 15 compaction
        16 llm.call [OpenClaw heartbeat poll] | 17 llm.response plain
        18 llm.call NEIGHBOUR one | 19 llm.response NEIGHBOUR two
    """,
    "codex": """
        5 llm.call please | 6 mode.changed | 8 thinking hm | 10 llm.response doing
        11 tool.call exec_command | 14 tool.result exec_command
        15 tool.call apply_patch | 16 tool.result apply_patch
        17 agent.spawn spawn_agent | 18 tool.result spawn_agent | 19 tool.call wait
        20 tool.result wait | 20 agent.return
        21 tool.call exec_command | 21 approval.requested exec_command
        22 approval.decided exec_command | 22 tool.result exec_command
        23 tool.call web_search | 24 mode.changed | 25 compaction
        29 llm.call NEIGHBOUR one | 30 llm.response NEIGHBOUR two
    """,
}


@pytest.mark.parametrize("runtime", sorted(GOLDEN))
def test_each_line_becomes_its_kinds(runtime: str) -> None:
    """S2-58, S2-59, S2-60"""
    events, report = events_of(runtime, SESSIONS[runtime])
    found = []
    for e in events:
        label = e.payload.get("name") or (e.payload.get("text") or "").split("\n")[0]
        found.append(f"{e.payload['line']} {e.kind} {label}".strip())
    expected = [part.strip() for line in GOLDEN[runtime].strip().splitlines() for part in line.split("|")]
    assert found == expected
    assert report.unknown.count == 0
    assert report.bad.count == 0


def test_each_kind_comes_out_of_some_session() -> None:
    seen = {e.kind for runtime in GOLDEN for e in events_of(runtime, SESSIONS[runtime])[0]}
    journal = (
        b'{"type":"started","key":"k1","agentId":"w1"}\n{"type":"result","key":"k1","agentId":"w1","result":"x"}\n'
    )
    use = claude("assistant", made.answered(made.use("w", "Workflow", script="x")))
    launched = claude("user", made.result("w", "ok"), toolUseResult={"status": "async_launched", "runId": "r1"})
    workflow, _ = events_of(
        "claude-code", [use, launched], "s1.jsonl", **{"s1__subagents__workflows__r1__journal.jsonl": journal}
    )
    assert [e.kind for e in workflow] == ["workflow.start", "workflow.stage", "workflow.end", "tool.result"]
    assert workflow[1].parent_span_id == workflow[2].parent_span_id == workflow[0].span_id
    assert workflow[1].payload["child_session_id"] == "s1:agent-w1"
    assert seen | {e.kind for e in workflow} == set(KINDS)


@pytest.mark.parametrize("runtime", sorted(GOLDEN))
def test_parents_are_delegations_and_never_the_chain(runtime: str) -> None:
    """S2-10"""
    events, _ = events_of(runtime, SESSIONS[runtime])
    spans = {e.span_id: e for e in events}
    for e in events:
        if e.parent_span_id is not None:
            assert spans[e.parent_span_id].kind in ("agent.spawn", "workflow.start", "tool.call")


def test_a_long_chain_of_parents_is_no_delegation() -> None:
    """S2-10: 1500 entries one after the other."""
    chain = [openclaw("message", message={"role": "user", "content": str(n)}) for n in range(1500)]
    events, _ = events_of("openclaw", chain)
    assert {e.parent_span_id for e in events} == {None}


# Claude Code


def test_sidechain_lines_in_the_main_file_belong_to_their_call() -> None:
    events, report = events_of("claude-code", SESSIONS["claude-code"])
    spawn = next(e for e in events if e.kind == "agent.spawn")
    assert [e.kind for e in events if e.parent_span_id == spawn.span_id] == ["llm.call", "llm.response", "agent.return"]
    assert spawn.payload["child_session_id"] == "s1:agent-ag1"
    assert report.counters["sidechain"] == 2


def test_equal_prompts_are_joined_in_order_and_warm_ups_to_nothing() -> None:
    calls = [made.use(f"t{n}", "Task", prompt="same") for n in (1, 2)]
    side = [claude("user", said("same"), isSidechain=True, parentUuid=None) for _ in calls]
    warm = claude("user", said("Warmup"), isSidechain=True, parentUuid=None)
    events, _ = events_of("claude-code", [claude("assistant", made.answered(*calls)), *side, warm])
    spawns = [e.span_id for e in events if e.kind == "agent.spawn"]
    prompts = [e for e in events if e.kind == "llm.call"]
    assert [e.parent_span_id for e in prompts] == [*spawns, None]
    assert not any(e.payload["human"] for e in prompts)


def test_usage_stands_once_on_the_last_event_of_a_message() -> None:
    events, _ = events_of("claude-code", SESSIONS["claude-code"])
    mine = [e.payload for e in events if e.payload.get("message_id") == "m-a"]
    assert [p.get("tokens", {}).get("output") for p in mine] == [None, None, 9]


def test_a_followed_message_that_goes_on_adds_only_what_is_new() -> None:
    first = claude("assistant", made.answered(text("a"), id="m", out=3))
    second = claude("assistant", made.answered(text("b"), id="m", out=10))
    lines: list[bytes | None] = [*packed([first]), None, *packed([second])]
    transcript = read_source(Source("x.jsonl", lines), "claude-code")
    assert [e.payload["tokens"]["output"] for e in transcript.events] == [3, 7]


def test_a_line_seen_before_is_dropped() -> None:
    line = claude("user", said("once"))
    events, report = events_of("claude-code", [line, claude("user", said("other")), line])
    assert [e.payload["text"] for e in events] == ["once", "other"]
    assert report.counters["duplicate"] == 1


def test_a_summary_belongs_to_its_boundary_and_stands_alone_in_old_versions() -> None:
    events, _ = events_of("claude-code", SESSIONS["claude-code"])
    (found,) = [e.payload for e in events if e.kind == "compaction"]
    assert (found["summary"], found["trigger"], found["tokens_before"]) == ("the summary", "auto", 5)
    old, _ = events_of("claude-code", [claude("user", said("old"), isCompactSummary=True)])
    assert [(e.kind, e.payload["summary"]) for e in old] == [("compaction", "old")]


def test_a_saved_output_takes_the_place_of_its_preview() -> None:
    preview = "<persisted-output>\nOutput too large. Full output saved to: /x/s1/tool-results/b1.txt\n\nPreview: a"
    records = [claude("assistant", made.answered(made.use("t", "Bash"))), claude("user", made.result("t", preview))]
    events, _ = events_of("claude-code", records, "s1.jsonl", **{"s1__tool-results__b1.txt": b"all of it"})
    assert (events[-1].payload["output"], events[-1].payload["preview"]) == ("all of it", preview)
    alone, _ = events_of("claude-code", records, "s1.jsonl")
    assert alone[-1].payload["output"] == preview


def test_leaving_plan_mode_needs_a_yes() -> None:
    ask = claude("assistant", made.answered(made.use("p", "ExitPlanMode", plan="x")), permissionMode="plan")
    yes = claude("user", made.result("p", "User has approved your plan. You can now start coding."))
    events, _ = events_of("claude-code", [claude("user", said("go"), permissionMode="plan"), ask, yes])
    assert [(e.kind, e.approval["status"]) for e in events if e.approval] == [
        ("approval.requested", "requested"),
        ("approval.decided", "approved"),
    ]


@pytest.mark.parametrize(
    ("name", "session", "parent"),
    [
        ("p/00000000-0000-4000-8000-000000000001.jsonl", "00000000-0000-4000-8000-000000000001", None),
        ("p/renamed.jsonl", "s1", None),
        ("p/agent-a1.jsonl", "s1:agent-a1", "s1"),
        ("p/s0/subagents/agent-a1.jsonl", "s0:agent-a1", "s0"),
        ("p/s0/subagents/workflows/w/agent-a1.jsonl", "s0:agent-a1", "s0"),
    ],
)
def test_a_session_is_known_by_its_file_and_its_lines(name: str, session: str, parent: str | None) -> None:
    events, report = events_of("claude-code", [claude("user", said("x"))], name)
    assert (report.session.session_id, report.session.parent_session_id) == (session, parent)
    assert events[0].session_id == session


# OpenClaw


def test_the_index_joins_a_spawn_with_its_child() -> None:
    index = b'{"%s": {"sessionId": "child", "status": "done", "spawnedBy": "agent:main:main"}}' % made.CHILD.encode()
    events, report = events_of(
        "openclaw", SESSIONS["openclaw"], "agents/main/sessions/s1.jsonl", **{"sessions.json": index}
    )
    accepted, refused = [e.payload for e in events if e.kind == "agent.spawn"]
    assert (accepted["child_session_id"], accepted["run_id"]) == ("child", "r")
    assert refused["child_session_id"] is None
    (child,) = report.session.children
    assert (child.session_id, child.status, child.path) == ("child", "done", "child.jsonl")
    broken, _ = events_of(
        "openclaw", SESSIONS["openclaw"], "agents/main/sessions/s1.jsonl", **{"sessions.json": b"{\x00"}
    )
    assert len(broken) == len(events)


@pytest.mark.parametrize(
    ("approvals", "permission"),
    [
        (b'{"defaults": {"security": "full", "ask": "never"}}', "yolo"),
        (b'{"defaults": {"security": "allowlist"}}', "default"),
        (b"{}", "unknown"),
        (b"[", "unknown"),
    ],
)
def test_the_first_mode_is_what_is_configured(approvals: bytes, permission: str) -> None:
    """S2-62"""
    name = "agents/main/sessions/s1.jsonl"
    side = {
        "..__..__..__exec-approvals.json": approvals,
        "sessions.json": b'{"agent:main:cron:x": {"sessionId": "s1"}}',
    }
    events, report = events_of("openclaw", SESSIONS["openclaw"], name, **side)
    assert events[0].mode == {"permission": permission, "sandbox": None, "collaboration": "cron"}
    assert report.session.session_key == "agent:main:cron:x"


@pytest.mark.parametrize(
    "ending",
    ["", ".reset.2026-01-01T10-00-00.000Z", ".deleted.2026-01-01T10-00-00.000Z", ".bak-12-345"],
)
def test_companions_are_the_same_session(ending: str) -> None:
    records = [r for r in SESSIONS["openclaw"] if b'"session"' not in r]
    events, _ = events_of("openclaw", records, f"agents/main/sessions/s1.jsonl{ending}")
    assert {e.session_id for e in events} == {"s1"}
    checkpoint, _ = events_of("openclaw", records, "agents/main/sessions/s1.checkpoint.u-1.jsonl")
    assert [e.span_id for e in checkpoint] == [e.span_id for e in events]


def test_equal_entry_ids_in_one_file_are_both_kept() -> None:
    twice = [openclaw("message", message={"role": "user", "content": c}) | {"id": "same"} for c in "ab"]
    events, _ = events_of("openclaw", twice)
    assert [e.payload["text"] for e in events if e.kind == "llm.call"] == ["a", "b"]
    assert len({e.span_id for e in events}) == len(events)


def test_a_trajectory_is_kept_apart() -> None:
    line = {"traceSchema": "openclaw-trajectory", "type": "session.started", "sessionId": "s1"}
    events, report = events_of("openclaw", [line], "s1.trajectory.jsonl")
    assert (events, report.apart, report.counters) == ([], "openclaw-trajectory", {"trajectory": 1})


# Codex


def test_a_child_leaves_its_parents_history_out() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    records = [
        codex("session_meta", id="child", timestamp="2026-01-01T10:00:00.000Z", source=source),
        codex("session_meta", id="parent", timestamp="2026-01-01T09:00:00.000Z"),
        shown("user_message", message="the parent's"),
        words("assistant", "the parent's"),
        shown("task_started", turn_id="t"),
        shown("user_message", message="own"),
        words("assistant", "done"),
    ]
    events, report = events_of("codex", records)
    assert [e.payload["text"] for e in events] == ["own", "done"]
    assert (report.session.session_id, report.session.parent_session_id) == ("child", "parent")
    assert report.counters["replayed"] == 2
    assert not events[0].payload["human"]


def test_texts_are_read_where_only_one_form_is_stored() -> None:
    shown_only, _ = events_of("codex", [shown("user_message", message="q"), shown("agent_message", message="a")])
    assert [(e.kind, e.payload["text"]) for e in shown_only] == [("llm.call", "q"), ("llm.response", "a")]
    items_only, _ = events_of("codex", [words("user", "q"), words("assistant", "a")])
    assert [(e.kind, e.payload["text"]) for e in items_only] == [("llm.call", "q"), ("llm.response", "a")]


def test_counts_are_merged_into_the_answer_once() -> None:
    events, _ = events_of("codex", SESSIONS["codex"])
    counted = [e for e in events if "tokens" in e.payload]
    assert [(e.payload["text"], e.payload["tokens"]["output"]) for e in counted] == [("doing", 5)]


def test_full_access_without_asking_is_yolo() -> None:
    events, report = events_of("codex", SESSIONS["codex"])
    assert [e.mode and (e.mode["permission"], e.mode["sandbox"]) for e in events if e.mode] == [
        ("default", "read-only"),
        ("yolo", "danger-full-access"),
    ]
    assert report.counters["modes"] == 1


def test_the_request_below_an_editors_context() -> None:
    events, _ = events_of("codex", [shown("user_message", message="# Context\n\n## My request for Codex:\nfix\n")])
    assert events[0].payload["request"] == "fix"


def test_a_relative_patch_is_taken_from_the_calls_folder() -> None:
    patch = {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{made.PATCH}EOF"], "workdir": "sub"}
    import json

    records = [
        codex("session_meta", id="s", cwd="/home/user/p"),
        item("function_call", name="shell", call_id="c", arguments=json.dumps(patch)),
    ]
    events, _ = events_of("codex", records)
    assert events[0].payload["files"] == [{"name": "a b.py", "path": "/home/user/p/sub/a b.py", "op": "update"}]


# Files


def test_a_packed_rollout_reads_like_a_plain_one(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    plain, packed_file = tmp_path / "r.jsonl", tmp_path / "r.jsonl.zst"
    content = b"".join(SESSIONS["codex"])
    plain.write_bytes(content)
    packer = zstandard.ZstdCompressor()
    packed_file.write_bytes(packer.compress(content[:1000]) + packer.compress(content[1000:]))
    assert [e[:4] for e in read(packed_file).events] == [e[:4] for e in read(plain).events]
    (tmp_path / "bad.zst").write_bytes(packed_file.read_bytes()[:200] + b"xxxx" * 50)
    with pytest.raises(TranscriptError, match="damaged"):
        list(read(tmp_path / "bad.zst", "codex").events)


def test_an_unknown_file_names_the_runtimes(tmp_path: Path) -> None:
    """S2-61"""
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(TranscriptError) as caught:
        read(tmp_path / "x.jsonl")
    assert "claude-code" in str(caught.value.hint)
    with pytest.raises(TranscriptError):
        read(tmp_path / "missing.jsonl", "codex")


def test_a_followed_file_gives_whole_lines_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"one\ntw")
    steps = iter([b"o\nthr", b"", b"ee\n"])

    def wait() -> bool:
        more = next(steps, None)
        if more is None:
            return False
        with path.open("ab") as file:
            file.write(more)
        return True

    found = list(follow(str(path), wait=wait))
    assert [line for line in found if line is not None] == [b"one\n", b"two\n", b"three\n"]
    assert None in found


def test_a_followed_file_that_is_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"old and long\n")
    steps = iter([lambda: path.write_bytes(b"new\n"), lambda: None])

    def wait() -> bool:
        step = next(steps, None)
        if step is None:
            return False
        step()
        return True

    assert [line for line in follow(str(path), wait=wait) if line] == [b"old and long\n", b"new\n"]
