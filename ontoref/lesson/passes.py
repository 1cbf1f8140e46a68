"""The passes that ontoref brings: candidates become proposals, what has aged or done harm ends."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ontoref.lesson.contract import LessonStore, Record
from ontoref.lesson.lifecycle import instant_us
from ontoref.lesson.records import fingerprint, fold
from ontoref.lesson.tasks import Passes, TaskPass

__all__ = ["DEFAULTS", "all_passes", "decay", "promote", "title_of", "usefulness"]

# How many days a lesson holds after it was last changed, by its durability.
DEFAULTS: dict[str, Any] = {"decaying_days": 90, "ephemeral_days": 14}
_DAY_US = 86_400_000_000
_TITLE = 80
# One harmful vote weighs as much as four helpful ones: a rule that misleads costs more than it ever saved.
_HARM = 4


def all_passes() -> Passes:
    """The passes of ontoref."""
    return Passes(
        [
            TaskPass("promote", "light", 50, "agent", "deterministic", promote),
            TaskPass("decay", "light", 40, "agent", "deterministic", decay),
        ]
    )


def usefulness(lesson: Mapping[str, Any]) -> int:
    """Helpful votes less four times the harmful ones."""
    return int(lesson.get("helpful") or 0) - _HARM * int(lesson.get("harmful") or 0)


def title_of(statement: str) -> str:
    """A title for a statement: the beginning of its first line."""
    first = next((line.strip() for line in statement.splitlines() if line.strip()), "")
    return first if len(first) <= _TITLE else first[: _TITLE - 1].rstrip() + "…"


def promote(store: LessonStore, config: Mapping[str, Any], now: str) -> dict[str, int]:
    """Turn waiting candidates into pending proposals. Lessons are written by who accepts one, never here."""
    counts = {"candidates": 0, "proposed": 0, "merged": 0, "discarded": 0, "failed": 0}
    for candidate in store.list_pending_candidates():
        counts["candidates"] += 1
        try:
            outcome, result = _promote(store, candidate, now)
            store.mark_candidate_processed(candidate["id"], outcome, now, [result])
        except Exception as error:
            counts["failed"] += 1
            store.mark_candidate_processed(candidate["id"], "error", now, error=str(error))
            continue
        counts["proposed" if outcome == "promoted" else outcome] += 1
    return counts


def _promote(store: LessonStore, candidate: Record, now: str) -> tuple[str, str]:
    """(outcome, proposal's id) of one candidate."""
    scope = candidate.get("scope") or {"agent_id": "main"}
    excerpt = candidate["excerpt"]
    evidence = {
        "session_id": candidate.get("session_id"),
        "event_id": candidate.get("event_id"),
        "excerpt": excerpt,
        "observed_at": candidate["created_at"],
    }
    draft: Record = {
        "title": title_of(excerpt),
        "statement": excerpt,
        "durability": "durable",
        "tags": [],
        "evidence": [{name: value for name, value in evidence.items() if value is not None}],
    }
    known = _same_lesson(store, excerpt, scope, now)
    action, target = ("merge", known["id"]) if known else ("create", None)
    mark = fingerprint(action, scope, draft, target)
    # A merge is proposed anew for each observation; a lesson of the same words only once.
    basis = f"{mark} {candidate['id']}" if known else mark
    proposal: Record = {
        "id": "p-" + hashlib.sha256(basis.encode()).hexdigest()[:24],
        "scope": scope,
        "action": action,
        "draft": draft,
        "rationale": f"{', '.join(candidate.get('signals') or ['capture'])} in session {candidate.get('session_id')}",
        "source_candidate_ids": [candidate["id"]],
        "fingerprint": mark,
        "created_at": now,
        "updated_at": now,
    }
    if target is not None:
        proposal["target_lesson_id"] = target
    if candidate.get("context"):
        proposal["context"] = candidate["context"]
    stored = store.insert_proposal_if_absent(proposal)
    there = stored["proposal"]
    if stored["inserted"]:
        return "promoted", there["id"]
    if there["status"] != "pending":
        return "discarded", there["id"]
    if candidate["id"] not in there.get("source_candidate_ids", ()):
        there["source_candidate_ids"] = [*there.get("source_candidate_ids", ()), candidate["id"]]
        seen = there["draft"].get("evidence") or []
        there["draft"] = {**there["draft"], "evidence": [*seen, *(one for one in draft["evidence"] if one not in seen)]}
        store.upsert_proposal({**there, "updated_at": now})
    return "merged", there["id"]


def _same_lesson(store: LessonStore, statement: str, scope: Mapping[str, Any], now: str) -> Record | None:
    """The active lesson of this scope that says the same, case, accents and spaces aside."""
    words = " ".join(fold(statement).split())
    for hit in store.search_lessons(words, now=now, scope=scope, limit=None):
        lesson: Record = hit["lesson"]
        if " ".join(fold(lesson.get("statement") or "").split()) == words:
            return lesson
    return None


def decay(store: LessonStore, config: Mapping[str, Any], now: str) -> dict[str, int]:
    """End what is not durable and too old, or did more harm than good. For a durable one that is proposed."""
    counts = {"looked_at": 0, "aged": 0, "harmful": 0, "proposed": 0}
    settings = {**DEFAULTS, **config}
    at = instant_us(now, "now")
    for lesson in store.list_active_lessons(now):
        counts["looked_at"] += 1
        harmful = bool(lesson.get("harmful")) and usefulness(lesson) < 0
        days = settings.get(f"{lesson['durability']}_days")
        if days is None:
            counts["proposed"] += harmful and _propose_end(store, lesson, now)
            continue
        changed = lesson.get("updated_at") or lesson.get("valid_from")
        aged = changed is not None and at - instant_us(changed) >= days * _DAY_US
        if not (aged or harmful):
            continue
        reason = "harmful" if harmful else "aged"
        store.upsert_lesson(
            {**lesson, "status": "decayed", "decay_reason": reason, "invalid_at": now, "updated_at": now},
            expected_version=lesson["version"],
        )
        store.append_audit(
            {
                "id": f"decayed:{lesson['id'][:160]}:{lesson['version']}",
                "at": now,
                "actor": "decay",
                "action": "decayed",
                "record_type": "lesson",
                "record_id": lesson["id"],
                "details": {"reason": reason, "durability": lesson["durability"]},
            }
        )
        counts[reason] += 1
    return counts


def _propose_end(store: LessonStore, lesson: Record, now: str) -> bool:
    draft = {name: lesson[name] for name in ("title", "statement", "record_kind") if name in lesson}
    mark = fingerprint("invalidate", lesson["scope"], draft, lesson["id"])
    stored = store.insert_proposal_if_absent(
        {
            "id": "p-" + hashlib.sha256(f"{mark} {lesson['version']}".encode()).hexdigest()[:24],
            "scope": lesson["scope"],
            "action": "invalidate",
            "target_lesson_id": lesson["id"],
            "draft": draft,
            "rationale": f"{lesson.get('helpful', 0)} helpful and {lesson.get('harmful', 0)} harmful votes",
            "source_candidate_ids": [],
            "fingerprint": mark,
            "created_at": now,
            "updated_at": now,
        }
    )
    return bool(stored["inserted"])
