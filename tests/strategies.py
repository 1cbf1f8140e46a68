"""Hypothesis strategies that a vocabulary's own schema gives: any record it allows can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st

from ontoref.vocabulary import load

__all__ = ["records", "texts", "values"]

_FEW = 2


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Any text that JSON can carry: no lone surrogates."""
    return st.text(alphabet=st.characters(codec="utf-8"), max_size=max_size)


@cache
def records(strict: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Records that the vocabulary of the package accepts; strict ones earn no warning either."""
    vocabulary = load()
    return values(vocabulary.strict if strict else vocabulary.schema)


def values(schema: Mapping[str, Any], shape: Mapping[str, Any] | None = None) -> Any:
    """Values of a plain JSON Schema of the kind that vocabularies are bundled to."""
    shape = schema if shape is None else shape
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return st.deferred(lambda: values(schema, schema["$defs"][name]))
    if "enum" in shape:
        return st.sampled_from(shape["enum"])
    if "anyOf" in shape:
        return st.one_of(*(values(schema, branch) for branch in shape["anyOf"]))
    kind = shape.get("type")
    if kind == "object":
        required = set(shape.get("required", ()))
        fields = {name: values(schema, inner) for name, inner in shape["properties"].items()}
        return st.fixed_dictionaries(
            {name: field for name, field in fields.items() if name in required},
            optional={name: field for name, field in fields.items() if name not in required},
        )
    if kind == "array":
        return st.lists(values(schema, shape["items"]), max_size=_FEW)
    if kind == "boolean":
        return st.booleans()
    if kind == "integer":
        return st.integers(min_value=-(2**53), max_value=2**53)
    assert kind == "string", f"no strategy for {shape}"
    if shape.get("format") == "date-time":
        return _moments()
    if "pattern" in shape:
        return _matching(shape["pattern"], shape.get("minLength", 0), shape.get("maxLength", 1 << 20))
    return texts()


def _moments() -> st.SearchStrategy[str]:
    """Moments that exist, with and without fractions."""

    def written(moment: datetime, digits: int) -> str:
        whole = moment.strftime("%Y-%m-%dT%H:%M:%S")
        return f"{whole}.{moment.microsecond:06d}"[: 20 + digits] + "Z" if digits else f"{whole}Z"

    between = st.datetimes(datetime(2000, 1, 1), datetime(2999, 12, 31), timezones=st.just(UTC))
    return st.builds(written, between, st.integers(0, 6))


@cache
def _matching(pattern: str, least: int, most: int) -> st.SearchStrategy[str]:
    inner = pattern.removeprefix("^").removesuffix("$")
    drawn = st.from_regex(f"(?:{inner})", fullmatch=True, alphabet=st.characters(codec="utf-8"))
    return drawn.filter(lambda text: least <= len(text) <= most)
