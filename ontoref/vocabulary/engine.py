"""What decides whether a record has its shape, and says what is wrong with one that has not.

One function, `compile_schema`, chooses the engine. jsonschema-rs accepts about as fast as a record is parsed;
`jsonschema`, the reference, is its oracle in the tests and stands in where its wheel is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.vocabulary.model import VocabularyError

__all__ = ["Engine", "Problem", "compile_schema", "resolve"]

_MEND = "ontoref vocabulary check names the file and the line"


class Problem(NamedTuple):
    """One keyword that a value breaks. Shape: path and evaluation_path are steps from the root, the latter
    through `$ref`, ending in the keyword."""

    path: tuple[str | int, ...]
    evaluation_path: tuple[str | int, ...]

    @property
    def keyword(self) -> str:
        return str(self.evaluation_path[-1])


class Engine(NamedTuple):
    """A compiled schema. Shape: accepts(value) -> bool; problems(value) -> each broken keyword."""

    accepts: Callable[[Any], bool]
    problems: Callable[[Any], Iterator[Problem]]


def compile_schema(schema: Mapping[str, Any]) -> Engine:
    """The engine for a plain JSON Schema 2020-12 document without outside references."""
    try:
        import jsonschema_rs
    except ImportError:
        from ontoref.vocabulary.reference import reference_engine

        return reference_engine(schema)
    try:
        validator = jsonschema_rs.Draft202012Validator(
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

    def problems(value: Any) -> Iterator[Problem]:
        for error in validator.iter_errors(value):
            yield Problem(tuple(error.instance_path), tuple(error.evaluation_path))

    return Engine(validator.is_valid, problems)


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
