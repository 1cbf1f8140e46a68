"""OpenClaw's database of transcripts, read while its owner writes: its sessions, and one of them as lines.

Format: docs/transcripts.md. A row holds the same envelope as a line of the older files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from ontoref.errors import MissingExtra
from ontoref.transcript.live_database import LiveDatabase
from ontoref.transcript.native import parse, seconds
from ontoref.transcript.opencode_store import Stored
from ontoref.transcript.source import Folder, SideFiles, TranscriptError

__all__ = ["TABLE", "lines", "name_of", "recognises", "sessions", "side"]

TABLE = "transcript_events"
_BATCH_ROWS = 200
# A row can be tens of megabytes; two hundred of those shall not stand in memory at once.
_BATCH_BYTES = 8 << 20
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_HAS_TABLE = "select 1 from sqlite_master where type = 'table' and name = ?"


def recognises(path: str) -> bool:
    """Whether a database has OpenClaw's transcripts."""
    try:
        with closing(LiveDatabase(path)) as reading:
            return bool(reading.rows(_HAS_TABLE, TABLE))
    except TranscriptError:
        return False


def sessions(path: str) -> list[Stored]:
    """Every session of a database; [] where it has no transcripts (yet).

    Errors: TranscriptError if it cannot be read.
    """
    with closing(LiveDatabase(path)) as reading:
        if not reading.rows(_HAS_TABLE, TABLE):
            return []
        totals = (
            "select session_id, min(created_at), max(created_at), sum(length(event_json)), min(seq) "
            f"from {TABLE} group by session_id"
        )
        first = f"select event_json from {TABLE} where session_id = ? and seq = ?"
        found = []
        for native, started, modified, size, seq in reading.rows(totals):
            if not isinstance(native, str) or not native:
                continue
            header = [_object(row[0]) for row in reading.rows(first, native, seq)]
            cwd = header[0].get("cwd") if header else None
            found.append(
                Stored(
                    native,
                    cwd if isinstance(cwd, str) else None,
                    None,
                    None,
                    seconds(started, 0.0) or None,
                    seconds(modified, 0.0) or None,
                    size or 0,
                )
            )
        return found


def lines(path: str, session_id: str, *, wait: Callable[[], bool] | None = None) -> Iterator[bytes | None]:
    """The rows of one session in their order, each as a line.

    Shape:  with wait, None whenever there is nothing new; wait then says whether to look again.
    Errors: TranscriptError if the database cannot be read or has no such session, MissingExtra for a packed row
            without the binding.
    """
    with closing(LiveDatabase(path)) as reading:
        last: Any = None
        while True:
            # The sizes first: they are in the row's head, and tell how many rows to take at once.
            sizes = reading.rows(
                f"select seq, length(event_json) from {TABLE} where session_id = ? and (? is null or seq > ?) "
                f"order by seq limit {_BATCH_ROWS}",
                session_id,
                last,
                last,
            )
            if not sizes:
                if last is None and wait is None:
                    raise TranscriptError(f"the database has no session {session_id!r}", location=path)
                if wait is None:
                    return
                yield None
                if not wait():
                    return
                continue
            end, total = sizes[0][0], 0
            for seq, size in sizes:
                total += size or 0
                if total > _BATCH_BYTES and seq != sizes[0][0]:
                    break
                end = seq
            for (content,) in reading.rows(
                f"select event_json from {TABLE} where session_id = ? and (? is null or seq > ?) and seq <= ? "
                "order by seq",
                session_id,
                last,
                last,
                end,
            ):
                yield _unpacked(content)
            last = end


def side(path: str) -> SideFiles:
    """The files beside the transcripts that the database took the place of."""
    return Folder(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), "sessions"))


def name_of(path: str, session_id: str) -> str:
    """The name that the session's file would have had."""
    folder = os.path.dirname(os.path.dirname(path)).replace(os.sep, "/")
    return f"{folder}/sessions/{session_id}.jsonl"


def _unpacked(content: Any) -> bytes:
    """A row's content as a line; what cannot be unpacked stays as it is, a bad line among good ones."""
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if not isinstance(content, bytes):
        return str(content).encode()
    if not content.startswith(_ZSTD_MAGIC):
        return content
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstd", "zstandard") from None
    try:
        unpacking = zstandard.ZstdDecompressor().decompressobj()
        line = unpacking.decompress(content)
    except zstandard.ZstdError:
        return content
    # A row that was cut short unpacks without an error, to less than it was.
    return line if unpacking.eof else content


def _object(content: Any) -> dict[str, Any]:
    try:
        found = parse(_unpacked(content))
    except (ValueError, MissingExtra):
        return {}
    return found if isinstance(found, dict) else {}
