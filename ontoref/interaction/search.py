r"""A byte search for the lines of a log that can answer a question, so that only those are decoded.

It may name a line too many, never one too few. A line that answers holds the key and the value that are asked
for, whatever white space stands between; or it holds a letter of them as `\u00XX`, and any such line is named too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

try:
    # Finds a text several times as fast as the standard library does (docs/adr/0027). Same answers without it.
    from stringzilla import Str as _Str
except ImportError:  # not CPython, or a system that it has no wheel for
    _Str = None

__all__ = ["Mentions", "Needle", "Search", "Text"]

Str: Any = _Str

_SPACE = rb"[ \t\r]*"
# Printable ASCII that JSON writes as itself. A quote and a backslash are always escaped, a slash sometimes.
_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
# From most to least frequent in records. A search is fastest from a byte that is seldom seen.
_COMMON = b'"e atnoisrdlc:,hupm-0123456789fg{}TZybwv._k/[]AEISCDFRPMBOLHNGUVWjxqKzYXJQ'
_RANK = {byte: len(_COMMON) - place for place, byte in enumerate(_COMMON)}
_ESCAPE_BUDGET = 256
_MOST_ANCHORS = 4
# How the lines that `record` writes begin: alike up to the id, which is a ULID.
_HEAD_END = b',"id":"0'
_LONGEST_HEAD = 64


class Text:
    """Whole lines that are searched several times: content[:end], which ends in a newline."""

    __slots__ = ("_escape", "_lines", "content", "end", "fast", "has_heads")

    def __init__(self, content: bytes, end: int) -> None:
        self.content, self.end = content, end
        self.fast: Any = None if Str is None else Str(memoryview(content)[:end])
        # Whether each line begins alike, up to an id that is the first in it. Told once `odd` has looked.
        self.has_heads = False
        self._escape: int | None = None
        self._lines: int | None = None

    @property
    def lines(self) -> int:
        """How many lines it has."""
        if self._lines is None:
            fast = self.fast
            self._lines = self.content.count(b"\n", 0, self.end) if fast is None else fast.count(b"\n")
        return self._lines

    def first_escape(self) -> int:
        """Where an ASCII character first stands as `\\u00XX`; -1 where none does. Only where there is fast."""
        if self._escape is None:
            self._escape = self.fast.find(b"\\u00")
        return self._escape

    def odd(self) -> list[tuple[int, int]]:
        """(start, stop) of the lines that do not run from { to }."""
        content, end = self.content, self.end
        if self.fast is not None and end > 1 and content[0] == 123 and content[end - 2] == 125:
            tail = content.find(_HEAD_END, 0, _LONGEST_HEAD)
            if tail > 0 and content.find(b'"id"', 0, tail) < 0:
                head = content[: tail + len(_HEAD_END)]
                self.has_heads = self.fast.count(b"}\n" + head) == self.lines - 1
            if self.has_heads or self.fast.count(b"}\n{") == self.lines - 1:
                return []
        found: list[tuple[int, int]] = []
        start = 0
        for _ in range(self.lines):
            stop = content.find(b"\n", start, end)
            if content[start] != 123 or content[stop - 1] != 125:
                found.append((start, stop))
            start = stop + 1
        return found


class Needle(NamedTuple):
    """What a line must hold.

    Shape: pattern is a regular expression over bytes, found in any such line; letters are the characters that an
           escape may stand for. The same in another form, for a search of fixed texts: one of anchors stands in
           the line, and check, if there is one, matches there. With names, the group has to be one of them.
           compact are the usual spellings of all values of the key, the one that is meant first.
    """

    pattern: bytes
    letters: frozenset[str]
    anchors: tuple[bytes, ...]
    check: bytes | None = None
    names: frozenset[bytes] | None = None
    compact: tuple[bytes, ...] = ()

    @staticmethod
    def of_key(key: str, then: bytes = b"") -> Needle | None:
        """A key, with then (a regular expression) as its value."""
        if not set(key) <= _PLAIN:
            return None
        quoted = b'"' + key.encode() + b'"'
        value = _SPACE + b":" + _SPACE + then
        return Needle(
            _literal(_rare_tail(quoted)) + value, frozenset(key), (_unslashed(quoted),), _whole(quoted, value)
        )

    @staticmethod
    def of_values(key: str, values: Iterable[str | int | bool], *, in_array: bool) -> Needle | None:
        """A key with one of the values, or (in_array) one of the values anywhere."""
        written = [w for value in sorted(values, key=str) if (w := _written(value)) is not None]
        texts = [value for value in values if isinstance(value, str)]
        if len(written) < len(frozenset(values)):
            return Needle.of_key(key)
        letters = frozenset("".join(texts))
        anchors = tuple(map(_unslashed, written))
        if in_array:
            return Needle(b"|".join(_literal(_rare_tail(w)) for w in written), letters, anchors)
        found = Needle.of_key(key, b"(?:" + b"|".join(map(_literal, written)) + b")")
        if found is None:
            return None
        if len(texts) == len(written) <= _MOST_ANCHORS:
            return Needle(found.pattern, found.letters | letters, anchors)
        compact: tuple[bytes, ...] = ()
        if len(written) == 1 and not texts:
            other = b"true" if written[0] == b"false" else b"false"
            compact = tuple(b'"%b":%b' % (key.encode(), value) for value in (written[0], other))
        return found._replace(letters=found.letters | letters, compact=compact)

    @staticmethod
    def of_value_start(key: str, start: str) -> Needle | None:
        """A key with a text that starts so."""
        if not set(start) <= _PLAIN:
            return Needle.of_key(key)
        found = Needle.of_key(key, _literal(b'"' + start.encode()))
        return found and found._replace(letters=found.letters | frozenset(start))

    @staticmethod
    def of_names(key: str, names: Iterable[str]) -> Needle | None:
        """A key with one of many values; None if some of them can be written in several ways."""
        wanted = frozenset(names)
        letters = frozenset(key).union(*wanted)
        if not letters <= _PLAIN - {"/"}:
            return None
        quoted = b'"' + key.encode() + b'"'
        pattern = re.escape(quoted) + _SPACE + b":" + _SPACE + rb'"([^"\\]*)"'
        return Needle(pattern, letters, (quoted,), pattern, frozenset(name.encode() for name in wanted))

    @staticmethod
    def of_start(key: str, start: str) -> Needle | None:
        """A text that starts so, anywhere; the key where start says nothing."""
        if not start or not set(start) <= _PLAIN:
            return Needle.of_key(key)
        text = b'"' + start.encode()
        return Needle(_literal(text), frozenset(start), (_unslashed(text),))


def _written(value: str | int | bool) -> bytes | None:
    """A value as JSON text, None if JSON has several ways to write it beside escapes of single letters."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return None  # 1 and 1.0 and 1e0 are told apart by the decoder, not here
    return b'"' + value.encode() + b'"' if set(value) <= _PLAIN else None


