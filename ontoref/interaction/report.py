"""Findings as text for people and agents: the place, what is wrong, and what would be right."""

from __future__ import annotations

from ontoref.interaction.finding import Finding
from ontoref.text import printable

__all__ = ["as_text"]

_WIDTH = 76


def as_text(finding: Finding) -> str:
    """Two or three lines: `path:line:column: what  [rule] pointer`, then how to mend it. No newline at the end."""
    place = finding.path
    if finding.line:
        place += f":{finding.line}"
    if finding.column:
        place += f":{finding.column}"
    warning = "" if finding.is_error else "warning: "
    head = f"{place}: {warning}{finding.message}"
    tag = f"[{finding.rule}] {finding.pointer}".rstrip()
    lines = [f"{head:<{_WIDTH}} {tag}"]
    words = f"one of: {' '.join(finding.allowed)}" if finding.allowed else ""
    if finding.meant or words:
        lines.append("    " + "  ".join(part for part in (finding.meant, words) if part))
    if finding.hint:
        lines.append("    " + finding.hint)
    return "\n".join(printable(line) for line in lines)
