"""One small session of each line format, made for tests: every kind of line and block that the readers know."""

from __future__ import annotations

from itertools import count
from typing import Any

import orjson

__all__ = ["SESSIONS", "claude", "codex", "openclaw", "packed"]


def packed(records: list[dict[str, Any]]) -> list[bytes]:
    return [orjson.dumps(record) + b"\n" for record in records]


_numbers = count(1)


def claude(kind: str, message: Any = None, **fields: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    number = next(_numbers)
    line: dict[str, Any] = {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}",
        "sessionId": "s1",
        "timestamp": f"2026-01-01T10:00:{number % 60:02}.000Z",
        "cwd": "/home/user/p",
        "version": "2.1.0",
        "isSidechain": False,
    }
    if message is not None:
        line["message"] = message
    return line | fields


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answered(*blocks: dict[str, Any], id: str = "", out: int = 5) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": out, "cache_read_input_tokens": 3}
    return {
        "id": id or f"m{next(_numbers)}",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "usage": usage,
    }


def use(id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content} | fields]}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected"
CLAUDE = [
    {"type": "permission-mode", "permissionMode": "default", "sessionId": "s1"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    claude("user", said("please"), permissionMode="default"),
    claude("assistant", answered({"type": "thinking", "thinking": "hm"}, id="m-a", out=1)),
    claude("assistant", answered(use("t1", "Read", file_path="/home/user/p/a"), id="m-a", out=2)),
    claude("user", result("t1", "content of a"), toolUseResult={"type": "text"}),
    claude("assistant", answered(use("t2", "Edit", file_path="/home/user/p/a"), id="m-a", out=9)),
    claude("user", result("t2", [text("no")], is_error=True), toolUseResult="Error: no"),
    claude("user", {"role": "user", "content": [text("<system-reminder>x</system-reminder>"), text("go on")]}),
    claude("assistant", answered(use("t3", "Task", description="look", prompt="look there", subagent_type="Explore"))),
    claude("user", said("look there"), isSidechain=True, parentUuid=None, uuid="side-1"),
    claude("assistant", answered(text("looking")), isSidechain=True, parentUuid="side-1"),
    claude("user", result("t3", [text("seen")]), toolUseResult={"agentId": "ag1", "status": "completed"}),
    claude("progress", data={"type": "agent_progress", "agentId": "ag1"}, parentToolUseID="t3"),
    claude("assistant", answered(use("t4", "Bash", command="rm x"))),
    claude("user", result("t4", REFUSED, is_error=True), toolUseResult="Error: " + REFUSED),
    claude("user", {"role": "user", "content": [text("[Request interrupted by user for tool use]")]}),
    claude("assistant", answered(use("t5", "Workflow", script="x"))),
    claude("user", result("t5", "done"), toolUseResult={"status": "completed", "runId": "wf_1"}),
    claude("attachment", attachment={"type": "hook_blocking_error", "hookEvent": "PreToolUse", "toolUseID": "t4"}),
    claude("attachment", attachment={"type": "queued_command", "prompt": "and then"}),
    claude("system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 5}, parentUuid=None),
    claude("user", said("the summary"), isCompactSummary=True),
    claude("user", said("meta"), isMeta=True),
    claude("user", said("<command-name>/x</command-name>")),
    claude("user", said("<local-command-stdout>y</local-command-stdout>")),
    claude("user", said("edit"), permissionMode="acceptEdits"),
    claude("assistant", answered({"type": "redacted_thinking", "data": "zz"}, {"type": "server_tool_use", "id": "w"})),
    {"type": "summary", "summary": "about", "leafUuid": "u1"},
    claude("user", said("NEIGHBOUR one"), uuid="n-1"),
    claude("assistant", answered(text("NEIGHBOUR two"), id="n-m"), uuid="n-2"),
]


def openclaw(kind: str, **fields: Any) -> dict[str, Any]:
    """An entry of OpenClaw."""
    number = next(_numbers)
    return {
        "type": kind,
        "id": f"{number:08x}",
        "parentId": f"{number - 1:08x}",
        "timestamp": f"2026-01-01T10:00:{number % 60:02}.000Z",
    } | fields


def entry(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return openclaw("message", message={"role": role, "content": content} | fields)


def tool(id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": given}


def back(id: str, name: str, value: str, **fields: Any) -> dict[str, Any]:
    return entry("toolResult", [text(value)], toolCallId=id, toolName=name, **fields)


CHILD = "agent:main:subagent:00000000-0000-4000-8000-000000000009"
OPENCLAW = [
    {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T10:00:00.000Z", "cwd": "/home/user/w"},
    openclaw("model_change", provider="p", modelId="m"),
    openclaw("thinking_level_change", thinkingLevel="high"),
    openclaw("custom", customType="model-snapshot", data={"modelId": "m"}),
    entry("user", [text("hello"), {"type": "image", "data": "x"}]),
    entry(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm"},
            text("a"),
            tool("c1", "write", path="a"),
            tool("c2", "exec", command="x"),
        ],
        usage={"input": 1, "output": 2, "totalTokens": 3},
        model="m",
    ),
    back("c2", "exec", "gone", details={"status": "completed", "exitCode": 1}, isError=False),
    back("c1", "write", "written", isError=False),
    entry("assistant", [tool("c3", "sessions_spawn", task="do", label="l"), tool("c4", "sessions_spawn", task="no")]),
    back("c3", "sessions_spawn", "{}", details={"status": "accepted", "childSessionKey": CHILD, "runId": "r"}),
    back("c4", "sessions_spawn", "{}", details={"status": "forbidden"}),
    openclaw("custom_message", customType="openclaw.sessions_yield", content="x"),
    entry("user", "[Inter-session message] x", provenance={"kind": "inter_session", "sourceSessionKey": CHILD}),
    entry("assistant", [], stopReason="error", errorMessage="429"),
    openclaw("compaction", summary="so far", tokensBefore=10, details={"readFiles": []}),
    entry("user", "[OpenClaw heartbeat poll]"),
    entry("assistant", "plain"),
    entry("user", "NEIGHBOUR one") | {"id": "n-1"},
    entry("assistant", [text("NEIGHBOUR two")]) | {"id": "n-2"},
]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    """A line of a Codex rollout."""
    return {"timestamp": f"2026-01-01T10:00:{next(_numbers) % 60:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return codex("response_item", type=kind, **payload)


def shown(kind: str, **payload: Any) -> dict[str, Any]:
    return codex("event_msg", type=kind, **payload)


def words(role: str, value: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": value}])


def call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return item("function_call", name=name, call_id=id, arguments=arguments)


COUNT = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5, "total_tokens": 15}
PATCH = "*** Begin Patch\n*** Update File: a b.py\n@@\n-x\n+y\n*** End Patch\n"
ESCALATED = '{"cmd": "x", "sandbox_permissions": "require_escalated", "justification": "must"}'
CODEX = [
    codex("session_meta", id="s1", timestamp="2026-01-01T10:00:00.000Z", cwd="/home/user/p", source="cli"),
    words("user", "<environment_context>\n<cwd>/home/user/p</cwd>\n</environment_context>"),
    shown("task_started", turn_id="t1"),
    words("user", "please"),
    shown("user_message", message="please"),
    codex("turn_context", cwd="/home/user/p", approval_policy="on-request", sandbox_policy={"type": "read-only"}),
    shown("agent_reasoning", text="hm"),
    item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], content=None, encrypted_content="zz"),
    shown("agent_message", message="doing"),
    words("assistant", "doing"),
    call("c1", "exec_command", '{"cmd": "ls"}'),
    shown("token_count", info={"total_token_usage": COUNT, "last_token_usage": COUNT}),
    shown("token_count", info={"total_token_usage": COUNT, "last_token_usage": COUNT}),
    item("function_call_output", call_id="c1", output="Process exited with code 1\nOutput:\nx"),
    item("custom_tool_call", call_id="c2", name="apply_patch", input=PATCH),
    item("custom_tool_call_output", call_id="c2", output='{"output": "ok", "metadata": {"exit_code": 0}}'),
    call("c3", "spawn_agent", '{"agent_type": "worker", "message": "do"}'),
    item("function_call_output", call_id="c3", output='{"agent_id": "child"}'),
    call("c4", "wait", '{"ids": ["child"]}'),
    item("function_call_output", call_id="c4", output='{"status": {"child": {"completed": "did"}}}'),
    call("c5", "exec_command", ESCALATED),
    item("function_call_output", call_id="c5", output="exec command rejected by user"),
    item("web_search_call", action={"query": "x"}),
    codex("turn_context", cwd="/home/user/p", approval_policy="never", sandbox_policy={"mode": "danger-full-access"}),
    codex("compacted", message="so far"),
    shown("context_compacted"),
    shown("item_completed", item={"type": "Plan", "text": "p"}),
    shown("turn_aborted", reason="interrupted"),
    shown("user_message", message="NEIGHBOUR one"),
    words("assistant", "NEIGHBOUR two"),
]
SESSIONS = {"claude-code": packed(CLAUDE), "openclaw": packed(OPENCLAW), "codex": packed(CODEX)}