def _literal(text: bytes) -> bytes:
    return re.escape(text).replace(b"/", rb"\\?/")


def _unslashed(text: bytes) -> bytes:
    """The longest part without a slash, which JSON may write as it is or escaped."""
    return max(text.split(b"/"), key=len)


def _whole(quoted: bytes, value: bytes) -> bytes | None:
    """What has to match where an anchor was found: the key and its value, if the key begins there."""
    return None if b"/" in quoted else re.escape(quoted) + value


def _rare_tail(quoted: bytes) -> bytes:
    """The end of a quoted text from its rarest byte on, at least four bytes where there are as many."""
    places = range(max(1, len(quoted) - 4))
    return quoted[min(places, key=lambda i: (_RANK.get(quoted[i], 0), i)) :]


class _Prepared:
    """A needle made ready to search with."""

    def __init__(self, needle: Needle) -> None:
        self.search = re.compile(needle.pattern).search
        self.finditer = re.compile(needle.pattern).finditer
        self.check = None if needle.check is None else re.compile(needle.check).match
        self.anchors = needle.anchors
        self.compact = needle.compact
        self.names = needle.names
        self.firsts = frozenset(name[0] for name in needle.names or () if name)

    def lines(self, text: Text) -> Iterator[tuple[int, int]]:
        """Lines that hold the needle, each once, in order."""
        if self.names is not None:
            return self._named(text) if text.fast is None else self._named_fast(text)
        if text.fast is None:
            return self._plain(text)
        if self.compact:
            # Where each key stands in one of the usual spellings, those alone tell.
            hits = _hits(text, self.compact[0])
            if text.fast.count(self.anchors[0]) == len(hits) + sum(map(text.fast.count, self.compact[1:])):
                return _lines_of(hits, text)
        if len(self.anchors) == 1:
            return self._anchored(self.anchors[0], self.check, text)
        found = (line for anchor in self.anchors for line in self._anchored(anchor, self.check, text))
        return iter(sorted(set(found)))

    def _plain(self, text: Text) -> Iterator[tuple[int, int]]:
        content, end = text.content, text.end
        position, search = 0, self.search
        while (hit := search(content, position, end)) is not None:
            start = content.rfind(b"\n", position, hit.start()) + 1 or position
            stop = content.find(b"\n", hit.end() - 1, end)
            yield start, stop
            position = stop + 1

    def _anchored(self, anchor: bytes, check: Callable[..., Any] | None, text: Text) -> Iterator[tuple[int, int]]:
        content, end, find = text.content, text.end, text.fast.find
        hit = find(anchor)
        while hit >= 0:
            if check is None or check(content, hit, end):
                start, stop = content.rfind(b"\n", 0, hit) + 1, content.find(b"\n", hit, end)
                yield start, stop
                hit = find(anchor, stop)
            else:
                hit = find(anchor, hit + 1)

    def _named(self, text: Text) -> Iterator[tuple[int, int]]:
        content, end = text.content, text.end
        names, stop = self.names or frozenset(), -1
        for match in self.finditer(content, 0, end):
            if match[1] in names and (hit := match.start()) > stop:
                start, stop = content.rfind(b"\n", 0, hit) + 1, content.find(b"\n", hit, end)
                yield start, stop

    def _named_fast(self, text: Text) -> Iterator[tuple[int, int]]:
        """The same; what stands closely written is looked at by hand, since most of it is not meant."""
        assert self.check is not None
        anchor, names, firsts, check = self.anchors[0], self.names or frozenset(), self.firsts, self.check
        content, end, find, quote = text.content, text.end, text.fast.find, text.content.find
        width = len(anchor)
        hit = find(anchor)
        while hit >= 0:
            after = hit + width
            if content[after] == 58 and content[after + 1] == 34:
                known = content[after + 2] in firsts and content[after + 2 : quote(b'"', after + 2, end)] in names
            else:
                match = check(content, hit, end)
                known = match is not None and match[1] in names
            if known:
                start, stop = content.rfind(b"\n", 0, hit) + 1, quote(b"\n", hit, end)
                yield start, stop
                hit = find(anchor, stop)
            else:
                hit = find(anchor, after)


