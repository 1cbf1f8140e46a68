"""Answers to questions about a log: rows, in order, each from the lines that can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoref.interaction.ask import Ask, Survey
from ontoref.interaction.blocks import Stretch, shares
from ontoref.interaction.parallel import spread, usable_cores
from ontoref.interaction.rows import Row
from ontoref.interaction.spill import Entry, Spill, merge
from ontoref.interaction.where import Condition
from ontoref.vocabulary import Vocabulary

__all__ = ["Answer", "Question", "Skipped", "answer", "survey"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Shape: a row is kept if every condition holds; since and until are `order_key`s of the record's time, since
           included, until not; history keeps superseded records and every entry of a decision; standing keeps
           decisions whose latest entry is flagged, has no ADR and is not closed.
    """

    row: Row
    conditions: tuple[Condition, ...] = ()
    since: str = ""
    until: str = ""
    history: bool = False
    standing: bool = False
    sort: tuple[str, ...] = ()
    reverse: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no JSON object. Units: offset_bytes from the start of the file."""

    path: str
    offset_bytes: int

    def line_number(self) -> int:
        """The line's number, 1-based. Errors: OSError."""
        number, left = 1, self.offset_bytes
        with open(self.path, "rb") as file:
            while left and (piece := file.read(min(left, 1 << 20))):
                number += piece.count(b"\n")
                left -= len(piece)
        return number


@dataclass(slots=True)
class Answer:
    """Rows as JSON texts, in order, to be read once.

    Shape: found counts the rows before a limit, records the lines that were looked through.
    """

    rows: Iterator[bytes]
    found: int
    records: int
    skipped: list[Skipped] = field(default_factory=list)


def answer(
    question: Question,
    paths: Sequence[str],
    vocabulary: Vocabulary,
    *,
    jobs: int | None = None,
    everything: bool = False,
) -> Answer:
    """The rows that answer a question, from the logs at paths.

    Shape:  ordered by (recorded_at, id) of the record, then by place, unless the question sorts otherwise;
            everything decodes each line instead of searching (the tests compare both).
    Errors: OSError for a log that cannot be read.
    """
    ask = Ask(question, vocabulary, everything)
    parts, first = survey(ask, paths, jobs)
    streams = spread(parts, ask.collect)
    summaries = [next(stream) for stream in streams]
    found = sum(count for count, _ in summaries)
    skipped = sorted(first.skipped | {place for _, places in summaries for place in places})
    entries = merge(streams, reverse=question.reverse and not ask.grouped)
    result = Answer(iter(()), found, first.lines, [Skipped(paths[file], offset) for file, offset in skipped])
    if ask.grouped:
        grouped = Spill(limit=question.limit, reverse=question.reverse)
        for entry in ask.groups(entries):
            grouped.add(entry)
        result.found = grouped.count
        entries = iter(grouped)
    result.rows = (row for _, row in _first(entries, question.limit))
    return result


def survey(ask: Ask, paths: Sequence[str], jobs: int | None) -> tuple[list[list[Stretch]], Survey]:
    """The log cut into shares, and what a first look over them tells; ask is told too.

    Errors: OSError for a log that cannot be read.
    """
    parts = shares(paths, usable_cores() if jobs is None else jobs)
    first = Survey()
    for summary in _each(spread(parts, ask.survey)):
        first.add(summary)
    ask.superseded = first.superseded
    if ask.by_name:
        ask.names = {name for record, name in first.matches if record not in first.superseded}
    return parts, first


def _each(streams: Iterable[Iterator[Any]]) -> Iterator[Any]:
    for stream in streams:
        yield from stream


def _first(entries: Iterator[Entry], limit: int | None) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if number == limit:
            return
        yield entry
