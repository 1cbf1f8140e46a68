"""One finding, six forms: what each reader needs to show it in place."""

from __future__ import annotations

import json
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.interaction.finding import Finding
from ontoref.interaction.formats import FORMATS
from ontoref.interaction.rules import RULES
from ontoref.interaction.validate import Summary

FINDING = Finding(
    "enum",
    "logs/näme with space#1.jsonl",
    7,
    24,
    'kind: "Fxi" is not a Kind',
    "/kind",
    "Fxi",
    ("Feature", "Fix"),
    "Fix",
    "100 % sure?\r\nyes",
    "01JE4Q8ZT3W6M1K9V2C5N7X0RB",
)
WARNING = Finding("crlf", "b.jsonl", 1, 9, "the line ends with CR LF")
GONE = Finding("removed-record", "c.jsonl", 3, 0, "gone")


def rendered(form: str, *findings: Finding, labels: tuple[str, ...] = ()) -> str:
    summary = Summary(labels)
    summary.records = 9

    def drawn() -> Iterator[Finding]:
        for finding in findings:
            summary.count(finding)
            yield finding

    return "".join(FORMATS[form](drawn(), summary))


def test_json_is_one_object_with_a_summary() -> None:
    answer = json.loads(rendered("json", FINDING, WARNING, labels=("a", "b")))
    assert answer["summary"] == {"records": 9, "files": 2, "errors": 1, "warnings": 1}
    first, second = answer["findings"]
    assert first == {
        "rule": "enum",
        "severity": "error",
        "path": FINDING.path,
        "line": 7,
        "column": 24,
        "pointer": "/kind",
        "message": FINDING.message,
        "value": "Fxi",
        "allowed": ["Feature", "Fix"],
        "suggestion": "Fix",
        "hint": FINDING.hint,
        "record": FINDING.record,
    }
    assert set(second) == {"rule", "severity", "path", "line", "column", "pointer", "message"}
    assert json.loads(rendered("json")) == {
        "findings": [],
        "summary": {"records": 9, "files": 0, "errors": 0, "warnings": 0},
    }


def test_jsonl_is_one_finding_a_line_and_nothing_for_none() -> None:
    assert [json.loads(line)["rule"] for line in rendered("jsonl", FINDING, WARNING).splitlines()] == ["enum", "crlf"]
    assert rendered("jsonl") == ""


def test_github_reads_one_command_a_finding() -> None:
    """Percent, CR and LF are escaped in the message, colon and comma in properties too; one line each."""
    first, second, third = rendered("github", FINDING, WARNING, GONE).splitlines()
    head, _, message = first.removeprefix("::").partition("::")
    assert head.startswith("error file=logs/näme with space#1.jsonl,line=7,col=24,title=enum /kind")
    assert "100 %25 sure?%0D%0Ayes" in message
    assert "%0Adid you mean" in message
    assert second.startswith("::warning file=b.jsonl,line=1,col=9,")
    assert third.startswith("::error file=c.jsonl,line=3,title=")
    (odd,) = rendered("github", FINDING._replace(path="a:b,c%\n.jsonl")).splitlines()
    assert "file=a%3Ab%2Cc%25%0A.jsonl," in odd


def test_junit_loads_and_fails_a_case_for_each_file_with_errors() -> None:
    text = rendered("junit", FINDING, WARNING, labels=("b.jsonl", FINDING.path, "fine.jsonl"))
    suite = ElementTree.fromstring(text).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    cases = {case.get("name"): case for case in suite}
    failure = cases[FINDING.path].find("failure")
    assert failure is not None
    assert ":7:24: " in (failure.text or "")
    assert "/kind" in (failure.text or "")
    assert cases["b.jsonl"].find("failure") is None
    assert cases["b.jsonl"].find("system-out") is not None
    assert list(cases["fine.jsonl"]) == []


# What SARIF 2.1.0 says of the objects that are written here, all of them closed.
SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "text": {
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {"text": {"type": "string", "minLength": 1}},
        },
        "level": {"enum": ["none", "note", "warning", "error"]},
        "run": {
            "type": "object",
            "required": ["tool", "results", "columnKind"],
            "additionalProperties": False,
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "additionalProperties": False,
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name", "rules"],
                            "additionalProperties": False,
                            "properties": {
                                "name": {"type": "string"},
                                "version": {"type": "string"},
                                "semanticVersion": {"type": "string"},
                                "informationUri": {"type": "string"},
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
                "columnKind": {"const": "unicodeCodePoints"},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": {"$ref": "#/$defs/text"},
                "help": {"$ref": "#/$defs/text"},
                "helpUri": {"type": "string"},
                "defaultConfiguration": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"level": {"$ref": "#/$defs/level"}},
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/text"},
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
            },
        },
        "location": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "additionalProperties": False,
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9._~%/-]+$"}},
                        },
                        "region": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                        },
                    },
                },
                "logicalLocations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"fullyQualifiedName": {"type": "string"}},
                    },
                },
            },
        },
    },
}


def test_sarif_keeps_its_schema_and_points_at_the_place() -> None:
    text = rendered("sarif", FINDING, WARNING, GONE, FINDING._replace(path="dir\\sub\\a.jsonl"))
    log = json.loads(text)
    jsonschema.Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    first, _, gone, windows = run["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "logs/n%C3%A4me%20with%20space%231.jsonl"
    assert place["region"] == {"startLine": 7, "startColumn": 24}
    assert first["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "/kind"}]
    assert gone["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert windows["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "dir/sub/a.jsonl"
    assert "did you mean" in first["message"]["text"]
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(rendered("sarif")))


def test_sarif_keeps_the_official_schema(npm: Callable[..., Path]) -> None:
    """The schema of SARIF 2.1.0 as its authors ship it."""
    folder = npm("@microsoft/jest-sarif@1.0.0-beta.0")
    (path,) = folder.rglob("sarif-2.1.0-rtm.5.json")
    schema = json.loads(path.read_text())
    log = json.loads(rendered("sarif", FINDING, WARNING, GONE))
    jsonschema.Draft7Validator(schema).validate(log)
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not jsonschema.Draft7Validator(schema).is_valid(log), "the schema can say no"


ANY = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)


@given(ANY, ANY, ANY, st.none() | ANY)
@settings(max_examples=80, deadline=None)
def test_any_text_fits_into_every_form(path: str, message: str, value: str, hint: str | None) -> None:
    """What stands in a log is untrusted: no form breaks on it."""
    finding = Finding("enum", path or "x", 1, 1, message or "x", f"/{value}", value, (value,), value or None, hint)
    json.loads(rendered("json", finding))
    json.loads(rendered("jsonl", finding))
    jsonschema.Draft202012Validator(SARIF).validate(json.loads(rendered("sarif", finding)))
    ElementTree.fromstring(rendered("junit", finding, labels=(path,)))
    command = rendered("github", finding)
    assert command.count("\n") == 1
    assert "\r" not in command
    text = rendered("text", finding)
    assert not [
        c
        for c in text
        if c != "\n" and (unicodedata.category(c) == "Cc" or c in "\u202a\u202b\u202d\u202e\u2066\u2067")
    ]
