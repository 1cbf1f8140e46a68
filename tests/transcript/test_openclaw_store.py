"""OpenClaw's database, read while its owner writes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import pytest

from ontoref.transcript import TranscriptError, openclaw_store
from ontoref.transcript.find import read_stored, stored
from tests.conftest import App
from tests.transcript.lines import SESSIONS

CREATE = "create table transcript_events (session_id text, seq integer, event_json blob, created_at integer)"
LINES = SESSIONS["openclaw"]


def make(path: Path, *, wal: bool = False, rows: list[bytes] | None = None) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    if wal:
        database.execute("pragma journal_mode=wal")
    database.execute(CREATE)
    for seq, line in enumerate(LINES if rows is None else rows):
        content: str | bytes = line if line.startswith(b"\x28") else line.decode().rstrip("\n")
        database.execute("insert into transcript_events values ('s1', ?, ?, ?)", (seq, content, 1767261600000 + seq))
    return database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"


def test_rows_give_the_events_of_the_lines(path: Path) -> None:
    make(path).close()
    before = hashlib.sha256(path.read_bytes()).digest()
    (session,) = stored("openclaw", str(path))
    assert (session.session_id, session.started) == ("s1", 1767261600.0)
    events = list(read_stored(session).events)
    assert (events[0].session_id, len(events)) == ("s1", 21)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert os.listdir(path.parent) == [path.name]


def test_packed_rows_and_a_damaged_one(path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    packer = zstandard.ZstdCompressor()
    rows = [packer.compress(line) for line in LINES]
    rows[3] = rows[3][:9] + b"\0" * 5
    make(path, rows=rows).close()
    transcript = read_stored(stored("openclaw", str(path))[0])
    assert len(list(transcript.events)) == 21
    assert transcript.report.bad.count == 1


def test_a_writer_goes_on_while_it_is_read(path: Path) -> None:
    """S2-18"""
    writer = make(path, wal=True, rows=LINES[:5])
    rows = openclaw_store.lines(str(path), "s1", wait=lambda: True)
    found = [next(rows) for _ in range(5)]
    writer.execute("begin immediate")
    writer.execute("insert into transcript_events values ('s1', 5, ?, 0)", (LINES[5].decode(),))
    assert next(rows) is None
    writer.execute("commit")
    found.append(next(rows))
    assert found[5] == LINES[5]
    rows.close()
    writer.close()


def test_a_writer_that_comes_to_an_idle_database_is_seen(path: Path) -> None:
    make(path, rows=LINES[:5]).close()
    rows = openclaw_store.lines(str(path), "s1", wait=lambda: True)
    assert [next(rows) is not None for _ in range(6)] == [True] * 5 + [False]
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("insert into transcript_events values ('s1', 5, ?, 0)", (LINES[5].decode(),))
    assert next(rows) == LINES[5].rstrip(b"\n") + b"\n"
    writer.close()
    rows.close()


def test_a_database_without_transcripts_has_no_sessions(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(parents=True)
    sqlite3.connect(path).execute("create table other (x)").connection.close()
    assert stored("openclaw", str(path)) == []
    (tmp_path / "garbage.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(TranscriptError):
        stored("openclaw", str(tmp_path / "garbage.sqlite"))


def test_the_commands_take_a_session_of_the_database(app: App, path: Path) -> None:
    make(path).close()
    done = app("transcript", "stats", path, "--format", "jsonl")
    assert (done.code, '"user":4' in done.out) == (0, True)
    assert app("transcript", "events", f"{path}#s1", "--limit", "2").out.count("\n") == 2
