"""A record made whole: what was given, with what can be known filled in, checked, ready for the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from ontoref import secrets
from ontoref.interaction.check import Checker
from ontoref.interaction.finding import Finding
from ontoref.interaction.json_text import Layout, examine
from ontoref.vocabulary import Vocabulary

__all__ = ["Context", "Given", "check", "complete", "parse", "same", "secrets_in", "without_secrets"]


class Given(NamedTuple):
    """One value that was handed in.

    Shape: value is None and findings are not empty where the text could not be read; text is what stood there;
           layout's columns count from the start of the line or, with spans, through all lines of the input.
    Units: line is 1-based.
    """

    value: Any
    line: int
    text: bytes
    layout: Layout | None
    findings: tuple[Finding, ...] = ()
    spans: bool = False


class Context(NamedTuple):
    """What the edge knows. Shape: fields are filled in where the record lacks them; None is not."""

    vocabulary: Vocabulary
    recorded_at: str
    new_id: Callable[[], str]
    fields: Mapping[str, Any]


def parse(content: bytes, path: str, checker: Checker) -> list[Given]:
    """The values of an input: one JSON object, an array of them, or one a line.

    Errors: none; what cannot be read is a Given with findings.
    """
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        column = len(content[content.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        finding = Finding("encoding", path, line, column, f"the byte 0x{content[error.start]:02x} is not UTF-8")
        return [Given(None, line, content, None, (finding,))]
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip(" \t\r")]
    if len(filled) > 1 and _is_json(lines[filled[0]]):
        return [_of_line(lines[number], number + 1, path, checker) for number in filled]
    layout = examine(text)
    if layout.flaw is not None:
        line, column = _position(text, layout.flaw.column - 1)
        finding = Finding(layout.flaw.rule, path, line, column, layout.flaw.message)
        return [Given(None, line, content, layout, (finding,))]
    value = orjson.loads(text)
    if isinstance(value, list):
        return [_of_item(item, number, text, layout, path) for number, item in enumerate(value)]
    return [Given(value, 1, orjson.dumps(value), layout, tuple(_twice(layout, text, path)), spans=True)]


def _of_line(text: str, number: int, path: str, checker: Checker) -> Given:
    line = text.removesuffix("\r")
    layout = examine(line)
    if layout.flaw is not None:
        findings = checker.check_line(line.encode(), path, number)
        return Given(None, number, line.encode(), layout, tuple(findings))
    twice = tuple(finding._replace(line=number) for finding in _twice(layout, line, path))
    return Given(orjson.loads(line), number, line.encode(), layout, twice)


def _of_item(item: Any, number: int, text: str, layout: Layout, path: str) -> Given:
    prefix = f"/{number}"
    places = {
        pointer[len(prefix) :]: place
        for pointer, place in layout.places.items()
        if pointer == prefix or pointer.startswith(prefix + "/")
    }
    doubled = [(p[len(prefix) :], c) for p, c in layout.duplicates if p.startswith(prefix + "/")]
    own = Layout(None, places, doubled)
    line, _ = _position(text, places[""].value - 1)
    return Given(item, line, orjson.dumps(item), own, tuple(_twice(own, text, path)), spans=True)


def _twice(layout: Layout, text: str, path: str) -> Iterator[Finding]:
    for pointer, column in layout.duplicates:
        line, column = _position(text, column - 1)
        name = pointer.rpartition("/")[2]
        yield Finding("duplicate-key", path, line, column, f"{name} stands twice", pointer, hint=f"keep one {name}")


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True


def _position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, 1-based, of an offset in a text of several lines."""
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


def complete(given: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The record with what can be known filled in, nulls dropped, fields in the vocabulary's order.

    Shape: what was given always wins; a field that the vocabulary does not know comes last, for the check to name.
    """
    shape = context.vocabulary.schema["$defs"]["InteractionRecord"]["properties"]
    record: dict[str, Any] = _without_nulls(given)
    defaults: dict[str, Any] = {
        "schema_version": shape["schema_version"]["enum"][0],
        "recorded_at": context.recorded_at,
    }
    if "id" not in record:
        defaults["id"] = context.new_id()
    defaults.update({name: value for name, value in context.fields.items() if value is not None and name in shape})
    for name, value in defaults.items():
        record.setdefault(name, value)
    return {name: record[name] for name in [*(n for n in shape if n in record), *(n for n in record if n not in shape)]}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def check(record: Any, given: Given, path: str, text: str, checker: Checker) -> list[Finding]:
    """Findings of a completed record, at the places where what was given stands in the input."""
    if given.value is None and given.findings:
        return list(given.findings)
    found = checker.check_value(record, path, given.line, given.layout)
    if not given.spans:
        return [*given.findings, *found]
    placed = list(given.findings)
    for finding in found:
        line, column = _position(text, max(0, finding.column - 1))
        placed.append(finding._replace(line=line, column=column))
    return placed


def same(given: Mapping[str, Any], present: Mapping[str, Any]) -> bool:
    """Whether a record that is there already says all that was given, its witness aside: then this is a retry."""
    cleaned: Mapping[str, Any] = _without_nulls(given)
    return all(name in present and present[name] == value for name, value in cleaned.items() if name != "witness")


def secrets_in(record: Mapping[str, Any]) -> Iterator[tuple[str, secrets.Secret]]:
    """(JSON pointer, secret) of each secret in the texts of a record, the witness aside."""
    stack: list[tuple[str, Any]] = [(f"/{name}", value) for name, value in record.items() if name != "witness"]
    while stack:
        pointer, value = stack.pop(0)
        if isinstance(value, str):
            for secret in secrets.find(value):
                yield pointer, secret
        elif isinstance(value, dict):
            stack += [(f"{pointer}/{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list):
            stack += [(f"{pointer}/{index}", inner) for index, inner in enumerate(value)]


def without_secrets(value: Any, *, top: bool = True) -> Any:
    """The record with each secret replaced by `[redacted:kind]`, the witness aside."""
    if isinstance(value, str):
        return secrets.redact(value)
    if isinstance(value, dict):
        return {
            name: inner if top and name == "witness" else without_secrets(inner, top=False)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [without_secrets(item, top=False) for item in value]
    return value
