"""A payload small enough to be shown in a list."""

from __future__ import annotations

from typing import Any

import orjson

from ontoref.transcript.event import ReplayEvent

__all__ = ["PREVIEW_BYTES", "event_json", "packed", "preview", "size_of"]

PREVIEW_BYTES = 2048
# Deeper than any JSON that a reader lets through.
_DEEPEST = 20_000
# Ever smaller: characters of a text, members of a list or an object, levels.
_STEPS = ((1500, 60, 8), (800, 40, 6), (400, 24, 5), (180, 16, 4), (80, 12, 3), (32, 10, 2))
_FIRST = ("line", "name", "tool_use_id", "text", "output", "is_error", "status", "label", "child_session_id")


def event_json(event: ReplayEvent, ordinal: int, *, full: bool = False) -> dict[str, Any]:
    """An event as answers hold it: its fields, its place, and how much of its payload is there.

    Shape: bytes is the whole payload's size as JSON; truncated says that the payload here is less than that.
    """
    shown, size, truncated = (event.payload, None, False) if full else preview(event.payload)
    found = event._asdict()
    found["payload"] = shown
    return {"ordinal": ordinal, **found, "bytes": size_of(shown) if size is None else size, "truncated": truncated}


def preview(payload: dict[str, Any], most_bytes: int = PREVIEW_BYTES) -> tuple[dict[str, Any], int, bool]:
    """(what fits, size of the whole, whether it is less than the whole). The keys that tell most come first."""
    size = size_of(payload)
    if size <= most_bytes:
        return payload, size, False
    order = sorted(payload, key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))
    first = {key: payload[key] for key in order}
    for text, members, levels in _STEPS:
        cut = _cut(first, text, members, levels)
        if size_of(cut) <= most_bytes:
            return cut, size, True
    line = payload.get("line")
    return ({"line": line} if isinstance(line, int) else {}), size, True


def size_of(value: Any) -> int:
    """Bytes of a value as JSON; a value that is nested beyond what is ever printed counts as endless."""
    try:
        return len(orjson.dumps(value))
    except (TypeError, ValueError):
        return 1 << 40


def packed(value: Any) -> bytes:
    """A value as JSON, also what orjson reads and does not write: numbers beyond 64 bits, nesting beyond 254."""
    try:
        return orjson.dumps(value)
    except TypeError:
        import json
        import sys

        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, _DEEPEST))
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        finally:
            sys.setrecursionlimit(before)


def _cut(value: Any, text: int, members: int, levels: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= text else value[:text] + "…"
    if isinstance(value, dict):
        if levels <= 0:
            return "…"
        return {key[:200]: _cut(value[key], text, members, levels - 1) for key in list(value)[:members]}
    if isinstance(value, list):
        if levels <= 0:
            return "…"
        return [_cut(one, text, members, levels - 1) for one in value[:members]]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return str(value)[:text]
    return value
