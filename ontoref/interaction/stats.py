"""How often each word of each facet occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ontoref.interaction.ask import Ask
from ontoref.interaction.blocks import Stretch, shares
from ontoref.interaction.parallel import Crew, usable_cores
from ontoref.interaction.query import Skipped, first_look, skipped_of
from ontoref.interaction.question import Question
from ontoref.interaction.where import Reach
from ontoref.vocabulary import Vocabulary

__all__ = ["Counts", "count_facets"]


@dataclass(frozen=True, slots=True)
class Counts:
    """Shape: rows are {facet, value, count}, facets in the order of the vocabulary, the most frequent first."""

    rows: list[dict[str, Any]]
    records: int
    matching: int
    skipped: list[Skipped]


def count_facets(question: Question, paths: Sequence[str], vocabulary: Vocabulary, *, jobs: int | None) -> Counts:
    """Count every enum and every yes or no of the records that a question about records keeps."""
    facets = _countable(vocabulary)
    ask = Ask(question, vocabulary, False)

    def count(share: list[Stretch], hear: Callable[[], Any]) -> Iterator[Any]:
        yield ask.survey(share).plain()
        ask.superseded, _ = hear()
        tally: Counter[tuple[str, str | bool]] = Counter()
        skipped: set[tuple[int, int]] = set()
        matching = 0
        for record in ask.records(share, skipped):
            matching += 1
            for path, reach in facets.items():
                tally.update((path, v) for v in reach.values(record, None) if isinstance(v, str | bool))
        yield matching, dict(tally), skipped

    total: Counter[tuple[str, str | bool]] = Counter()
    crew = Crew(shares(paths, usable_cores() if jobs is None else jobs), count)
    first = first_look(crew, ask)
    matching, skipped = 0, set(first.skipped)
    for part, tally, places in crew.reports():
        matching += part
        total.update(tally)
        skipped |= places
    order = {path: number for number, path in enumerate(facets)}
    found = sorted(total.items(), key=lambda item: (order[item[0][0]], -item[1], str(item[0][1])))
    rows = [{"facet": path, "value": value, "count": number} for (path, value), number in found]
    return Counts(rows, first.lines, matching, skipped_of(skipped, paths))


def _countable(vocabulary: Vocabulary) -> dict[str, Reach]:
    """Paths of facets whose values are few, from a record into its arrays."""
    found: dict[str, Reach] = {}
    for path, facet in vocabulary.noun().items():
        if facet.enum or facet.type == "boolean":
            found[path] = Reach(True, tuple(path.split(".")))
        if facet.many and facet.noun:
            for inner, part in vocabulary.noun(facet.noun).items():
                if part.enum or part.type == "boolean":
                    found[f"{path}.{inner}"] = Reach(True, (*path.split("."), *inner.split(".")))
    return found
