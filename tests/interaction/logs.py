"""Lines of a log, made for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ontoref.identifiers import ulid

__all__ = ["encode", "identity", "put", "record"]


def identity(number: int) -> str:
    return ulid(1_796_000_000_000 + number, number)


def record(number: int = 0, **fields: Any) -> dict[str, Any]:
    """A valid record with its own id; a field given as `...` is left out."""
    made = {
        "schema_version": 1,
        "id": identity(number),
        "session_id": "s-42",
        "recorded_at": "2026-11-30T18:04:05Z",
        "actor": "AgentClaude",
        "kind": "Fix",
        "domain": "Cli",
        "outcome": "Completed",
        "summary": "Mended the help.",
        **fields,
    }
    return {name: value for name, value in made.items() if value is not ...}


def encode(item: dict[str, Any] | bytes) -> bytes:
    return item if isinstance(item, bytes) else json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode()


def put(path: Path, *items: dict[str, Any] | bytes, end: bytes = b"\n") -> Path:
    """A log file of records and raw lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(encode, items)) + end)
    return path
