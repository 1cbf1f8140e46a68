"""Records of another store taken into a table as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ontoref.lesson.contract import Record, Table
from ontoref.lesson.errors import LessonValidationError
from ontoref.lesson.forms import age_of, completed_candidate, completed_proposal
from ontoref.lesson.lifecycle import apply_legacy_lesson_defaults
from ontoref.lesson.records import RECORD_TYPES, Row, Selection, checked, row_of

__all__ = ["Loaded", "load"]


@dataclass(slots=True)
class Loaded:
    """What a load did: rows that were new, that replaced older ones, that were there, that a newer one shuts out."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    older: int = 0


def load(table: Table, records: Iterable[tuple[str, Record]]) -> Loaded:
    """Take in records of another store as they are; running it twice is running it once.

    Shape:  of two versions the one with the higher version stays, then the one updated later. An audit entry
            whose seq is taken gets the next one. All in one transaction.
    Errors: LessonValidationError, and then nothing was taken in.
    """
    done = Loaded()
    rows = [_incoming(*pair) for pair in records]
    with table.writing():
        taken = {row.seq for row in table.select(Selection("audit", order="seq"))}
        last = max([0, *taken])
        for row in rows:
            old = table.get(row.record_type, row.id)
            if old is not None:
                if row.record_type == "audit" or row.value() == old.value():
                    done.unchanged += 1
                    continue
                if age_of(row) <= age_of(old):
                    done.older += 1
                    continue
                done.updated += 1
            else:
                done.added += 1
            if row.record_type == "audit":
                seq = row.seq if row.seq > 0 and row.seq not in taken else max(last, *taken, 0) + 1
                taken.add(seq)
                last = max(last, seq)
                if seq != row.seq:
                    row = row_of("audit", {**row.value(), "seq": seq})
            table.put(row)
    return done


def _incoming(record_type: str, record: Record) -> Row:
    if record_type not in RECORD_TYPES:
        raise LessonValidationError(f"{record_type!r} is no record type; known: {', '.join(RECORD_TYPES)}")
    if not isinstance(record, Mapping) or not isinstance(record.get("id"), str):
        raise LessonValidationError(f"a {record_type} without an id")
    if record_type == "lesson":
        checked("lesson", {"updated_at": "1970-01-01", **apply_legacy_lesson_defaults(record)})
    else:
        whole = {"proposal": completed_proposal, "candidate": completed_candidate}.get(record_type, dict)(record)
        record = {**record, **{name: value for name, value in whole.items() if name not in record}}
        checked(record_type, record)
    return row_of(record_type, record)
