"""Regular expressions that mean the same in every engine and cost no more than their text is long.

Taken: literals, classes, groups, alternatives, greedy and lazy repetition. Left out is what Python, ECMA (with and
without its `u` flag) and Rust read differently, or one of them not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["foreign", "is_anchored", "may_take_for_ever", "takes"]

_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_LETTERS = frozenset("nrtfv")
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_REPEAT = re.compile(r"\{(?:[0-9]+)(?:,[0-9]*)?\}")
_DOUBLED = ("&&", "--", "~~", "||")
# A repetition that may go on longer than this counts as endless.
_ENDLESS = 8
_MOST_POSITIONS = 600


def foreign(pattern: str) -> str | None:
    """The first part of a pattern that another engine reads differently; None if there is none."""
    at, in_class, class_start = 0, False, 0
    while at < len(pattern):
        character = pattern[at]
        part = character
        if character == "\\":
            match = _ESCAPE.match(pattern, at)
            part = match.group() if match else character
            if not _is_common(part, in_class=in_class):
                return part
        elif in_class:
            if character == "]" and at > class_start:
                in_class = False
            elif character in "[]" or pattern[at : at + 2] in _DOUBLED:
                return pattern[at : at + 2]
        elif character == "[":
            in_class = True
            part = "[^" if pattern.startswith("[^", at) else "["
            class_start = at + len(part)
        elif character == "(" and pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            return pattern[at : at + 3]
        elif character == "." or (character == "^" and at) or (character == "$" and at + 1 < len(pattern)):
            return character
        elif character in "*+?{}":
            match = _REPEAT.match(pattern, at)
            if character in "{}" and match is None:
                return character
            part = match.group() if match else character
            if pattern[at + len(part) : at + len(part) + 1] == "+":
                return f"{part}+"
        at += len(part)
    return None


def _is_common(escape: str, *, in_class: bool) -> bool:
    if len(escape) > 2:
        # Half of a surrogate pair is a character in one engine and nothing in another.
        return not (escape[1] == "u" and 0xD800 <= int(escape[2:], 16) <= 0xDFFF)
    return escape[1:] in _SYNTAX or escape[1:] in _LETTERS or (in_class and escape == "\\-")


def is_anchored(pattern: str) -> bool:
    """Whether a pattern of the subset has to match a whole text: `^…$` around everything."""
    if not (pattern.startswith("^") and pattern.endswith("$") and not _ends_escaped(pattern)):
        return False
    depth, in_class = 0, False
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "|" and depth == 0:
            # An alternative outside every group has only one of the anchors: `^a|b$`.
            return False
        at += 1
    return True


def _ends_escaped(pattern: str) -> bool:
    before = pattern[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def takes(pattern: str, text: str) -> bool:
    """Whether a pattern accepts a text."""
    return re.search(pattern, text) is not None


def may_take_for_ever(pattern: str) -> bool:
    """Whether a backtracking engine can need exponential time: some text has many ways through one loop.

    The pattern is made into its position automaton. It explodes just if a position can be left and reached
    again by the same text in two ways (the test for exponential ambiguity of an automaton).
    Errors: re.error for what is no pattern.
    """
    # The parser of the standard library is private but has not moved since 3.11; a second one would be worse.
    import re._parser as parser  # type: ignore[import-not-found]

    automaton = _Automaton()
    try:
        automaton.sequence(list(parser.parse(pattern)))
    except _TooLarge:
        return True
    return automaton.is_ambiguous()


class _TooLarge(Exception):
    """More positions than anybody needs."""


class _Part(NamedTuple):
    """A piece of a pattern. Shape: first and last are positions, empty says that it may match no text."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


_NOTHING = _Part(True, frozenset(), frozenset())


