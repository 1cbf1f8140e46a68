"""The rules that a vocabulary keeps, so that a record stays something to filter and never something to mine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.vocabulary.bundle import reachable, references, split
from ontoref.vocabulary.keywords import ADMITTING, LISTS, SINGLE, pointer_step, shape_breaches, subshapes
from ontoref.vocabulary.model import RECORD, ROOT_DOCUMENT, VocabularyError, members_of
from ontoref.vocabulary.pattern import foreign, is_anchored, may_take_for_ever, takes
from ontoref.vocabulary.yaml_file import YamlFile

__all__ = ["FORMATS", "RULES", "Breach", "check"]

# Formats that every engine we know means alike.
FORMATS = frozenset({"date-time"})
PROSE_AT = dict(place.split(".") for place in (f"{RECORD}.summary", "Decision.rationale", "Event.note"))
_FROM_CODER = {"actor": "ActorKind", "kind": "Kind", "domain": "Domain", "category": "Category"}
# Fields without which ontoref itself cannot fill in, order or query a record; the others a project may drop.
_KEPT = (
    "schema_version",
    "id",
    "session_id",
    "recorded_at",
    "outcome",
    "summary",
    "decisions",
    "tensions_engaged",
    "files_touched",
    "supersedes",
)
# All that may be said of prose.
_OF_PROSE = frozenset({"type", "x-prose", "title", "description", "deprecated", "default", "examples", "$comment"})
_LIMITS = frozenset({"enum", "const", "pattern", "$ref", "anyOf", "oneOf", "allOf"})
_SENTENCE = "Two words, and a stop."
_TAG = re.compile(r"[A-Z][A-Za-z0-9]*\Z")

RULES = {
    "schema": "A file is JSON Schema 2020-12, with the keywords that ontoref follows.",
    "open-string": "Every text of a record is a word, a known format, a pattern or marked prose.",
    "prose-pattern": "No pattern takes a sentence, except that of a Label.",
    "prose-place": "Prose stands only at summary, Decision.rationale and Event.note.",
    "prose-judged": "Prose is text and nothing more: whatever it says, the verdict is the same.",
    "open-object": "Every object of a record names its fields, so that a misspelt one shows.",
    "required": "What is required is a field.",
    "kept": "The fields that ontoref itself reads are there.",
    "witness-required": "The witness is never required.",
    "foreign-word": "actor, kind, domain and category come from coder.yaml.",
    "parallel-enum": "No enum has the members of one in coder.yaml.",
    "redeclared": "A name is defined in one file.",
    "pattern-form": "A pattern is anchored at both ends and means the same in every engine.",
    "pattern-cost": "A pattern takes no longer than its text is long: no loop takes one text in two ways.",
    "format": "A format is one that every engine knows.",
    "member": "Members are different, and in coder.yaml written LikeThis.",
    "undescribed": "Every enum, member, shape and field says what it is.",
    "replaced-by": "x-replaced-by names another member of the same enum.",
    "note": "An annotation is one that ontoref knows, where it knows it.",
}


class Breach(NamedTuple):
    """One rule that a file breaks. Units: line is 1-based."""

    rule: str
    document: str
    line: int
    message: str
    hint: str = ""

    @property
    def is_error(self) -> bool:
        """Whether records may not be judged by such a vocabulary; the other breaches are matters of care."""
        return self.rule != "undescribed"


def check(parsed: Mapping[str, YamlFile]) -> list[Breach]:
    """Every breach, in the order of files and lines; [] if all rules are kept.

    Shape: parsed are files whose references are known to resolve.
    """
    documents = {name: file.value for name, file in parsed.items()}
    found = [
        Breach("schema" if rule is None else rule, name, _line(file, pointer), message, hint)
        for name, file in parsed.items()
        for rule, pointer, message, hint in shape_breaches(file.value)
    ]
    # What is no schema cannot be asked whether it keeps the other rules.
    if not any(breach.rule == "schema" for breach in found):
        found += [*_record(parsed, documents), *_texts(parsed), *_words(parsed, documents)]
    order = {name: number for number, name in enumerate(parsed)}
    return sorted(
        dict.fromkeys(found), key=lambda breach: (order[breach.document], breach.line, breach.rule, breach.message)
    )


def _line(file: YamlFile, pointer: str) -> int:
    while pointer not in file.lines and pointer:
        pointer = pointer.rpartition("/")[0]
    return file.lines.get(pointer, 1)


def _record(parsed: Mapping[str, YamlFile], documents: Mapping[str, Any]) -> Iterator[Breach]:
    """What is said of records: everything that InteractionRecord reaches."""
    holding = _holding_prose(documents)
    for document, name in reachable(documents):
        file, shape = parsed[document], documents[document]["$defs"][name]
        if not shape.get("description"):
            yield Breach("undescribed", document, _line(file, f"/$defs/{name}"), f"{name} has no description")
        visitor = _Visitor(file, document, name, holding)
        if not members_of(shape):
            yield from visitor.admitted(shape, f"/$defs/{name}", None)
        yield from visitor.around_prose(shape)
    record = documents[ROOT_DOCUMENT]["$defs"][RECORD]
    file, at = parsed[ROOT_DOCUMENT], f"/$defs/{RECORD}"
    if "witness" in record.get("required", ()):
        line = _line(file, f"{at}/required")
        yield Breach("witness-required", ROOT_DOCUMENT, line, "witness is required", "take it out of required")
    fields = record.get("properties", {})
    for field in _KEPT:
        if field not in fields:
            message = f"{field} is gone, and ontoref itself reads it"
            yield Breach("kept", ROOT_DOCUMENT, _line(file, f"{at}/properties"), message, "restore it")
    for field, enum in _FROM_CODER.items():
        shape = fields.get(field)
        reference = shape.get("$ref", "") if isinstance(shape, dict) else ""
        if split(ROOT_DOCUMENT, reference) != ("coder.yaml", enum):
            line = _line(file, f"{at}/properties/{field}")
            hint = f"$ref: coder.yaml#/$defs/{enum}"
            yield Breach("foreign-word", ROOT_DOCUMENT, line, f"{field} is not a reference to {enum}", hint)


def _holding_prose(documents: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Definitions in whose values prose can stand, at any depth."""
    uses = {
        pair: {split(pair[0], r) for r in references(documents[pair[0]]["$defs"][pair[1]])}
        for pair in reachable(documents)
    }
    holding = {pair for pair in uses if pair[1] in PROSE_AT}
    while more := {pair for pair, used in uses.items() if pair not in holding and used & holding}:
        holding |= more
    return frozenset(holding)


