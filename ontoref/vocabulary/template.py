"""A record to fill in, made from the vocabulary: each placeholder says what may stand in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ontoref.vocabulary.model import RECORD, Facet, Vocabulary

__all__ = ["template_of"]

# What `record` fills in, or what only another command writes.
_FILLED_IN = frozenset(
    {"schema_version", "id", "session_id", "recorded_at", "revision", "vocabulary", "origin", "witness"}
)
_SELDOM = frozenset({"parent_record", "supersedes", "started_at", "ended_at", "op_ref", "adr", "refs"})


def template_of(vocabulary: Vocabulary, given: Mapping[str, str], *, minimal: bool) -> dict[str, Any]:
    """A record with placeholders `<…>`; given are words that are known already."""
    record: dict[str, Any] = {}
    for facet in vocabulary.noun(RECORD).values():
        if "." in facet.path or facet.path in _FILLED_IN:
            continue
        if facet.path in given:
            record[facet.path] = given[facet.path]
        elif facet.required or not (minimal or facet.path in _SELDOM):
            record[facet.path] = _placeholder(vocabulary, facet, minimal)
    return record


def _placeholder(vocabulary: Vocabulary, facet: Facet, minimal: bool) -> Any:
    if facet.noun is not None:
        inner = {
            f.path: _placeholder(vocabulary, f, minimal)
            for f in vocabulary.noun(facet.noun).values()
            if "." not in f.path and (f.required or not (minimal or f.path in _SELDOM))
        }
        return [inner] if facet.many else inner
    value: Any
    if facet.type == "boolean":
        value = f"<true or false: {facet.description}>"
    elif facet.enum is not None:
        words = " | ".join(m.name for m in vocabulary.enum(facet.enum).members if not m.deprecated)
        value = f"<{words}>"
    else:
        value = f"<{facet.description}>"
    return [value] if facet.many else value
