"""Records with one thing changed: what a careless or hostile writer may have made of a good one."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.strategies import values

__all__ = ["ODD", "mutated", "places"]

# What looks right in one engine and wrong in another, and what is wrong in all.
ODD: list[Any] = [
    None,
    True,
    0,
    1,
    1.0,
    -1,
    2**63,
    1e300,
    "",
    " ",
    "\n",
    "x\n",
    "\u0661\u0662",
    "2026-11-30T18:04:05Z",
    "2026-11-30T18:04:05Z\n",
    "2026-11-30t18:04:05z",
    "2026-11-30 18:04:05Z",
    "2026-11-30T23:59:60Z",
    "2026-11-30T22:59:60Z",
    "2026-12-01T00:59:60+01:00",
    "2026-02-29T00:00:00Z",
    "2024-02-29T00:00:00Z",
    "0000-02-29T00:00:00Z",
    "2026-11-30T24:00:00Z",
    "2026-11-30T00:00:00+24:00",
    "2026-11-30T00:00:00.Z",
    "2026-11-30T00:00:00.123456789012Z",
    "\u0662026-11-30T18:04:05Z",
    "2026-11-30T18:04:05+0100",
    "a-b\n",
    "é",
    "e\u0301",
    "🙂" * 120,
    "🙂" * 121,
    "x" * 120,
    "x" * 121,
    "\u2028",
    "\x00",
    "\x7f",
    "\x85",
    "../x",
    "/x",
    "a//b",
    "a\\b",
    "a.",
    "K",  # the Kelvin sign, which folds to k
    "ſ",
    [],
    [None],
    [[]],
    ["x", "x"],
    {},
    {"kind": None},
    {"\x00": 1},
]


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Steps to every value within a value, the whole included."""
    yield at
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in pairs:
        yield from places(inner, (*at, step))


@st.composite
def mutated(draw: st.DrawFn, schema: Mapping[str, Any]) -> Any:
    """A value of a schema with at most one thing taken out, put in or replaced."""
    value = copy.deepcopy(draw(values(schema)))
    how = draw(st.sampled_from(["keep", "replace", "replace", "replace", "swap", "remove", "add"]))
    if how == "keep":
        return value
    steps = draw(st.sampled_from(list(places(value))))
    if not steps:
        return draw(st.sampled_from(ODD)) if how == "replace" else value
    node = value
    for step in steps[:-1]:
        node = node[step]
    last = steps[-1]
    if how == "replace":
        node[last] = draw(st.sampled_from(ODD))
    elif how == "swap":
        other = value
        for step in draw(st.sampled_from(list(places(value)))):
            other = other[step]
        node[last] = copy.deepcopy(other)
    elif how == "remove":
        del node[last]
    elif isinstance(node, dict):
        node[draw(st.sampled_from(["", "x", "Kind", "kind ", "sumary", "at"]))] = draw(st.sampled_from(ODD))
    else:
        node.append(draw(st.sampled_from(ODD)))
    return value