class _Visitor:
    """Looks at one definition and says what breaks a rule."""

    def __init__(self, file: YamlFile, document: str, name: str, holding: frozenset[tuple[str, str]]) -> None:
        self._file = file
        self._document = document
        self._name = name
        self._holding = holding

    def _breach(self, rule: str, pointer: str, message: str, hint: str = "") -> Breach:
        return Breach(rule, self._document, _line(self._file, pointer), message, hint)

    def admitted(
        self, shape: Any, pointer: str, field: str | None, given: frozenset[str] = frozenset()
    ) -> Iterator[Breach]:
        """Breaches of a shape and of all that says which values may stand there.

        Shape: field is the property that is looked at, given are the types that a shape around this one allows.
        """
        place = f"{self._name}.{field}" if field else self._name
        if shape is True:
            yield self._breach("open-string", pointer, f"{place} takes any value", "say what may stand there")
        if not isinstance(shape, dict):
            return
        if shape.get("x-prose"):
            yield from self._prose(shape, pointer, field, place)
            return
        kinds = _types(shape) or given
        if "string" in kinds and not (_LIMITS & shape.keys() or shape.get("format") in FORMATS):
            hint = "give it an enum, a pattern or a format; prose has its three places"
            yield self._breach("open-string", pointer, f"{place} takes any text", hint)
        if not (kinds or {"enum", "const", "$ref", "anyOf", "oneOf", "allOf"} & shape.keys()):
            yield self._breach("open-string", pointer, f"{place} takes any value", "give it a type")
        pattern = shape.get("pattern")
        if self._name != "Label" and isinstance(pattern, str) and _is_sound(pattern) and takes(pattern, _SENTENCE):
            hint = "a filter needs words; a name in one line is a Label"
            message = f"the pattern of {place} takes {_SENTENCE!r}"
            yield self._breach("prose-pattern", f"{pointer}/pattern", message, hint)
        if "object" in _types(shape):
            yield from self._object(shape, pointer, place)
        if "array" in _types(shape) and "items" not in shape:
            yield self._breach("open-string", pointer, f"{place} takes any items", "say what its items are")
        for key, inner in shape.get("properties", {}).items():
            below = f"{pointer}/properties/{pointer_step(key)}"
            if not (isinstance(inner, dict) and inner.get("description")):
                yield self._breach("undescribed", below, f"{self._name}.{key} has no description")
            yield from self.admitted(inner, below, key)
        for key in SINGLE & ADMITTING & shape.keys():
            yield from self.admitted(shape[key], f"{pointer}/{key}", field)
        for key in LISTS & ADMITTING & shape.keys():
            for index, inner in enumerate(shape[key]):
                around = kinds if key != "prefixItems" else frozenset[str]()
                yield from self.admitted(inner, f"{pointer}/{key}/{index}", field, around)

    def _object(self, shape: Any, pointer: str, place: str) -> Iterator[Breach]:
        if shape.get("additionalProperties") is not False:
            hint = "additionalProperties: false"
            yield self._breach("open-object", pointer, f"{place} takes fields that it does not name", hint)
        if shape.get("patternProperties"):
            message = f"{place} takes fields that it does not name"
            yield self._breach("open-object", f"{pointer}/patternProperties", message, "name them under properties")
        for needed in shape.get("required", ()):
            if needed not in shape.get("properties", {}):
                message = f"{place} requires {needed}, which is none of its fields: no record could be valid"
                yield self._breach("required", f"{pointer}/required", message)

    def _prose(self, shape: Any, pointer: str, field: str | None, place: str) -> Iterator[Breach]:
        if PROSE_AT.get(self._name) != field or pointer.count("/") != 4:
            hint = "make it an enum or a list of words"
            yield self._breach("prose-place", pointer, f"{place} is marked as prose", hint)
        judging = sorted(shape.keys() - _OF_PROSE)
        if judging:
            message = f"{place} is prose and has {', '.join(judging)}"
            yield self._breach("prose-judged", pointer, message, "take it out")
        if shape.get("type") != "string":
            yield self._breach("prose-judged", pointer, f"{place} is prose and no text", "type: string")

    def around_prose(self, shape: Any) -> Iterator[Breach]:
        """What judges prose without standing at its field: conditions, and whole values that are compared."""
        at = f"/$defs/{self._name}"
        for pointer, inner in subshapes(shape, at):
            if not isinstance(inner, dict):
                continue
            if pointer != at:
                for field in sorted(set(PROSE_AT.values()) & inner.get("properties", {}).keys()):
                    below = f"{pointer}/properties/{field}"
                    yield self._breach("prose-judged", below, f"a condition looks at {field}, which is prose")
            if inner.get("uniqueItems") and any(
                split(self._document, reference) in self._holding for reference in references(inner)
            ):
                hint = "two items may differ in their prose alone"
                yield self._breach("prose-judged", f"{pointer}/uniqueItems", "uniqueItems compares prose", hint)
            values = [inner["const"]] if "const" in inner else inner.get("enum", ())
            if any(isinstance(value, dict | list) for value in values):
                key = "const" if "const" in inner else "enum"
                message = "a whole object or list is compared"
                yield self._breach("prose-judged", f"{pointer}/{key}", message, "name words, numbers, true or false")


