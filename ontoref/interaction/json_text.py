r"""Where things stand in one JSON text, and what is wrong with one that no parser takes.

A scanner of our own: the parsers that are fast enough for a log say neither where a value stands nor which key
stands twice, and it runs on bad lines alone. It never recurses.
"""

from __future__ import annotations

import re
from math import isinf
from typing import NamedTuple

__all__ = ["DEEPEST", "Flaw", "Layout", "Place", "examine"]

DEEPEST = 500

_SPACE = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
_STRING_BODY = re.compile(r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
# The way from one value of an object to the next where nothing is odd: the key without its quotes, in one look.
_FIRST_KEY = re.compile(r'[ \t\r\n]*+"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT_KEY = re.compile(r'[ \t\r\n]*+,[ \t\r\n]*+"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD = re.compile(r"true|false|null")
_NUMBER_BEGUN = re.compile(r"-?(?:0|[1-9][0-9]*+)?(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]*+)?")
# Any escape, so that an escaped backslash is passed over; the group holds half of a surrogate pair.
_ESCAPE = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|.)"
)


class Flaw(NamedTuple):
    """Why a text is no JSON. Shape: rule is `torn`, `syntax` or `too-deep`. Units: column is 1-based."""

    rule: str
    column: int
    message: str


class Place(NamedTuple):
    """Where a value stands and, in an object, its key. Units: 1-based columns; key is 0 without one."""

    key: int
    value: int


class Layout(NamedTuple):
    """Shape: places by JSON pointer, "" being the whole; duplicates are (pointer, column of the second key)."""

    flaw: Flaw | None
    places: dict[str, Place]
    duplicates: list[tuple[str, int]]


class _Open:
    """A container that is being read."""

    __slots__ = ("column", "index", "is_object", "keys", "pointer")

    def __init__(self, pointer: str, column: int, is_object: bool) -> None:
        self.pointer = pointer
        self.column = column
        self.is_object = is_object
        self.index = 0
        self.keys: set[str] = set()


def examine(text: str) -> Layout:
    """Read one JSON text to its end or to its first flaw.

    Shape: where there is a flaw, places and duplicates are those before it.
    """
    places: dict[str, Place] = {}
    duplicates: list[tuple[str, int]] = []
    stack: list[_Open] = []
    end = len(text)
    position = _skip(text, 0)
    pointer, key_column = "", 0

    def flaw(rule: str, at: int, message: str) -> Layout:
        return Layout(Flaw(rule, at + 1, message), places, duplicates)

    while True:
        # A value begins here.
        if position >= end:
            return flaw("torn", end, _ends(stack, "where a value was expected"))
        character = text[position]
        places[pointer] = Place(key_column, position + 1)
        opened = False
        if character in "{[":
            if len(stack) >= DEEPEST:
                return flaw("too-deep", position, f"the text is nested more than {DEEPEST} levels deep")
            stack.append(_Open(pointer, position + 1, character == "{"))
            position, opened = position + 1, True
        elif character == '"':
            match = _STRING.match(text, position)
            if match is None:
                return Layout(_bad_string(text, position), places, duplicates)
            stop = match.end()
            lone = _lone_surrogate(text, position, stop)
            if lone is not None:
                return flaw("syntax", lone, f"{text[lone : lone + 6]} is half of a character")
            position = stop
        else:
            match = _NUMBER.match(text, position) or _WORD.match(text, position)
            if match is None or (match.end() < end and text[match.end()] not in " \t\r\n,]}"):
                return Layout(_bad_scalar(text, position, stack), places, duplicates)
            if _is_beyond(match.group()):
                return flaw("syntax", position, f"{match.group()[:40]} is beyond what programs can hold")
            position = match.end()

        # Go on to where the next value begins, closing what ends on the way.
        named = None
        while True:
            if stack and stack[-1].is_object:
                top = stack[-1]
                named = (_FIRST_KEY if opened else _NEXT_KEY).match(text, position)
                if named is not None:
                    break
            position = _skip(text, position)
            if not stack:
                if position < end:
                    return flaw("syntax", position, f"{_shown(text, position)} follows the end of the value")
                return Layout(None, places, duplicates)
            top = stack[-1]
            if position >= end:
                return flaw("torn", end, _ends(stack, "inside " + _kind(top)))
            character = text[position]
            if character == ("}" if top.is_object else "]"):
                stack.pop()
                position, opened = position + 1, False
                continue
            if not opened:
                if character != ",":
                    closing = "}" if top.is_object else "]"
                    return flaw("syntax", position, f"{_shown(text, position)} where , or {closing} was expected")
                position = _skip(text, position + 1)
                top.index += 1
            break
        if named is not None:
            key, key_column, position = named.group(1), named.start(1), named.end()
            pointer = _named(top, key, key_column, duplicates)
            continue
        if not top.is_object:
            pointer, key_column = f"{top.pointer}/{top.index}", 0
            continue
        if position >= end:
            return flaw("torn", end, _ends(stack, "where a key was expected"))
        if text[position] != '"':
            return flaw("syntax", position, f'{_shown(text, position)} where a key in " was expected')
        match = _STRING.match(text, position)
        if match is None:
            return Layout(_bad_string(text, position), places, duplicates)
        lone = _lone_surrogate(text, position, match.end())
        if lone is not None:
            return flaw("syntax", lone, f"{text[lone : lone + 6]} is half of a character")
        key = _decoded(match.group())
        key_column = position + 1
        pointer = _named(top, key, key_column, duplicates)
        position = _skip(text, match.end())
        if position >= end:
            return flaw("torn", end, _ends(stack, "after a key"))
        if text[position] != ":":
            return flaw("syntax", position, f"{_shown(text, position)} where : was expected")
        position = _skip(text, position + 1)


