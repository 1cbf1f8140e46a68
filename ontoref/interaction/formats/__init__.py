"""Findings for machines: one shape, written the way each reader wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ontoref.interaction.finding import Finding
from ontoref.interaction.formats import github, json_forms, junit, sarif, text
from ontoref.interaction.validate import Summary

__all__ = ["FORMATS"]

# A format turns findings into pieces of text as they come; the summary is complete once they are drawn.
FORMATS: dict[str, Callable[[Iterable[Finding], Summary], Iterator[str]]] = {
    "text": text.render,
    "json": json_forms.render_json,
    "jsonl": json_forms.render_jsonl,
    "github": github.render,
    "sarif": sarif.render,
    "junit": junit.render,
}