class _Automaton:
    """Positions of a pattern and which may follow which."""

    def __init__(self) -> None:
        self.characters: list[frozenset[int]] = []
        self.follow: list[set[int]] = []
        self.doubled: set[tuple[int, int]] = set()
        self._loops = 0
        self._same_twice = False

    def sequence(self, items: Iterable[Any]) -> _Part:
        whole = _NOTHING
        for item in items:
            part = self._item(item)
            self._link(whole.last, part.first)
            whole = _Part(
                whole.empty and part.empty,
                whole.first | part.first if whole.empty else whole.first,
                whole.last | part.last if part.empty else part.last,
            )
        return whole

    def _item(self, item: Any) -> _Part:
        op, argument = str(item[0]), item[1]
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(*argument)
        if op == "SUBPATTERN":
            return self.sequence(argument[3])
        if op == "BRANCH":
            parts = [self.sequence(branch) for branch in argument[1]]
            # The parser has taken out what alternatives have in common: `a|a` leaves two that are empty.
            self._same_twice |= self._loops > 0 and sum(part.empty for part in parts) > 1
            return _Part(
                any(part.empty for part in parts),
                frozenset().union(*(part.first for part in parts)),
                frozenset().union(*(part.last for part in parts)),
            )
        return _NOTHING if op == "AT" else self._position(_characters(op, argument))

    def _repeat(self, least: int, most: int, inner: Any) -> _Part:
        single = len(inner) == 1 and str(inner[0][0]) in ("LITERAL", "NOT_LITERAL", "IN")
        if most - least > _ENDLESS or (most > _ENDLESS and not (single and least == most)):
            self._loops += 1
            part = self.sequence(inner)
            self._loops -= 1
            self._link(part.last, part.first)
            return part._replace(empty=part.empty or least == 0)
        whole = _NOTHING
        for number in range(most):
            part = self.sequence(inner)
            self._link(whole.last, part.first)
            skipped = part.empty or number >= least
            whole = _Part(
                whole.empty and skipped,
                whole.first | part.first if whole.empty else whole.first,
                whole.last | part.last if skipped else part.last,
            )
        return whole

    def _position(self, characters: frozenset[int]) -> _Part:
        if len(self.characters) >= _MOST_POSITIONS:
            raise _TooLarge
        self.characters.append(characters)
        self.follow.append(set())
        here = frozenset((len(self.characters) - 1,))
        return _Part(False, here, here)

    def _link(self, before: Iterable[int], after: Iterable[int]) -> None:
        for left in before:
            for right in after:
                if right in self.follow[left]:
                    self.doubled.add((left, right))
                self.follow[left].add(right)

    def is_ambiguous(self) -> bool:
        reach = [self._reached(position) for position in range(len(self.follow))]
        if self._same_twice or any(left in reach[right] for left, right in self.doubled):
            return True
        return any(
            position in reach[position]
            and self._splits(position, frozenset(p for p in reach[position] if position in reach[p]))
            for position in range(len(self.follow))
        )

    def _reached(self, start: int) -> set[int]:
        found: set[int] = set()
        waiting = list(self.follow[start])
        while waiting:
            position = waiting.pop()
            if position not in found:
                found.add(position)
                waiting.extend(self.follow[position])
        return found

    def _splits(self, start: int, loop: frozenset[int]) -> bool:
        """Whether two different ways of one text lead from start round its loop to start again."""
        onward: dict[tuple[int, int], set[tuple[int, int]]] = {}
        waiting = [(start, start)]
        while waiting:
            pair = waiting.pop()
            if pair in onward:
                continue
            onward[pair] = {
                (left, right)
                for left in self.follow[pair[0]] & loop
                for right in self.follow[pair[1]] & loop
                if self.characters[left] & self.characters[right]
            }
            waiting.extend(onward[pair])
        back: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for pair, following in onward.items():
            for after in following:
                back.setdefault(after, set()).add(pair)
        seen: set[tuple[int, int]] = set()
        waiting = [(start, start)]
        while waiting:
            pair = waiting.pop()
            if pair not in seen:
                seen.add(pair)
                waiting.extend(back.get(pair, ()))
        return any(left != right for left, right in seen)


# Characters above it are one character to us: a pattern rarely tells them apart.
_LAST = 256


def _characters(op: str, argument: Any) -> frozenset[int]:
    if op == "LITERAL":
        return frozenset((min(argument, _LAST),))
    if op == "NOT_LITERAL":
        return frozenset(range(_LAST + 1)) - ({argument} if argument < _LAST else set())
    if op != "IN":
        return frozenset(range(_LAST + 1))
    negated = bool(argument) and str(argument[0][0]) == "NEGATE"
    held: set[int] = set()
    for kind, value in argument[1:] if negated else argument:
        if str(kind) == "LITERAL":
            held.add(min(value, _LAST))
        elif str(kind) == "RANGE":
            held |= set(range(min(value[0], _LAST), min(value[1], _LAST) + 1))
    return frozenset(range(_LAST + 1)) - (held - {_LAST}) if negated else frozenset(held)
