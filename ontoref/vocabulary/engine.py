"""What decides whether a record has its shape, and says what is wrong with one that has not.

One function, `compile_schema`, chooses the engine. jsonschema-rs accepts about as fast as a record is parsed;
`jsonschema`, the reference, is its oracle in the tests and stands in where its wheel is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Engine", "Problem", "compile_schema", "reference_engine", "resolve"]


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
        return reference_engine(schema)
    validator = jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True)

    def problems(value: Any) -> Iterator[Problem]:
        for error in validator.iter_errors(value):
            yield Problem(tuple(error.instance_path), tuple(error.evaluation_path))

    return Engine(validator.is_valid, problems)


def reference_engine(schema: Mapping[str, Any]) -> Engine:
    """The same by `jsonschema`, with checkers of our own for what it leaves open.

    Installed plain it checks no dates, and Python's `$` also matches before a last newline.
    """
    import re
    from datetime import date

    import jsonschema

    formats = jsonschema.FormatChecker(formats=())

    @formats.checks("date-time")
    def is_moment(value: object) -> bool:
        if not isinstance(value, str):
            return True
        match = re.fullmatch(
            r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
            r"(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))",
            value,
        )
        if match is None:
            return False
        year, month, day, hour, minute, second, *offset = (int(g) if g else 0 for g in match.groups())
        try:
            date(year, month, day)
        except ValueError:
            return False
        return hour < 24 and minute < 60 and second < 60 and offset[0] < 24 and offset[1] < 60

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, str) and not re.search(_python_pattern(wanted), value):
            yield jsonschema.ValidationError(f"{value!r} does not match {wanted!r}")

    extend: Any = jsonschema.validators.extend
    validator_class = extend(jsonschema.Draft202012Validator, {"pattern": pattern})
    validator = validator_class(dict(schema), format_checker=formats)

    def problems(value: Any) -> Iterator[Problem]:
        for error in validator.iter_errors(value):
            yield Problem(tuple(error.absolute_path), tuple(error.absolute_schema_path))

    return Engine(validator.is_valid, problems)


def _python_pattern(pattern: str) -> str:
    """A pattern of our subset as Python means it: `$` is the end of the text and nothing else."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith(r"\$") else pattern


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
