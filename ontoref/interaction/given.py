"""What was handed in to be recorded: one JSON object, an array of them, or one a line.

A value that turns out to be fine costs one parse. Where things stand in its text is only asked once something is
to be said about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ontoref.interaction.finding import Finding

if TYPE_CHECKING:
    from ontoref.interaction.json_text import Layout

__all__ = ["Given", "Source", "parse"]

# JSON numbers of any length are allowed and readers differ in what they make of them; orjson rounds.
_LARGEST, _SMALLEST = (1 << 64) - 1, -(1 << 63)


class Source:
    """One text and where the values in it stand. Shape: line is that of its first character in the input."""

    def __init__(self, path: str, text: str, line: int = 1, value: Any = None) -> None:
        self.path = path
        self.text = text
        self.line = line
        self.value = value

    @cached_property
    def layout(self) -> Layout:
        from ontoref.interaction.json_text import examine

        return examine(self.text)

    @cached_property
    def has_duplicates(self) -> bool:
        """Whether a key stands twice in one object; most texts are told without looking at their layout."""
        # What looks like a key within a text only makes the count larger.
        if len(re.findall(r'"[ \t\r\n]*:', self.text)) == _count_keys(self.value):
            return False
        return bool(self.layout.duplicates)

    @cached_property
    def unkeepable(self) -> Finding | None:
        """A number that our parser rounded: what would be written is not what was given."""
        if re.search(r"[0-9]{19}", self.text) is None:
            return None
        import json

        too_large: list[str] = []

        def whole(digits: str) -> int:
            number = int(digits) if len(digits) < 40 else _LARGEST + 1
            if not _SMALLEST <= number <= _LARGEST:
                too_large.append(digits)
            return 0

        json.loads(self.text, parse_int=whole)
        if not too_large:
            return None
        digits = too_large[0] if len(too_large[0]) <= 40 else too_large[0][:39] + "…"
        message = f"{digits} is a whole number past 64 bits, which readers round"
        offset = self.text.find(too_large[0])
        return self.placed(Finding("syntax", "", 0, offset + 1, message, hint="write it as text, or leave it out"))

    @cached_property
    def items(self) -> dict[str, Layout]:
        """The layout of each item of an array, by its index as text."""
        from ontoref.interaction.json_text import Layout

        found: dict[str, Layout] = {}
        for pointer, place in self.layout.places.items():
            _, _, index_and_rest = pointer.partition("/")
            index, slash, rest = index_and_rest.partition("/")
            if index:
                found.setdefault(index, Layout(None, {}, [])).places[slash + rest] = place
        for pointer, column in self.layout.duplicates:
            index, slash, rest = pointer[1:].partition("/")
            if index in found:
                found[index].duplicates.append((slash + rest, column))
        return found

    def placed(self, finding: Finding) -> Finding:
        """The finding with its offset in the text turned into line and column."""
        if not finding.column:
            return finding._replace(path=self.path, line=self.line)
        offset = min(finding.column - 1, len(self.text))
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.line + self.text.count("\n", 0, offset)
        return finding._replace(path=self.path, line=line, column=offset - start + 1)


class Given(NamedTuple):
    """One value. Shape: source is None for one made of options; number is its place in an array; fault says why
    there is no value. text is what a person would mend: the line, or the value on a line of its own."""

    value: Any
    text: bytes
    source: Source | None = None
    number: int | None = None
    fault: Finding | None = None

    @property
    def layout(self) -> Layout | None:
        """Where the parts of the value stand, as offsets in the source's text."""
        if self.source is None:
            return None
        if self.number is None:
            return self.source.layout
        return self.source.items.get(str(self.number))

    def duplicates(self) -> Iterator[Finding]:
        """Keys that stand twice in one object."""
        if self.source is None or not self.source.has_duplicates:
            return
        layout = self.layout
        for pointer, column in layout.duplicates if layout else ():
            name = pointer.rpartition("/")[2]
            yield self.source.placed(
                Finding(
                    "duplicate-key",
                    "",
                    0,
                    column,
                    f"{name} stands twice",
                    pointer,
                    hint=f"keep one {name}; readers differ in which of the two they take",
                )
            )

    def placed(self, finding: Finding) -> Finding:
        """The finding with its place in the input."""
        return finding if self.source is None else self.source.placed(finding)


def parse(content: bytes, path: str) -> list[Given]:
    """Every value of an input; [] if it is blank. What cannot be read is a value with a fault."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(content)
    except ValueError:
        value = None
    else:
        source = Source(path, content.decode(), 1, value)
        if isinstance(value, list):
            return [_given(item, source, number) for number, item in enumerate(value)]
        return [_given(value, source)]
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return [_undecodable(content, path, error)]
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip(" \t\r")]
    if len(filled) > 1 and _begins_lines(lines[filled[0]]):
        return [_of_line(lines[number].rstrip("\r"), number + 1, path) for number in filled]
    return [_broken(Source(path, text))] if filled else []


def _begins_lines(first: str) -> bool:
    """Whether a text whose first line is this holds one value a line: a whole value, or one that should be."""
    line = first.strip(" \t\r")
    try:
        orjson.loads(line)
    except ValueError:
        return len(line) > 2 and line[0] == "{" and line[-1] == "}"
    return True


def _of_line(line: str, number: int, path: str) -> Given:
    try:
        value = orjson.loads(line)
    except ValueError:
        return _broken(Source(path, line, number))
    return _given(value, Source(path, line, number, value))


def _given(value: Any, source: Source, number: int | None = None) -> Given:
    try:
        text = orjson.dumps(value)
    except (TypeError, ValueError):
        return _broken(source)
    return Given(value, text, source, number, source.unkeepable)


def _broken(source: Source) -> Given:
    flaw = source.layout.flaw
    if flaw is not None:
        fault = source.placed(Finding(flaw.rule, "", 0, flaw.column, flaw.message))
    else:
        # The parser has its own limits, of depth and of numbers.
        message = "the text is nested too deeply, or a number in it is too large"
        fault = source.placed(Finding("syntax", "", 0, 1, message))
    return Given(None, source.text.encode(), source, None, fault)


def _undecodable(content: bytes, path: str, error: UnicodeDecodeError) -> Given:
    before = content[: error.start]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    hint = "the input is UTF-16: write it as UTF-8" if wide else "write the record again as UTF-8"
    message = f"the byte 0x{content[error.start]:02x} is not UTF-8"
    return Given(None, content, None, None, Finding("encoding", path, line, column, message, hint=hint))


def _count_keys(value: Any) -> int:
    count, stack = 0, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            count += len(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return count