def _hits(text: Text, what: bytes) -> list[int]:
    """Where a text has what. Only where there is fast."""
    find, found = text.fast.find, []
    hit = find(what)
    while hit >= 0:
        found.append(hit)
        hit = find(what, hit + 1)
    return found


def _lines_of(hits: list[int], text: Text) -> Iterator[tuple[int, int]]:
    """The lines that have a place, each once."""
    before, after, end, stop = text.content.rfind, text.content.find, text.end, -1
    for hit in hits:
        if hit > stop:
            start, stop = before(b"\n", 0, hit) + 1, after(b"\n", hit, end)
            yield start, stop


class Search:
    """Finds in a block of whole lines those that may hold every needle, in order.

    Without needles every line is found.
    """

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._needles = [_Prepared(needle) for needle in needles]
        letters = frozenset[str]().union(*(needle.letters for needle in needles))
        codes = "|".join(sorted(f"{ord(letter):02x}" for letter in letters))
        self._escape = re.compile(rf"\\u00(?:{codes})".encode(), re.IGNORECASE) if codes else None
        self._sampled = len(needles) < 2

    def lines(self, text: Text) -> Iterator[tuple[int, int]]:
        """(start, stop) of each line found; stop is the newline's place."""
        if not self._needles:
            yield from _every(text)
            return
        if not self._sampled:
            # The needle that is met most seldom leads, the others only have a say about the lines it finds.
            self._sampled = True
            sample = Text(text.content, text.content.rfind(b"\n", 0, min(text.end, 1 << 16)) + 1 or text.end)
            self._needles.sort(key=lambda needle: sum(1 for _ in needle.lines(sample)))
        escaped = list(self.escaped(text))
        place = 0
        for start, stop in self._needles[0].lines(text):
            while place < len(escaped) and escaped[place][0] < start:
                yield escaped[place]
                place += 1
            if place < len(escaped) and escaped[place][0] == start:
                yield escaped[place]
                place += 1
            elif all(other.search(text.content, start, stop) for other in self._needles[1:]):
                yield start, stop
        yield from escaped[place:]

    def escaped(self, text: Text) -> Iterator[tuple[int, int]]:
        """Lines in which a letter that matters stands as an escape."""
        if self._escape is None:
            return
        content, end = text.content, text.end
        find, match = content.find, self._escape.match
        if text.fast is not None:
            hit = text.first_escape()
            while hit >= 0:
                if match(content, hit, end):
                    start, stop = content.rfind(b"\n", 0, hit) + 1, find(b"\n", hit, end)
                    yield start, stop
                    hit = stop
                hit = text.fast.find(b"\\u00", hit + 1)
            return
        # A backslash is found at the speed of memory; a text full of them is faster by the expression.
        position, left = find(b"\\", 0, end), _ESCAPE_BUDGET
        while position >= 0 and left:
            if match(content, position, end):
                start, stop = content.rfind(b"\n", 0, position) + 1, find(b"\n", position, end)
                yield start, stop
                position = stop
            position = find(b"\\", position + 1, end)
            left -= 1
        if position < 0:
            return
        while (found := self._escape.search(content, position, end)) is not None:
            start, stop = content.rfind(b"\n", 0, found.start()) + 1, find(b"\n", found.end(), end)
            yield start, stop
            position = stop


