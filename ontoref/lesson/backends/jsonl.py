"""Lessons in one append-only file: readable with `jq`, and where writes go when a database fails.

A line is {"record_type", "id", "record"}; the last one of an id counts. Lines that belong together carry
"group": [name, number, count], and count only once all are there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from ontoref.appending import Replaced, open_locked, write_lines
from ontoref.lesson.errors import StoreUnavailable
from ontoref.lesson.records import RECORD_TYPES, Row, Selection, row_of
from ontoref.state.opening import make_private_dirs

__all__ = ["FILE_NAME", "JsonlTable"]

FILE_NAME = "learning-records.jsonl"
_LOCK_S = 30.0
_TRIES = 3


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
        self._file: tuple[int, int] | None = None
        self._group: list[dict[str, Any]] = []
        self._batch: list[Row] | None = None
        self._before: list[tuple[str, str, Row | None]] = []

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
            self._batch, self._before = [], []
            try:
                yield
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
        name = os.urandom(6).hex()
        lines = []
        for number, row in enumerate(rows, 1):
            group = f'"group":["{name}",{number},{len(rows)}],' if len(rows) > 1 else ""
            head = f'{{"record_type":"{row.record_type}","id":{orjson.dumps(row.id).decode()},{group}"record":'
            lines.append(f"{head}{row.record}}}\n")
        data = "".join(lines).encode()
        fresh = os.fstat(descriptor).st_size == 0
        start = write_lines(descriptor, self.path, data, fresh)
        # What we wrote is in memory already. Other lines before it can only come from who takes no lock.
        status = os.fstat(descriptor)
        self._file = (status.st_dev, status.st_ino)
        if self._offset in (start, start - 1):
            self._offset = start + len(data)

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
                if identity != self._file or status.st_size < self._offset:
                    self._forget()
                    self._file = identity
                if status.st_size > self._offset:
                    file.seek(self._offset)
                    self._take(file.read())
        except FileNotFoundError:
            self._forget()
            self._file = None

    def _forget(self) -> None:
        self._rows = {name: {} for name in RECORD_TYPES}
        self._offset = self.bad_lines = 0
        self._group = []

    def _take(self, data: bytes) -> None:
        whole, newline, tail = data.rpartition(b"\n")
        if newline:
            for line in whole.split(b"\n"):
                if line.strip() and not self._line(line):
                    self.bad_lines += 1
            self._offset += len(whole) + 1
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
        record_type = found.get("record_type", "lesson")
        record = found.get("record")
        if not isinstance(record, dict):
            record = {name: value for name, value in found.items() if name != "record_type"}
        if record_type not in self._rows or not isinstance(record.get("id"), str) or not record["id"]:
            return False
        row = row_of(record_type, record)
        self._rows[record_type][row.id] = row
        return True
