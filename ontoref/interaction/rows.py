"""The seven rows that a query can ask for: what each is one of, and what a table shows of it."""

from __future__ import annotations

from typing import NamedTuple

from ontoref.vocabulary import Facet, Vocabulary

__all__ = ["RECORD", "ROWS", "Column", "Row", "columns_of", "header_fields"]

RECORD = "InteractionRecord"


class Column(NamedTuple):
    """Shape: path is dotted into the row; day shortens a time to its date, minute to its minute."""

    path: str
    header: str
    style: str = ""


class Row(NamedTuple):
    """One kind of answer.

    Shape: field is the array of a record that holds what the row is one of ("" where that is the record);
           grouped rows stand for all entries of one name, name_field is that name's field; singular and plural
           are for sentences; a table shows lead, then the noun's other facets but for hidden, then tail.
    """

    name: str
    singular: str
    field: str
    lead: tuple[Column, ...]
    tail: tuple[Column, ...] = ()
    hidden: frozenset[str] = frozenset()
    name_field: str = ""

    def noun(self, vocabulary: Vocabulary) -> str | None:
        """The noun that the row shows one of; None for rows of plain texts (files, tensions)."""
        return vocabulary.nouns.get(self.field) if self.field else RECORD


_OF_RECORD = (
    Column("record.recorded_at", "recorded", "minute"),
    Column("record.domain", "domain"),
    Column("record.actor", "actor"),
    Column("record.session_id", "session"),
    Column("record.id", "record"),
)
_TALLY = (
    Column("sessions", "sessions"),
    Column("records", "records"),
    Column("last", "last", "day"),
    Column("actors", "actors"),
)

_NOT_IN_TABLE = frozenset(
    (
        "schema_version",
        "session_id",
        "started_at",
        "ended_at",
        "model",
        "revision",
        "parent_record",
        "vocabulary",
        "origin",
        "files_touched",
        "tensions_engaged",
        "supersedes",
    )
)

ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            "records",
            "record",
            "",
            lead=(
                Column("id", "id"),
                Column("recorded_at", "recorded", "minute"),
                Column("actor", "actor"),
                Column("kind", "kind"),
                Column("domain", "domain"),
                Column("category", "category"),
                Column("outcome", "outcome"),
            ),
            tail=(Column("session_id", "session"),),
            hidden=_NOT_IN_TABLE,
        ),
        Row(
            "decisions",
            "decision",
            "decisions",
            name_field="id",
            lead=(
                Column("id", "decision"),
                Column("record.recorded_at", "last", "day"),
                Column("times", "times"),
                Column("sessions", "sessions"),
                Column("reversible", "reversible"),
                Column("status", "status"),
                Column("adr", "adr"),
                Column("record.domain", "domain"),
                Column("alternatives_rejected", "rejected"),
                Column("tensions_engaged", "tensions"),
            ),
            hidden=frozenset(("adr_candidate", "supersedes")),
        ),
        Row("events", "event", "events", lead=(Column("kind", "event"),), tail=_OF_RECORD, hidden=frozenset(("at",))),
        Row("actions", "action", "actions", lead=(Column("kind", "action"),), tail=_OF_RECORD),
        Row("insights", "insight", "insights", lead=(Column("kind", "insight"),), tail=_OF_RECORD),
        Row("files", "file", "files_touched", name_field="file", lead=(Column("file", "file"), *_TALLY)),
        Row(
            "tensions",
            "tension",
            "tensions_engaged",
            name_field="tension",
            lead=(Column("tension", "tension"), Column("decisions", "decisions"), *_TALLY),
        ),
    )
}


def columns_of(row: Row, vocabulary: Vocabulary) -> tuple[Column, ...]:
    """What a table shows. A facet that a project adds to the noun is among it, prose never is."""
    noun = row.noun(vocabulary)
    shown = {column.path for column in (*row.lead, *row.tail)}
    more = [
        Column(path, path)
        for path, facet in (vocabulary.noun(noun).items() if noun else ())
        if _plain(facet) and path not in shown and path not in row.hidden
    ]
    return (*row.lead, *more, *row.tail)


def header_fields(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Fields of a record that stand beside each of its parts: its facets, no arrays, no prose."""
    return tuple(path for path, facet in vocabulary.noun().items() if _plain(facet) and not facet.many)


def _plain(facet: Facet) -> bool:
    return not facet.prose and not facet.noun and "." not in facet.path
