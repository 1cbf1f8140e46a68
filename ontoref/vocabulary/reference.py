"""The engine of the reference: slow, and the judge of any other."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from ontoref.vocabulary.problem import Engine, Problem

__all__ = ["is_moment", "reference_engine"]

_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-][0-9]{2}):([0-9]{2}))"
)


def reference_engine(schema: Mapping[str, Any]) -> Engine:
    """An engine by `jsonschema`, with checkers of our own for what it leaves open.

    Installed plain it checks no dates, and Python's `$` also matches before a last newline.
    """
    formats = jsonschema.FormatChecker(formats=())
    formats.checks("date-time")(is_moment)

    def pattern(_: Any, wanted: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
        if isinstance(value, str) and not re.search(_python_pattern(wanted), value):
            yield jsonschema.ValidationError(f"{value!r} does not match {wanted!r}")

    follow = jsonschema.Draft202012Validator.VALIDATORS["$ref"]

    def reference(validator: Any, target: str, value: Any, shape: Any) -> Iterator[jsonschema.ValidationError]:
        # The path of an error leaves this one keyword out.
        for error in follow(validator, target, value, shape):
            error.schema_path.appendleft("$ref")
            yield error

    extend: Any = jsonschema.validators.extend
    validator_class = extend(jsonschema.Draft202012Validator, {"pattern": pattern, "$ref": reference})
    validator = validator_class(dict(schema), format_checker=formats)

    def problems(value: Any) -> Iterator[Problem]:
        for error in validator.iter_errors(value):
            yield Problem(tuple(error.absolute_path), tuple(error.absolute_schema_path))

    return Engine(validator.is_valid, problems)


def is_moment(value: object) -> bool:
    """Whether a value is no text or an RFC 3339 moment that exists.

    Source: RFC 3339, 5.6 and 5.7: a leap second ends a day of UTC, whatever the clock showed elsewhere.
    """
    if not isinstance(value, str):
        return True
    match = _MOMENT.fullmatch(value)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    ahead, offset_minute = int(match[7] or 0), int(match[8] or 0)
    if not (1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return False
    if hour > 23 or minute > 59 or abs(ahead) > 23 or offset_minute > 59:
        return False
    offset = ahead * 60 + (-offset_minute if (match[7] or "").startswith("-") else offset_minute)
    is_last_minute = (hour * 60 + minute - offset) % 1440 == 1439
    return second < 60 or (second == 60 and is_last_minute)


def _python_pattern(pattern: str) -> str:
    """A pattern of our subset as Python means it: `$` is the end of the text and nothing else."""
    return pattern[:-1] + r"\Z" if pattern.endswith("$") and not pattern.endswith(r"\$") else pattern
