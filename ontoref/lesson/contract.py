"""The contract of every lesson store, and what a backend gives so that one store can stand on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ontoref.lesson.records import Row, Selection

__all__ = ["METHODS", "LessonStore", "Record", "Scope", "Table"]

Record = dict[str, Any]
Scope = Mapping[str, Any]


class LessonStore(Protocol):
    """Lessons, proposals, candidates and the audit trail, wherever they are kept.

    Shape:  records come and go as plain copies. Unknown ids: None from get and find, LessonNotFoundError from
            what would change them. Listings are ordered by (updated_at, latest first; id) unless they say
            otherwise; conditions must all hold; a scope keeps what has the same value at each of its keys.
    Units:  times are ISO 8601 texts, compared as instants. No method reads a clock.
    Errors: LessonValidationError, LessonNotFoundError, LessonConflictError are the caller's; StoreUnavailable
            is the backend's. After an error nothing has changed.
    """

    def list_lessons(
        self,
        scope: Scope | None = None,
        record_kind: str | None = None,
        durability: str | None = None,
        include_inactive: bool = True,
        limit: int | None = None,
    ) -> list[Record]:
        """Lessons; without include_inactive those that were neither superseded nor given an end."""

    def get_lesson(self, id: str) -> Record | None:
        """A lesson in today's form, or None. Reading rewrites nothing."""

    def upsert_lesson(self, lesson: Record, expected_version: int | None = None) -> Record:
        """Insert, or replace as a whole: created_at stays, version counts up. Equal content writes nothing."""

    def merge_lesson(self, id: str, patch: Record, now: str) -> Record:
        """Put the patch's fields in; evidence and tags are united, votes added, observations counted."""

    def list_proposals(self, status: str | None = None, limit: int | None = None) -> list[Record]:
        """Proposals, oldest first."""

    def get_proposal(self, id: str) -> Record | None:
        """A proposal or None."""

    def find_proposal_with_scope(self, id: str, scope: Scope) -> Record | None:
        """{proposal, scope}; None where the id belongs to another scope."""

    def list_proposals_with_scope(self, scope: Scope, status: str | None = None) -> list[Record]:
        """[{proposal, scope}] of exactly this scope, oldest first."""

    def insert_proposal_if_absent(self, proposal: Record) -> Record:
        """{inserted, proposal}: the stored one where the id is taken or the same is pending already."""

    def upsert_proposal(self, proposal: Record) -> Record:
        """Insert or replace. A decision that was made stays: LessonConflictError."""

    def record_proposal_decision(
        self, id: str, verdict: str, decided_by: str, now: str, reason: str | None = None
    ) -> Record:
        """Decide a pending proposal, with an audit entry; the same verdict again changes nothing."""

    def append_audit(self, entry: Record) -> Record:
        """The entry with its seq; an id that is there already gives the first one."""

    def list_audit(
        self, record_id: str | None = None, since_seq: int | None = None, limit: int | None = None
    ) -> list[Record]:
        """Entries by seq, those after since_seq."""

    def supersede_lesson(self, old_id: str, new_lesson: Record, now: str, reason: str | None = None) -> Record:
        """{old, new}: the old one ends now and names the new one; with an audit entry, all or nothing."""

    def list_active_lessons(
        self, now: str, scope: Scope | None = None, record_kind: str | None = None, limit: int | None = None
    ) -> list[Record]:
        """Lessons that hold at now."""

    def get_lesson_chain(self, id: str) -> list[Record]:
        """Every version from the oldest to the newest, whichever of them is named; [] for an unknown one."""

    def describe_backend(self) -> Record:
        """{backend, location, degraded, fallback_reason?, schema_version, counts?}; never connects, no password."""

    def upsert_candidate(self, candidate: Record) -> Record:
        """Insert or replace; what processing has written stays."""

    def get_candidate(self, id: str) -> Record | None:
        """A candidate or None."""

    def list_pending_candidates(self, scope: Scope | None = None, limit: int | None = None) -> list[Record]:
        """Candidates that wait, and those that failed with a try left; oldest first."""

    def mark_candidate_processed(
        self, id: str, outcome: str, now: str, result_ids: Sequence[str] = (), error: str | None = None
    ) -> Record:
        """Note what became of a candidate; with an error it failed, and stays listed while tries are left."""

    def search_lessons(
        self,
        query: str,
        now: str | None = None,
        scope: Scope | None = None,
        record_kind: str | None = None,
        limit: int | None = 20,
    ) -> list[Record]:
        """[{lesson, score}], best first: lessons whose title, statement or tags hold every word of the query."""


METHODS = tuple(name for name in vars(LessonStore) if not name.startswith("_"))


class Table(Protocol):
    """Rows of the four record types, as a backend keeps them.

    Errors: any of the backend's own, but no CallerError.
    """

    backend: str
    location: str

    def reading(self) -> AbstractContextManager[None]:
        """Around reads that belong together."""

    def writing(self) -> AbstractContextManager[None]:
        """Around reads and writes that no other writer comes between: all of them stay, or none."""

    def get(self, record_type: str, id: str) -> Row | None:
        """One row."""

    def select(self, selection: Selection) -> list[Row]:
        """Rows that are wanted, ordered, at most limit."""

    def put(self, row: Row) -> None:
        """Insert or replace. Only inside `writing`."""

    def remove(self, record_type: str, id: str) -> None:
        """Take a row out, with every older form of it that is kept; none is fine. Only inside `writing`."""

    def wipe(self) -> bool:
        """Zero what removed rows left behind, as far as the backend can. False while a reader keeps old pages."""

    def last_seq(self) -> int:
        """The highest seq of the audit trail, 0 without one."""

    def rows(self) -> Iterator[Row]:
        """Every row, by type, audit by seq, the rest by id."""

    def counts(self) -> dict[str, int] | None:
        """How many rows of each type; None where that would need a connection that is not there yet."""

    def close(self) -> None:
        """Let go of what is open; again is fine."""
