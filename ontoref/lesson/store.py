"""The lesson store: what the methods of the contract mean, written once for every backend."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ontoref.lesson.contract import Record, Scope, Table
from ontoref.lesson.errors import LessonConflictError, LessonNotFoundError, LessonValidationError
from ontoref.lesson.forms import (
    FIXED,
    completed_candidate,
    completed_lesson,
    completed_proposal,
    content_of,
    lesson_of,
    merged,
    plain,
    scoped,
)
from ontoref.lesson.lifecycle import (
    LESSON_DURABILITIES,
    LESSON_RECORD_KINDS,
    LESSON_SCHEMA_VERSION,
    instant_us,
    with_lesson_defaults,
)
from ontoref.lesson.loading import Loaded, load
from ontoref.lesson.records import (
    PROPOSAL_STATUSES,
    VERDICTS,
    Row,
    Selection,
    checked,
    row_of,
    scope_key,
    scope_of,
    score,
    tokens_of,
)

__all__ = ["MOST_ATTEMPTS", "TableLessonStore"]

MOST_ATTEMPTS = 3
_PROCESSED = ("status", "processed_at", "outcome", "result_ids", "attempts", "last_error")


class TableLessonStore:
    """A LessonStore on a table."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __enter__(self) -> TableLessonStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is open; again is fine."""
        self.table.close()

    # -- lessons

    def list_lessons(
        self,
        scope: Scope | None = None,
        record_kind: str | None = None,
        durability: str | None = None,
        include_inactive: bool = True,
        limit: int | None = None,
    ) -> list[Record]:
        wanted = Selection(
            "lesson",
            scope_of(scope),
            record_kind=_word(record_kind, LESSON_RECORD_KINDS, "record_kind"),
            durability=_word(durability, LESSON_DURABILITIES, "durability"),
            limit=None if not include_inactive else _count(limit),
        )
        found = self._lessons(wanted)
        if not include_inactive:
            found = [one for one in found if one.get("invalid_at") is None and one.get("superseded_by") is None]
        return found[: _count(limit)]

    def get_lesson(self, id: str) -> Record | None:
        row = self._get("lesson", id)
        return None if row is None else lesson_of(row)

    def upsert_lesson(self, lesson: Record, expected_version: int | None = None) -> Record:
        new = checked("lesson", completed_lesson(lesson))
        with self.table.writing():
            row = self.table.get("lesson", new["id"])
            old = None if row is None else lesson_of(row)
            known = 0 if old is None else old["version"]
            if expected_version is not None and expected_version != known:
                raise LessonConflictError(
                    f"lesson {new['id']} has version {known}, not {expected_version}",
                    hint="read it again, and decide again",
                )
            if old is None:
                new["version"] = 1
                return self._put("lesson", new)
            if content_of(old) == content_of(plain(new)):
                return old
            new["created_at"] = old.get("created_at")
            new["version"] = known + 1
            return self._put("lesson", new)

    def merge_lesson(self, id: str, patch: Record, now: str) -> Record:
        instant_us(now, "now")
        if not isinstance(patch, Mapping):
            raise LessonValidationError("a patch is an object")
        patch = plain(dict(patch))
        with self.table.writing():
            old = lesson_of(self._need("lesson", id))
            for name in FIXED:
                if name in patch and patch[name] != old.get(name):
                    raise LessonValidationError(f"{name} of a lesson cannot change")
            new = merged(old, patch)
            if content_of(new) == content_of(old):
                return old
            new |= {"updated_at": now, "version": old["version"] + 1, "created_at": old.get("created_at")}
            return self._put("lesson", checked("lesson", new))

    def supersede_lesson(self, old_id: str, new_lesson: Record, now: str, reason: str | None = None) -> Record:
        instant_us(now, "now")
        if not isinstance(new_lesson, Mapping):
            raise LessonValidationError("a lesson is an object")
        new = checked("lesson", with_lesson_defaults(new_lesson, now))
        if new["id"] == old_id:
            raise LessonValidationError("a lesson cannot supersede itself")
        with self.table.writing():
            old = lesson_of(self._need("lesson", old_id))
            there = self.table.get("lesson", new["id"])
            successor = old.get("superseded_by")
            if successor == new["id"] and there is not None:
                return {"old": old, "new": lesson_of(there)}
            if successor is not None:
                raise LessonConflictError(f"lesson {old_id} was superseded by {successor} already")
            if new["record_kind"] != old["record_kind"]:
                raise LessonValidationError(
                    f"a {old['record_kind']} cannot be superseded by a {new['record_kind']}", hint="kinds must be equal"
                )
            if new["id"] in {one["id"] for one in self._chain(old)}:
                raise LessonValidationError(f"{new['id']} comes before {old_id}; a chain must not close")
            version = 0
            if there is not None:
                known = lesson_of(there)
                if known.get("supersedes") not in (None, old_id):
                    raise LessonConflictError(f"lesson {new['id']} supersedes {known['supersedes']} already")
                version, new["created_at"] = known["version"], known.get("created_at")
            new |= {"supersedes": old_id, "version": version + 1}
            old |= {"invalid_at": now, "superseded_by": new["id"], "updated_at": now, "version": old["version"] + 1}
            if reason is not None:
                old["supersede_reason"] = reason
            stored_old = self._put("lesson", old)
            stored_new = self._put("lesson", new)
            details = {"by": new["id"], **({"reason": reason} if reason else {})}
            self._audit(f"superseded:{old_id}:{new['id']}", now, "store", "supersede", "lesson", old_id, details)
            return {"old": stored_old, "new": stored_new}

    def list_active_lessons(
        self, now: str, scope: Scope | None = None, record_kind: str | None = None, limit: int | None = None
    ) -> list[Record]:
        kind = _word(record_kind, LESSON_RECORD_KINDS, "record_kind")
        return self._lessons(
            Selection(
                "lesson",
                scope_of(scope),
                record_kind=kind,
                active_at_us=instant_us(now, "now"),
                limit=_count(limit),
            )
        )

    def get_lesson_chain(self, id: str) -> list[Record]:
        with self.table.reading():
            row = self._get("lesson", id)
            return [] if row is None else self._chain(lesson_of(row))

    def search_lessons(
        self,
        query: str,
        now: str | None = None,
        scope: Scope | None = None,
        record_kind: str | None = None,
        limit: int | None = 20,
    ) -> list[Record]:
        if not isinstance(query, str):
            raise LessonValidationError("a query is text")
        kind = _word(record_kind, LESSON_RECORD_KINDS, "record_kind")
        tokens = tokens_of(query)
        wanted = Selection(
            "lesson",
            scope_of(scope),
            record_kind=kind,
            active_at_us=None if now is None else instant_us(now, "now"),
            tokens=tokens,
            order="score",
            limit=_count(limit),
        )
        if not tokens:
            return []
        with self.table.reading():
            rows = self.table.select(wanted)
        return [{"lesson": lesson_of(row), "score": score(tokens, row.search_title)} for row in rows]

    # -- proposals

    def list_proposals(self, status: str | None = None, limit: int | None = None) -> list[Record]:
        return self._proposals(status, None, limit)

    def get_proposal(self, id: str) -> Record | None:
        row = self._get("proposal", id)
        return None if row is None else row.value()

    def find_proposal_with_scope(self, id: str, scope: Scope) -> Record | None:
        scope_of(scope)
        row = self._get("proposal", id)
        return None if row is None or row.scope_key != scope_key(scope) else scoped(row.value())

    def list_proposals_with_scope(self, scope: Scope, status: str | None = None) -> list[Record]:
        scope_of(scope)
        return [scoped(one) for one in self._proposals(status, scope_key(scope), None)]

    def insert_proposal_if_absent(self, proposal: Record) -> Record:
        new = checked("proposal", completed_proposal(proposal))
        with self.table.writing():
            row = self.table.get("proposal", new["id"])
            if row is None:
                pending = Selection(
                    "proposal",
                    scope_key=scope_key(new["scope"]),
                    statuses=("pending",),
                    fingerprint=new["fingerprint"],
                    order="created",
                    limit=1,
                )
                row = next(iter(self.table.select(pending)), None)
            if row is not None:
                return {"inserted": False, "proposal": row.value()}
            return {"inserted": True, "proposal": self._put("proposal", new)}

    def upsert_proposal(self, proposal: Record) -> Record:
        new = checked("proposal", completed_proposal(proposal))
        with self.table.writing():
            row = self.table.get("proposal", new["id"])
            if row is not None and row.status != "pending":
                old = row.value()
                if (new["status"], new.get("decision")) != (old["status"], old.get("decision")):
                    raise LessonConflictError(f"proposal {new['id']} was {old['status']}; that stays")
            return self._put("proposal", new)

    def record_proposal_decision(
        self, id: str, verdict: str, decided_by: str, now: str, reason: str | None = None
    ) -> Record:
        instant_us(now, "now")
        _word(verdict, VERDICTS, "verdict", needed=True)
        if not isinstance(decided_by, str) or not decided_by:
            raise LessonValidationError("decided_by must name who decides")
        with self.table.writing():
            old = self._need("proposal", id).value()
            if old["status"] == verdict:
                return old
            if old["status"] != "pending":
                raise LessonConflictError(f"proposal {id} was {old['status']} already")
            decision = {"verdict": verdict, "decided_by": decided_by, "decided_at": now}
            if reason is not None:
                decision["reason"] = reason
            stored = self._put("proposal", {**old, "status": verdict, "decision": decision, "updated_at": now})
            details = {"reason": reason} if reason else {}
            self._audit(f"{verdict}:{id}", now, decided_by, verdict, "proposal", id, details)
            return stored

    # -- audit

    def append_audit(self, entry: Record) -> Record:
        new = checked("audit", {"id": uuid.uuid4().hex, **entry} if isinstance(entry, Mapping) else entry)
        with self.table.writing():
            row = self.table.get("audit", new["id"])
            if row is not None:
                return row.value()
            return self._put("audit", {**new, "seq": self.table.last_seq() + 1})

    def list_audit(
        self, record_id: str | None = None, since_seq: int | None = None, limit: int | None = None
    ) -> list[Record]:
        wanted = Selection("audit", record_id=record_id, after_seq=since_seq, order="seq", limit=_count(limit))
        with self.table.reading():
            return [row.value() for row in self.table.select(wanted)]

    # -- candidates

    def upsert_candidate(self, candidate: Record) -> Record:
        new = checked("candidate", completed_candidate(candidate))
        with self.table.writing():
            row = self.table.get("candidate", new["id"])
            if row is not None:
                old = row.value()
                if old["status"] != "pending":
                    new |= {name: old[name] for name in _PROCESSED if name in old}
                if plain(new) == old:
                    return old
            return self._put("candidate", new)

    def get_candidate(self, id: str) -> Record | None:
        row = self._get("candidate", id)
        return None if row is None else row.value()

    def list_pending_candidates(self, scope: Scope | None = None, limit: int | None = None) -> list[Record]:
        wanted = Selection("candidate", scope_of(scope), statuses=("pending", "failed"), order="created")
        with self.table.reading():
            found = (row.value() for row in self.table.select(wanted))
        waiting = [one for one in found if one["status"] == "pending" or one.get("attempts", 0) < MOST_ATTEMPTS]
        return waiting[: _count(limit)]

    def mark_candidate_processed(
        self, id: str, outcome: str, now: str, result_ids: Sequence[str] = (), error: str | None = None
    ) -> Record:
        instant_us(now, "now")
        with self.table.writing():
            old = self._need("candidate", id).value()
            if error is not None:
                changes: Record = {
                    "status": "failed",
                    "outcome": "error",
                    "attempts": old.get("attempts", 0) + 1,
                    "last_error": error,
                }
            elif old["status"] == "processed":
                if old.get("outcome") != outcome:
                    raise LessonConflictError(f"candidate {id} was {old.get('outcome')} already")
                return old
            else:
                changes = {"status": "processed", "outcome": outcome, "result_ids": list(result_ids)}
            return self._put("candidate", checked("candidate", {**old, **changes, "processed_at": now}))

    # -- the backend

    def describe_backend(self) -> Record:
        found: Record = {
            "backend": self.table.backend,
            "location": self.table.location,
            "degraded": False,
            "schema_version": LESSON_SCHEMA_VERSION,
        }
        counts = self.table.counts()
        return found if counts is None else {**found, "counts": counts}

    def records(self) -> Iterator[tuple[str, str]]:
        """(record type, JSON text) of everything, in an order that depends on the content alone."""
        with self.table.reading():
            for row in self.table.rows():
                yield row.record_type, row.record

    def load(self, records: Iterable[tuple[str, Record]]) -> Loaded:
        """As `ontoref.lesson.loading.load`."""
        return load(self.table, records)

    # -- inside

    def _get(self, record_type: str, id: str) -> Row | None:
        if not isinstance(id, str) or "\0" in id:
            return None
        with self.table.reading():
            return self.table.get(record_type, id)

    def _need(self, record_type: str, id: str) -> Row:
        row = self.table.get(record_type, id) if isinstance(id, str) and "\0" not in id else None
        if row is None:
            raise LessonNotFoundError(f"no {record_type} has the id {id!r}")
        return row

    def _put(self, record_type: str, record: Record) -> Record:
        row = row_of(record_type, record)
        self.table.put(row)
        return row.value()

    def _lessons(self, wanted: Selection) -> list[Record]:
        with self.table.reading():
            return [lesson_of(row) for row in self.table.select(wanted)]

    def _proposals(self, status: str | None, key: str | None, limit: int | None) -> list[Record]:
        word = _word(status, PROPOSAL_STATUSES, "status")
        wanted = Selection(
            "proposal", scope_key=key, statuses=(word,) if word else (), order="created", limit=_count(limit)
        )
        with self.table.reading():
            return [row.value() for row in self.table.select(wanted)]

    def _chain(self, lesson: Record) -> list[Record]:
        """From the oldest to the newest; a chain that was bent into a ring ends where it began."""
        seen = {lesson["id"]}
        chain = [lesson]
        for link, place in (("supersedes", 0), ("superseded_by", -1)):
            while isinstance(other := chain[place].get(link), str) and other not in seen:
                row = self.table.get("lesson", other)
                if row is None:
                    break
                seen.add(other)
                chain.insert(0 if place == 0 else len(chain), lesson_of(row))
        return chain

    def _audit(
        self, id: str, at: str, actor: str, action: str, record_type: str, record_id: str, details: Record
    ) -> None:
        if len(id) > 200:
            id = uuid.uuid5(uuid.NAMESPACE_OID, id).hex
        if self.table.get("audit", id) is None:
            entry: Record = {"id": id, "at": at, "actor": actor, "action": action, "record_type": record_type}
            entry |= {"record_id": record_id, "details": details, "seq": self.table.last_seq() + 1}
            self._put("audit", entry)


def _word(value: str | None, known: tuple[str, ...], name: str, *, needed: bool = False) -> str | None:
    if (value is not None or needed) and value not in known:
        raise LessonValidationError(f"{name} is {value!r}; known: {', '.join(known)}")
    return value


def _count(limit: int | None) -> int | None:
    if limit is not None and (type(limit) is not int or limit < 0):
        raise LessonValidationError("limit must be a whole number, at least 0")
    return limit
