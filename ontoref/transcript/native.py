"""Native lines made into values: tolerant JSON, times, texts, token counts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from ontoref.transcript.report import Report
from ontoref.transcript.source import Source

__all__ = [
    "LARGE_BYTES",
    "minute_start",
    "parse",
    "parts",
    "records",
    "second_try",
    "seconds",
    "shown",
    "string",
    "text_of",
    "tokens",
]

# A reader holds nothing back after a line of this size, so that its memory stays bounded.
LARGE_BYTES = 1 << 18
_BOM = b"\xef\xbb\xbf"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# A number above this is milliseconds: as seconds it would be the year 5138.
_LARGEST_SECONDS = 1e11
# The end of the year 9999: what comes later is no time that a calendar can show or a database hold.
_END_SECONDS = 253_402_300_800

# What the runtimes call the same count.
_TOKEN_NAMES = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "cache_read": ("cacheRead", "cache_read_input_tokens", "cached_input_tokens", "cache_read"),
    "cache_write": ("cacheWrite", "cache_creation_input_tokens", "cache_write"),
    "reasoning": ("reasoning_output_tokens", "reasoning"),
    "total": ("totalTokens", "total_tokens", "total"),
}


def records(source: Source, report: Report) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The objects of a transcript with their line numbers; everything else is told to the report.

    Shape: (line number, None) where the source has nothing more for now.
    Units: line numbers are 1-based.
    """
    loads = orjson.loads
    number = 0
    for raw in source.lines:
        try:
            record = loads(raw)  # type: ignore[arg-type]
        except ValueError:
            if raw is None:
                yield number, None
                continue
            record = None
        number += 1
        report.lines = number
        if type(record) is dict:
            yield number, record
        elif (found := second_try(raw, number, source, report)) is not None:
            yield number, found
        if raw is not None and len(raw) > LARGE_BYTES:
            report.large = number


def second_try(raw: bytes | None, number: int, source: Source, report: Report) -> dict[str, Any] | None:
    """The object of a line that is no plain JSON object, read leniently; None once the report was told why not."""
    text = (raw or b"").removeprefix(_BOM) if number == 1 else raw or b""
    if not text.strip():
        report.blank += 1
        return None
    try:
        record = parse(text.rstrip(b"\r\n"))
    except ValueError as error:
        if source.open and not text.endswith(b"\n"):
            report.pending = len(text)
        else:
            report.bad.add(number, str(error))
        return None
    if type(record) is dict:
        return record
    report.unknown.add(number, f"a JSON {_json_name(record)}, no object")
    return None


def parse(text: bytes) -> Any:
    """One JSON value, read as leniently as JSON allows.

    Shape:  bytes that are no UTF-8 and lone surrogates become U+FFFD, so that whatever comes out can be
            written again; NaN and Infinity are read; of equal keys the last wins.
    Errors: ValueError with what is wrong, for too deep a nesting too.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:
        value = json.loads(text.decode("utf-8", "replace"))
        if rb"\u" in text:
            value = json.loads(_LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
        return value
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from None


def _json_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "array" if isinstance(value, list) else "string" if isinstance(value, str) else "number"


# Consecutive lines share their minute, and reading a whole ISO time costs three times as much.
_minutes: dict[str, float] = {}


def seconds(value: Any, last: float) -> float:
    """A native time in seconds since 1970.

    Shape: ISO text (without a zone: UTC), seconds or milliseconds as a number or as digits; anything else,
           and what is negative or not finite, gives last.
    """
    if type(value) is str:
        if len(value) == 24 and value[23] == "Z" and value[16] == ":":
            base = _minutes.get(value[:17])
            if base is not None:
                try:
                    return base + float(value[17:23])
                except ValueError:
                    pass
        return _written(value, last)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, last)
    return last


def minute_start(value: str) -> float | None:
    """Start of the minute that a written time begins with (`2026-01-01T10:00:`), if one was read before."""
    return _minutes.get(value)


def _number(value: float, last: float) -> float:
    if not 0 <= value < _END_SECONDS * 1000:
        return last
    return value / 1000 if value > _LARGEST_SECONDS else float(value)


def _written(value: str, last: float) -> float:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        try:
            return _number(float(value), last)
        except ValueError:
            return last
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        found = moment.timestamp()
    except (OverflowError, ValueError):
        return last
    if not 0 <= found < _END_SECONDS:
        return last
    if len(value) == 24 and value[23] == "Z" and value[16] == ":":
        if len(_minutes) > 10_000:
            _minutes.clear()
        _minutes[value[:17]] = moment.replace(second=0, microsecond=0).timestamp()
    return found


def parts(content: Any) -> tuple[list[str], list[Any]]:
    """The texts of a native content and its other blocks, each in order.

    Shape: a string is one text; of a list, strings and `text` blocks are texts; an object is one block.
    """
    if type(content) is str:
        return [content], []
    if type(content) is not list:
        return ([], []) if content is None else ([], [content])
    texts: list[str] = []
    others: list[Any] = []
    for block in content:
        if type(block) is dict:
            text = block.get("text")
            if type(text) is str and block.get("type") in ("text", "input_text", "output_text", None):
                texts.append(text)
            elif block.get("type") != "text":
                others.append(block)
        elif type(block) is str:
            texts.append(block)
        elif block is not None:
            others.append(block)
    return texts, others


def string(value: Any) -> str | None:
    """The value if it is a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def shown(value: Any) -> str:
    """A native value as a report names it, in at most forty characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 40 else text[:39] + "…"


def text_of(content: Any) -> str:
    """The texts of a native content, joined by line feeds."""
    return content if type(content) is str else "\n".join(parts(content)[0])


def tokens(usage: Any) -> dict[str, int]:
    """Token counts in our own names: input, output, cache_read, cache_write, reasoning, total; those given.

    Shape: the names of the first runtime that knows one win; counts that are no whole number are left out.
    """
    if not isinstance(usage, Mapping):
        return {}
    found = {}
    for name, natives in _TOKEN_NAMES.items():
        for native in natives:
            value = usage.get(native)
            if type(value) is int and value >= 0:
                found[name] = value
                break
    return found
