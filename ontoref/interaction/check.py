"""One line of a log, judged: accepted fast, or explained exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ontoref.interaction.finding import Finding, nearest
from ontoref.vocabulary import Vocabulary
from ontoref.vocabulary.engine import compile_schema, resolve
from ontoref.vocabulary.problem import Engine, Problem

if TYPE_CHECKING:
    from ontoref.interaction.json_text import Layout, Place

__all__ = ["Checker", "has_duplicate_keys", "holds_a_key_twice", "readable_path"]

_TYPES = {
    "string": "text",
    "object": "an object",
    "array": "an array",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
}
_CAUSES = {"enum": ("type",), "pattern": ("type",), "format": ("pattern",)}
_LENGTHS = frozenset({"maxLength", "minLength"})


class Checker:
    """Judges lines by one vocabulary.

    Shape: accepts is the fast answer about a line, check_line the full one, and both agree; is_clean is the answer
           about a parsed value alone.
    """

    def __init__(self, vocabulary: Vocabulary, *, often: bool = False) -> None:
        """Shape: often prepares it longer, for many lines."""
        self.vocabulary = vocabulary
        # What earns not even a warning; nearly every line of a log passes here and is never looked at again.
        self._strict = compile_schema(vocabulary.strict, often=often)
        self._full: Engine | None = None
        self.is_clean = self._strict.accepts

    @property
    def full(self) -> Engine:
        """The engine of the whole schema, needed once a line is not clean."""
        if self._full is None:
            self._full = compile_schema(self.vocabulary.schema)
        return self._full

    def accepts(self, line: bytes) -> Any | None:
        """The record that a line holds if nothing at all is to be said about it, else None.

        Shape: line comes without its newline.
        """
        try:
            record = orjson.loads(line)
        except ValueError:
            return None
        # A line that is byte for byte what our writer would write cannot hold a key twice.
        if self._strict.accepts(record):
            plain = orjson.dumps(record)
            if plain == line or not (line[-1:] == b"\r" or holds_a_key_twice(line, plain)):
                return record
        return None

    def check_line(self, line: bytes, path: str, number: int, *, first: bool = False) -> list[Finding]:
        """Every finding of one line, in the order of columns; [] if it is clean.

        Shape: line comes without its newline; first is true for the first line of a file.
        """
        if self.accepts(line) is not None:
            return []
        return sorted(self._findings(line, path, number, first), key=lambda finding: finding.column)

    def check_value(self, record: Any, path: str, number: int = 1, layout: Layout | None = None) -> list[Finding]:
        """Every finding of a parsed value; places come from the layout of its text, if there is one.

        Shape: a value made by options has no text: its findings have no column.
        """
        if not isinstance(record, dict):
            kind = _type_of(record)
            message = f"the line is {_TYPES[kind]}, not an object" if kind != "boolean" else "the line is no object"
            return [Finding("not-object", path, number, 1 if layout else 0, message)]
        if self._strict.accepts(record):
            return []
        found = list(self._shape(record, path, number, layout.places if layout else {}))
        return sorted(found, key=lambda finding: finding.column)

    def _findings(self, line: bytes, path: str, number: int, first: bool) -> Iterator[Finding]:
        shift = 0
        if first and line.startswith(b"\xef\xbb\xbf"):
            line, shift = line[3:], 1
            yield Finding("bom", path, number, 1, "a byte order mark stands before the record", hint="remove it")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            column = len(line[: error.start].decode()) + 1 + shift
            message = f"the byte 0x{line[error.start]:02x} is not UTF-8"
            yield Finding("encoding", path, number, column, message, hint="write the record again as UTF-8")
            return
        if text.endswith("\r"):
            text = text[:-1]
            message = "the line ends with CR LF"
            yield Finding("crlf", path, number, len(text) + 1 + shift, message, hint="ontoref init sets eol=lf for git")
        if not text.strip(" \t"):
            yield Finding("blank", path, number, 1, "the line is empty", hint="remove it")
            return
        if (shift or len(text) < len(line)) and self.accepts(text.encode()) is not None:
            # A whole log written on Windows has this on every line and nothing else.
            return
        from ontoref.interaction.json_text import Layout, Place, examine

        layout = examine(text)
        if shift:
            layout = Layout(
                layout.flaw, {p: Place(k and k + 1, v + 1) for p, (k, v) in layout.places.items()}, layout.duplicates
            )
        if layout.flaw is not None:
            yield _flaw(layout, text, path, number, shift)
            return
        for pointer, column in layout.duplicates:
            name = pointer.rpartition("/")[2]
            yield Finding(
                "duplicate-key",
                path,
                number,
                column + shift,
                f"{readable_path(_steps(pointer))} stands twice",
                pointer,
                hint=f"keep one {name}; readers differ in which of the two they take",
            )
        try:
            record = orjson.loads(text)
        except ValueError as error:
            yield Finding("syntax", path, number, 1 + shift, f"the line is not JSON: {error}")
            return
        yield from self.check_value(record, path, number, layout)

    def _shape(self, record: dict[str, Any], path: str, number: int, places: Mapping[str, Place]) -> Iterator[Finding]:
        given = record.get("id")
        identity = given if isinstance(given, str) else None
        broken: set[tuple[str | int, ...]] = set()
        found: dict[tuple[str, str], Finding] = {}
        for problem in self.full.problems(record):
            broken.add(problem.path)
            for finding in _explain(self.vocabulary, problem, record):
                found.setdefault((finding.pointer, finding.rule), finding)
        for (pointer, rule), finding in found.items():
            # A value of the wrong type breaks its enum too, and one of the wrong form its format: the first says all.
            if not any((pointer, cause) in found for cause in _CAUSES.get(rule, ())):
                yield _placed(finding, path, number, places, identity)
        for problem in self._strict.problems(record):
            if problem.path not in broken or problem.keyword == "additionalProperties":
                for finding in _warn(self.vocabulary, problem, record):
                    if (finding.pointer, "unknown-field") not in found:
                        yield _placed(finding, path, number, places, identity)


def holds_a_key_twice(line: bytes, plain: bytes) -> bool:
    """Whether a JSON text holds a key twice in one object.

    Shape: plain is what the parsed text is written as. A parser drops the first of two equal keys with the quotes
           around it, so both have as many quotes only if nothing was dropped; a quote spelled in hex needs a look.
    """
    if b"\\u0022" in line:
        return has_duplicate_keys(line)
    return line.count(b'"') != plain.count(b'"')


def has_duplicate_keys(line: bytes) -> bool:
    """Whether a JSON text holds a key twice in one object. Faster than a layout, without saying where."""
    import json

    class Twice(Exception):
        pass

    def pairs(items: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in items}) != len(items):
            raise Twice

    try:
        json.loads(line, object_pairs_hook=pairs)
    except Twice:
        return True
    except (ValueError, RecursionError):
        # Another parser took the line; let the scanner have the last word.
        from ontoref.interaction.json_text import examine

        return bool(examine(line.decode("utf-8", "replace")).duplicates)
    return False


def readable_path(steps: tuple[str | int, ...]) -> str:
    """Steps as people write them: `decisions[0].kind`; `the record` for none."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "the record"


