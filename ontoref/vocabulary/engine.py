"""What decides whether a record has its shape, and says what is wrong with one that has not.

One function, `compile_schema`, chooses the engine. jsonschema-rs accepts about as fast as a record is parsed;
`jsonschema`, the reference, is its oracle in the tests and stands in where its wheel is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ontoref.vocabulary.model import VocabularyError
from ontoref.vocabulary.problem import Engine, Problem

__all__ = ["compile_schema", "lean", "resolve"]

_ANNOTATIONS = frozenset({"title", "description", "deprecated", "default", "examples", "$comment"})
_RUN = re.compile(r"\^([A-Za-z0-9:_-]*)(\[[A-Za-z0-9_:+/-]+\])\{([0-9]+)\}\$")
_MEND = "ontoref vocabulary check names the file and the line"


def compile_schema(schema: Mapping[str, Any], *, often: bool = False) -> Engine:
    """The engine for a plain JSON Schema 2020-12 document without outside references.

    Shape:  often prepares it longer for many values.
    Errors: VocabularyError for a schema that cannot be compiled.
    """
    try:
        import jsonschema_rs  # noqa: F401 it is asked for where it is used
    except ImportError:
        from ontoref.vocabulary.reference import reference_engine

        return reference_engine(schema)
    accepting = _compiled(lean(schema) if often else schema)
    explaining = None if often else accepting

    def problems(value: Any) -> Iterator[Problem]:
        nonlocal explaining
        # Where a value breaks the schema is told by the schema as it was given.
        explaining = explaining or _compiled(schema)
        for error in explaining.iter_errors(value):
            yield Problem(tuple(error.instance_path), tuple(error.evaluation_path))

    return Engine(accepting.is_valid, problems)


def _compiled(schema: Mapping[str, Any]) -> Any:
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(
            dict(schema),
            validate_formats=True,
            # Of the two engines for patterns the one that takes linear time whatever the pattern and the text are.
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except ValueError as error:
        place = "".join(f"/{step}" for step in getattr(error, "instance_path", ()))
        raise VocabularyError(
            str(schema.get("$id", "the schema")), None, f"{place}: {str(error).splitlines()[0]}", hint=_MEND
        ) from None


def resolve(schema: Mapping[str, Any], evaluation_path: tuple[str | int, ...]) -> tuple[dict[str, Any], str | None]:
    """The subschema that a path of keywords leads to, and the name of the last definition it went through."""
    node: Any = schema
    name = None
    for step in evaluation_path:
        node = node[step]
        if step == "$ref" and isinstance(node, str):
            name = node.rpartition("/")[2]
            node = schema["$defs"][name]
    return node, name


def lean(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema in the form that is cheapest to decide: 15 % off a record of ours.

    Shape: references stand in place where that ends, annotations are gone, and a long run of one class of characters
           is counted by length, which is cheaper than by pattern.
    """
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    kept: set[str] = set()

    def lower(shape: Any, within: tuple[str, ...]) -> Any:
        if isinstance(shape, list):
            return [lower(item, within) for item in shape]
        if not isinstance(shape, dict):
            return shape
        if isinstance(shape.get("$ref"), str):
            name = shape["$ref"].rpartition("/")[2]
            beside = shape.keys() - _ANNOTATIONS - {"$ref", "$schema", "$id", "$defs"}
            if name in within or beside:
                kept.add(name)
                return {key: value if key == "$ref" else lower(value, within) for key, value in shape.items()}
            return lower(definitions[name], (*within, name))
        lowered: dict[str, Any] = {}
        for key, value in shape.items():
            if key in ("properties", "patternProperties", "dependentSchemas"):
                lowered[key] = {name: lower(inner, within) for name, inner in value.items()}
            elif key in ("enum", "const", "required", "dependentRequired"):
                lowered[key] = value
            elif key not in _ANNOTATIONS:
                lowered[key] = lower(value, within)
        if lowered.get("type") == "string":
            if "enum" in lowered and all(isinstance(word, str) for word in lowered["enum"]):
                del lowered["type"]
            run = _RUN.fullmatch(lowered.get("pattern", ""))
            if run and not {"minLength", "maxLength"} & lowered.keys() and int(run[3]) >= 32:
                length = len(run[1]) + int(run[3])
                lowered.update(pattern=f"^{run[1]}{run[2]}+$", minLength=length, maxLength=length)
        return lowered

    result = {key: schema[key] for key in ("$schema", "$id") if key in schema}
    result |= lower({key: value for key, value in schema.items() if key not in ("$schema", "$id", "$defs")}, ())
    waiting = set(kept)
    whole: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        whole[name] = lower(definitions[name], (name,))
        waiting |= kept - whole.keys()
    return {**result, "$defs": whole} if whole else result
