"""The where language: what it accepts, what it refuses, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from ontoref.errors import UsageError
from ontoref.globs import glob_pattern
from ontoref.interaction.filters import conditions_of, known_columns
from ontoref.interaction.moments import order_key, parse_moment
from ontoref.interaction.rows import ROWS, columns_of
from ontoref.interaction.where import WhereError, parse_where
from ontoref.vocabulary import Vocabulary, load


@pytest.fixture(scope="session")
def words() -> Vocabulary:
    return load()


RECORD: dict[str, Any] = {
    "schema_version": 1,
    "kind": "Fix",
    "domain": "Storage",
    "model": "a, b",
    "files_touched": ["a.py"],
    "decisions": [{"id": "one", "reversible": True}, {"id": "two", "reversible": False}],
    "witness": {"op_id": "op-1", "prose": [{"at": "/summary"}]},
}
EVENT = {"kind": "Request", "op_ref": "op-1"}


@pytest.mark.parametrize(
    ("noun", "term", "holds"),
    [
        ("InteractionRecord", "kind=Fix", True),
        ("InteractionRecord", "kind=Feature", False),
        ("InteractionRecord", "kind=Feature,Fix", True),
        ("InteractionRecord", "kind!=Fix", False),
        ("InteractionRecord", "kind!=Feature,Review", True),
        ("InteractionRecord", "record.kind=Fix", True),
        ("InteractionRecord", " kind = Fix".replace(" = ", "="), True),
        ("InteractionRecord", "category!=Todo", True),
        ("InteractionRecord", "schema_version=1", True),
        ("InteractionRecord", r"model=a\, b", True),
        ("InteractionRecord", "model=a, b", False),
        ("InteractionRecord", "files_touched=a.py", True),
        ("InteractionRecord", "decisions.reversible=false", True),
        ("InteractionRecord", "decisions.reversible=true", True),
        ("InteractionRecord", "decisions.reversible!=true", False),
        ("InteractionRecord", "decisions.id=three", False),
        ("InteractionRecord", "witness.op_id=op-1", True),
        ("InteractionRecord", "witness.prose.at=/summary", True),
        ("Event", "kind=Request", True),
        ("Event", "kind=Question", False),
        ("Event", "record.kind=Fix", True),
        ("Event", "domain=Storage", True),
        ("Event", "record.decisions.id=two", True),
        ("Event", "decisions.id=two", True),
        ("InteractionRecord", "tensions_engaged=a-new-tension", False),
    ],
)
def test_a_term_holds(words: Vocabulary, noun: str, term: str, holds: bool) -> None:
    element = EVENT if noun == "Event" else RECORD
    assert parse_where(term, noun, words).holds(RECORD, element) is holds


@pytest.mark.parametrize(
    ("noun", "term", "message"),
    [
        ("InteractionRecord", "summary=validator", "summary is prose, and prose is never a filter (ADR-0002)."),
        ("InteractionRecord", "summary!=x", "summary is prose"),
        ("Decision", "rationale=x", "rationale is prose"),
        ("Event", "note=x", "note is prose"),
        ("Event", "record.summary=x", "record.summary is prose"),
        ("InteractionRecord", "events.note=x", "events.note is prose"),
        ("InteractionRecord", "decisions.rationale=x", "decisions.rationale is prose"),
        ("InteractionRecord", "kind=Fxi", 'kind: "Fxi" is not a Kind | did you mean "Fix"?'),
        ("InteractionRecord", "outcome=Done", 'outcome: "Done" is not an Outcome'),
        ("InteractionRecord", "kind=Fix,Fxi", '"Fxi" is not a Kind'),
        ("InteractionRecord", "knd=Fix", 'there is no facet "knd" | did you mean "kind"?'),
        ("Event", "record.knd=Fix", 'did you mean "record.kind"?'),
        ("InteractionRecord", "kind.x=Fix", "there is no facet"),
        ("InteractionRecord", "record=Fix", "there is no facet"),
        ("InteractionRecord", "decisions.reversible=yes", '"yes" is neither true nor false'),
        ("InteractionRecord", "schema_version=one", "no whole number"),
        ("InteractionRecord", "recorded_at=2026-11-30", "use --since and --until"),
        ("InteractionRecord", "decisions=x", "decisions.reversible"),
        ("InteractionRecord", "witness=x", "witness.op_id"),
        ("InteractionRecord", "kind=", "the value is missing"),
        ("InteractionRecord", "kind", "is no condition"),
        ("InteractionRecord", "kind~Fix", "is no condition"),
        ("InteractionRecord", "", "is no condition"),
        ("InteractionRecord", "=Fix", "is no condition"),
    ],
)
def test_a_term_is_refused_with_the_reason(words: Vocabulary, noun: str, term: str, message: str) -> None:
    with pytest.raises(WhereError) as caught:
        parse_where(term, noun, words)
    said = f"{caught.value.message} | {caught.value.hint}"
    assert all(part in said for part in message.split(" | "))


def test_no_plain_option_and_no_default_column_reaches_prose(words: Vocabulary) -> None:
    """S4-4: prose is never a filter axis, and no table shows it unasked."""
    for row in ROWS.values():
        shown = {column.path for column in columns_of(row, words)}
        assert not shown & {"summary", "rationale", "note", "record.summary"}
    with pytest.raises(WhereError, match="is not a Kind"):
        conditions_of(ROWS["records"], words, options={"kind": ["validator"]})


def test_known_columns_hold_what_a_row_has(words: Vocabulary) -> None:
    assert {"id", "times", "sessions", "rationale", "record.domain"} <= set(known_columns(ROWS["decisions"], words))


@pytest.mark.parametrize(
    ("glob", "path", "meant"),
    [
        ("a/b.py", "a/b.py", True),
        ("a", "a/b.py", True),
        ("a/", "a/b.py", True),
        ("a", "ab/c.py", False),
        ("./a/*.py", "a/b.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**", "a/b/c.py", True),
        ("**/c.py", "c.py", True),
        ("**/c.py", "a/b/c.py", True),
        ("a/**/c.py", "a/c.py", True),
        ("a/?.py", "a/b.py", True),
        ("a?b.py", "a/b.py", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("[a-c].py", "b.py", True),
        ("[", "[", True),
        ("*.py", "A.PY", False),
        ("a.b", "axb", False),
    ],
)
def test_a_glob_means_a_path(glob: str, path: str, meant: bool) -> None:
    assert bool(glob_pattern(glob).fullmatch(path)) is meant


def test_moments_sort_as_time_does_whatever_their_spelling() -> None:
    ordered = [
        "2026-11-30T18:04:05Z",
        "2026-11-30T18:04:05.123Z",
        "2026-11-30T18:04:06Z",
        "2026-11-30T20:04:07+01:00",
        "2026-12-01T00:00:00.000Z",
    ]
    assert sorted(reversed(ordered), key=order_key) == ordered
    assert order_key("2026-12-01T00:00:00.000Z") == order_key("2026-12-01T01:00:00+01:00")
    assert order_key("soon") == order_key(7) == ""


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("2026-11-30", "2026-11-30T00:00:00"),
        ("2026-11-30T18:04:05Z", "2026-11-30T18:04:05"),
        ("2026-11-30T18:04:05.25+02:00", "2026-11-30T16:04:05.25"),
        ("15m", "2026-03-31T11:45:00"),
        ("6h", "2026-03-31T06:00:00"),
        ("7d", "2026-03-24T12:00:00"),
        ("2w", "2026-03-17T12:00:00"),
        ("1mo", "2026-02-28T12:00:00"),
        ("5mo", "2025-10-31T12:00:00"),
        ("1y", "2025-03-31T12:00:00"),
    ],
)
def test_a_moment_is_read(typed: str, key: str) -> None:
    from datetime import UTC, datetime

    assert parse_moment(typed, datetime(2026, 3, 31, 12, tzinfo=UTC), "--since") == key


@pytest.mark.parametrize(
    "typed", ["", "yesterday", "2026-13-01", "2026-02-30", "7", "7x", "99999y", "2026-11-30T25:00:00Z"]
)
def test_an_unreadable_moment_is_an_error(typed: str) -> None:
    from datetime import UTC, datetime

    with pytest.raises(UsageError, match="--until"):
        parse_moment(typed, datetime(2026, 3, 31, tzinfo=UTC), "--until")
