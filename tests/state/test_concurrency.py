"""Many processes at one archive: each line once, in order; readers neither fail nor block."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from ontoref.state import Layout, State, archive, sessions
from ontoref.state.database import companions

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

ID = f"claude-code:{SESSION}"

WRITER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from samples import claude_line
with open(sys.argv[2], "ab", buffering=0) as file:
    for number in range(1, 2001):
        line = claude_line(number, text="x" * 4000)
        cut = number * 7 % len(line)
        file.write(line[:cut])
        if number % 40 == 0:
            time.sleep(0.05)
        file.write(line[cut:])
"""


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ontoref", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finished(process: subprocess.Popen[bytes]) -> bytes:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    return errors


def test_two_importers_follow_one_growing_file_beside_a_reader(layout: Layout, tmp_path: Path) -> None:
    """S3-94, S3-95: the reader sees a prefix of the source every time, quickly; the WAL stays bounded."""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(b"")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(Path(__file__).parent), str(source)])
    while source.stat().st_size == 0:
        time.sleep(0.01)
    followers = [start("transcript", "import", str(source), "--follow", "--idle", "1.5") for _ in range(2)]
    wal = companions(layout.agent_database("claude-code"))[0]
    largest_wal, slowest, reads, seen = 0, 0.0, 0, 0
    while any(follower.poll() is None for follower in followers):
        began = time.perf_counter()
        with State(layout, read_only=True) as state:
            for session in archive.listing(state):
                text = archive.content(state, session)
                assert source.read_bytes().startswith(text)
                assert len(text) >= seen
                seen = len(text)
        slowest = max(slowest, time.perf_counter() - began)
        reads += 1
        if os.path.exists(wal):
            largest_wal = max(largest_wal, os.path.getsize(wal))
        time.sleep(0.02)
    assert writer.wait() == 0
    for follower in followers:
        finished(follower)
    with State(layout, read_only=True) as state:
        assert archive.content(state, archive.resolve(state, ID)) == source.read_bytes()
        database = state.agent("claude-code")
        assert database is not None
        assert database.one("SELECT count(*), max(seq) FROM transcript_events") == (2000, 2000)
        assert database.one("SELECT count(*), max(seq) FROM transcript_event_identities") == (2000, 2000)
        assert database.integrity() == []
    assert reads > 10
    assert slowest < 10
    assert largest_wal < 32 << 20


def test_eight_importers_share_one_tree(layout: Layout, tmp_path: Path) -> None:
    folder = project(tmp_path / "home")
    names = [f"{number:08d}{SESSION[8:]}" for number in range(40)]
    for name in names:
        (folder / f"{name}.jsonl").write_bytes(claude(name, count=50))
    same = project(tmp_path / "home", "-other") / f"{names[0]}.jsonl"
    same.write_bytes(claude(names[0], count=3, text="other"))
    for importer in [start("transcript", "import", str(tmp_path / "home")) for _ in range(8)]:
        errors = finished(importer)
        assert b"failed" not in errors
        assert b"busy" not in errors
    with State(layout, read_only=True) as state:
        found = list(archive.listing(state))
        assert len({session.session_id for session in found}) == len(found) == 41
        for name in names[1:]:
            assert archive.content(state, archive.resolve(state, f"claude-code:{name}")) == claude(name, count=50)
        texts = sorted(len(archive.content(state, s)) for s in found if names[0] in s.session_id)
        assert texts == sorted([len(same.read_bytes()), len(claude(names[0], count=50))])
        database = state.agent("claude-code")
        assert database is not None
        assert database.one("SELECT count(*) FROM transcript_events") == (2003,)
        assert database.integrity() == []
        control = state.control()
        assert control is not None
        assert control.all("SELECT count(*) FROM state_leases") == [(0,)]


def test_two_processes_describe_different_columns(state: State, layout: Layout) -> None:
    """S3-29, S3-96: a patch sets its own columns and no others; the row stays where it is."""
    database = state.writable_agent("codex")
    with database.transaction():
        sessions.add(database, "codex:a", "a", "codex", "jsonl", "0" * 64)
    script = """
import sys
from ontoref.state import Layout, State, sessions
with State(Layout(sys.argv[1]), read_only=False) as state:
    database = state.writable_agent("codex")
    for number in range(200):
        with database.transaction():
            sessions.describe(database, "codex:a", **{sys.argv[2]: f"{sys.argv[2]} {number}"})
"""
    statements: list[str] = []
    workers = [
        subprocess.Popen([sys.executable, "-c", script, layout.root, column]) for column in ("model", "display_name")
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    database.connection.set_trace_callback(statements.append)
    sessions.describe(database, "codex:a", project="/p")
    database.connection.set_trace_callback(None)
    found = sessions.get(database, "codex:a")
    assert found is not None
    assert (found.model, found.display_name, found.project) == ("model 199", "display_name 199", "/p")
    assert not [statement for statement in statements if "DELETE" in statement]


def test_a_follower_that_is_interrupted_closes_its_run(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    import signal

    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    follower = start("transcript", "import", str(source), "--follow")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with State(layout, read_only=True) as state:
            if archive.find(state, ID) and archive.resolve(state, ID).line_count == 6:
                break
        time.sleep(0.05)
    source.write_bytes(claude() + claude_line(7))
    while time.monotonic() < deadline:
        with State(layout, read_only=True) as state:
            if archive.resolve(state, ID).line_count == 7:
                break
        time.sleep(0.05)
    follower.send_signal(signal.SIGINT)
    _, errors = follower.communicate(timeout=20)
    assert follower.returncode == 130, errors
    with State(layout, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all("SELECT kind, status FROM migration_runs") == [("follow", "completed")]
        assert control.all("SELECT count(*) FROM state_leases") == [(0,)]
