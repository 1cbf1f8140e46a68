"""Lessons in one append-only file: readable with `jq`, and where writes go when a database fails.

A line is {"record_type", "id", "record"}; the last one of an id counts. Lines that belong together carry
"group": [name, number, count], and count only once all are there. Only what is to be forgotten is ever taken out:
then a file without its lines takes the place of the old one.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import orjson

from ontoref.appending import Replaced, open_locked, write_lines
from ontoref.lesson.errors import StoreUnavailable
from ontoref.lesson.records import RECORD_TYPES, Row, Selection, row_of
from ontoref.replacing import discard_leftovers, replacing
from ontoref.state.opening import make_private_dirs

__all__ = ["FILE_NAME", "JsonlTable"]

FILE_NAME = "learning-records.jsonl"
_LOCK_S = 30.0
_TRIES = 3
_SEAM_BYTES = 80


class JsonlTable:
    """Rows in a folder's file, kept in memory and brought up to date before each use.

    Shape: bad_lines counts what is no record; such lines stay where they are.
    """

    backend = "fs-jsonl"

    def __init__(self, folder: str) -> None:
        self.location = folder
        self.path = os.path.join(folder, FILE_NAME)
        self._lock = threading.RLock()
        self.bad_lines = 0
        self._rows: dict[str, dict[str, Row]] = {name: {} for name in RECORD_TYPES}
        self._offset = 0
        # The last bytes before the offset.
        self._seam = b""
        self._file: tuple[int, int] | None = None
        self._group: list[dict[str, Any]] = []
        self._batch: list[Row] | None = None
        self._before: list[tuple[str, str, Row | None]] = []
        self._removed: set[tuple[str, str]] = set()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._lock:
            if self._batch is None:
                self._refresh()
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._lock, self._locked():
            yield

    @contextmanager
    def _locked(self) -> Iterator[None]:
        for _ in range(_TRIES):
            try:
                make_private_dirs(self.location)
                descriptor = open_locked(self.path, _LOCK_S)
            except Replaced:
                continue
            break
        else:
            raise StoreUnavailable("the folder is removed again and again", location=self.location)
        try:
            # The file may have been read while it was another one; what is locked is what counts.
            os.fchmod(descriptor, 0o600) if hasattr(os, "fchmod") else None
            self._refresh()
            self._batch, self._before, self._removed = [], [], set()
            try:
                yield
                if self._removed:
                    self._write_anew()
                else:
                    self._append(descriptor)
            except Replaced:
                self._roll_back()
                raise StoreUnavailable("the file was replaced meanwhile", location=self.path) from None
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._batch = None
        finally:
            os.close(descriptor)

    def get(self, record_type: str, id: str) -> Row | None:
        return self._rows[record_type].get(id)

    def select(self, selection: Selection) -> list[Row]:
        found = [row for row in self._rows[selection.record_type].values() if selection.matches(row)]
        if selection.limit is not None and selection.limit < len(found) // 8:
            import heapq

            return heapq.nsmallest(selection.limit, found, key=selection.sort_key)
        found.sort(key=selection.sort_key)
        return found[: selection.limit]

    def put(self, row: Row) -> None:
        assert self._batch is not None, "rows are put inside writing()"
        self._before.append((row.record_type, row.id, self.get(row.record_type, row.id)))
        self._rows[row.record_type][row.id] = row
        self._batch.append(row)

    def remove(self, record_type: str, id: str) -> None:
        assert self._batch is not None, "rows are removed inside writing()"
        self._before.append((record_type, id, self._rows[record_type].pop(id, None)))
        self._removed.add((record_type, id))
        self._batch = [row for row in self._batch if (row.record_type, row.id) != (record_type, id)]

    def wipe(self) -> bool:
        return True

    def last_seq(self) -> int:
        return max((row.seq for row in self._rows["audit"].values()), default=0)

    def rows(self) -> Iterator[Row]:
        for record_type in RECORD_TYPES:
            rows = list(self._rows[record_type].values())
            yield from sorted(rows, key=lambda row: (row.seq, row.id))

    def counts(self) -> dict[str, int] | None:
        self._refresh()
        return {name: len(rows) for name, rows in self._rows.items()}

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _append(self, descriptor: int) -> None:
        rows = self._batch or []
        if not rows:
            if os.fstat(descriptor).st_size == 0:
                with suppress(OSError):
                    os.unlink(self.path)
            return
        name = os.urandom(6).hex() if len(rows) > 1 else None
        data = b"".join(_line_of(row, name, number, len(rows)) for number, row in enumerate(rows, 1))
        fresh = os.fstat(descriptor).st_size == 0
        start = write_lines(descriptor, self.path, data, fresh)
        # What we wrote is in memory already. Other lines before it can only come from who takes no lock.
        status = os.fstat(descriptor)
        self._file = (status.st_dev, status.st_ino)
        if self._offset in (start, start - 1):
            self._offset = start + len(data)
            self._seam = data[-_SEAM_BYTES:]

    def _write_anew(self) -> None:
        """Put a file in place that lacks every line of the removed rows and has the new ones at its end."""
        with open(self.path, "rb") as file:
            kept = b"".join(_without(file.read(), self._removed))
        # We hold the lock: what lies beside it is of a process that was killed here.
        discard_leftovers(self.path)
        try:
            with replacing(self.path, mode=0o600) as aside, open(aside, "wb") as file:
                file.write(kept)
                file.writelines(_line_of(row) for row in self._batch or [])
        except OSError as error:
            raise StoreUnavailable(f"it cannot be written: {error.strerror}", location=self.path) from None
        # It is another file now, and is read as one.
        self._file = None

    def _roll_back(self) -> None:
        for record_type, id, row in reversed(self._before):
            if row is None:
                self._rows[record_type].pop(id, None)
            else:
                self._rows[record_type][id] = row

    def _refresh(self) -> None:
        """Read what was added since. A file that was replaced or cut is read anew."""
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                identity = (status.st_dev, status.st_ino)
                if identity != self._file or status.st_size < self._offset or not self._goes_on(file):
                    self._forget()
                    self._file = identity
                if status.st_size > self._offset:
                    file.seek(self._offset)
                    self._take(file.read())
        except FileNotFoundError:
            self._forget()
            self._file = None

    def _goes_on(self, file: BinaryIO) -> bool:
        """Whether a file begins with what was read: one that was put in its place may have its very number."""
        file.seek(self._offset - len(self._seam))
        return file.read(len(self._seam)) == self._seam

    def _forget(self) -> None:
        self._rows = {name: {} for name in RECORD_TYPES}
        self._offset = self.bad_lines = 0
        self._seam = b""
        self._group = []

    def _take(self, data: bytes) -> None:
        whole, newline, tail = data.rpartition(b"\n")
        if newline:
            for line in whole.split(b"\n"):
                if line.strip() and not self._line(line):
                    self.bad_lines += 1
            self._offset += len(whole) + 1
            self._seam = (whole + newline)[-_SEAM_BYTES:]
        # A last line without its newline counts if it is a record: an editor may have cut the newline. What a
        # writer left half done is none.
        if tail.strip():
            self._line(tail)

    def _line(self, line: bytes) -> bool:
        try:
            found = orjson.loads(line)
        except ValueError:
            return False
        if not isinstance(found, dict):
            return False
        group = found.get("group")
        if group is None or not isinstance(found.get("record"), dict):
            return self._apply(found)
        try:
            name, number, count = group
        except (TypeError, ValueError):
            return False
        if number == 1 or (self._group and self._group[0]["group"][0] != name):
            self._group = []
        if len(self._group) != number - 1:
            return False
        self._group.append(found)
        if number == count:
            for one in self._group:
                self._apply(one)
            self._group = []
        return True

    def _apply(self, found: dict[str, Any]) -> bool:
        """Take one record in. Older files hold the record itself, with its type among its fields or without."""
        record_type, record = _record_of(found)
        if record_type not in self._rows or not isinstance(record.get("id"), str) or not record["id"]:
            return False
        row = row_of(record_type, record)
        self._rows[record_type][row.id] = row
        return True


def _line_of(row: Row, group: str | None = None, number: int = 1, count: int = 1) -> bytes:
    """The line of a row, one of so many that belong together if they have a name."""
    belongs = f'"group":["{group}",{number},{count}],' if group else ""
    head = f'{{"record_type":"{row.record_type}","id":{orjson.dumps(row.id).decode()},{belongs}"record":'
    return f"{head}{row.record}}}\n".encode()


def _record_of(found: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """(type, record) of a line. Older files hold the record itself, with its type among its fields or without."""
    record = found.get("record")
    if not isinstance(record, dict):
        record = {name: value for name, value in found.items() if name != "record_type"}
    return found.get("record_type", "lesson"), record


def _without(data: bytes, removed: set[tuple[str, str]]) -> Iterator[bytes]:
    """The lines of a file, each with its newline, but for those of the removed records, torn ones of them as well.

    Shape: what belonged together with such a line stands alone then, as it would not count otherwise.
    """
    ids = [orjson.dumps(id)[1:-1] for _, id in removed]
    lines = [line for line in data.split(b"\n") if line.strip()]
    parsed = [_parsed(line) for line in lines]
    goes = [found is not None and _key_of(found) in removed for found in parsed]
    names = Counter(name for found in parsed if (name := _group_of(found)) is not None)
    broken = {_group_of(found) for found, gone in zip(parsed, goes, strict=True) if gone}
    for line, found, gone in zip(lines, parsed, goes, strict=True):
        if gone or (found is None and any(id in line for id in ids)):
            continue
        name = _group_of(found)
        if found is not None and name in broken and name is not None and names[name] == found["group"][2]:
            line = orjson.dumps({key: value for key, value in found.items() if key != "group"})
        yield line + b"\n"


def _key_of(found: dict[str, Any]) -> tuple[Any, Any]:
    record_type, record = _record_of(found)
    return record_type, record.get("id")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _group_of(found: dict[str, Any] | None) -> str | None:
    group = found.get("group") if found else None
    return str(group[0]) if isinstance(group, list) and len(group) == 3 else None
