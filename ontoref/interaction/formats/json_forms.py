"""Findings as JSON: one object with the summary, or one finding a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from ontoref.interaction.finding import Finding
from ontoref.interaction.validate import Summary

__all__ = ["render_json", "render_jsonl"]


def render_json(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """`{"findings": […], "summary": {…}}`, written as the findings come."""
    yield '{"findings":['
    for number, finding in enumerate(findings):
        yield ("," if number else "") + orjson.dumps(finding.as_json()).decode()
    counted = {
        "records": summary.records,
        "files": summary.files,
        "errors": summary.errors,
        "warnings": summary.warnings,
    }
    yield '],"summary":' + orjson.dumps(counted).decode() + "}\n"


def render_jsonl(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """One finding a line; nothing where there is none."""
    for finding in findings:
        yield orjson.dumps(finding.as_json(), option=orjson.OPT_APPEND_NEWLINE).decode()
