"""One source's bytes into one session's lines, from where the last import stopped."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ontoref.state import events, leases, sessions, sources
from ontoref.state.database import Database
from ontoref.state.errors import TooLarge
from ontoref.state.facts import Facts
from ontoref.state.faults import step

__all__ = ["EMPTY_SHA256", "Filler", "Target", "begins_with", "digest_of"]

EMPTY_SHA256 = hashlib.sha256().hexdigest()
# What is stored of a session that has no row yet.
_NOTHING = sessions.Stored(0, 0, 0, 0, EMPTY_SHA256, True)
_CHUNK_BYTES = 4 << 20
_CHUNK_LINES = 8000


class _MovedOn(Exception):
    """Another process stored lines of the same source meanwhile."""


@dataclass(slots=True)
class _Place:
    """Where reading goes on: after what is stored. Shape: hasher has seen what is stored, blocks are what follows."""

    hasher: Any
    blocks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Lines that are stored at once, without their newlines, and as they stand in the source."""

    content: bytes
    lines: list[bytes]
    ends_with_newline: bool


@dataclass(frozen=True, slots=True)
class Target:
    """Where lines go. Shape: add makes the session's row where it is missing, describe writes down what all its lines
    tell; both are part of a transaction."""

    database: Database
    session_id: str
    lease: leases.Lease
    add: Callable[[], None]
    describe: Callable[[], None]
    on_bytes: Callable[[int], None]


@dataclass(slots=True)
class Filler:
    """Remembers digests of what it read, so that a followed file is not read from its start each time."""

    known: dict[str, tuple[str, int, tuple[int, int], Any]] = field(default_factory=dict)

    def fill(self, target: Target, path: str, facts: Facts) -> str:
        """Store what the source has and the session has not.

        Shape: `filled`, `rewritten` (the source does not begin with what is stored; nothing was written),
               `shorter` (it ends within what is stored), `deleted` (the session is gone).
        """
        base = sessions.stored(target.database, target.session_id) or _NOTHING
        while True:
            place = self._place(path, target.database, base)
            if isinstance(place, str):
                return place
            try:
                self._append(target, path, base, place, facts)
            except _MovedOn:
                found = sessions.stored(target.database, target.session_id)
                if found is None:
                    return "deleted"
                base = found
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
            return _Place(remembered[3].copy(), _tail(path, base.size_bytes))
        blocks = iter(sources.blocks(path))
        hasher, missing, rest = _digest(blocks, base.size_bytes)
        if missing:
            seen = base.size_bytes - missing
            return "shorter" if self._is_prefix(database, base, seen, hasher.hexdigest()) else "rewritten"
        if hasher.hexdigest() != base.content_sha256:
            return "rewritten"
        return _Place(hasher, chain((rest,), blocks))

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

    def _append(self, target: Target, path: str, base: sessions.Stored, place: _Place, facts: Facts) -> None:
        half = b""
        if not base.ends_with_newline:
            half = events.last_line(target.database, base.session_row, base.line_count)
        now = base
        for chunk, last in _with_last(_chunks(place.blocks, half)):
            now = self._store(target, now, chunk, half, place.hasher, facts, last=last)
            if chunk:
                target.on_bytes(len(chunk.content) - len(half))
            half = b""
            step("import:chunk")
            if not last:
                target.lease.beat()
        self.known[path] = (now.content_sha256, now.size_bytes, _file_of(path), place.hasher)

    def _store(
        self,
        target: Target,
        expected: sessions.Stored,
        chunk: _Chunk | None,
        half: bytes,
        hasher: Any,
        facts: Facts,
        *,
        last: bool,
    ) -> sessions.Stored:
        """One transaction: lines, their names, and how much is stored now. Most sources need no other."""
        database, now = target.database, expected
        identities: list[events.Identity] = []
        lines_before = expected.line_count - bool(half)
        if chunk:
            # The half of a line that is stored is in the digest already.
            hasher.update(memoryview(chunk.content)[len(half) :])
            bad_before = facts.bad
            identities = facts.of_lines(chunk.lines, lines_before + 1)
            bad = facts.bad - bad_before
            if half and facts.is_bad(half, expected.line_count):
                bad -= 1
            now = sessions.Stored(
                expected.session_row,
                lines_before + len(chunk.lines),
                expected.bad_line_count + bad,
                expected.size_bytes + len(chunk.content) - len(half),
                hasher.hexdigest(),
                chunk.ends_with_newline,
            )
        with database.transaction():
            found = sessions.stored(database, target.session_id)
            if found is None and expected is _NOTHING:
                target.add()
                found = sessions.stored(database, target.session_id)
                assert found is not None
                now = replace(now, session_row=found.session_row)
            elif found != expected:
                raise _MovedOn
            if chunk:
                if half:
                    events.remove_last(database, now.session_row, expected.line_count)
                events.append(database, now.session_row, lines_before + 1, chunk.lines, identities)
                step("import:inside")
                sessions.update_stored(database, now)
            refused = _refusal(database, target.describe) if last else None
        if refused:
            raise refused
        return now


