"""Findings for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontoref.interaction.finding import Finding
from ontoref.interaction.report import as_text
from ontoref.interaction.validate import Summary

__all__ = ["render"]


def render(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """Two or three lines a finding; the count is said elsewhere, on stderr."""
    for finding in findings:
        yield as_text(finding) + "\n"
