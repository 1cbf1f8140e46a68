"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import orjson

from ontoref import __version__
from ontoref.interaction.finding import Finding
from ontoref.interaction.rules import RULES
from ontoref.interaction.validate import Summary

__all__ = ["render"]


def render(findings: Iterable[Finding], summary: Summary) -> Iterator[str]:
    """One run. Units: columns count code points, which the run states; URIs have forward slashes everywhere."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": rule.description},
            "defaultConfiguration": {"level": rule.severity},
        }
        for name, rule in RULES.items()
    ]
    driver = {"name": "ontoref", "version": __version__, "semanticVersion": __version__, "rules": rules}
    yield '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":'
    yield orjson.dumps({"driver": driver}).decode()
    yield ',"columnKind":"unicodeCodePoints","results":['
    index = {name: number for number, name in enumerate(RULES)}
    for number, finding in enumerate(findings):
        yield ("," if number else "") + orjson.dumps(_result(finding, index)).decode()
    yield "]}]}\n"


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    text = finding.message
    if finding.meant:
        text += f" ({finding.meant})"
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.path.replace("\\", "/"), safe="/")}}
    if finding.line:
        region = {"startLine": finding.line}
        if finding.column:
            region["startColumn"] = finding.column
        place["region"] = region
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.pointer}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": finding.severity,
        "message": {"text": text},
        "locations": [location],
    }
