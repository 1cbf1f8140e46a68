"""Patterns that mean the same in every engine and take no longer than their text is long."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from ontoref.vocabulary import load
from ontoref.vocabulary.pattern import foreign, is_anchored, may_take_for_ever


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a*)*$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "^(a?b?)*$",
        "^(a+b?)+$",
        "^([a-z]+)*$",
        "^([a-z]+[0-9]*)+$",
        "^(x+x+)+y$",
        "^((a|b)*|c)*$",
        "^(a|b|ab)*$",
        "^(a{1,30}){1,30}$",
        "^(a+){40}$",
    ],
)
def test_a_loop_that_takes_one_text_in_two_ways_is_found(pattern: str) -> None:
    assert may_take_for_ever(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        "^a*b*c*$",
        "^(a|b)*$",
        "^(a|a)$",
        "^(foo|far)+$",
        "^(ab|ac)*$",
        "^(a|ab)(c|bcd)*$",
        "^[a-z0-9]+(-[a-z0-9]+)*$",
        "^([0-9a-f]{2}:)*[0-9a-f]{2}$",
        r"^v[0-9]+(\.[0-9]+){0,3}$",
        "^([0-9a-f]{40}|[0-9a-f]{64})$",
        "^([0-9A-F]{32},)*$",
    ],
)
def test_a_loop_with_one_way_is_left_alone(pattern: str) -> None:
    assert not may_take_for_ever(pattern)


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"^\d$", r"\d"),
        (r"^\bx$", r"\b"),
        (r"^\p{L}$", r"\p"),
        (r"^x\Z", r"\Z"),
        (r"^(a)\1$", r"\1"),
        ("^(?=a)a$", "(?="),
        ("^(?<!a)b$", "(?<"),
        ("^(?i)a$", "(?i"),
        ("^(?P<n>a)$", "(?P"),
        ("^a++$", "++"),
        ("^a{2}+$", "{2}+"),
        ("^a{,3}$", "{"),
        ("^a}$", "}"),
        ("^.$", "."),
        ("^a$|^b$", "$"),
        ("^[]a]$", "]a"),
        ("^[[:alpha:]]$", "[:"),
        ("^[a&&b]$", "&&"),
        (r"^\:$", r"\:"),
        (r"^\-$", r"\-"),
        (r"^\ud83d$", r"\ud83d"),
    ],
)
def test_what_engines_read_differently_is_found(pattern: str, part: str) -> None:
    assert foreign(pattern) == part


@pytest.mark.parametrize(
    "pattern", [r"^[\-a]$", r"^\.\*$", "^(?:a|b)c?$", "^a{2,}$", r"^\u0041\x42\n$", r"^[^\\\]]$", "^a*?$", "^[$.^]$"]
)
def test_the_subset_is_taken(pattern: str) -> None:
    assert foreign(pattern) is None
    assert is_anchored(pattern)
    re.compile(pattern)


@pytest.mark.parametrize("pattern", ["a$", "^a", "^a|b$", r"^a\$", "^(a)|(b)$"])
def test_a_pattern_that_fits_a_part_is_not_anchored(pattern: str) -> None:
    assert not is_anchored(pattern)


def test_an_escaped_backslash_before_the_end_is_anchored() -> None:
    assert is_anchored(r"^a\\$")
    assert is_anchored("^[|]$")


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from _patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns(inner)


def test_our_own_patterns_decide_a_long_text_at_once() -> None:
    """A backtracking engine, too, is done with a text that nearly fits: what the check promises."""
    program = (
        "import re, sys\n"
        "for pattern in sys.argv[1:]:\n"
        "    for text in ('a' * 3000 + '\\n', 'a-' * 1500, '/a' * 1500 + '/', '0' * 3000 + '!', 'a/b.' * 700):\n"
        "        re.search(pattern, text)\n"
    )
    patterns = sorted(set(_patterns(dict(load().documents))))
    assert len(patterns) > 10
    subprocess.run([sys.executable, "-c", program, *patterns], check=True, timeout=30)
