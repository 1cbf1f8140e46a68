"""Small records of the tests' own."""

from __future__ import annotations

from typing import Any

from ontoref.lesson import with_lesson_defaults

__all__ = ["NOW", "at", "audit", "candidate", "lesson", "proposal"]

NOW = "2026-11-30T10:00:00Z"


def at(minute: int) -> str:
    """A time so many minutes after NOW's hour."""
    return f"2026-11-30T{10 + minute // 60:02d}:{minute % 60:02d}:00Z"


def lesson(id: str = "a", minute: int = 0, **fields: Any) -> dict[str, Any]:
    return with_lesson_defaults({"id": id, "title": f"Lesson {id}", "statement": "Use tabs.", **fields}, at(minute))


def candidate(id: str = "c", minute: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "scope": {"agent_id": "main"},
        "session_id": "s-1",
        "excerpt": "no, use tabs",
        "signals": ["correction"],
        "created_at": at(minute),
        **fields,
    }


def proposal(id: str = "p", minute: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "id": id,
        "scope": {"agent_id": "main"},
        "action": "create",
        "draft": {"title": "Tabs", "statement": f"Use tabs, says {id}."},
        "rationale": "said by the user",
        "source_candidate_ids": ["c"],
        "created_at": at(minute),
        **fields,
    }


def audit(id: str, minute: int = 0, **fields: Any) -> dict[str, Any]:
    return {"id": id, "at": at(minute), "actor": "ana", "action": "noted", "record_type": "lesson", **fields}
