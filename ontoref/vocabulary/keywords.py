"""Keywords of JSON Schema 2020-12 that a vocabulary may use, and the shapes below each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["ADMITTING", "LISTS", "SINGLE", "pointer_step", "shape_breaches", "subshapes"]

# Below these stands one shape, a list of them, or one for each name.
SINGLE = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
    | {"if", "then", "else", "not"}
)
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
# Keywords whose shapes say what may stand somewhere; the others only forbid.
ADMITTING = frozenset({"items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", *LISTS})
_PLAIN = frozenset(
    {"$ref", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
    | {"type", "enum", "const", "format", "pattern", "minLength", "maxLength", "required", "dependentRequired"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
    | {"uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties"}
)
_KNOWN = SINGLE | LISTS | MAPS | _PLAIN
_AT_TOP = frozenset({"$schema", "$id", "$defs", "$ref", "title", "description", "$comment"})
_NOTES = {"x-prose": True, "x-open": True, "x-closed": True, "x-role": "", "x-replaced-by": ""}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def pointer_step(name: str) -> str:
    """A name as it stands in a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def subshapes(shape: Any, pointer: str, *, conditions: bool = True) -> Iterator[tuple[str, Any]]:
    """The shape and every shape within it, each with its pointer; without conditions, those that admit values."""
    yield pointer, shape
    if not isinstance(shape, dict):
        return
    for key, value in shape.items():
        if not (conditions or key in ADMITTING or key == "properties"):
            continue
        if key in SINGLE:
            yield from subshapes(value, f"{pointer}/{key}", conditions=conditions)
        elif key in LISTS and isinstance(value, list):
            for index, inner in enumerate(value):
                yield from subshapes(inner, f"{pointer}/{key}/{index}", conditions=conditions)
        elif key in MAPS and isinstance(value, dict):
            for name, inner in value.items():
                yield from subshapes(inner, f"{pointer}/{key}/{pointer_step(name)}", conditions=conditions)


def shape_breaches(document: Any) -> Iterator[tuple[str | None, str, str, str]]:
    """What makes a file no schema that we follow: (`note` or None, pointer, message, hint)."""
    for key in document:
        if key not in _AT_TOP:
            yield None, f"/{pointer_step(key)}", f"{key} has no meaning at the top of a file", "shapes stand in $defs"
    if document.get("$schema", _DRAFT) != _DRAFT:
        yield None, "/$schema", f"$schema is not {_DRAFT}", ""
    for name, definition in document.get("$defs", {}).items():
        at = f"/$defs/{pointer_step(name)}"
        if not isinstance(definition, dict):
            yield None, at, f"{name} is no mapping", ""
            continue
        for pointer, shape in subshapes(definition, at):
            if isinstance(shape, dict):
                yield from _of_keywords(name, shape, pointer)
    yield from _of_metaschema(document)


def _of_keywords(name: str, shape: Any, pointer: str) -> Iterator[tuple[str | None, str, str, str]]:
    import difflib

    for key, value in shape.items():
        at = f"{pointer}/{pointer_step(key)}"
        if key.startswith("x-"):
            wanted = _NOTES.get(key)
            if wanted is None:
                yield "note", at, f"{key} is no annotation that ontoref knows", f"known: {', '.join(_NOTES)}"
            elif wanted is True and value is not True:
                yield "note", at, f"{key} is neither left out nor true", f"{key}: true"
            elif wanted == "" and not (isinstance(value, str) and value):
                yield "note", at, f"{key} is no text", ""
            elif key == "x-open" and not _is_open(shape):
                hint = "anyOf: [{$ref: '#/$defs/NAME'}, {type: string, pattern: '^…$'}]"
                yield "note", at, f"{name} is x-open and not an enum's reference beside a pattern", hint
        elif key not in _KNOWN:
            near = difflib.get_close_matches(key, _KNOWN, n=1)
            hint = f'did you mean "{near[0]}"?' if near else "fields stand under properties"
            yield None, at, f"{name} uses {key}, which is no keyword that ontoref follows", hint


def _is_open(shape: Any) -> bool:
    branches = shape.get("anyOf")
    if not (isinstance(branches, list) and all(isinstance(branch, dict) for branch in branches)):
        return False
    return any("$ref" in branch for branch in branches) and any("pattern" in branch for branch in branches)


def _of_metaschema(document: Any) -> Iterator[tuple[str | None, str, str, str]]:
    """Keywords with values that JSON Schema does not know: `type: strnig`."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    for error in validator.iter_errors(document):
        pointer = "".join(f"/{pointer_step(str(step))}" for step in error.absolute_path)
        where = ".".join(str(step) for step in list(error.absolute_path)[1:]) or "the file"
        message = error.message if len(error.message) <= 200 else error.message[:199] + "…"
        yield None, pointer, f"{where}: {message}", ""
