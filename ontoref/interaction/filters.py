"""The plain options of a query (`--kind`, `--file`, `--tension` …) as conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ontoref.errors import UsageError
from ontoref.interaction.rows import Row
from ontoref.interaction.where import (
    RECORD,
    Condition,
    Reach,
    condition,
    did_you_mean,
    parse_where,
    paths_of,
    touching,
)
from ontoref.vocabulary import Vocabulary

__all__ = ["OPTION_FACETS", "conditions_of", "known_columns", "resolve_columns"]

# A plain option is about the record, whatever row is asked for; the field that it filters.
OPTION_FACETS = {
    "actor": "actor",
    "kind": "kind",
    "domain": "domain",
    "category": "category",
    "outcome": "outcome",
    "session": "session_id",
}


def conditions_of(
    row: Row,
    vocabulary: Vocabulary,
    *,
    where: Iterable[str] = (),
    options: Mapping[str, Sequence[str]] | None = None,
    files: Sequence[str] = (),
    tensions: Sequence[str] = (),
) -> tuple[Condition, ...]:
    """Every condition that a row has to meet.

    Shape:  options maps names of OPTION_FACETS to the values given, any of which will do; so do files (globs)
            and tensions; where are terms of the where language, all of which must hold.
    Errors: WhereError for what the vocabulary cannot answer.
    """
    noun = row.noun(vocabulary)
    found = [parse_where(term, noun, vocabulary) for term in where]
    facets = vocabulary.noun(RECORD)
    for option, given in (options or {}).items():
        values = [value for text in given for value in text.split(",")]
        field = OPTION_FACETS[option]
        if values:
            found.append(condition((Reach(True, (field,)),), facets[field], f"--{option}", values, vocabulary))
    if files:
        found.append(touching(files, "files_touched", own=row.name == "files"))
    if tensions:
        found.append(_engaging(tensions, row, vocabulary))
    return tuple(found)


def _engaging(tensions: Sequence[str], row: Row, vocabulary: Vocabulary) -> Condition:
    """A tension that the record or one of its decisions engaged; a decision's own or its record's."""
    field = "tensions_engaged"
    of_record = Reach(True, (field,))
    if row.name == "tensions":
        reaches: tuple[Reach, ...] = (Reach(False, ()),)
    elif row.name == "decisions":
        reaches = (Reach(False, (field,)), of_record)
    else:
        reaches = (of_record, Reach(True, ("decisions", field)))
    facet = vocabulary.noun(RECORD)[field]
    values = [value for text in tensions for value in text.split(",")]
    return condition(reaches, facet, "--tension", values, vocabulary)


def known_columns(row: Row, vocabulary: Vocabulary) -> list[str]:
    """Every path that a row of this kind can have."""
    noun = row.noun(vocabulary)
    own = [column.path for column in (*row.lead, *row.tail)]
    own += list(vocabulary.noun(noun)) if noun else []
    beside = [] if noun == RECORD or noun is None else [f"record.{name}" for name in vocabulary.noun(RECORD)]
    return list(dict.fromkeys([*own, *beside]))


def resolve_columns(text: str, option: str, row: Row, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Paths that a person named, by path or by what heads the table's column.

    Errors: UsageError for a name that no row of this kind has.
    """
    known = known_columns(row, vocabulary)
    by_header = {column.header: column.path for column in (*row.lead, *row.tail)}
    paths = []
    for name in (part.strip() for part in text.split(",")):
        path = name if name in known else by_header.get(name)
        if path is None:
            raise UsageError(f'{option}: there is no column "{name}"', hint=did_you_mean(name, [*by_header, *known]))
        paths.append(path)
    return tuple(paths)


def completions(row: Row, vocabulary: Vocabulary) -> list[str]:
    """What can stand before the `=` of a condition on a row."""
    noun = row.noun(vocabulary)
    own = paths_of(noun, vocabulary) if noun else []
    return list(
        dict.fromkeys(
            [*own, *(f"record.{path}" for path in paths_of(RECORD, vocabulary)), *paths_of(RECORD, vocabulary)]
        )
    )
