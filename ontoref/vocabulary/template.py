"""A record to fill in, made from the vocabulary: each placeholder says what may stand in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ontoref.vocabulary.model import RECORD, Facet, Vocabulary

__all__ = ["template_of", "unfilled"]

# What `record` fills in, or what only another command writes.
_FILLED_IN = frozenset(
    {"schema_version", "id", "session_id", "recorded_at", "revision", "vocabulary", "origin", "witness"}
)
_SELDOM = frozenset({"parent_record", "supersedes", "started_at", "ended_at", "op_ref", "adr", "refs"})


def template_of(vocabulary: Vocabulary, given: Mapping[str, str], *, minimal: bool) -> dict[str, Any]:
    """A record with placeholders `<…>`; given are words that are known already.

    Shape: prose is null, since whatever text stands there is prose; `record` takes a null for nothing.
    """
    record: dict[str, Any] = {}
    for facet in vocabulary.noun(RECORD).values():
        if "." in facet.path or facet.path in _FILLED_IN:
            continue
        if facet.path in given:
            record[facet.path] = given[facet.path]
        elif facet.required or not (minimal or facet.path in _SELDOM):
            record[facet.path] = _placeholder(vocabulary, facet, minimal)
    return record


def unfilled(
    vocabulary: Vocabulary, record: Mapping[str, Any], noun: str = RECORD, at: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """Where a template's placeholder stands still, as steps from the record. Prose is not looked at."""
    for facet in vocabulary.noun(noun).values():
        if "." in facet.path or facet.prose or facet.path not in record:
            continue
        value, steps = record[facet.path], (*at, facet.path)
        many = facet.many and isinstance(value, list)
        for here, item in (((*steps, n), item) for n, item in enumerate(value)) if many else [(steps, value)]:
            if facet.noun is not None:
                if isinstance(item, dict):
                    yield from unfilled(vocabulary, item, facet.noun, here)
            elif item == _text(vocabulary, facet):
                yield here


def _placeholder(vocabulary: Vocabulary, facet: Facet, minimal: bool) -> Any:
    if facet.noun is not None:
        inner = {
            f.path: _placeholder(vocabulary, f, minimal)
            for f in vocabulary.noun(facet.noun).values()
            if "." not in f.path and (f.required or not (minimal or f.path in _SELDOM))
        }
        return [inner] if facet.many else inner
    if facet.prose:
        return None
    value = _text(vocabulary, facet)
    return [value] if facet.many else value


def _text(vocabulary: Vocabulary, facet: Facet) -> str:
    if facet.type == "boolean":
        return f"<true or false: {facet.description}>"
    if facet.enum is not None:
        words = " | ".join(m.name for m in vocabulary.enum(facet.enum).members if not m.deprecated)
        return f"<{words}>"
    return f"<{facet.description}>"
