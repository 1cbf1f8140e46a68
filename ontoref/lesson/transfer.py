"""Records of a store out of it and into another one, byte for byte."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from ontoref.lesson.backends.jsonl import FILE_NAME, JsonlTable
from ontoref.lesson.contract import Record
from ontoref.lesson.errors import LessonConflictError, LessonValidationError
from ontoref.lesson.loading import Loaded
from ontoref.lesson.skillbook import is_skillbook, skills_of
from ontoref.lesson.store import TableLessonStore

__all__ = ["Moved", "exported", "move", "read_records"]


@dataclass(frozen=True, slots=True)
class Moved:
    """Shape: counts by record type, the same on both sides; digest is that of all records in order."""

    counts: dict[str, int]
    loaded: Loaded
    digest: str


def exported(records: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """Lines of an export: {"record_type", "record"}, the record as it is stored."""
    for record_type, text in records:
        yield f'{{"record_type":"{record_type}","record":{text}}}\n'.encode()


def read_records(path: str, content: bytes | None, now: str, scope: dict[str, str] | None) -> list[tuple[str, Record]]:
    """Records of a folder of the file store, an export, or a Skillbook.

    Shape:  content is the file's; None for a folder. Lines of an export may also hold the record itself.
    Errors: LessonValidationError with path and line; then nothing is to be loaded.
    """
    if content is None:
        return [(row.record_type, row.value()) for row in _folder(path)]
    try:
        whole: Any = orjson.loads(content)
    except ValueError:
        whole = None
    if is_skillbook(whole):
        return skills_of(whole, now, scope)
    found = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise LessonValidationError(
                "the line is no JSON object",
                location=f"{path}:{number}",
                hint="a Skillbook, a folder of the file store, or lines of `ontoref lesson export`",
            )
        record = value.get("record")
        if not isinstance(record, dict):
            record = {name: given for name, given in value.items() if name != "record_type"}
        found.append((str(value.get("record_type", "lesson")), record))
    return found


def move(source: TableLessonStore, target: TableLessonStore) -> Moved:
    """Copy everything, and prove that it arrived. The source stays as it is.

    Errors: LessonConflictError if the target does not hold what the source holds; it may have held other things.
    """
    records = [(kind, text) for kind, text in source.records()]
    loaded = target.load((kind, orjson.loads(text)) for kind, text in records)
    arrived = {(kind, orjson.loads(text)["id"]): text for kind, text in target.records()}
    missing = [
        kind for kind, text in records if _content(arrived.get((kind, orjson.loads(text)["id"]))) != _content(text)
    ]
    if missing:
        raise LessonConflictError(
            f"{len(missing)} of {len(records)} records differ at the target",
            hint="it held newer ones of the same id; `ontoref lesson export` there tells which",
        )
    counts = Counter(kind for kind, _ in records)
    digest = hashlib.sha256(b"".join(exported(records))).hexdigest()
    return Moved(dict(counts), loaded, digest)


def _content(text: str | None) -> Any:
    """What must be the same on both sides: an audit entry's place in the trail may differ."""
    if text is None:
        return None
    found = orjson.loads(text)
    found.pop("seq", None)
    return found


def _folder(path: str) -> Iterator[Any]:
    if not os.path.isfile(os.path.join(path, FILE_NAME)):
        raise LessonValidationError(f"the folder holds no {FILE_NAME}", location=path)
    table = JsonlTable(path)
    with table.reading():
        yield from table.rows()