def _refusal(database: Database, describe: Callable[[], None]) -> TooLarge | None:
    """Describe a session; what SQLite cannot hold of that costs none of its lines."""
    try:
        with database.transaction():
            describe()
    except TooLarge as error:
        return error
    return None


def begins_with(path: str, size: int, sha256: str) -> bool:
    """Whether the first bytes of a source have this digest."""
    hasher, missing, _ = _digest(sources.blocks(path), size)
    return not missing and hasher.hexdigest() == sha256


def digest_of(path: str) -> str:
    """The digest of a source's whole content."""
    hasher = hashlib.sha256()
    for block in sources.blocks(path):
        hasher.update(block)
    return hasher.hexdigest()


def _digest(blocks: Iterable[bytes], size: int) -> tuple[Any, int, bytes]:
    """(hasher of the first size bytes, how many of them there are not, what of the last block is behind them)."""
    hasher = hashlib.sha256()
    if not size:
        return hasher, 0, b""
    for block in blocks:
        if len(block) >= size:
            hasher.update(block[:size])
            return hasher, 0, block[size:]
        hasher.update(block)
        size -= len(block)
    return hasher, size, b""


def _chunks(blocks: Iterable[bytes], half: bytes) -> Iterator[_Chunk | None]:
    """Blocks as chunks of whole lines; half is the beginning of the first one. One at least: None, if nothing is new.

    Shape: only the last one may end within a line.
    """
    pending, size = [half], 0
    for block in blocks:
        pending.append(block)
        size += len(block)
        if size < _CHUNK_BYTES or not (end := block.rfind(b"\n") + 1):
            continue
        pending[-1] = block[:end]
        yield from _few_lines(b"".join(pending))
        pending, size = [block[end:]], len(block) - end
    if size:
        yield from _few_lines(b"".join(pending))
    else:
        yield None


def _few_lines(content: bytes) -> Iterator[_Chunk]:
    """A chunk of it, or several where the lines are very short."""
    while True:
        lines = content.split(b"\n", _CHUNK_LINES)
        rest = lines.pop()
        if len(lines) == _CHUNK_LINES and rest:
            yield _Chunk(content[: len(content) - len(rest)], lines, True)
            content = rest
            continue
        if rest:
            lines.append(rest)
        yield _Chunk(content, lines, not rest)
        return


def _with_last(chunks: Iterator[_Chunk | None]) -> Iterator[tuple[_Chunk | None, bool]]:
    """Each chunk, and whether it is the last one."""
    before = next(chunks)
    for chunk in chunks:
        yield before, False
        before = chunk
    yield before, True


def _file_of(path: str) -> tuple[int, int]:
    """What tells a file from another one under its name; nothing does for a session in a database."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return status.st_dev, status.st_ino


def _tail(path: str, offset: int) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        file.seek(offset)
        while block := file.read(_CHUNK_BYTES):
            yield block
