"""A Skillbook file (JSON of agentic context engineering) as skills, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ontoref.lesson.contract import Record
from ontoref.lesson.errors import LessonValidationError
from ontoref.lesson.lifecycle import DEFAULT_AGENT, instant_us
from ontoref.lesson.passes import title_of

__all__ = ["is_skillbook", "skillbook_of", "skills_of"]

_NUMBER = re.compile(r"-([0-9]{1,9})$")
# What a skill holds that a lesson calls otherwise or holds as well.
_COUNTERS = ("helpful", "harmful", "neutral")


def is_skillbook(value: Any) -> bool:
    """Whether a JSON value is a Skillbook."""
    return isinstance(value, dict) and isinstance(value.get("skills"), dict)


def skills_of(book: Mapping[str, Any], now: str, scope: Mapping[str, str] | None = None) -> list[tuple[str, Record]]:
    """The skills of a Skillbook as records to load, ids and counters kept; the book's own fields as one audit entry.

    Errors: LessonValidationError naming the skill.
    """
    records: list[tuple[str, Record]] = []
    for id, skill in book["skills"].items():
        if not isinstance(skill, dict):
            raise LessonValidationError(f"skill {id!r} is no object")
        content = skill.get("content")
        if not isinstance(content, str) or not content.strip():
            raise LessonValidationError(f"skill {id!r} has no content")
        created = _time(skill.get("created_at")) or now
        updated = _time(skill.get("updated_at")) or created
        lesson: Record = {
            "id": str(skill.get("id") or id),
            "record_kind": "skill",
            "schema_version": 1,
            "scope": dict(scope or {"agent_id": DEFAULT_AGENT}),
            "title": title_of(content),
            "statement": content,
            "section": str(skill.get("section") or ""),
            "durability": "durable",
            "status": "active" if skill.get("status", "active") == "active" else "invalid",
            "tags": [],
            "evidence": [],
            "observation_count": 1,
            "valid_from": created,
            "invalid_at": None if skill.get("status", "active") == "active" else updated,
            "created_at": created,
            "updated_at": updated,
            "version": 1,
            # As it came, so that it can be given back.
            "skillbook": skill,
        }
        for name in _COUNTERS:
            value = skill.get(name, 0)
            lesson[name] = value if type(value) is int and value >= 0 else 0
        records.append(("lesson", lesson))
    rest = {name: value for name, value in book.items() if name != "skills"}
    records.append(
        (
            "audit",
            {
                "id": "skillbook",
                "at": now,
                "actor": "import",
                "action": "skillbook",
                "record_type": "lesson",
                "record_id": "skillbook",
                "details": rest,
                "seq": 0,
            },
        )
    )
    return records


def skillbook_of(skills: Iterable[Record], rest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The Skillbook of skills; rest is what the book that was imported held beside them."""
    ordered = sorted(skills, key=lambda one: (str(one.get("created_at")), one["id"]))
    written = {one["id"]: _skill(one) for one in ordered}
    rest = rest or {}
    before = rest.get("sections")
    sections: dict[str, list[str]] = {}
    for name, ids in before.items() if isinstance(before, dict) else ():
        sections[name] = [id for id in ids if id in written] if isinstance(ids, list) else []
    for id, skill in written.items():
        listed = sections.setdefault(skill["section"], [])
        if id not in listed:
            listed.append(id)
    numbers = [int(match[1]) for id in written if (match := _NUMBER.search(id))]
    known = rest.get("next_id")
    return {
        **rest,
        "skills": written,
        "sections": sections,
        "next_id": max([known if type(known) is int else 0, *(number + 1 for number in numbers)], default=1),
        "similarity_decisions": rest.get("similarity_decisions", {}),
    }


def _skill(lesson: Record) -> dict[str, Any]:
    own = lesson.get("skillbook")
    found: dict[str, Any] = dict(own) if isinstance(own, dict) else {"justification": None, "evidence": None}
    return {
        **found,
        "id": lesson["id"],
        "section": lesson.get("section") or "general",
        "content": lesson.get("statement") or lesson.get("title"),
        **{name: lesson.get(name, 0) for name in _COUNTERS},
        "created_at": lesson.get("created_at"),
        "updated_at": lesson.get("updated_at"),
        "status": "active" if lesson.get("invalid_at") is None else "invalid",
    }


def _time(value: Any) -> str | None:
    try:
        instant_us(value)
    except LessonValidationError:
        return None
    return str(value)
