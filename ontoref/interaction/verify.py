"""A log's witnesses, judged one record at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from ontoref.interaction.blocks import blocks, shares
from ontoref.interaction.check import has_duplicate_keys
from ontoref.interaction.keys import Registry
from ontoref.interaction.where import Condition
from ontoref.interaction.witness import Judgement, Prose, Verdict, judge
from ontoref.vocabulary import Vocabulary

__all__ = ["Verified", "operations", "verify"]


class Verified(NamedTuple):
    """The verdict on one line. Shape: missing is true where a required witness is not there or does not hold;
    notes are what else is to be said: an op_ref that leads nowhere, a tree that git does not have."""

    path: str
    line: int
    record: str | None
    session: str | None
    key: str | None
    judgement: Judgement
    missing: bool
    notes: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Whether this line alone makes the answer no."""
        return self.missing or self.judgement.verdict in (Verdict.modified, Verdict.malformed)


def operations(paths: Sequence[str]) -> set[str]:
    """Every operation id that a witness of the logs names."""
    return {
        record["witness"]["op_id"]
        for _, _, _, record in _lines(paths)
        if isinstance(record, dict)
        and isinstance(record.get("witness"), dict)
        and isinstance(record["witness"].get("op_id"), str)
    }


def verify(
    paths: Sequence[str],
    vocabulary: Vocabulary,
    registry: Registry,
    *,
    required: Sequence[Condition] = (),
    named: set[str] | None = None,
    tree: Callable[[str, Sequence[str]], str | None] | None = None,
) -> Iterator[Verified]:
    """The verdict on each line of the logs, in their order; blank lines are passed over.

    Shape:  a record that meets every condition of required has to be valid, text withheld or not; named are the
            operations that an op_ref may point to; tree(state_root, files) says what is wrong with a git tree.
    Errors: OSError; MissingExtra where a signature has to be checked without the library for it.
    """
    prose = Prose(vocabulary)
    known = operations(paths) if named is None else named
    for path, number, line, record in _lines(paths):
        if isinstance(record, dict) and not has_duplicate_keys(line):
            when = str(record.get("recorded_at", ""))
            judgement = judge(record, prose, lambda k, m, s, when=when: registry.verify(k, m, s, when))  # type: ignore[misc]
        else:
            judgement = Judgement(Verdict.malformed, "the line cannot be read as one record")
            record = {}
        needed = bool(required) and all(condition.holds(record, record) for condition in required)
        holds = judgement.verdict in (Verdict.valid, Verdict.withheld)
        witness = record.get("witness")
        witness = witness if isinstance(witness, dict) else {}
        notes = list(_stray_references(record, known))
        root = witness.get("state_root")
        if tree is not None and isinstance(root, str):
            problem = tree(root, [f for f in record.get("files_touched", ()) if isinstance(f, str)])
            notes += [problem] if problem else []
        identity, session, key = record.get("id"), record.get("session_id"), witness.get("key_id")
        yield Verified(
            path,
            number,
            identity if isinstance(identity, str) else None,
            session if isinstance(session, str) else None,
            key if isinstance(key, str) else None,
            judgement,
            needed and not holds,
            tuple(notes),
        )


def _stray_references(record: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    for noun, items in record.items():
        for index, item in enumerate(items if isinstance(items, list) else ()):
            reference = item.get("op_ref") if isinstance(item, dict) else None
            if isinstance(reference, str) and reference not in known:
                yield f"{noun}[{index}].op_ref {reference} names no witnessed operation"


def _lines(paths: Sequence[str]) -> Iterator[tuple[str, int, bytes, Any]]:
    """(path, line number, bytes, parsed value or None) of each line that is not blank."""
    for path in paths:
        number = 0
        for stretch in (stretch for share in shares([path], 1) for stretch in share):
            for block in blocks(stretch):
                lines = block.lines() or [b"?"]
                for line in lines:
                    number += 1
                    if not line.strip():
                        continue
                    try:
                        yield path, number, line, orjson.loads(line)
                    except ValueError:
                        yield path, number, line, None
