"""Answers to questions about a log: rows, in order, each from the lines that can hold it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ontoref.interaction.ask import Ask, Report
from ontoref.interaction.blocks import Stretch, shares
from ontoref.interaction.logs import unreadable
from ontoref.interaction.parallel import Crew, usable_cores
from ontoref.interaction.question import Question
from ontoref.interaction.spill import Entry, Spill, merge
from ontoref.vocabulary import Vocabulary

__all__ = ["Answer", "Skipped", "answer", "first_look", "skipped_of"]


class Skipped(NamedTuple):
    """A line that is no JSON object, or a file that cannot be read.

    Units: offset_bytes from the start of the file; below 0 it is -errno, and the file as a whole is meant.
    """

    path: str
    offset_bytes: int

    @property
    def reason(self) -> str:
        """Why it was skipped, for people."""
        return "the line is no JSON object" if self.offset_bytes >= 0 else unreadable(-self.offset_bytes)

    def line_number(self) -> int | None:
        """The line's number, 1-based; None for a file. Errors: OSError."""
        if self.offset_bytes < 0:
            return None
        number, left = 1, self.offset_bytes
        with open(self.path, "rb") as file:
            while left and (piece := file.read(min(left, 1 << 20))):
                number += piece.count(b"\n")
                left -= len(piece)
        return number


class Answer(NamedTuple):
    """Rows as JSON texts, in order, to be read once.

    Shape: found counts the rows before a limit, records the lines that were looked through.
    """

    rows: Iterator[bytes]
    found: int
    records: int
    skipped: list[Skipped]


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
    """
    ask = Ask(question, vocabulary, everything)
    crew = Crew(shares(paths, usable_cores() if jobs is None else jobs), ask.work)
    first = first_look(crew, ask)
    streams = crew.answers
    summaries = crew.reports()
    found = sum(count for count, _ in summaries)
    skipped = first.skipped.union(*(places for _, places in summaries))
    if ask.grouped:
        grouped = Spill(limit=question.limit, reverse=question.reverse)
        grouped.extend(ask.groups(streams))
        found = grouped.count
        entries = iter(grouped)
    else:
        entries = merge(streams, reverse=question.reverse)
    rows = (row for _, row in _first(entries, question.limit))
    return Answer(rows, found, first.lines, skipped_of(skipped, paths))


def skipped_of(places: Iterable[tuple[int, int]], paths: Sequence[str]) -> list[Skipped]:
    """What was skipped, in order, from (file, offset) or (file, -errno)."""
    return [Skipped(paths[file], offset) for file, offset in sorted(places)]


def first_look(crew: Crew[list[Stretch]], ask: Ask) -> Report:
    """What the first reports of a crew tell together; the crew is told what it needs to go on."""
    first = Report()
    for plain in crew.reports():
        first.add(plain)
    crew.tell((first.superseded, first.names() if ask.by_name else None))
    return first


def _first(entries: Iterator[Entry], limit: int | None) -> Iterator[Entry]:
    for number, entry in enumerate(entries):
        if number == limit:
            return
        yield entry
