"""Records as callers give them, as tables keep them and as they come back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ontoref.lesson.contract import Record
from ontoref.lesson.errors import LessonValidationError
from ontoref.lesson.lifecycle import LESSON_SCHEMA_VERSION, apply_legacy_lesson_defaults
from ontoref.lesson.records import Row, as_json, fingerprint

__all__ = [
    "FIXED",
    "STAMPS",
    "age_of",
    "completed_candidate",
    "completed_lesson",
    "completed_proposal",
    "content_of",
    "lesson_of",
    "merged",
    "plain",
    "scoped",
]

# What a patch cannot change, and what a change stamps.
FIXED = ("id", "record_kind", "created_at", "supersedes")
STAMPS = ("version", "created_at", "updated_at")


def lesson_of(row: Row) -> Record:
    """A stored lesson in today's form."""
    return apply_legacy_lesson_defaults(row.value())


def completed_lesson(lesson: Any) -> Any:
    """A lesson with what has a default that needs no clock."""
    if not isinstance(lesson, Mapping):
        return lesson
    found = apply_legacy_lesson_defaults(lesson)
    if found.get("created_at") is None and found.get("updated_at") is not None:
        found["created_at"] = found["updated_at"]
    return found


def completed_proposal(proposal: Any) -> Any:
    """A proposal with its defaults and its fingerprint; what is no object stays as it is, for the checks."""
    if not isinstance(proposal, Mapping):
        return proposal
    found = {"schema_version": LESSON_SCHEMA_VERSION, "scope": {"agent_id": "main"}, "status": "pending", **proposal}
    if not found.get("fingerprint"):
        target = found.get("target_lesson_id")
        found["fingerprint"] = fingerprint(str(found.get("action")), found["scope"], found.get("draft"), target)
    if found.get("updated_at") is None:
        found["updated_at"] = found.get("created_at")
    return found


def completed_candidate(candidate: Any) -> Any:
    """A candidate with its defaults."""
    defaults = {"schema_version": LESSON_SCHEMA_VERSION, "status": "pending", "result_ids": [], "attempts": 0}
    return {**defaults, **candidate} if isinstance(candidate, Mapping) else candidate


def scoped(proposal: Record) -> Record:
    """{proposal, scope}."""
    return {"proposal": proposal, "scope": dict(proposal.get("scope") or {})}


def plain(record: Record) -> Record:
    """The record as JSON gives it back: tuples are lists."""
    found: Record = orjson.loads(as_json(record))
    return found


def content_of(lesson: Record) -> Record:
    """What two versions of a lesson are compared by."""
    return {name: value for name, value in lesson.items() if name not in STAMPS}


def merged(old: Record, patch: Record) -> Record:
    """A lesson with a patch in it: evidence and tags united, votes added. Errors: LessonValidationError."""
    new = {**old, **{name: value for name, value in patch.items() if name not in (*FIXED, *STAMPS)}}
    for name in ("evidence", "tags"):
        if name in patch:
            mine, theirs = old.get(name) or [], patch[name]
            if not isinstance(theirs, list):
                raise LessonValidationError(f"{name} must be a list")
            new[name] = list(mine)
            new[name] += [item for place, item in enumerate(theirs) if item not in mine and item not in theirs[:place]]
    for name in ("helpful", "harmful", "neutral"):
        if name in patch:
            if type(patch[name]) is not int or patch[name] < 0:
                raise LessonValidationError(f"{name} must be a whole number, at least 0")
            new[name] = old.get(name, 0) + patch[name]
    seen = old.get("observation_count", 1)
    more = patch.get("observation_count", 1)
    if type(more) is not int or more < 0:
        raise LessonValidationError("observation_count must be a whole number, at least 0")
    grew = "evidence" in patch and len(new["evidence"]) > len(old.get("evidence") or [])
    if grew or ("observation_count" in patch and "evidence" not in patch):
        new["observation_count"] = seen + more
    elif "observation_count" in patch:
        new["observation_count"] = seen
    return new


def age_of(row: Row) -> tuple[int, int]:
    """What tells the later of two forms of a record: version, then time."""
    version = row.value().get("version")
    return (version if isinstance(version, int) else 0, row.updated_at)
