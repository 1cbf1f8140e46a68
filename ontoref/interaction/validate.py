"""A whole log, judged: every line of every file, and what only the log as a whole can show."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from ontoref.interaction.blocks import LONGEST_LINE_BYTES, Stretch, blocks, shares
from ontoref.interaction.check import Checker
from ontoref.interaction.finding import Finding
from ontoref.interaction.parallel import spread

__all__ = ["Input", "Summary", "validate"]

# Ids are kept as 61-bit numbers in sixteen heaps, 8 bytes a record: a log of millions must not fill the memory.
_PRIME = (1 << 61) - 1
_HEAPS = 16


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


class _Reference(NamedTuple):
    """A record id that a line names. Shape: file is its number; line counts from the stretch's start."""

    target: str
    file: int
    line: int
    pointer: str
    record: str | None


def validate(
    inputs: Sequence[Input],
    checker: Checker,
    *,
    jobs: int = 1,
    known: Sequence[str] = (),
    skip: Callable[[bytes], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    summary: Summary | None = None,
) -> Iterator[Finding]:
    """Every finding, in the order of files and lines; those of the log as a whole come last.

    Shape:  known are further files whose records may be named by these; skip(line) leaves a line unjudged,
            though its id still counts; progress is told of bytes that were read.
    Units:  memory grows by 8 bytes a record, whatever the records hold.
    Errors: OSError if a file cannot be read.
    """
    summary = summary or Summary([item.label for item in inputs])
    heaps = [array("Q") for _ in range(_HEAPS)]
    references: list[_Reference] = []
    before: dict[int, int] = {}

    def work(share: list[Stretch]) -> Iterator[Any]:
        return _judge(share, inputs, checker, skip, progress)

    for answers in spread(shares([item.path for item in inputs], jobs), work):
        for answer in answers:
            if answer[0] == "finding":
                finding, file = Finding._make(answer[2]), answer[1]
                finding = finding._replace(line=finding.line + before.get(file, 0))
                summary.count(finding)
                yield finding
            elif answer[0] == "reference":
                reference = _Reference._make(answer[1])
                references.append(reference._replace(line=reference.line + before.get(reference.file, 0)))
            elif answer[0] == "stretch":
                _, file, lines, records = answer
                before[file] = before.get(file, 0) + lines
                summary.lines += lines
                summary.records += records
            else:
                for heap, content in zip(heaps, answer[1], strict=True):
                    heap.frombytes(content)
    for finding in _whole(inputs, heaps, references, known):
        summary.count(finding)
        yield finding


def _judge(
    share: list[Stretch],
    inputs: Sequence[Input],
    checker: Checker,
    skip: Callable[[bytes], bool] | None,
    progress: Callable[[int], None] | None,
) -> Iterator[Any]:
    """Plain data about a share: findings, references, the length of each stretch, and at last the ids."""
    heaps = [array("Q") for _ in range(_HEAPS)]
    loads, dumps, accepts = orjson.loads, orjson.dumps, checker.is_clean
    for stretch in share:
        label = inputs[stretch.file].label
        number = records = 0
        for block in blocks(stretch):
            if block.too_long:
                number += 1
                message = f"the line is longer than {LONGEST_LINE_BYTES >> 20} MiB and was passed over"
                yield ("finding", stretch.file, tuple(Finding("too-long", label, number, 0, message)))
                continue
            lines = bytes(memoryview(block.content)[: block.end]).split(b"\n")
            lines.pop()
            for line in lines:
                number += 1
                try:
                    record = loads(line)
                    # What our writer would write byte for byte holds no key twice.
                    clean = accepts(record) and dumps(record) == line
                except ValueError:
                    record, clean = None, False
                if not clean and not (skip is not None and skip(line)):
                    first = number == 1 and stretch.start == 0
                    for finding in checker.check_line(line, label, number, first=first):
                        yield ("finding", stretch.file, tuple(finding))
                if type(record) is not dict:
                    continue
                records += 1
                identity = record.get("id")
                if type(identity) is str:
                    key = _key(identity)
                    heaps[key & 15].append(key)
                if "supersedes" in record or "parent_record" in record:
                    for reference in _references(record, stretch.file, number):
                        yield ("reference", tuple(reference))
            if progress is not None:
                progress(block.end)
        yield ("stretch", stretch.file, number, records)
    yield ("ids", [heap.tobytes() for heap in heaps])


def _key(identity: str) -> int:
    return int.from_bytes(identity.encode("utf-8", "surrogatepass"), "big") % _PRIME


def _references(record: dict[str, Any], file: int, line: int) -> Iterator[_Reference]:
    given = record.get("id")
    identity = given if isinstance(given, str) else None
    parent, superseded = record.get("parent_record"), record.get("supersedes")
    if isinstance(parent, str):
        yield _Reference(parent, file, line, "/parent_record", identity)
    for index, target in enumerate(superseded if isinstance(superseded, list) else ()):
        if isinstance(target, str):
            yield _Reference(target, file, line, f"/supersedes/{index}", identity)


def _whole(
    inputs: Sequence[Input], heaps: list[array[int]], references: list[_Reference], known: Sequence[str]
) -> Iterator[Finding]:
    """Ids that stand twice, and ids that are named and stand nowhere, in the order of files and lines."""
    doubled: set[int] = set()
    missing: list[_Reference] = []
    for number, heap in enumerate(heaps):
        present = set(heap)
        if len(present) != len(heap):
            for key in heap:
                # What is taken out at its first sight is doubled at its second.
                if key in present:
                    present.discard(key)
                else:
                    doubled.add(key)
            present = set(heap)
        missing += [r for r in references if _key(r.target) & 15 == number and _key(r.target) not in present]
    found: list[tuple[int, int, Finding]] = []
    if missing and known:
        elsewhere = set(_ids(known, {_key(reference.target) for reference in missing}))
        missing = [reference for reference in missing if reference.target not in elsewhere]
    for reference in missing:
        steps = reference.pointer[1:].replace("/", "[") + ("]" if "/" in reference.pointer[1:] else "")
        finding = Finding(
            "unknown-record",
            inputs[reference.file].label,
            reference.line,
            1,
            f'{steps}: no record "{reference.target}" is in the log',
            reference.pointer,
            reference.target,
            hint="name a record's id, or check the log in which it stands too",
            record=reference.record,
        )
        found.append((reference.file, reference.line, finding))
    if doubled:
        found += _doubled(inputs, doubled)
    for _, _, finding in sorted(found, key=lambda item: item[:2]):
        yield finding


def _doubled(inputs: Sequence[Input], doubled: Collection[int]) -> Iterator[tuple[int, int, Finding]]:
    """A second look at the log, which only a log with ids that stand twice needs."""
    first: dict[str, tuple[str, int]] = {}
    for file, item in enumerate(inputs):
        for number, identity in _numbered_ids(item.path, doubled):
            if identity in first:
                path, line = first[identity]
                message = f'id: "{identity}" stands already at {path}:{line}'
                hint = "a correction is a new record with a new id and supersedes"
                finding = Finding(
                    "duplicate-id", item.label, number, 1, message, "/id", identity, hint=hint, record=identity
                )
                yield file, number, finding
            else:
                first[identity] = (item.label, number)


def _ids(paths: Sequence[str], wanted: Collection[int]) -> Iterator[str]:
    for path in paths:
        for _, identity in _numbered_ids(path, wanted):
            yield identity


def _numbered_ids(path: str, wanted: Collection[int]) -> Iterator[tuple[int, str]]:
    """(line, id) of each record of a file whose id has a wanted key."""
    number = 0
    for stretch in (stretch for share in shares([path], 1) for stretch in share):
        for block in blocks(stretch):
            lines = bytes(memoryview(block.content)[: block.end]).split(b"\n")
            for line in lines[:-1] or [b""]:
                number += 1
                try:
                    record = orjson.loads(line)
                except ValueError:
                    continue
                identity = record.get("id") if type(record) is dict else None
                if type(identity) is str and _key(identity) in wanted:
                    yield number, identity
