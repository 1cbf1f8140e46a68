"""The rules that a vocabulary keeps, so that a record stays something to filter and never something to mine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.vocabulary.bundle import reachable, split
from ontoref.vocabulary.model import RECORD, ROOT_DOCUMENT, members_of
from ontoref.vocabulary.yaml_file import YamlFile

__all__ = ["FORMATS", "RULES", "Breach", "check"]

# Formats that every engine we know means alike.
FORMATS = frozenset({"date-time"})
PROSE_AT = frozenset({(RECORD, "summary"), ("Decision", "rationale"), ("Event", "note")})
_FROM_CODER = {"actor": "ActorKind", "kind": "Kind", "domain": "Domain", "category": "Category"}
_NOTES = frozenset({"x-prose", "x-open", "x-closed", "x-role", "x-replaced-by"})
_JUDGING = frozenset(
    {"minLength", "maxLength", "pattern", "format", "enum", "const", "not", "contentMediaType", "contentEncoding"}
)
_SENTENCE = "Two words, and a stop."
# What means something else, or nothing, in another engine.
_FOREIGN = re.compile(r"\\[dDwWsSbBAzZpPkgGR0-9]|\(\?(?!:)")
_TAG = re.compile(r"[A-Z][A-Za-z0-9]*\Z")

RULES = {
    "open-string": "Every text of a record is a word, a known format, a pattern or marked prose.",
    "prose-pattern": "No pattern takes a sentence, except that of a Label.",
    "prose-place": "Prose stands only at summary, Decision.rationale and Event.note.",
    "prose-judged": "Prose is text and nothing more: no length, no pattern.",
    "open-object": "Every object of a record is closed, so that a misspelt field shows.",
    "witness-required": "The witness is never required.",
    "foreign-word": "actor, kind, domain and category come from coder.yaml.",
    "parallel-enum": "No enum has the members of one in coder.yaml.",
    "pattern-form": "A pattern is anchored at both ends and means the same in every engine.",
    "pattern-cost": "A pattern takes linear time: nothing repeated repeats within itself.",
    "format": "A format is one that every engine knows.",
    "member": "Members are different, described, and in coder.yaml written LikeThis.",
    "undescribed": "Every enum, shape and field says what it is.",
    "replaced-by": "x-replaced-by names a member of the same enum.",
    "note": "An annotation is one that ontoref knows.",
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
    found = [*_shapes(parsed, documents), *_words(parsed, documents), *_notes(parsed)]
    order = {name: number for number, name in enumerate(parsed)}
    return sorted(dict.fromkeys(found), key=lambda breach: (order[breach.document], breach.line, breach.rule))


def _line(file: YamlFile, pointer: str) -> int:
    while pointer not in file.lines and pointer:
        pointer = pointer.rpartition("/")[0]
    return file.lines.get(pointer, 1)


def _shapes(parsed: Mapping[str, YamlFile], documents: Mapping[str, Any]) -> Iterator[Breach]:
    """What is said of records: everything that InteractionRecord reaches."""
    for document, name in reachable(documents):
        file, shape = parsed[document], documents[document]["$defs"][name]
        pointer = f"/$defs/{name}"
        if not shape.get("description"):
            yield Breach("undescribed", document, _line(file, pointer), f"{name} has no description")
        if not members_of(shape):
            yield from _values(file, document, name, shape, pointer, None)
    record = documents[ROOT_DOCUMENT]["$defs"].get(RECORD, {})
    file = parsed[ROOT_DOCUMENT]
    at = f"/$defs/{RECORD}"
    if "witness" in record.get("required", ()):
        line = _line(file, f"{at}/required")
        yield Breach("witness-required", ROOT_DOCUMENT, line, "witness is required", "take it out of required")
    for field, enum in _FROM_CODER.items():
        reference = record.get("properties", {}).get(field, {}).get("$ref", "")
        if split(ROOT_DOCUMENT, reference) != ("coder.yaml", enum):
            line = _line(file, f"{at}/properties/{field}")
            hint = f"$ref: coder.yaml#/$defs/{enum}"
            yield Breach("foreign-word", ROOT_DOCUMENT, line, f"{field} is not a reference to {enum}", hint)


def _values(file: YamlFile, document: str, name: str, shape: Any, pointer: str, field: str | None) -> Iterator[Breach]:
    """Breaches of one shape and of all below it. Shape: field is the property that is being looked at."""
    if not isinstance(shape, dict):
        return
    line = _line(file, pointer)
    place = f"{name}.{field}" if field else name
    if shape.get("x-prose"):
        if (name, field) not in PROSE_AT:
            yield Breach(
                "prose-place", document, line, f"{place} is marked as prose", "make it an enum or a list of words"
            )
        judged = sorted(_JUDGING & shape.keys())
        if judged:
            yield Breach("prose-judged", document, line, f"{place} is prose and has {', '.join(judged)}", "take it out")
        return
    if "format" in shape and shape["format"] not in FORMATS:
        hint = f"known: {', '.join(sorted(FORMATS))}; a pattern says the rest"
        yield Breach("format", document, line, f"{place} has the format {shape['format']!r}", hint)
    if isinstance(shape.get("pattern"), str):
        yield from _pattern(document, _line(file, f"{pointer}/pattern"), name, place, shape["pattern"])
    kinds = shape.get("type")
    if "string" in (kinds if isinstance(kinds, list) else [kinds]) and not (
        {"enum", "const", "pattern"} & shape.keys() or shape.get("format") in FORMATS or members_of(shape)
    ):
        hint = "give it an enum, a pattern or a format; prose has its three places"
        yield Breach("open-string", document, line, f"{place} takes any text", hint)
    if not ({"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"} & shape.keys()) and field is not None:
        yield Breach("open-string", document, line, f"{place} takes any value", "give it a type")
    if kinds == "object" and shape.get("additionalProperties") is not False:
        hint = "additionalProperties: false"
        yield Breach("open-object", document, line, f"{place} takes fields that it does not name", hint)
    if kinds == "array" and "items" not in shape:
        yield Breach("open-string", document, line, f"{place} takes any items", "say what its items are")
    for key, inner in shape.get("properties", {}).items() if isinstance(shape.get("properties"), dict) else ():
        below = f"{pointer}/properties/{key.replace('~', '~0').replace('/', '~1')}"
        if isinstance(inner, dict) and not inner.get("description"):
            yield Breach("undescribed", document, _line(file, below), f"{name}.{key} has no description")
        yield from _values(file, document, name, inner, below, key)
    for key in ("items", "additionalProperties", "contains", "propertyNames"):
        yield from _values(file, document, name, shape.get(key), f"{pointer}/{key}", field)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, inner in enumerate(shape.get(key) or () if isinstance(shape.get(key), list) else ()):
            yield from _values(file, document, name, inner, f"{pointer}/{key}/{index}", field)


def _pattern(document: str, line: int, name: str, place: str, pattern: str) -> Iterator[Breach]:
    foreign = _FOREIGN.search(pattern)
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        yield Breach("pattern-form", document, line, f"the pattern of {place} is none: {error}")
        return
    if foreign is not None:
        hint = "write the characters out: [0-9]; no look-around, no back-references"
        yield Breach("pattern-form", document, line, f"the pattern of {place} has {foreign.group()}", hint)
        return
    if not (pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")) or _has_loose_end(
        pattern
    ):
        yield Breach("pattern-form", document, line, f"the pattern of {place} is not anchored", f"^(?:{pattern})$")
        return
    if _repeats_within(pattern):
        hint = "let no repeated part contain another repetition that can match the same text"
        yield Breach("pattern-cost", document, line, f"the pattern of {place} may take for ever", hint)
        return
    if name != "Label" and compiled.search(_SENTENCE):
        hint = "a filter needs words; a name in one line is a Label"
        yield Breach("prose-pattern", document, line, f"the pattern of {place} takes {_SENTENCE!r}", hint)


def _has_loose_end(pattern: str) -> bool:
    """Whether an alternative at the top level lacks an anchor: `^a|b$`."""
    depth, escaped, in_class = 0, False, False
    for character in pattern:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "|" and depth == 0:
            return True
    return False


def _repeats_within(pattern: str) -> bool:
    """Whether an unbounded repetition is nested so that a text can be divided in many ways: `(a+)+`, `(a|a)*`.

    A repeated group passes if each round must hold a character that its inner repetitions cannot take.
    """
    # The parser of the standard library is private but has not moved since 3.11; a second one would be worse.
    import re._parser as parser  # type: ignore[import-not-found]

    def walk(items: Any) -> bool:
        for op, argument in items:
            name = str(op)
            if name in ("MAX_REPEAT", "MIN_REPEAT"):
                _, most, inner = argument
                if most > 64 and _ambiguous(list(inner)):
                    return True
                if walk(inner):
                    return True
            elif name == "SUBPATTERN":
                if walk(argument[3]):
                    return True
            elif name == "BRANCH" and any(walk(branch) for branch in argument[1]):
                return True
        return False

    return walk(parser.parse(pattern))


def _ambiguous(items: list[Any]) -> bool:
    """Whether one round of a repetition can be split into several."""
    while len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
        items = list(items[0][1][3])
    unbounded = [i for i, (op, arg) in enumerate(items) if str(op) in ("MAX_REPEAT", "MIN_REPEAT") and arg[1] > 64]
    if not unbounded:
        return any(str(op) == "BRANCH" and _overlapping(arg[1]) for op, arg in items)
    fixed = [_characters([item]) for i, item in enumerate(items) if i not in unbounded and not _optional(item)]
    loose = [_characters([items[i]]) for i in unbounded]
    # A separator that no inner repetition can match makes each round begin at one place only.
    return not any(sign and all(not (sign & other) for other in loose) for sign in fixed)


def _optional(item: Any) -> bool:
    return str(item[0]) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][0] == 0


def _overlapping(branches: Any) -> bool:
    firsts = [_characters(list(branch)[:1]) for branch in branches]
    return any(a & b for i, a in enumerate(firsts) for b in firsts[i + 1 :])


def _characters(items: Any) -> frozenset[int]:
    """Characters (of the first 256) that any of the items can match."""
    found: set[int] = set()
    for op, argument in items:
        name = str(op)
        if name == "LITERAL":
            found.add(min(argument, 255))
        elif name == "NOT_LITERAL":
            found |= set(range(256)) - {argument}
        elif name == "ANY":
            found |= set(range(256))
        elif name == "IN":
            negated = bool(argument) and str(argument[0][0]) == "NEGATE"
            held: set[int] = set()
            for kind, value in argument[1:] if negated else argument:
                if str(kind) == "LITERAL":
                    held.add(min(value, 255))
                elif str(kind) == "RANGE":
                    held |= set(range(min(value[0], 255), min(value[1], 255) + 1))
            found |= set(range(256)) - held if negated else held
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            found |= _characters(argument[2])
        elif name == "SUBPATTERN":
            found |= _characters(argument[3])
        elif name == "BRANCH":
            for branch in argument[1]:
                found |= _characters(branch)
    return frozenset(found)


def _words(parsed: Mapping[str, YamlFile], documents: Mapping[str, Any]) -> Iterator[Breach]:
    """What is said of enums, in every file."""
    coder = {
        frozenset(member.name for member in members): name
        for name, shape in documents["coder.yaml"].get("$defs", {}).items()
        if (members := members_of(shape))
    }
    for document, content in documents.items():
        file = parsed[document]
        for name, shape in content.get("$defs", {}).items():
            members = members_of(shape)
            if not members:
                continue
            pointer = f"/$defs/{name}"
            line = _line(file, pointer)
            twin = coder.get(frozenset(member.name for member in members))
            if document != "coder.yaml" and twin is not None:
                hint = f"$ref: coder.yaml#/$defs/{twin}"
                yield Breach("parallel-enum", document, line, f"{name} has the members of {twin}", hint)
            seen: set[str] = set()
            for index, member in enumerate(members):
                at = _line(file, f"{pointer}/oneOf/{index}")
                if member.name in seen:
                    yield Breach("member", document, at, f"{name}.{member.name} stands twice", "remove one of the two")
                seen.add(member.name)
                if document == "coder.yaml" and not _TAG.match(member.name):
                    yield Breach("member", document, at, f"{name}.{member.name} is not written LikeThis")
                if not member.description and "oneOf" in shape:
                    yield Breach("undescribed", document, at, f"{name}.{member.name} has no description")
                instead = member.notes.get("replaced-by")
                if instead is not None and instead not in {m.name for m in members}:
                    message = f"{name}.{member.name} is replaced by {instead!r}, which is no member"
                    yield Breach("replaced-by", document, at, message)


def _notes(parsed: Mapping[str, YamlFile]) -> Iterator[Breach]:
    for document, file in parsed.items():
        for pointer, line in file.lines.items():
            key = pointer.rpartition("/")[2]
            parent = pointer.rpartition("/")[0].rpartition("/")[2]
            if key.startswith("x-") and key not in _NOTES and parent != "properties":
                hint = f"known: {', '.join(sorted(_NOTES))}"
                yield Breach("note", document, line, f"{key} is no annotation that ontoref knows", hint)
