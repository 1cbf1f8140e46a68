"""What a store quotes of sessions that were deleted, taken out of it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from ontoref.lesson.contract import Record, Table
from ontoref.lesson.records import Row, Selection, row_of
from ontoref.state.faults import step

__all__ = ["Forgotten", "forget_sessions", "quoting"]


@dataclass(slots=True)
class Forgotten:
    """What went, or would go: how many of each.

    Shape: quotes counts lessons and decided proposals that stay and only lost their excerpts. wiped is false while a
           reader keeps old pages.
    """

    candidates: int = 0
    proposals: int = 0
    quotes: int = 0
    wiped: bool = True

    @property
    def anything(self) -> bool:
        """Whether there was something to forget."""
        return bool(self.candidates or self.proposals or self.quotes)


@dataclass(slots=True)
class _Plan:
    gone: list[Row] = field(default_factory=list)
    changed: list[Row] = field(default_factory=list)
    found: Forgotten = field(default_factory=Forgotten)


def quoting(table: Table, session_ids: Set[str]) -> Forgotten:
    """What `forget_sessions` would take out. Errors: those of the table."""
    with table.reading():
        return _plan(table, session_ids).found


def forget_sessions(table: Table, session_ids: Set[str], now: str) -> Forgotten:
    """Take out what was captured from sessions, all at once; again is fine.

    Shape:  their candidates go, whatever became of them, and proposals that rest on nothing else and were not
            accepted. What a person accepted stays, and proposals that others bear out; both keep where they were
            seen, and lose the excerpts. Insights of interaction records stand in the repository, and stay.
    Errors: those of the table; then nothing has changed.
    """
    with table.writing():
        plan = _plan(table, session_ids)
        for row in plan.gone:
            table.remove(row.record_type, row.id)
        for row in plan.changed:
            # Whoever keeps older forms of a row forgets them as well.
            table.remove(row.record_type, row.id)
            table.put(row)
        if plan.found.anything:
            table.put(_trace(plan.found, table.last_seq() + 1, now))
    step("delete:forgotten")
    plan.found.wiped = table.wipe()
    return plan.found


def _plan(table: Table, session_ids: Set[str]) -> _Plan:
    plan = _Plan()
    left: dict[str, Record] = {}
    for row in table.select(Selection("candidate", order="created")):
        candidate = row.value()
        if candidate.get("session_id") in session_ids and not candidate.get("record_id"):
            plan.gone.append(row)
        else:
            left[row.id] = candidate
    gone = {row.id for row in plan.gone}
    plan.found.candidates = len(gone)
    for row in table.select(Selection("proposal", order="created")):
        proposal = row.value()
        sources = proposal.get("source_candidate_ids") or []
        draft = proposal.get("draft") or {}
        others = [left[id] for id in sources if id in left]
        evidence = _without_excerpts(draft.get("evidence"), session_ids, others)
        if evidence is None and gone.isdisjoint(sources):
            continue
        if proposal.get("status") != "accepted" and not _is_borne_out(draft.get("evidence"), session_ids, others):
            plan.gone.append(row)
            plan.found.proposals += 1
            continue
        changed = {**proposal, "draft": draft if evidence is None else {**draft, "evidence": evidence}}
        if sources and sources[0] in gone:
            # What was said before comes from whichever candidate was the first.
            changed.pop("context", None)
        if changed != proposal:
            plan.changed.append(row_of("proposal", changed))
            plan.found.quotes += 1
    for row in table.select(Selection("lesson")):
        lesson = row.value()
        evidence = _without_excerpts(lesson.get("evidence"), session_ids, ())
        if evidence is not None:
            # It did not age, so updated_at stays; the version tells other stores which is the later one.
            version = lesson.get("version")
            later = {"version": version + 1} if isinstance(version, int) else {}
            plan.changed.append(row_of("lesson", {**lesson, **later, "evidence": evidence}))
            plan.found.quotes += 1
    return plan


def _without_excerpts(evidence: Any, session_ids: Set[str], kept: Any) -> list[Any] | None:
    """The evidence without the words of those sessions; None if it holds none of them. kept are other candidates."""
    if not isinstance(evidence, list):
        return None
    new = [
        {name: value for name, value in one.items() if name != "excerpt"} if _quotes(one, session_ids, kept) else one
        for one in evidence
    ]
    return None if new == evidence else new


def _quotes(one: Any, session_ids: Set[str], kept: Any) -> bool:
    if not isinstance(one, Mapping) or one.get("session_id") not in session_ids:
        return False
    return not any((c.get("session_id"), c.get("event_id")) == (one["session_id"], one.get("event_id")) for c in kept)


def _is_borne_out(evidence: Any, session_ids: Set[str], others: list[Record]) -> bool:
    """Whether something else than those sessions speaks for a proposal."""
    if others:
        return True
    found = evidence if isinstance(evidence, list) else []
    return any(not isinstance(one, Mapping) or one.get("session_id") not in session_ids for one in found)


def _trace(found: Forgotten, seq: int, now: str) -> Row:
    details = {"candidates": found.candidates, "proposals": found.proposals, "quotes": found.quotes}
    entry = {"id": f"forgot:{seq}:{now}", "at": now, "actor": "session delete", "action": "forget"}
    return row_of("audit", {**entry, "record_type": "candidate", "record_id": "", "details": details, "seq": seq})
