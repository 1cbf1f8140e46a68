"""A whole log, judged: every line of every file, and what only the log as a whole can show."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from ontoref.interaction.blocks import LONGEST_LINE_BYTES, Stretch, readable, shares
from ontoref.interaction.check import Checker, holds_a_key_twice
from ontoref.interaction.finding import Finding
from ontoref.interaction.logs import unreadable
from ontoref.interaction.parallel import spread
from ontoref.interaction.record import no_record, references

__all__ = ["Input", "Summary", "validate"]

# Ids are kept as pairs of numbers in sixteen heaps, 16 bytes a record: a log of millions must not fill the memory.
_HEAPS = 16
_LINE_BITS = 40


class Input(NamedTuple):
    """A file to judge. Shape: label is how findings name it; path is where its bytes lie."""

    label: str
    path: str


class Summary:
    """What a run counted. Filled while the findings are drawn, complete once they are."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.records = 0
        self.lines = 0
        self.errors = 0
        self.warnings = 0
        self.paths_with_findings: set[str] = set()

    @property
    def files(self) -> int:
        """How many files were judged."""
        return len(self.labels)

    def count(self, finding: Finding) -> None:
        if finding.is_error:
            self.errors += 1
        else:
            self.warnings += 1
        self.paths_with_findings.add(finding.path)


