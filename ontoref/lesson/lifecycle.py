"""The life of a lesson: its defaults, its migration from older forms, whether it holds at a moment.

Nothing here reads a clock; callers pass `now`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ontoref.lesson.errors import LessonValidationError

__all__ = [
    "LESSON_DURABILITIES",
    "LESSON_RECORD_KINDS",
    "LESSON_SCHEMA_VERSION",
    "apply_legacy_lesson_defaults",
    "instant_us",
    "is_lesson_active",
    "moment_text",
    "with_lesson_defaults",
]

LESSON_RECORD_KINDS = ("lesson", "skill")
LESSON_DURABILITIES = ("durable", "decaying", "ephemeral")
LESSON_SCHEMA_VERSION = 1
DEFAULT_AGENT = "main"

# Fields that older lessons lack, and what they mean there.
_LATER: dict[str, Any] = {
    "record_kind": "lesson",
    "durability": "durable",
    "valid_from": None,
    "invalid_at": None,
    "schema_version": LESSON_SCHEMA_VERSION,
    "scope": None,
    "version": 1,
}
_LATER_FIELDS = _LATER.keys()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def instant_us(value: Any, name: str = "time") -> int:
    """A time as microseconds since 1970, UTC. A time without an offset is UTC.

    Errors: LessonValidationError for what is no ISO 8601 time.
    """
    if isinstance(value, str) and len(value) >= 10:
        try:
            found = datetime.fromisoformat(value)
            if found.tzinfo is None:
                found = found.replace(tzinfo=UTC)
            return (found - _EPOCH) // _MICROSECOND
        except (ValueError, OverflowError):
            pass
    raise LessonValidationError(f"{name} is {value!r}, not an ISO 8601 time", hint="2026-11-30T18:04:05Z")


def moment_text(microseconds: int) -> str:
    """A time as text, RFC 3339 in UTC, as short as it can be."""
    found = _EPOCH + microseconds * _MICROSECOND
    digits = "milliseconds" if found.microsecond % 1000 == 0 else "microseconds"
    return found.isoformat(timespec=digits if found.microsecond else "seconds").replace("+00:00", "Z")


def with_lesson_defaults(
    record: Mapping[str, Any], now: str, new_id: Callable[[], str] = lambda: uuid.uuid4().hex
) -> dict[str, Any]:
    """A new lesson with everything filled in that the caller left out; the argument is not changed."""
    instant_us(now, "now")
    defaults: dict[str, Any] = {
        "record_kind": "lesson",
        "schema_version": LESSON_SCHEMA_VERSION,
        "scope": {"agent_id": DEFAULT_AGENT},
        "durability": "durable",
        "status": "active",
        "valid_from": now,
        "invalid_at": None,
        "created_at": now,
        "updated_at": now,
        "version": 1,
        "helpful": 0,
        "harmful": 0,
        "neutral": 0,
        "observation_count": 1,
        "evidence": [],
        "tags": [],
    }
    if "id" not in record:
        defaults["id"] = new_id()
    return {**defaults, **record}


def apply_legacy_lesson_defaults(record: Mapping[str, Any]) -> dict[str, Any]:
    """A lesson as today's code reads it, whenever it was written. Unknown fields stay; no `now` is invented.

    Shape:  applied twice is applied once. A lesson without any time is valid always (valid_from is null).
    Errors: LessonValidationError for a record of a newer schema.
    """
    version = record.get("schema_version", LESSON_SCHEMA_VERSION)
    if version != LESSON_SCHEMA_VERSION or isinstance(version, bool):
        raise LessonValidationError(
            f"schema_version is {version!r}, known is {LESSON_SCHEMA_VERSION}", hint="update ontoref"
        )
    found = dict(record)
    if not found.keys() >= _LATER_FIELDS:
        own = {"valid_from": record.get("created_at"), "scope": {"agent_id": DEFAULT_AGENT}}
        found |= {name: value for name, value in {**_LATER, **own}.items() if name not in found}
    return found


def is_lesson_active(lesson: Mapping[str, Any], now: str) -> bool:
    """Whether a lesson holds at now: from valid_from on, and before invalid_at."""
    at = instant_us(now, "now")
    start, end = lesson.get("valid_from"), lesson.get("invalid_at")
    return (start is None or instant_us(start, "valid_from") <= at) and (
        end is None or at < instant_us(end, "invalid_at")
    )