def _types(shape: Mapping[str, Any]) -> frozenset[str]:
    kinds = shape.get("type", ())
    return frozenset([kinds] if isinstance(kinds, str) else kinds)


def _texts(parsed: Mapping[str, YamlFile]) -> Iterator[Breach]:
    """Patterns and formats, wherever they stand."""
    for document, file in parsed.items():
        for name, definition in file.value.get("$defs", {}).items():
            for pointer, shape in subshapes(definition, f"/$defs/{pointer_step(name)}"):
                if not isinstance(shape, dict):
                    continue
                if "format" in shape and shape["format"] not in FORMATS:
                    hint = f"known: {', '.join(sorted(FORMATS))}; a pattern says the rest"
                    line = _line(file, f"{pointer}/format")
                    yield Breach("format", document, line, f"{name} uses the format {shape['format']!r}", hint)
                patterns = [("pattern", shape["pattern"])] if "pattern" in shape else []
                patterns += [("patternProperties", key) for key in shape.get("patternProperties", ())]
                for key, pattern in patterns:
                    for rule, message, hint in _of_pattern(pattern):
                        line = _line(file, f"{pointer}/{key}")
                        yield Breach(rule, document, line, f"a pattern of {name} {message}", hint)


def _of_pattern(pattern: str) -> Iterator[tuple[str, str, str]]:
    """Rule, message and hint of what is wrong with a pattern; the first thing alone."""
    part = foreign(pattern)
    if part is not None:
        hint = "write the characters out, [0-9] or [^,]; no look-around, no back-references, ^ and $ at the ends"
        yield "pattern-form", f"has {part!r}, which engines read differently", hint
        return
    try:
        re.compile(pattern)
        _engine_takes(pattern)
    except (re.error, OverflowError, RecursionError, VocabularyError) as error:
        problem = error.message if isinstance(error, VocabularyError) else str(error)
        yield "pattern-form", f"cannot be compiled: {problem.removeprefix('/pattern: ')}", ""
        return
    if not is_anchored(pattern):
        inner = pattern.removeprefix("^").removesuffix("$")
        yield "pattern-form", "is not anchored at both ends", f"^(?:{inner})$"
    elif may_take_for_ever(pattern):
        hint = "no repeated part may take the same text in two ways: not (a+)+, but a+"
        yield "pattern-cost", "may take for ever", hint


