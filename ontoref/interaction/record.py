"""A record made whole: what was given, with what can be known filled in, checked, ready for the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from ontoref import secrets
from ontoref.interaction.check import Checker, readable_path
from ontoref.interaction.finding import Finding
from ontoref.interaction.given import Given
from ontoref.interaction.rules import LONGEST_LINE_BYTES
from ontoref.vocabulary import Vocabulary

__all__ = [
    "Context",
    "Item",
    "complete",
    "prepare",
    "prepare_unchecked",
    "same",
    "secrets_in",
    "without_secrets",
]


class Context(NamedTuple):
    """What the edge knows.

    Shape: fields are filled in where a record lacks them, a None is not; origins says where a field's value came
           from, for a person who did not write it.
    """

    vocabulary: Vocabulary
    recorded_at: str
    new_id: Callable[[], str]
    fields: Mapping[str, Any]
    origins: Mapping[str, str] = {}
    redact: bool = False


class Item(NamedTuple):
    """A record on its way into the log.

    Shape: stated are the fields that were given, as they are written; record is what is written, line its bytes;
           both are empty where findings say that there is no record.
    """

    given: Given
    stated: dict[str, Any]
    record: dict[str, Any]
    line: bytes
    findings: tuple[Finding, ...] = ()

    @property
    def refused(self) -> bool:
        return any(finding.is_error for finding in self.findings)

    @property
    def identity(self) -> Any:
        """The record's id; of an unchecked record anything, None if it has none."""
        return self.record.get("id")


def prepare(given: Given, context: Context, checker: Checker, path: str) -> Item:
    """The record completed and checked; its findings point to where the input goes wrong."""
    if given.fault is not None:
        return Item(given, {}, {}, b"", (given.fault,))
    if not isinstance(given.value, dict):
        return Item(given, {}, {}, b"", tuple(_at_value(f, given) for f in checker.check_value(given.value, path, 1)))
    item = _completed(given, context)
    if not item.refused:
        item = item._replace(findings=tuple(_findings(item, context, checker, path)))
    return item


