"""Sessions for the pages: transcripts of Claude Code, written line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "7d9e4f10-0000-4000-8000-000000000001"


class Claude:
    """A transcript of Claude Code, written line by line."""

    def __init__(self, folder: Path, session: str = SESSION, agent: str | None = None) -> None:
        self.session, self.agent = session, agent
        name = f"{session}/subagents/agent-{agent}.jsonl" if agent else f"{session}.jsonl"
        self.path = folder / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def line(self, kind: str, content: Any, /, **more: Any) -> str:
        """Append one line and give its uuid."""
        self.count += 1
        uuid = f"{self.agent or 'm'}-{self.count}"
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {
                "id": f"msg-{uuid}",
                "model": "claude-test",
                "usage": {"input_tokens": 10, "output_tokens": 5},
            }
        entry: dict[str, Any] = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": None,
            "sessionId": self.session,
            "timestamp": f"2026-11-20T10:{self.count // 60 % 60:02}:{self.count % 60:02}.000Z",
            "cwd": "/home/ada/work",
            "version": "2.1.90",
            "message": message,
        }
        if self.agent:
            entry |= {"isSidechain": True, "agentId": self.agent}
        with self.path.open("a") as file:
            file.write(json.dumps(entry | more) + "\n")
        return uuid

    def user(self, text: str, **more: Any) -> str:
        return self.line("user", text, **more)

    def say(self, text: str) -> str:
        return self.line("assistant", [{"type": "text", "text": text}])

    def think(self, text: str) -> str:
        return self.line("assistant", [{"type": "thinking", "thinking": text, "signature": "x"}])

    def call(self, native: str, name: str, arguments: dict[str, Any], result: Any = None, **more: Any) -> str:
        uuid = self.line("assistant", [{"type": "tool_use", "id": native, "name": name, "input": arguments}])
        if result is not None:
            self.result(native, result, **more)
        return uuid

    def result(self, native: str, result: Any, *, error: bool = False, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": native, "content": result, "is_error": error}
        return self.line("user", [block], **more)

    def agent_call(self, native: str, agent: str, label: str, answer: str | None = "done") -> Claude:
        """A sub-agent with a file of its own."""
        self.line(
            "assistant",
            [
                {
                    "type": "tool_use",
                    "id": native,
                    "name": "Agent",
                    "input": {"description": label, "prompt": f"do: {label}", "subagent_type": "Explore"},
                }
            ],
        )
        child = Claude(self.path.parent, self.session, agent)
        meta = child.path.with_suffix(".meta.json")
        meta.write_text(json.dumps({"agentType": "Explore", "description": label, "toolUseId": native}))
        if answer is not None:
            self.result(native, answer, toolUseResult={"agentId": agent, "status": "completed"})
        return child


def write_example(folder: Path) -> Claude:
    """A session with everything a page shows: sub-agents, an edit, a refusal, modes, thinking, a compaction."""
    main = Claude(folder)
    main.user("Please mend the parser.", permissionMode="default")
    main.think("The parser fails on empty input, I believe.")
    main.say("I look at the parser **first**.\n\n```python\nprint('<b>x</b>')\n```")
    main.call("c1", "Read", {"file_path": "/home/ada/work/parser.py"}, "def parse(text):\n    return text[0]\n")
    main.call(
        "c2",
        "Edit",
        {
            "file_path": "/home/ada/work/parser.py",
            "old_string": "def parse(text):\n    return text[0]\n",
            "new_string": "def parse(text):\n    return text[:1]\n",
        },
        "The file was updated.",
    )
    main.call("c3", "Bash", {"command": "pytest -q"}, "1 failed", error=True)
    main.call(
        "c4",
        "Bash",
        {"command": "rm -rf build"},
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        error=True,
        toolUseResult="User rejected tool use",
    )
    main.user("Go on, carefully.", permissionMode="plan")
    child = main.agent_call("a1", "one", "Find every caller")
    child.user("do: Find every caller")
    child.call("k1", "Grep", {"pattern": "parse("}, "a.py:3\nb.py:9")
    child.say("Two callers: a.py and b.py.")
    other = main.agent_call("a2", "two", "Read the tests")
    other.user("do: Read the tests")
    other.say("They are thin.")
    main.line("system", None, subtype="compact_boundary", content="Conversation compacted",
              compactMetadata={"trigger": "auto", "preTokens": 120000})  # fmt: skip
    main.line("user", "Summary: the parser was mended.", isCompactSummary=True)
    main.user("Thanks. Is it done?", permissionMode="acceptEdits")
    main.say("Yes: the parser takes empty input, and two callers were looked at.")
    return main
