"""What listings of lessons, candidates, proposals and audit entries show, and what they can be filtered by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ontoref.cli.listing import Column, Field, Listing

__all__ = ["AUDIT", "CANDIDATES", "LESSONS", "PROPOSALS", "show_title", "show_updated"]


def show_title(row: Mapping[str, Any]) -> Any:
    return row.get("title") or row.get("statement")


def show_updated(row: Mapping[str, Any]) -> str:
    return str(row.get("updated_at") or "")[:10]


def _scope() -> list[Field]:
    from ontoref.lesson.records import SCOPE_KEYS

    return [Field("scope", "object"), *(Field(f"scope.{name}") for name in SCOPE_KEYS)]


def _lesson_fields() -> Sequence[Field]:
    from ontoref.lesson.lifecycle import LESSON_DURABILITIES, LESSON_RECORD_KINDS

    return (
        Field("id"),
        Field("record_kind", words=LESSON_RECORD_KINDS),
        Field("durability", words=LESSON_DURABILITIES),
        Field("active", "boolean"),
        Field("section"),
        Field("tags"),
        *_scope(),
        *(Field(name, "integer") for name in ("helpful", "harmful", "neutral", "observation_count", "version")),
        Field("sessions", "integer"),
        Field("evidence", "object"),
        Field("evidence.session_id"),
        Field("supersedes"),
        Field("superseded_by"),
        *(Field(name, "time") for name in ("created_at", "updated_at", "valid_from", "invalid_at")),
        *(Field(name, "prose") for name in ("title", "statement", "supersede_reason")),
    )


def _candidate_fields() -> Sequence[Field]:
    return (
        Field("id"),
        # Only what waits is listed: of the statuses, two.
        Field("status", words=("pending", "failed")),
        Field("signals"),
        Field("session_id"),
        Field("claim_id"),
        *_scope(),
        Field("attempts", "integer"),
        Field("created_at", "time"),
        *(Field(name, "prose") for name in ("excerpt", "last_error")),
    )


def _proposal_fields() -> Sequence[Field]:
    from ontoref.lesson.lifecycle import LESSON_DURABILITIES, LESSON_RECORD_KINDS
    from ontoref.lesson.records import PROPOSAL_ACTIONS, PROPOSAL_STATUSES, VERDICTS

    return (
        Field("id"),
        Field("action", words=PROPOSAL_ACTIONS),
        Field("status", words=PROPOSAL_STATUSES),
        *_scope(),
        Field("target_lesson_id"),
        Field("source_candidate_ids"),
        Field("draft", "object"),
        Field("draft.record_kind", words=LESSON_RECORD_KINDS),
        Field("draft.durability", words=LESSON_DURABILITIES),
        Field("draft.section"),
        Field("draft.tags"),
        Field("decision", "object"),
        Field("decision.verdict", words=VERDICTS),
        Field("decision.decided_by"),
        *(Field(name, "time") for name in ("created_at", "updated_at", "decision.decided_at")),
        *(Field(name, "prose") for name in ("rationale", "draft.title", "draft.statement", "decision.reason")),
    )


def _audit_fields() -> Sequence[Field]:
    from ontoref.lesson.records import RECORD_TYPES

    return (
        Field("seq", "integer"),
        Field("id"),
        Field("actor"),
        Field("action"),
        Field("record_type", words=RECORD_TYPES),
        Field("record_id"),
        Field("before_hash"),
        Field("after_hash"),
        Field("at", "time"),
        Field("details", "prose"),
    )


LESSONS = Listing(
    "lesson",
    "lessons",
    (
        Column("id"),
        Column("title", show=show_title),
        Column("record_kind", "kind"),
        Column("durability"),
        Column("active"),
        Column("helpful"),
        Column("harmful"),
        Column("sessions"),
        Column("updated_at", "updated", show_updated),
    ),
    _lesson_fields,
    time="updated_at",
    words_at="ontoref lesson search",
)
CANDIDATES = Listing(
    "candidate",
    "candidates",
    tuple(map(Column, ("id", "excerpt", "signals", "session_id", "created_at", "status"))),
    _candidate_fields,
    time="created_at",
)
PROPOSALS = Listing(
    "proposal",
    "proposals",
    (
        Column("id"),
        Column("action"),
        Column("draft.statement", "statement"),
        Column("rationale"),
        Column("status"),
        Column("created_at"),
    ),
    _proposal_fields,
    time="created_at",
)
AUDIT = Listing(
    "audit entry",
    "audit entries",
    tuple(map(Column, ("seq", "at", "actor", "action", "record_type", "record_id", "details"))),
    _audit_fields,
    time="at",
)
