"""One source's bytes into one session's lines, from where the last import stopped."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ontoref.state import events, leases, sessions, sources
from ontoref.state.database import Database
from ontoref.state.facts import Facts
from ontoref.state.faults import step

__all__ = ["EMPTY_SHA256", "Filler", "begins_with", "digest_of"]

EMPTY_SHA256 = hashlib.sha256().hexdigest()
_CHUNK_BYTES = 4 << 20
_CHUNK_LINES = 8000


class _MovedOn(Exception):
    """Another process stored lines of the same source meanwhile."""


@dataclass(slots=True)
class _Place:
    """Where reading goes on: after what is stored. carry is the whole line that was stored half."""

    hasher: Any
    lines: Iterator[bytes]
    carry: bytes | None


@dataclass(slots=True)
class Filler:
    """Remembers digests of what it read, so that a followed file is not read from its start each time."""

    known: dict[str, tuple[str, int, tuple[int, int], Any]] = field(default_factory=dict)

    def fill(
        self,
        database: Database,
        session_id: str,
        path: str,
        facts: Facts,
        lease: leases.Lease,
        on_bytes: Callable[[int], None] | None = None,
    ) -> str:
        """Store what the source has and the session has not.

        Shape: `filled`, `rewritten` (the source does not begin with what is stored; nothing was written),
               `shorter` (it ends within what is stored), `deleted` (the session is gone).
        """
        while True:
            base = sessions.stored(database, session_id)
            if base is None:
                return "deleted"
            place = self._place(path, database, base)
            if isinstance(place, str):
                return place
            try:
                self._append(database, session_id, path, base, place, facts, lease, on_bytes)
            except _MovedOn:
                continue
            return "filled"

    def _place(self, path: str, database: Database, base: sessions.Stored) -> _Place | str:
        remembered = self.known.get(path)
        if (
            remembered
            and remembered[:3] == (base.content_sha256, base.size_bytes, _file_of(path))
            and base.ends_with_newline
            and not path.endswith(".zst")
            and remembered[2] != (0, 0)
            and os.path.getsize(path) >= base.size_bytes
        ):
            return _Place(remembered[3].copy(), _tail(path, base.size_bytes), None)
        lines, hasher, seen = iter(sources.lines(path)), hashlib.sha256(), 0
        carry = None
        while seen < base.size_bytes:
            line = next(lines, None)
            if line is None:
                return "shorter" if self._is_prefix(database, base, seen, hasher.hexdigest()) else "rewritten"
            overlap = base.size_bytes - seen
            if len(line) > overlap:
                hasher.update(line[:overlap])
                carry = line
                break
            hasher.update(line)
            seen += len(line)
        if hasher.hexdigest() != base.content_sha256:
            return "rewritten"
        return _Place(hasher, lines, carry)

    def _is_prefix(self, database: Database, base: sessions.Stored, size: int, sha256: str) -> bool:
        """Whether the first bytes of what is stored have this digest."""
        hasher = hashlib.sha256()
        for line in events.lines(database, base.session_row):
            piece = (line + b"\n")[:size]
            hasher.update(piece)
            size -= len(piece)
            if not size:
                break
        return hasher.hexdigest() == sha256

    def _append(
        self,
        database: Database,
        session_id: str,
        path: str,
        base: sessions.Stored,
        place: _Place,
        facts: Facts,
        lease: leases.Lease,
        on_bytes: Callable[[int], None] | None,
    ) -> None:
        half = b""
        if place.carry is not None:
            half = events.last_line(database, base.session_row, base.line_count)
        source = place.lines if place.carry is None else chain((place.carry,), place.lines)
        chunk: list[bytes] = []
        size, now = 0, base
        for line in source:
            chunk.append(line)
            size += len(line)
            if size >= _CHUNK_BYTES or len(chunk) >= _CHUNK_LINES:
                now = self._store(database, session_id, now, chunk, half, place.hasher, facts)
                half, chunk = b"", []
                if on_bytes:
                    on_bytes(size)
                size = 0
                step("import:chunk")
                lease.beat()
        if chunk:
            now = self._store(database, session_id, now, chunk, half, place.hasher, facts)
            if on_bytes:
                on_bytes(size)
            step("import:chunk")
        self.known[path] = (now.content_sha256, now.size_bytes, _file_of(path), place.hasher)

    def _store(
        self,
        database: Database,
        session_id: str,
        expected: sessions.Stored,
        chunk: list[bytes],
        half: bytes,
        hasher: Any,
        facts: Facts,
    ) -> sessions.Stored:
        """One transaction: lines, their names, and how much is stored now."""
        content = b"".join(chunk)
        # The half of a line that is stored is in the digest already.
        hasher.update(memoryview(content)[len(half) :])
        size = len(content) - len(half)
        bodies = content.split(b"\n")
        ended = not bodies[-1]
        if ended:
            bodies.pop()
        del content
        lines_before = expected.line_count - bool(half)
        bad_before = facts.bad
        identities = facts.of_lines(bodies, lines_before + 1)
        bad = facts.bad - bad_before
        if half and facts.is_bad(half, expected.line_count):
            bad -= 1
        now = sessions.Stored(
            expected.session_row,
            lines_before + len(bodies),
            expected.bad_line_count + bad,
            expected.size_bytes + size,
            hasher.hexdigest(),
            ended,
        )
        with database.transaction():
            if sessions.stored(database, session_id) != expected:
                raise _MovedOn
            if half:
                events.remove_last(database, expected.session_row, expected.line_count)
            events.append(database, expected.session_row, lines_before + 1, bodies, identities)
            step("import:inside")
            sessions.update_stored(database, now)
        return now


def begins_with(path: str, size: int, sha256: str) -> bool:
    """Whether the first bytes of a source have this digest."""
    hasher = hashlib.sha256()
    for line in sources.lines(path):
        if size <= 0:
            break
        hasher.update(line[:size])
        size -= len(line)
    return size <= 0 and hasher.hexdigest() == sha256


def digest_of(path: str) -> str:
    """The digest of a source's whole content."""
    hasher = hashlib.sha256()
    for line in sources.lines(path):
        hasher.update(line)
    return hasher.hexdigest()


def _file_of(path: str) -> tuple[int, int]:
    """What tells a file from another one under its name; nothing does for a session in a database."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return status.st_dev, status.st_ino


def _tail(path: str, offset: int) -> Iterator[bytes]:
    with open(path, "rb", buffering=1 << 20) as file:
        file.seek(offset)
        yield from file
