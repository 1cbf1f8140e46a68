"""Findings as a JUnit report: one case a file, failed by its findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from ontoref.interaction.finding import Finding
from ontoref.interaction.report import as_text
from ontoref.interaction.validate import Summary
from ontoref.text import counted

__all__ = ["render"]

# What XML 1.0 cannot hold even as a reference.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """A suite of cases named by path; warnings are told as output and fail nothing."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    failed = sum(any(f.is_error for f in group) for group in by_path.values())
    clean = [label for label in summary.labels if label not in by_path]
    counts = f'tests="{len(by_path) + len(clean)}" failures="{failed}" errors="0" skipped="0"'
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n<testsuite name="ontoref" {counts}>\n'
    for path, group in by_path.items():
        yield f'<testcase classname="interaction" name={_attribute(path)}>\n'
        errors = [finding for finding in group if finding.is_error]
        others = [finding for finding in group if not finding.is_error]
        if errors:
            said = counted(len(errors), "finding")
            kinds = ", ".join(dict.fromkeys(finding.rule for finding in errors))
            yield f"<failure message={_attribute(said)} type={_attribute(kinds)}>{_texts(errors)}</failure>\n"
        if others:
            yield f"<system-out>{_texts(others)}</system-out>\n"
        yield "</testcase>\n"
    for label in clean:
        yield f'<testcase classname="interaction" name={_attribute(label)}/>\n'
    yield "</testsuite>\n</testsuites>\n"


def _texts(findings: list[Finding]) -> str:
    return escape(_FORBIDDEN.sub("�", "\n".join(as_text(finding) for finding in findings)))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("�", text))