def references(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Ids of other records that a record names, each with its pointer."""
    parent, superseded = record.get("parent_record"), record.get("supersedes")
    if isinstance(parent, str):
        yield parent, "/parent_record"
    for index, target in enumerate(superseded if isinstance(superseded, list) else ()):
        if isinstance(target, str):
            yield target, f"/supersedes/{index}"


def no_record(target: str, pointer: str) -> str:
    """What is said of a reference to a record that is not in the log."""
    name, _, index = pointer[1:].partition("/")
    return f'{name}{f"[{index}]" if index else ""}: no record "{target}" is in the log'


def prepare_unchecked(given: Given, context: Context, path: str) -> Item:
    """The record completed and not checked: only what would break the log for its readers is refused."""
    if given.fault is not None:
        return Item(given, {}, {}, b"", (given.fault,))
    if not isinstance(given.value, dict):
        finding = Finding("not-object", path, 0, 0, "a record is one JSON object")
        return Item(given, {}, {}, b"", (_at_value(finding, given),))
    return _completed(given, context)


_ACTOR_IS_TOLD_BY = "Name it in the record, with --actor, ONTOREF_ACTOR, or as actor in .ontoref/config.yaml."


def _at_value(finding: Finding, given: Given) -> Finding:
    """The finding at the place where the value as a whole begins."""
    layout = given.layout
    return given.placed(finding._replace(column=layout.places[""].value if layout else 0))


def _completed(given: Given, context: Context) -> Item:
    stated = _without_nulls(given.value)
    if context.redact:
        stated = without_secrets(stated)
    record = complete(stated, context)
    line = orjson.dumps(record)
    if len(line) > LONGEST_LINE_BYTES:
        message = f"the record has {len(line):,} bytes where at most {LONGEST_LINE_BYTES:,} may stand on a line"
        finding = given.placed(Finding("too-long", "options", 0, 0, message, hint="name a file instead of quoting it"))
        return Item(given, stated, {}, b"", (finding,))
    return Item(given, stated, record, line)


def _findings(item: Item, context: Context, checker: Checker, path: str) -> Iterator[Finding]:
    given, record = item.given, item.record
    yield from given.duplicates()
    found = checker.check_value(record, path, 0)
    if found and given.source is not None:
        found = checker.check_value(record, path, 1, given.layout)
    known = {finding.pointer for finding in found}
    more = [_at(steps, given, finding) for steps, finding in _only_here(item, context.vocabulary, path)]
    # Where words are asked for, what is wrong with a placeholder is told already, and which words they are.
    found = sorted([*found, *(f for f in more if f.pointer not in known)], key=lambda finding: finding.column)
    for finding in found:
        field = finding.pointer[1:].partition("/")[0]
        if field in context.origins and field not in item.stated:
            message = f"{finding.message} (it comes from {context.origins[field]})"
            yield finding._replace(message=message, line=0, column=0)
        else:
            if "actor" not in record and finding.rule == "required" and '"actor"' in finding.message:
                # The one field that is filled in for most and was not: say how.
                finding = finding._replace(hint=f"{finding.hint} {_ACTOR_IS_TOLD_BY}")
            yield given.placed(finding)


def _only_here(item: Item, vocabulary: Vocabulary, path: str) -> Iterator[tuple[tuple[str | int, ...], Finding]]:
    """What is asked of a record that is written now and not of a log, each with steps to its value."""
    if b'"<' in item.line:
        from ontoref.vocabulary.template import unfilled

        for steps in unfilled(vocabulary, item.stated):
            message = f"{readable_path(steps)}: the template's placeholder stands there still"
            yield steps, Finding("placeholder", path, 0, 0, message, hint="fill it in, or take it out")
    if "started_at" in item.record and "ended_at" in item.record:
        from ontoref.interaction.moments import order_key

        # Whole seconds: one of the two may be less exact than the other.
        started, ended = (order_key(item.record[name])[:19] for name in ("started_at", "ended_at"))
        if ended and ended < started:
            message = f"ended_at: {item.record['ended_at']} is before started_at, {item.record['started_at']}"
            hint = "if they were exchanged: a record that supersedes this one corrects it"
            yield ("ended_at",), Finding("time-order", path, 0, 0, message, value=item.record["ended_at"], hint=hint)


def _at(steps: tuple[str | int, ...], given: Given, finding: Finding) -> Finding:
    pointer = "".join(f"/{step}" for step in steps)
    layout = given.layout
    column = layout.places[pointer].value if layout is not None and pointer in layout.places else 0
    return finding._replace(pointer=pointer, column=column)


def complete(given: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The record with what can be known filled in, fields in the vocabulary's order.

    Shape: what was given always wins; a field that the vocabulary does not know comes last, for the check to name.
    """
    shape = context.vocabulary.schema["$defs"]["InteractionRecord"]["properties"]
    known = {"schema_version": shape["schema_version"]["enum"][0], "recorded_at": context.recorded_at}
    known.update((name, value) for name, value in context.fields.items() if value is not None and name in shape)
    if "id" not in given:
        known["id"] = context.new_id()
    record = {**known, **given}
    ordered = {name: record[name] for name in shape if name in record}
    return {**ordered, **{name: value for name, value in record.items() if name not in shape}}


def _without_nulls(value: Any) -> Any:
    """The value without fields that are null. Nesting is bounded by what the parser takes."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def same(stated: Mapping[str, Any], present: Mapping[str, Any]) -> bool:
    """Whether a record that is there already says all that was given, its witness aside: then this is a retry."""
    return all(
        name in present and _text(present[name]) == _text(value) for name, value in stated.items() if name != "witness"
    )


def _text(value: Any) -> bytes:
    # To Python true is 1 and 1 is 1.0; as JSON they differ.
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def secrets_in(record: Mapping[str, Any]) -> Iterator[tuple[str, secrets.Secret]]:
    """(JSON pointer, secret) of each secret in the texts of a record, the witness aside."""
    stack: list[tuple[str, Any]] = [(f"/{name}", value) for name, value in record.items() if name != "witness"]
    while stack:
        pointer, value = stack.pop()
        if isinstance(value, str):
            for secret in secrets.find(value):
                yield pointer, secret
        elif isinstance(value, dict):
            stack += [(f"{pointer}/{name}", inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            stack += [(f"{pointer}/{index}", inner) for index, inner in reversed(list(enumerate(value)))]


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