def _named(top: _Open, key: str, column: int, duplicates: list[tuple[str, int]]) -> str:
    """The pointer of a field that begins, noted where its key is not the first of its name."""
    escaped = key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
    pointer = f"{top.pointer}/{escaped}"
    if key in top.keys:
        duplicates.append((pointer, column))
    top.keys.add(key)
    return pointer


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _decoded(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted[1:-1]
    import json

    return str(json.loads(quoted))


def _lone_surrogate(text: str, start: int, stop: int) -> int | None:
    """Place of an escape that is half a pair, in a string that has any escapes at all."""
    if text.find("\\u", start, stop) < 0:
        return None
    return next((match.start() for match in _ESCAPE.finditer(text, start, stop) if match.group(1)), None)


def _bad_string(text: str, start: int) -> Flaw:
    match = _STRING_BODY.match(text, start + 1)
    stop = match.end() if match else start + 1
    if stop >= len(text) or (text[stop] == "\\" and len(text) - stop < 6 and '"' not in text[stop + 1 :]):
        return Flaw("torn", len(text) + 1, f"the text ends inside a string that began at column {start + 1}")
    if text[stop] == "\\":
        return Flaw("syntax", stop + 1, f"{text[stop : stop + 2]!r} is no escape that JSON knows")
    return Flaw("syntax", stop + 1, f"a raw control character (U+{ord(text[stop]):04X}) stands in a string")


def _bad_scalar(text: str, start: int, stack: list[_Open]) -> Flaw:
    rest = text[start:]
    if any(word.startswith(rest) for word in ("true", "false", "null")) or _NUMBER_BEGUN.fullmatch(rest):
        return Flaw("torn", len(text) + 1, _ends(stack, "inside a value"))
    if rest.startswith(("NaN", "Infinity", "-Infinity")):
        return Flaw("syntax", start + 1, f"{rest.split(',')[0].split('}')[0][:9]} is not JSON")
    if text[start] == "'":
        return Flaw("syntax", start + 1, "a text stands in \" and not in '")
    if text[start] in "-+.0123456789":
        return Flaw("syntax", start + 1, f"{re.split('[],}: ]', rest[:40])[0]} is no number as JSON writes it")
    return Flaw("syntax", start + 1, f"{_shown(text, start)} where a value was expected")


def _is_beyond(number: str) -> bool:
    """Whether a number is read as infinite by those who read fractions in 64 bits."""
    return (len(number) > 300 or "e" in number or "E" in number) and number[-1].isdecimal() and isinf(float(number))


def _kind(top: _Open) -> str:
    return f"{'an object' if top.is_object else 'an array'} that began at column {top.column}"


def _ends(stack: list[_Open], where: str) -> str:
    return f"the text ends {where}" if stack or where != "where a value was expected" else "the text is empty"


def _shown(text: str, position: int) -> str:
    character = text[position]
    return f"{character!r}" if character.isprintable() else f"U+{ord(character):04X}"