class Mentions:
    """Finds every text that stands at the key `id`, whatever the line; those that look like a record's id left out."""

    def __init__(self) -> None:
        self._match = re.compile(_SPACE + b":" + _SPACE + rb'"([^"\\]*)(["\\])').match
        self._search = re.compile(rb'"id"').search
        self._escapes = Search([Needle(b"", frozenset("id"), ())])

    def note(self, text: Text, hashes: array[int], hits: array[int]) -> list[int]:
        """Append the hash of each text, and where in the block it stands.

        Shape: returned are the starts of lines in which only decoding can tell the text.
        """
        unclear = [start for start, _ in self._escapes.escaped(text)]
        if text.fast is not None and self._note_usual(text, hashes, hits):
            return unclear
        add_hash, add_hit = hashes.append, hits.append
        content, end = text.content, text.end
        quote, back = content.find, content.rfind
        find = self._find(text)
        hit = find(b'"id"')
        while hit >= 0:
            first = hit + 6
            if content[hit + 4 : first] != b':"':
                other = self._match(content, hit + 4, end)
                if other is not None and other[2] == b'"':
                    add_hash(hash(other[1]))
                    add_hit(hit)
                elif other is not None:
                    unclear.append(back(b"\n", 0, hit) + 1)
            else:
                value = content[first : quote(b'"', first, end)]
                if b"\\" in value:
                    unclear.append(back(b"\n", 0, hit) + 1)
                # A ULID is 26 characters from 0 to 7 on; each record has one, and no decision is named so.
                elif len(value) != 26 or value[0] > 55:
                    add_hash(hash(value))
                    add_hit(hit)
            hit = find(b'"id"', first)
        return unclear

    def _note_usual(self, text: Text, hashes: array[int], hits: array[int]) -> bool:
        """The same where every id stands first in a decision or is a record's; False if that is not so."""
        content, quote = text.content, text.content.find
        found = _hits(text, b'{"id":"')
        of_records = text.lines if text.has_heads else text.fast.count(b',"id":"0')
        if text.fast.count(b'"id"') != len(found) + of_records:
            return False
        values = [content[hit + 7 : quote(b'"', hit + 7)] for hit in found]
        if b"\\" in b"".join(values):
            return False
        hashes.extend(map(hash, values))
        hits.extend(found)
        return True

    def _find(self, text: Text) -> Callable[..., int]:
        if text.fast is not None:
            find: Callable[..., int] = text.fast.find
            return find
        search, content, end = self._search, text.content, text.end

        def slow(_: bytes, position: int = 0) -> int:
            found = search(content, position, end)
            return -1 if found is None else found.start()

        return slow


def _every(text: Text) -> Iterator[tuple[int, int]]:
    start, end = 0, text.end
    while start < end:
        stop = text.content.find(b"\n", start, end)
        yield start, stop
        start = stop + 1