def _steps(pointer: str) -> tuple[str | int, ...]:
    parts = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def _pointer(steps: tuple[str | int, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _flaw(layout: Layout, text: str, path: str, number: int, shift: int) -> Finding:
    flaw = layout.flaw
    assert flaw is not None
    if flaw.rule == "torn":
        hint = "a writer died here; the next record is on its own line and is fine"
        message = f"{flaw.message}, at column {min(flaw.column, len(text) + 1) + shift}"
        return Finding("torn", path, number, 1, f"torn line: {message}", hint=hint)
    return Finding(flaw.rule, path, number, flaw.column + shift, flaw.message)


def _placed(finding: Finding, path: str, number: int, places: Mapping[str, Place], identity: str | None) -> Finding:
    column = 0
    if places:
        pointer = finding.pointer.rpartition("/")[0] if finding.rule == "required" else finding.pointer
        key, value = places.get(pointer, (0, 1))
        column = key if finding.rule == "unknown-field" else value
    if finding.rule == "required":
        # The pointer of what is missing leads nowhere; that of the object is where to put it.
        finding = finding._replace(pointer=finding.pointer.rpartition("/")[0])
    return finding._replace(path=path, line=number, column=column, record=identity)


def _value_at(record: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        record = record[step]
    return record


def _explain(vocabulary: Vocabulary, problem: Problem, record: Any) -> Iterator[Finding]:
    """What one broken keyword means, without its place in the text."""
    schema = vocabulary.schema
    value = _value_at(record, problem.path)
    shape, name = resolve(schema, problem.evaluation_path[:-1])
    keyword = problem.keyword
    subject, pointer = readable_path(problem.path), _pointer(problem.path)
    if keyword == "required":
        for missing in shape["required"]:
            if missing not in value:
                yield _missing(schema, shape, missing, problem, name)
        return
    if keyword == "additionalProperties":
        known = tuple(shape.get("properties", {}))
        for extra in value:
            if extra not in known:
                yield _unknown(extra, known, name, problem)
        return
    if value is None:
        required = _is_required(schema, problem)
        hint = _asked(schema, problem) if required else "leave the field out where there is nothing to say"
        message = f"{subject}: null is no value"
        yield Finding("null", "", 0, 0, message, pointer, allowed=_words(schema, problem), hint=hint)
        return
    if problem.path == ("schema_version",):
        reads = ", ".join(map(str, shape.get("enum", ())))
        newer = isinstance(value, int) and not isinstance(value, bool) and value > max(shape["enum"])
        hint = "a newer ontoref wrote the record: pip install --upgrade ontoref" if newer else f"write {reads}"
        message = f"schema_version: {_shown(value)} is not a version that this ontoref reads ({reads})"
        yield Finding("schema-version", "", 0, 0, message, pointer, value, hint=hint)
        return
    yield _broken(vocabulary, problem, value, shape, name, subject, pointer)


def _broken(
    vocabulary: Vocabulary,
    problem: Problem,
    value: Any,
    shape: dict[str, Any],
    name: str | None,
    subject: str,
    pointer: str,
) -> Finding:
    keyword, schema = problem.keyword, vocabulary.schema
    words = _words(schema, problem)
    if keyword == "type":
        wanted = shape["type"]
        kinds = " or ".join(_TYPES.get(k, k) for k in ([wanted] if isinstance(wanted, str) else wanted))
        message = f"{subject}: {_shown(value)} is {_a(_type_of(value))} where {kinds} was expected"
        return Finding(
            "type", "", 0, 0, message, pointer, value, words, hint=None if words else _asked(schema, problem)
        )
    if keyword in ("enum", "anyOf") and words:
        noun = _a_word(name or "word")
        suggestion = (nearest(value, words) or _described(vocabulary, name, value)) if isinstance(value, str) else None
        rule = "enum" if keyword == "enum" else "pattern"
        hint = None if keyword == "enum" else _asked(schema, problem)
        return Finding(
            rule, "", 0, 0, f"{subject}: {_shown(value)} is not {noun}", pointer, value, words, suggestion, hint
        )
    if keyword == "pattern":
        asked = _asked(schema, problem)
        named = name if name and "pattern" in schema["$defs"][name] else None
        # With its own pattern beside it an agent can mend a text that the description leaves open.
        hint = f"{asked} Its form: {shape['pattern']}" if asked else f"its form: {shape['pattern']}"
        message = f"{subject}: {_shown(value)} has not the form of {_a_word(named) if named else 'its field'}"
        suggestion = _in_form(value, shape["pattern"]) if isinstance(value, str) else None
        return Finding("pattern", "", 0, 0, message, pointer, value, suggestion=suggestion, hint=hint)
    if keyword == "format":
        message = f"{subject}: {_shown(value)} is no {shape['format']} that exists"
        return Finding("format", "", 0, 0, message, pointer, value, hint=_asked(schema, problem))
    if keyword in _LENGTHS:
        limit = f"at {'most' if keyword == 'maxLength' else 'least'} {shape[keyword]}"
        message = f"{subject}: the text has {len(value)} characters where {limit} may stand"
        return Finding("length", "", 0, 0, message, pointer, value, hint=_asked(schema, problem))
    message = f"{subject}: {_shown(value)} breaks {keyword}: {_shown(shape[keyword])}"
    return Finding("shape", "", 0, 0, message, pointer, value, hint=_asked(schema, problem))


def _described(vocabulary: Vocabulary, name: str | None, value: str) -> str | None:
    """The first member whose description uses the word: "Done" is what Completed is said to mean."""
    enum = vocabulary.enums.get(name or "")
    wanted = value.casefold()
    for member in enum.members if enum else ():
        if wanted in member.description.casefold().replace(",", " ").replace(".", " ").split():
            return member.name
    return None


def _missing(
    schema: Mapping[str, Any], shape: dict[str, Any], missing: str, problem: Problem, name: str | None
) -> Finding:
    field = shape.get("properties", {}).get(missing, {})
    words = _enum_of(schema, field)
    at = readable_path(problem.path)
    message = f"{at}: {_quoted(missing)} is missing" if problem.path else f"{_quoted(missing)} is missing"
    return Finding(
        "required", "", 0, 0, message, _pointer((*problem.path, missing)), allowed=words, hint=_describe(schema, field)
    )


def _unknown(extra: str, known: tuple[str, ...], name: str | None, problem: Problem) -> Finding:
    at = readable_path((*problem.path, extra))
    message = f"{at}: {_quoted(extra)} is not a field of {_a_word(name or 'object')}"
    pointer = _pointer((*problem.path, extra))
    return Finding("unknown-field", "", 0, 0, message, pointer, None, known, nearest(extra, known))


def _warn(vocabulary: Vocabulary, problem: Problem, record: Any) -> Iterator[Finding]:
    """What earns a warning: the strict schema breaks where the full one holds."""
    value = _value_at(record, problem.path)
    subject, pointer = readable_path(problem.path), _pointer(problem.path)
    shape, name = resolve(vocabulary.strict, problem.evaluation_path[:-1])
    if problem.keyword == "additionalProperties":
        for extra in value:
            if extra not in shape.get("properties", {}):
                message = f"{readable_path((*problem.path, extra))}: the field is deprecated"
                yield Finding("deprecated", "", 0, 0, message, _pointer((*problem.path, extra)))
        return
    if problem.keyword != "enum" or not isinstance(value, str):
        return
    words = tuple(shape["enum"])
    enum = vocabulary.enums.get((name or "").rpartition(".")[2])
    member = next((m for m in enum.members if m.name == value), None) if enum else None
    if member is not None:
        instead = member.replaced_by
        message = f"{subject}: {_quoted(value)} is deprecated"
        yield Finding("deprecated", "", 0, 0, message, pointer, value, (), instead)
    else:
        message = f"{subject}: {_shown(value)} is not listed as {_a_word(name or 'word')}"
        near = nearest(value, words)
        yield Finding("open-word", "", 0, 0, message, pointer, value, words, near, "the word is open: it is accepted")


def _field_of(schema: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """The subschema under which the broken value was declared: a property, the items of one, or the value's own."""
    path = problem.evaluation_path
    for place in range(len(path) - 2, 0, -1):
        if path[place - 1] == "properties" or path[place] == "items":
            return resolve(schema, path[: place + 1])[0]
    return resolve(schema, path[:-1])[0]


def _asked(schema: Mapping[str, Any], problem: Problem) -> str | None:
    """What the vocabulary says about the value that is broken."""
    own = resolve(schema, problem.evaluation_path[:-1])[0].get("description")
    return own or _describe(schema, _field_of(schema, problem))


def _describe(schema: Mapping[str, Any], field: Mapping[str, Any]) -> str | None:
    """A field's description, with that of the shape it refers to."""
    said = field.get("description")
    if "$ref" in field:
        target = schema["$defs"][field["$ref"].rpartition("/")[2]]
        more = target.get("description")
        if more and not target.get("enum") and more != said:
            said = f"{said} {more}" if said else more
    return said if isinstance(said, str) else None


def _words(schema: Mapping[str, Any], problem: Problem) -> tuple[str, ...]:
    return _enum_of(schema, resolve(schema, problem.evaluation_path[:-1])[0])


def _enum_of(schema: Mapping[str, Any], shape: Mapping[str, Any]) -> tuple[str, ...]:
    """Members that a shape allows, through references and open words; () if it is no enum of texts."""
    while "$ref" in shape:
        shape = schema["$defs"][shape["$ref"].rpartition("/")[2]]
    if "enum" in shape:
        return tuple(word for word in shape["enum"] if isinstance(word, str))
    for branch in shape.get("anyOf", ()):
        words = _enum_of(schema, branch)
        if words:
            return words
    if shape.get("type") == "boolean":
        return ("true", "false")
    return ()


def _is_required(schema: Mapping[str, Any], problem: Problem) -> bool:
    path = problem.evaluation_path
    for place in range(len(path) - 1, 0, -1):
        if path[place - 1] == "properties":
            return path[place] in resolve(schema, path[: place - 1])[0].get("required", ())
    return False


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def _a(kind: str) -> str:
    return {"boolean": "true or false", "string": "text", "null": "null"}.get(kind, _TYPES[kind])


def _in_form(text: str, pattern: str) -> str | None:
    """The text as it was likely meant, in the form that is asked for: a slash for a backslash, one line, a slug."""
    import re

    path = text.strip().replace("\\", "/").removeprefix("./")
    words = text.split()
    guesses = [" ".join(words), "-".join(words).lower(), text.strip().lower(), text.strip().upper()]
    # A path on a drive is not made relative by other slashes.
    if not re.match("[A-Za-z]:", path):
        guesses.insert(0, path)
    try:
        return next((guess for guess in guesses if guess != text and re.fullmatch(pattern, guess)), None)
    except re.error:
        return None


def _a_word(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _shown(value: Any) -> str:
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        text = repr(value)
    # A text that is cut still ends in its quote, so that what follows does not read as part of it.
    return text if len(text) <= 80 else text[:78] + '…"' if text[0] == '"' else text[:79] + "…"