def validate(
    inputs: Sequence[Input],
    checker: Checker,
    *,
    jobs: int = 1,
    known: Sequence[Input] = (),
    known_too: bool = False,
    skip: Callable[[bytes], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    summary: Summary | None = None,
) -> Iterator[Finding]:
    """Every finding, in the order of files and lines; those of the log as a whole come last.

    Shape:  known are further files whose records may be named by these; known_too says that they are of the same log,
            so that an id of theirs may not be taken again; skip(line) leaves a line unjudged, though its id still
            counts; progress is told of bytes that were read.
    Units:  memory grows by 16 bytes a record and as much for each record that it names.
    """
    summary = summary or Summary([item.label for item in inputs])
    divided = shares([item.path for item in inputs], jobs)
    stretches = [stretch for share in divided for stretch in share]
    # Where a stretch begins in its file is known once those before it are counted.
    before: list[int] = []
    counted: dict[int, int] = {}
    ids, named = _heaps(), _heaps()
    unread: set[str] = set()

    def work(numbered: list[tuple[int, Stretch]]) -> Iterator[Any]:
        return _judge(numbered, inputs, checker, skip, progress)

    numbers = iter(range(len(stretches)))
    for answers in spread([[(next(numbers), stretch) for stretch in share] for share in divided], work):
        for kind, *answer in answers:
            if kind == "finding":
                number, fields = answer
                finding = Finding._make(fields)
                if finding.rule != "unreadable":
                    finding = finding._replace(line=finding.line + counted.get(stretches[number].file, 0))
                elif finding.path in unread:
                    # Each share of a file that went meanwhile says so.
                    continue
                else:
                    unread.add(finding.path)
                summary.count(finding)
                yield finding
            elif kind == "stretch":
                number, lines, records = answer
                file = stretches[number].file
                before.append(counted.get(file, 0))
                counted[file] = before[-1] + lines
                summary.lines += lines
                summary.records += records
            else:
                for heap, content in zip(ids if kind == "ids" else named, answer[0], strict=True):
                    heap.frombytes(content)
    for finding in _whole(inputs, stretches, before, ids, named, known, known_too, unread):
        summary.count(finding)
        yield finding


def _heaps() -> list[array[int]]:
    """Pairs of an id's hash and the place of its line (`number of the stretch << 40 | line in it`), by hash."""
    return [array("q") for _ in range(_HEAPS)]


def _judge(
    share: list[tuple[int, Stretch]],
    inputs: Sequence[Input],
    checker: Checker,
    skip: Callable[[bytes], bool] | None,
    progress: Callable[[int], None] | None,
) -> Iterator[Any]:
    """Plain data about a share: findings, the length of each stretch, and at last the ids."""
    ids, named = _heaps(), _heaps()
    keep = [heap.append for heap in ids]
    loads, dumps, accepts = orjson.loads, orjson.dumps, checker.is_clean
    for number, stretch in share:
        label = inputs[stretch.file].label
        first = place = number << _LINE_BITS
        records = 0
        trouble: set[tuple[int, int]] = set()
        for block in readable(stretch, trouble):
            if block.too_long:
                place += 1
                message = f"the line is longer than {LONGEST_LINE_BYTES >> 20} MiB and was passed over"
                yield "finding", number, tuple(Finding("too-long", label, place - first, 0, message))
                continue
            for line in block.lines():
                place += 1
                try:
                    record = loads(line)
                    # What our writer would write byte for byte holds no key twice.
                    clean = accepts(record) and ((plain := dumps(record)) == line or not _odd(line, plain))
                except (ValueError, TypeError):
                    record, clean = _loaded(line), False
                if not clean and not (skip is not None and skip(line)):
                    at_top = place - first == 1 and stretch.start == 0
                    for finding in checker.check_line(line, label, place - first, first=at_top):
                        yield "finding", number, tuple(finding)
                if type(record) is not dict:
                    continue
                records += 1
                identity = record.get("id")
                if type(identity) is str:
                    # Of texts alike in one run, in its forks too; nobody can choose ids whose hashes collide.
                    key = hash(identity)
                    add = keep[key & 15]
                    add(key)
                    add(place)
                if "supersedes" in record or "parent_record" in record:
                    for target, _ in references(record):
                        key = hash(target)
                        named[key & 15].extend((key, place))
            if progress is not None:
                progress(block.end)
        for _, errno in trouble:
            yield "finding", number, tuple(_unread(label, -errno))
        yield "stretch", number, place - first, records
    yield "ids", [heap.tobytes() for heap in ids]
    yield "named", [heap.tobytes() for heap in named]


def _unread(label: str, errno: int) -> Finding:
    return Finding("unreadable", label, 0, 0, unreadable(errno), hint="make it readable, or take it out of the log")


def _odd(line: bytes, plain: bytes) -> bool:
    """Whether more must be said of an accepted line than that it is written in another way."""
    return line[-1:] == b"\r" or holds_a_key_twice(line, plain)


def _loaded(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:
        return None


def _whole(
    inputs: Sequence[Input],
    stretches: Sequence[Stretch],
    before: Sequence[int],
    ids: list[array[int]],
    named: list[array[int]],
    known: Sequence[Input],
    known_too: bool,
    unread: Collection[str],
) -> Iterator[Finding]:
    """Ids that stand twice, and ids that are named and stand nowhere, in the order of files and lines.

    Shape: unread are labels of files that were found to be unreadable already.
    """
    # A place to look at again, and the place where its id stood first, or none: two numbers in one.
    again: list[int] = []
    missing: list[tuple[int, int]] = []
    for heap, targets in zip(ids, named, strict=True):
        keys = heap[::2]
        present = set(keys)
        if len(present) != len(keys):
            first: dict[int, int] = {}
            doubled = _doubled(keys)
            for key, place in zip(keys, heap[1::2], strict=True):
                if key in doubled and first.setdefault(key, place) != place:
                    again.append(place << 64 | first[key])
        pairs = zip(targets[::2], targets[1::2], strict=True)
        missing += [(key, place) for key, place in pairs if key not in present]
    lost = {key for key, _ in missing}
    wanted = lost | {key for heap in ids for key in heap[::2]} if known_too else lost
    trouble: set[tuple[int, int]] = set()
    taken = _ids_in(known, wanted, trouble) if wanted else {}
    for file, errno in sorted(trouble):
        if known[file].label not in unread:
            yield _unread(known[file].label, -errno)
    lost -= taken.keys()
    nowhere, elsewhere = (1 << 64) - 1, (1 << 64) - 2
    if known_too:
        places = (heap[i + 1] for heap in ids for i in range(0, len(heap), 2) if heap[i] in taken)
        again += (place << 64 | elsewhere for place in places)
    again += {place << 64 | nowhere for key, place in missing if key in lost}
    again.sort()
    looked_at = (place for place, _ in groupby(again, lambda packed: packed >> 64))
    position = 0
    for place, line in _lines_at(stretches, looked_at):
        label, number = _named_place(inputs, stretches, before, place)
        record = _loaded(line)
        identity = record.get("id") if type(record) is dict else None
        while position < len(again) and again[position] >> 64 <= place:
            is_here, origin = again[position] >> 64 == place, again[position] & nowhere
            position += 1
            if type(record) is not dict or not is_here:
                # Somebody wrote to the file since.
                continue
            if origin != nowhere:
                is_known = origin == elsewhere
                path, at = taken[hash(identity)] if is_known else _named_place(inputs, stretches, before, origin)
                message = f'id: "{identity}" stands already at {path}:{at}'
                hint = "a correction is a new record with a new id and supersedes"
                yield Finding("duplicate-id", label, number, 1, message, "/id", identity, hint=hint, record=identity)
                continue
            for target, pointer in references(record):
                if hash(target) in lost:
                    message = no_record(target, pointer)
                    hint = "name a record's id, or check the log in which it stands too"
                    yield Finding(
                        "unknown-record", label, number, 1, message, pointer, target, hint=hint, record=identity
                    )


def _doubled(keys: array[int]) -> set[int]:
    seen: set[int] = set()
    # What is added at its first sight is there at its second.
    return {key for key in keys if key in seen or seen.add(key)}  # type: ignore[func-returns-value]


def _named_place(
    inputs: Sequence[Input], stretches: Sequence[Stretch], before: Sequence[int], place: int
) -> tuple[str, int]:
    number = place >> _LINE_BITS
    return inputs[stretches[number].file].label, before[number] + (place & (1 << _LINE_BITS) - 1)


def _lines_at(stretches: Sequence[Stretch], places: Iterator[int]) -> Iterator[tuple[int, bytes]]:
    """(place, line) for each place, in order: a second look, which only a log with such findings needs."""
    wanted = next(places, None)
    for number, stretch in enumerate(stretches):
        if wanted is None:
            return
        if wanted >> _LINE_BITS != number:
            continue
        place = number << _LINE_BITS
        for block in readable(stretch, set()):
            lines = [b""] if block.too_long else block.lines()
            while wanted is not None and wanted - place <= len(lines):
                yield wanted, lines[wanted - place - 1]
                wanted = next(places, None)
                if wanted is not None and wanted >> _LINE_BITS != number:
                    break
            place += len(lines)
        while wanted is not None and wanted >> _LINE_BITS == number:
            # Lines that are gone: somebody took them, or the whole file, since.
            wanted = next(places, None)


def _ids_in(
    files: Sequence[Input], wanted: Collection[int], trouble: set[tuple[int, int]]
) -> dict[int, tuple[str, int]]:
    """Those of the wanted hashes that are some record's id, each with the label and the line where it stands first.

    Shape: trouble takes in (file, -errno) of files that cannot be read.
    """
    found: dict[int, tuple[str, int]] = {}
    for share in shares([item.path for item in files], 1):
        for stretch in share:
            number = 0
            for block in readable(stretch, trouble):
                for line in [b""] if block.too_long else block.lines():
                    number += 1
                    record = _loaded(line)
                    identity = record.get("id") if type(record) is dict else None
                    if type(identity) is str and hash(identity) in wanted:
                        found.setdefault(hash(identity), (files[stretch.file].label, number))
    return found
