"""Findings as workflow commands, which GitHub shows beside the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontoref.interaction.finding import Finding
from ontoref.interaction.validate import Summary

__all__ = ["render"]


def render(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """One command a finding. Source: what the runner's own toolkit escapes in messages and properties."""
    for finding in findings:
        fields = [f"file={_property(finding.path)}"]
        if finding.line:
            fields.append(f"line={finding.line}")
        if finding.column:
            fields.append(f"col={finding.column}")
        where = f" {finding.pointer}" if finding.pointer else ""
        fields.append(f"title={_property(f'{finding.rule}{where}')}")
        parts = [finding.message]
        if finding.meant:
            parts.append(finding.meant)
        if finding.allowed:
            parts.append(f"one of: {' '.join(finding.allowed)}")
        if finding.hint:
            parts.append(finding.hint)
        yield f"::{finding.severity} {','.join(fields)}::{_message(chr(10).join(parts))}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
