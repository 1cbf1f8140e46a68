"""What a reviewer does: accept, reject, vote. Only here do proposals become lessons."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ontoref.lesson.contract import LessonStore, Record
from ontoref.lesson.errors import LessonConflictError, LessonNotFoundError
from ontoref.lesson.lifecycle import with_lesson_defaults

__all__ = ["VOTES", "accept", "full_id", "reject", "vote"]

VOTES = ("helpful", "harmful", "neutral")
_EVIDENCE = ("evidence", "tags")


def accept(
    store: LessonStore,
    id: str,
    decided_by: str,
    now: str,
    *,
    changes: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> Record:
    """The lesson that an accepted proposal became, better said by changes if the reviewer does.

    Shape:  killed in between, accepting again completes it; accepted already, it gives the lesson there is.
    Errors: LessonNotFoundError also where the lesson that it is about is gone; LessonConflictError for a proposal
            that was decided otherwise, or that changed since.
    """
    proposal = _need(store, id)
    target = proposal.get("target_lesson_id")
    if proposal["action"] != "create" and (target is None or store.get_lesson(target) is None):
        raise LessonNotFoundError(f"the lesson {target!r} that proposal {id} is about is not there")
    if changes and proposal["status"] == "pending":
        proposal = store.upsert_proposal({**proposal, "draft": {**proposal["draft"], **changes}, "updated_at": now})
    store.record_proposal_decision(id, "accepted", decided_by, now, reason)
    lesson = _APPLY[proposal["action"]](store, proposal, now)
    store.append_audit(
        {
            "id": f"applied:{id[:200]}",
            "at": now,
            "actor": decided_by,
            "action": proposal["action"],
            "record_type": "lesson",
            "record_id": lesson["id"],
            "details": {"proposal": id},
        }
    )
    return lesson


def reject(store: LessonStore, id: str, decided_by: str, now: str, reason: str | None = None) -> Record:
    """The proposal, rejected. Errors: as record_proposal_decision."""
    return store.record_proposal_decision(id, "rejected", decided_by, now, reason)


def vote(store: LessonStore, id: str, what: str, by: str, now: str, reason: str | None = None) -> Record:
    """The lesson with one more vote. Errors: LessonNotFoundError."""
    lesson = store.merge_lesson(id, {what: 1}, now)
    details = {"reason": reason} if reason else {}
    store.append_audit(
        {
            "id": f"vote:{id[:160]}:{lesson['version']}",
            "at": now,
            "actor": by,
            "action": what,
            "record_type": "lesson",
            "record_id": id,
            "details": details,
        }
    )
    return lesson


def full_id(beginning: str, ids: list[str], what: str) -> str:
    """The one id that begins so; the exact one first. Errors: LessonNotFoundError, LessonConflictError."""
    found = [beginning] if beginning in ids else sorted(id for id in ids if id.startswith(beginning))
    if not found:
        raise LessonNotFoundError(f"no {what} has the id {beginning!r}")
    if len(found) > 1:
        raise LessonConflictError(f"{beginning!r} begins {len(found)} ids", hint=" ".join(found[:8]))
    return found[0]


def _need(store: LessonStore, id: str) -> Record:
    proposal = store.get_proposal(id)
    if proposal is None:
        raise LessonNotFoundError(f"no proposal has the id {id!r}", hint="ontoref lesson proposals")
    return proposal


def _drafted(proposal: Record, now: str) -> Record:
    """The lesson that a proposal drafts; its id follows from the proposal, so that it is made once."""
    name = "l-" + hashlib.sha256(proposal["id"].encode()).hexdigest()[:24]
    draft = {"id": name, "scope": proposal["scope"], "source_proposal_id": proposal["id"], **proposal["draft"]}
    lesson = with_lesson_defaults(draft, now)
    return {**lesson, "observation_count": max(1, len(lesson["evidence"]))}


def _create(store: LessonStore, proposal: Record, now: str) -> Record:
    lesson = _drafted(proposal, now)
    return store.get_lesson(lesson["id"]) or store.upsert_lesson(lesson, expected_version=0)


def _merge(store: LessonStore, proposal: Record, now: str) -> Record:
    patch = {name: proposal["draft"][name] for name in _EVIDENCE if proposal["draft"].get(name)}
    return store.merge_lesson(proposal["target_lesson_id"], patch, now)


def _supersede(store: LessonStore, proposal: Record, now: str) -> Record:
    old = proposal["target_lesson_id"]
    new: Record = store.supersede_lesson(old, _drafted(proposal, now), now, proposal.get("rationale"))["new"]
    return new


def _invalidate(store: LessonStore, proposal: Record, now: str) -> Record:
    lesson = store.get_lesson(proposal["target_lesson_id"])
    assert lesson is not None
    if lesson.get("invalid_at") is not None:
        return lesson
    return store.upsert_lesson(
        {**lesson, "status": "invalid", "invalid_at": now, "updated_at": now}, expected_version=lesson["version"]
    )


_APPLY = {"create": _create, "merge": _merge, "supersede": _supersede, "invalidate": _invalidate}