def _engine_takes(pattern: str) -> None:
    """Errors: VocabularyError if the engine that judges records refuses the pattern."""
    from ontoref.vocabulary.engine import compile_schema

    compile_schema({"pattern": pattern})


def _is_sound(pattern: str) -> bool:
    return next(_of_pattern(pattern), None) is None


def _words(parsed: Mapping[str, YamlFile], documents: Mapping[str, Any]) -> Iterator[Breach]:
    """What is said of enums and names, in every file."""
    coder = {
        frozenset(member.name for member in members): name
        for name, shape in documents["coder.yaml"].get("$defs", {}).items()
        if (members := members_of(shape))
    }
    defined: dict[str, str] = {}
    for document, content in documents.items():
        file = parsed[document]
        for name, definition in content.get("$defs", {}).items():
            at = f"/$defs/{pointer_step(name)}"
            first = defined.setdefault(name, document)
            if first != document:
                message = f"{name} is defined in {first} too"
                yield Breach("redeclared", document, _line(file, at), message, f"$ref: {first}#/$defs/{name}")
            for pointer, shape in subshapes(definition, at, conditions=False):
                members = members_of(shape)
                twin = coder.get(frozenset(member.name for member in members))
                if document != "coder.yaml" and members and twin is not None:
                    hint = f"$ref: coder.yaml#/$defs/{twin}"
                    message = f"{name} has the members of {twin}"
                    yield Breach("parallel-enum", document, _line(file, pointer), message, hint)
                for rule, below, message, hint in _of_members(document, name, shape):
                    yield Breach(rule, document, _line(file, pointer + below), message, hint)


def _of_members(document: str, name: str, shape: Any) -> Iterator[tuple[str, str, str, str]]:
    """Rule, pointer from the enum, message and hint for each thing that is wrong with its members."""
    members = members_of(shape)
    key = "oneOf" if members and "oneOf" in shape else "enum"
    names = [member.name for member in members]
    for index, member in enumerate(members):
        at = f"/{key}/{index}"
        called = f"{name}.{member.name}"
        if member.name in names[:index]:
            yield "member", at, f"{called} stands twice", "remove one of the two"
        if document == "coder.yaml" and not _TAG.match(member.name):
            yield "member", at, f"{called} is not written LikeThis", ""
        if not member.description:
            hint = "" if key == "oneOf" else "write it as oneOf: [{const: …, description: …}]"
            yield "undescribed", at, f"{called} has no description", hint
        instead = member.notes.get("replaced-by")
        if isinstance(instead, str) and (instead not in names or instead == member.name):
            yield "replaced-by", at, f"{called} is replaced by {instead!r}, which is no other member", ""
