"""Small transcripts of the tests' own."""

from __future__ import annotations

import json
from pathlib import Path

SESSION = "11111111-2222-4333-8444-555555555555"


def claude_line(number: int, session: str = SESSION, text: str = "hello", kind: str = "user") -> bytes:
    record = {
        "type": kind,
        "uuid": f"{session[:8]}-0000-4000-8000-{number:012d}",
        "parentUuid": f"{session[:8]}-0000-4000-8000-{number - 1:012d}" if number > 1 else None,
        "sessionId": session,
        "timestamp": f"2026-11-30T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "cwd": "/home/me/project",
        "version": "2.1.0",
        "message": {"role": kind, "content": f"{text} {number}"},
    }
    if kind == "assistant":
        record["requestId"] = f"req_{number}"
        record["message"] = {
            "role": "assistant",
            "id": f"msg_{number}",
            "model": "claude-opus-5",
            "content": [{"type": "text", "text": f"{text} {number}"}],
            "usage": {"input_tokens": 1, "output_tokens": 2},
        }
    return json.dumps(record).encode() + b"\n"


def claude(session: str = SESSION, count: int = 6, text: str = "hello") -> bytes:
    """A transcript of Claude Code with that many lines."""
    kinds = ("user", "assistant")
    return b"".join(claude_line(n, session, text, kinds[(n - 1) % 2]) for n in range(1, count + 1))


def project(home: Path, name: str = "-home-me-project") -> Path:
    """A folder of Claude Code's, made."""
    folder = home / ".claude" / "projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
