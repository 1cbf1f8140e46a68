"""Backups: taken while others write, refused when crafted, restored under open readers."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ontoref.state import Layout, State, archive, backup, registry, runs, snapshot
from ontoref.state.database import companions
from ontoref.state.errors import BadArchive, DatabaseRefused, DatabaseUnusable, LeaseHeld
from ontoref.state.importer import Importer
from ontoref.state.leases import acquire, held, this_process

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

ID = f"claude-code:{SESSION}"
NOW = datetime(2026, 11, 30, 18, 4, 5, tzinfo=UTC)
CORPUS = Path(__file__).parents[3] / "shared" / "transcripts"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = project(tmp_path / "home") / f"{SESSION}.jsonl"
    path.write_bytes(claude())
    return path


@pytest.fixture
def filled(layout: Layout, source: Path) -> Layout:
    load(layout, source)
    return layout


def load(layout: Layout, path: Path) -> None:
    with State(layout, read_only=False) as state:
        importer = Importer(state)
        list(importer.run([str(path)]))
        importer.finish()


def exported(layout: Layout) -> bytes:
    with State(layout, read_only=True) as state:
        return archive.content(state, archive.resolve(state, ID))


def made(layout: Layout, path: Path) -> Path:
    with State(layout, read_only=False) as state:
        backup.create(state, str(path), NOW)
    return path


def test_a_backup_holds_compact_snapshots_and_no_live_files(filled: Layout, tmp_path: Path) -> None:
    """S3-79, S3-80, S3-81, S3-85, S3-87"""
    path = made(filled, tmp_path / "b.tar.gz")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with tarfile.open(path) as tar:
        names = tar.getnames()
        manifest = json.loads(tar.extractfile("b/manifest.json").read())  # type: ignore[union-attr]
    assert names == [
        "b/manifest.json",
        "b/payload/state/ontoref.sqlite",
        "b/payload/agents/claude-code/agent/ontoref-agent.sqlite",
    ]
    assert manifest["schema_version"] == 1
    assert manifest["created_at"] == "2026-11-30T18:04:05Z"
    agent = manifest["assets"][1]
    assert (agent["role"], agent["agent_id"], agent["integrity"]) == ("agent", "claude-code", "ok")
    assert agent["source_path"] == filled.agent_database("claude-code")
    assert not list(tmp_path.glob(".ontoref-backup*"))


def test_finished_and_failed_runs_are_listed(filled: Layout, tmp_path: Path) -> None:
    """S3-82, S3-84"""
    made(filled, tmp_path / "b.tar.gz")
    database = Path(filled.agent_database("claude-code"))
    content = bytearray(database.read_bytes())
    content[4096 * 3 : 4096 * 9] = b"\xee" * 4096 * 6
    database.write_bytes(content)
    with State(filled, read_only=False) as state:
        with pytest.raises(DatabaseUnusable):
            backup.create(state, str(tmp_path / "c.tar.gz"), NOW, check=False)
        assert [run.status for run in runs.listing(state.writable())] == ["failed", "completed"]
    assert not (tmp_path / "c.tar.gz").exists()
    assert not list(tmp_path.glob(".ontoref-backup*"))


def test_where_a_backup_may_not_go(filled: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-85"""
    (tmp_path / "there.tar.gz").write_bytes(b"mine")
    done = ontoref("backup", "create", "--output", str(tmp_path / "there.tar.gz"))
    assert (done.returncode, (tmp_path / "there.tar.gz").read_bytes()) == (2, b"mine")
    assert ontoref("backup", "create", "--output", filled.root + "/x.tar.gz").returncode == 2
    done = ontoref("backup", "create", cwd=Path(filled.root))
    assert done.returncode == 0
    assert list((tmp_path / "home").glob("ontoref-backup-*.tar.gz"))


def test_a_dry_run_writes_nothing(filled: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-86"""
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if not path.name.endswith("-shm")}
    assert b"claude-code" in ontoref("backup", "create", "--dry-run").stdout
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path in before}
    assert {path for path in before if path.is_file()} <= set(after)
    assert all(after[path] == before[path] for path in before if path.is_file())
    assert not list(tmp_path.glob("*.tar.gz"))


WRITER = """
import sys
from ontoref.state import State, Layout
state = State(Layout(sys.argv[1]), read_only=False)
database = state.writable_agent("claude-code")
print("go", flush=True)
number = 0
while True:
    number += 1
    with database.transaction():
        database.execute("INSERT INTO cache_entries VALUES ('w', ?, NULL, '1', NULL, NULL, 1)", (f"{number:09d}",))
        database.execute("INSERT INTO cache_entries VALUES ('v', ?, NULL, '1', NULL, NULL, 1)", (f"{number:09d}",))
"""


def test_a_backup_beside_a_writer_is_a_consistent_prefix(filled: Layout, tmp_path: Path) -> None:
    """S3-79"""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, filled.root], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    try:
        paths = [made(filled, tmp_path / f"{number}.tar.gz") for number in range(3)]
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    last = -1
    for path in paths:
        target = Layout(str(tmp_path / path.name.partition(".")[0]))
        backup.restore(str(path), target, NOW)
        with State(target, read_only=True) as state:
            database = state.agent("claude-code")
            assert database is not None
            assert database.integrity() == []
            (pairs,) = database.all("SELECT count(*), max(key) FROM cache_entries WHERE scope = 'w'")
            assert pairs == database.all("SELECT count(*), max(key) FROM cache_entries WHERE scope = 'v'")[0]
            assert pairs[0] == int(pairs[1] or 0) > last
            last = pairs[0]


Entry = tuple[tarfile.TarInfo, bytes]


def entries(path: Path) -> list[Entry]:
    with tarfile.open(path) as tar:
        return [(member, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]


def write(path: Path, content: list[Entry]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for member, data in content:
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)


def entry(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Entry:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, len(data) if kind == tarfile.REGTYPE else 0
    return member, data


def changed(content: list[Entry], change: Callable[[dict[str, Any]], None]) -> list[Entry]:
    manifest = json.loads(content[0][1])
    change(manifest)
    data = json.dumps(manifest).encode()
    return [entry("b/manifest.json", data), *content[1:]]


def _replaced(content: list[Entry], data: bytes) -> list[Entry]:
    return changed(
        [*content[:2], entry(content[2][0].name, data)],
        lambda m: m["assets"][1].update(size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest()),
    )


CRAFTED: dict[str, Callable[[list[Entry]], list[Entry]]] = {
    "absolute path": lambda c: [*c, entry("/tmp/x")],
    "dot dot": lambda c: [*c, entry("b/../x")],
    "dot dot in the payload": lambda c: [*c, entry("b/payload/../../x")],
    "backslash": lambda c: [*c, entry("b\\x")],
    "drive": lambda c: [*c, entry("C:/x")],
    "empty part": lambda c: [*c, entry("b//x")],
    "symbolic link": lambda c: [*c, entry("b/link", kind=tarfile.SYMTYPE, link="/etc/passwd")],
    "hard link": lambda c: [*c, entry("b/link", kind=tarfile.LNKTYPE, link="b/manifest.json")],
    "device": lambda c: [*c, entry("b/null", kind=tarfile.CHRTYPE)],
    "folder": lambda c: [*c, entry("b/folder", kind=tarfile.DIRTYPE)],
    "duplicate entry": lambda c: [*c, c[1]],
    "duplicate in other case": lambda c: [*c, entry(c[1][0].name.upper(), c[1][1])],
    "outside the root": lambda c: [*c, entry("other/x")],
    "unlisted entry": lambda c: [*c, entry("b/payload/state/extra.sqlite")],
    "missing asset": lambda c: c[:-1],
    "two manifests": lambda c: [c[0], c[0], *c[1:]],
    "a second manifest elsewhere": lambda c: [*c, entry("b/payload/manifest.json", c[0][1])],
    "no manifest": lambda c: c[1:],
    "manifest last": lambda c: [*c[1:], c[0]],
    "empty": lambda c: [],
    "wrong hash": lambda c: [*c[:2], entry(c[2][0].name, bytes(len(c[2][1])))],
    "wrong size": lambda c: [*c[:2], entry(c[2][0].name, c[2][1] + b"x")],
    "unknown manifest version": lambda c: changed(c, lambda m: m.update(schema_version=2)),
    "foreign target": lambda c: changed(c, lambda m: m["assets"][1].update(restore_path="../../.bashrc")),
    "absolute target": lambda c: changed(c, lambda m: m["assets"][1].update(restore_path="/etc/cron.d/x")),
    "asset outside the payload": lambda c: changed(c, lambda m: m["assets"][1].update(archive_path="b/x.sqlite")),
    "agent that is a path": lambda c: changed(c, lambda m: m["assets"][1].update(agent_id="../x")),
    "another agent's database": lambda c: changed(
        [*c[:2], entry("b/payload/agents/codex/agent/ontoref-agent.sqlite", c[2][1])],
        lambda m: m["assets"][1].update(
            agent_id="codex",
            restore_path="agents/codex/agent/ontoref-agent.sqlite",
            archive_path="b/payload/agents/codex/agent/ontoref-agent.sqlite",
        ),
    ),
    "newer database": lambda c: changed(c, lambda m: m["assets"][1].update(schema_version=99)),
    "no database at all": lambda c: _replaced(c, b"this is no database" * 400),
    "damaged database": lambda c: _replaced(c, c[2][1][:8192] + b"\xff" * 40960 + c[2][1][49152:]),
    "bomb": lambda c: changed(
        [c[0], c[1], entry(c[2][0].name, bytes(300 << 20))],
        lambda m: m["assets"][1].update(size_bytes=300 << 20, sha256=hashlib.sha256(bytes(300 << 20)).hexdigest()),
    ),
    "manifest of nothing": lambda c: changed(c, lambda m: m.update(assets=[])),
    "manifest that is no object": lambda c: [entry("b/manifest.json", b"[]"), *c[1:]],
    "manifest that is deep": lambda c: [entry("b/manifest.json", b"[" * 100_000), *c[1:]],
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_archive_is_refused_before_anything_is_extracted(
    filled: Layout, tmp_path: Path, craft: Callable[[list[Entry]], list[Entry]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-83, S3-88"""
    good = made(filled, tmp_path / "b.tar.gz")
    bad = tmp_path / "bad.tar.gz"
    write(bad, craft(entries(good)))
    target = Layout(str(tmp_path / "target"))
    with pytest.raises(BadArchive):
        backup.restore(str(bad), target, NOW)
    assert [path for path in Path(target.root).rglob("*") if path.is_file()] == []
    with pytest.raises(BadArchive):
        backup.verify(str(bad))
    before = exported(filled)
    with pytest.raises(BadArchive):
        backup.restore(str(bad), filled, NOW)
    assert exported(filled) == before
    assert not Path(filled.safety_archives).exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"\x1f\x8b\x08\x00", None], ids=["empty", "text", "torn", "cut"])
def test_what_is_no_archive_is_refused(filled: Layout, tmp_path: Path, ontoref: Run, content: bytes | None) -> None:
    """S3-83"""
    path = tmp_path / "x.tar.gz"
    if content is None:
        content = made(filled, tmp_path / "b.tar.gz").read_bytes()[:-3000]
    path.write_bytes(content)
    done = ontoref("backup", "verify", str(path))
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert ontoref("backup", "verify", str(tmp_path / "nowhere")).returncode == 2


def test_restore_needs_a_yes(filled: Layout, source: Path, tmp_path: Path, ontoref: Run) -> None:
    """S3-88"""
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude() + claude_line(7))
    load(filled, source)
    later = exported(filled)
    done = ontoref("backup", "restore", str(path))
    assert done.returncode == 1
    assert b"replace" in done.stdout
    assert ontoref("backup", "restore", str(path), "--dry-run").returncode == 0
    assert exported(filled) == later
    assert ontoref("backup", "restore", str(path), "--yes").returncode == 0
    assert exported(filled) == claude()


def test_a_restored_state_is_wal_without_leases_and_knows_its_new_place(filled: Layout, tmp_path: Path) -> None:
    """S3-60, S3-90"""
    with State(filled, read_only=False) as state:
        acquire(state.writable(), "import", "x", owner=this_process())
        path = made(filled, tmp_path / "b.tar.gz")
    target = Layout(str(tmp_path / "elsewhere"))
    done = backup.restore(str(path), target, NOW)
    assert done.rollback is None
    with State(target, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all("SELECT * FROM state_leases") == []
        assert [row.path for row in registry.registered(control, target)] == [target.agent_database("claude-code")]
        for database in (control, *state.agents()):
            assert database.one("PRAGMA journal_mode") == ("wal",)
            assert stat.S_IMODE(os.stat(database.path).st_mode) == 0o600
    assert exported(target) == claude()
    load(target, tmp_path / "home")
    assert exported(target) == claude()


def test_a_backup_of_pages_of_another_size_is_restored(filled: Layout, tmp_path: Path) -> None:
    """A database keeps the page size that it was made with; another version of ontoref may have chosen another."""
    with sqlite3.connect(filled.agent_database("claude-code"), isolation_level=None) as database:
        database.execute("PRAGMA journal_mode = DELETE").fetchone()
        database.execute("PRAGMA page_size = 4096")
        database.execute("VACUUM")
        database.execute("PRAGMA journal_mode = WAL").fetchone()
    database.close()
    path = made(filled, tmp_path / "b.tar.gz")
    for target in (Layout(str(tmp_path / "elsewhere")), filled):
        backup.restore(str(path), target, NOW)
        assert exported(target) == claude()
        with State(target, read_only=True) as state:
            assert [agent.integrity() for agent in state.agents()] == [[]]
            assert {agent.page_bytes for agent in state.agents()} == {4096 if target is filled else 8192}


def test_an_open_reader_and_an_open_writer_see_the_restored_rows(filled: Layout, source: Path, tmp_path: Path) -> None:
    """S3-91"""
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude() + claude_line(7))
    load(filled, source)
    with State(filled, read_only=True) as reader, State(filled, read_only=False) as writer:
        database, other = reader.agent("claude-code"), writer.writable_agent("claude-code")
        assert database is not None
        count = "SELECT count(*) FROM transcript_events"
        assert database.one(count) == (7,)
        backup.restore(str(path), filled, NOW)
        assert database.one(count) == (6,)
        other.execute("INSERT INTO cache_entries VALUES ('a', 'b', NULL, '1', NULL, NULL, 1)")
        assert database.one("SELECT count(*) FROM cache_entries") == (1,)
        assert other.integrity() == []


def test_a_reader_in_the_middle_of_a_read_keeps_what_it_began(filled: Layout, source: Path, tmp_path: Path) -> None:
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude() + claude_line(7))
    load(filled, source)
    with State(filled, read_only=True) as reader:
        database = reader.agent("claude-code")
        assert database is not None
        database.execute("BEGIN")
        count = "SELECT count(*) FROM transcript_events"
        assert database.one(count) == (7,)
        backup.restore(str(path), filled, NOW)
        assert database.one(count) == (7,)
        database.execute("COMMIT")
        assert database.one(count) == (6,)


def test_restore_waits_for_no_one_and_overruns_no_one(filled: Layout, tmp_path: Path) -> None:
    """S3-91"""
    path = made(filled, tmp_path / "b.tar.gz")
    with (
        State(filled, read_only=False) as state,
        acquire(state.writable(), "import", "x", owner=this_process()),
        pytest.raises(LeaseHeld, match="import"),
    ):
        backup.restore(str(path), filled, NOW)
    backup.restore(str(path), filled, NOW)
    with State(filled, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert held(control) == []


def test_a_failure_midway_brings_everything_back(
    filled: Layout, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-89"""
    with State(filled, read_only=False) as state:
        state.agent("codex")
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude() + claude_line(7))
    load(filled, source)
    later = exported(filled)
    loads = []
    load_snapshot = snapshot.load

    def fail_once(file: str, database: Any) -> None:
        loads.append(file)
        if len(loads) == 2:
            raise sqlite3.OperationalError("disk I/O error")
        load_snapshot(file, database)

    monkeypatch.setattr(snapshot, "load", fail_once)
    with pytest.raises(sqlite3.OperationalError):
        backup.restore(str(path), filled, NOW)
    assert exported(filled) == later


def test_a_foreign_wal_beside_the_target_changes_nothing(filled: Layout, tmp_path: Path) -> None:
    """S3-89"""
    path = made(filled, tmp_path / "b.tar.gz")
    other = Layout(str(tmp_path / "other"))
    with State(other, read_only=False) as state:
        database = state.writable_agent("claude-code")
        database.execute("INSERT INTO cache_entries VALUES ('foreign', 'x', NULL, '1', NULL, NULL, 1)")
        wal = Path(companions(database.path)[0]).read_bytes()
    assert wal
    for is_there in (True, False):
        place = Path(filled.agent_database("claude-code"))
        if not is_there:
            place.unlink()
        Path(companions(str(place))[0]).write_bytes(wal)
        backup.restore(str(path), filled, NOW)
        assert exported(filled) == claude()
        with State(filled, read_only=True) as state:
            database_again = state.agent("claude-code")
            assert database_again is not None
            assert database_again.integrity() == []
            assert database_again.all("SELECT * FROM cache_entries") == []


def test_what_sqlite_cannot_open_is_moved_aside(filled: Layout, tmp_path: Path) -> None:
    path = made(filled, tmp_path / "b.tar.gz")
    place = Path(filled.agent_database("claude-code"))
    place.write_bytes(b"my diary" * 1000)
    done = backup.restore(str(path), filled, NOW)
    assert exported(filled) == claude()
    assert [Path(name).read_bytes()[:8] for name in done.aside] == [b"my diary"]
    Path(filled.global_database).write_bytes(b"torn")
    backup.restore(str(path), filled, NOW)
    assert exported(filled) == claude()


def test_a_refused_restore_moves_nothing_aside(filled: Layout, tmp_path: Path) -> None:
    """S3-91: who holds a lease is waited for before any file gets another name."""
    path = made(filled, tmp_path / "b.tar.gz")
    place = Path(filled.agent_database("claude-code"))
    place.write_bytes(b"my diary" * 1000)
    with (
        State(filled, read_only=False) as state,
        acquire(state.writable(), "import", "x", owner=this_process()),
        pytest.raises(LeaseHeld),
    ):
        backup.restore(str(path), filled, NOW)
    assert place.read_bytes() == b"my diary" * 1000
    assert [name for name in os.listdir(place.parent) if "damaged" in name] == []


@pytest.mark.parametrize("content", [b"torn", None])
def test_without_its_global_database_the_archive_is_in_the_rollback_too(
    filled: Layout, source: Path, tmp_path: Path, content: bytes | None
) -> None:
    """What came after the backup is in the agents' databases, though nothing registers them any more."""
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude(count=9))
    load(filled, source)
    place = Path(filled.global_database)
    for file in (str(place), *companions(str(place))):
        Path(file).unlink(missing_ok=True)
    if content is not None:
        place.write_bytes(content)
    done = backup.restore(str(path), filled, NOW)
    assert exported(filled) == claude()
    assert done.rollback is not None
    backup.restore(done.rollback, filled, NOW)
    assert exported(filled) == claude(count=9)


def test_a_newer_database_is_not_overwritten(filled: Layout, tmp_path: Path) -> None:
    path = made(filled, tmp_path / "b.tar.gz")
    with sqlite3.connect(filled.agent_database("claude-code")) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(DatabaseRefused):
        backup.restore(str(path), filled, NOW)


def test_an_archive_inside_its_target_is_refused(filled: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-91"""
    path = made(filled, tmp_path / "b.tar.gz")
    inside = Path(filled.root) / "agents" / "b.tar.gz"
    inside.write_bytes(path.read_bytes())
    assert ontoref("backup", "restore", str(inside), "--yes").returncode == 2


def test_the_rollback_archive_undoes_a_restore(filled: Layout, source: Path, tmp_path: Path) -> None:
    path = made(filled, tmp_path / "b.tar.gz")
    source.write_bytes(claude() + claude_line(7))
    load(filled, source)
    done = backup.restore(str(path), filled, NOW)
    assert done.rollback is not None
    backup.restore(done.rollback, filled, datetime(2026, 12, 1, tzinfo=UTC))
    assert exported(filled) == source.read_bytes()


def test_agents_that_the_archive_does_not_know_stay(filled: Layout, tmp_path: Path) -> None:
    path = made(filled, tmp_path / "b.tar.gz")
    with State(filled, read_only=False) as state:
        state.agent("codex")
    backup.restore(str(path), filled, NOW)
    with State(filled, read_only=True) as state:
        assert state.agent_ids() == ["claude-code", "codex"]


# Many commands in one process: what is compared is their output, not their start.
SHOWER = """
import hashlib, io, json, os, sys
from ontoref.cli.main import run
sys.stderr = open(os.devnull, "w")
for call in json.loads(sys.stdin.read()):
    sys.stdout = io.TextIOWrapper(io.BytesIO(), "utf-8")
    code = run(call)
    sys.stdout.flush()
    content = sys.stdout.buffer.getvalue()
    sys.__stdout__.write(json.dumps([call, code, len(content), hashlib.sha256(content).hexdigest()]) + "\\n")
"""


def answers(commands: list[tuple[str, ...]]) -> list[list[Any]]:
    """Exit code, length and digest of what each command prints."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWER], input=json.dumps(commands).encode(), capture_output=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared transcripts are not here")
def test_wipe_and_restore_change_no_answer(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-92: the shared transcripts, all commands but `backup list`."""
    assert ontoref("transcript", "import", str(CORPUS)).returncode == 0
    with State(layout, read_only=True) as state:
        ids = [session.session_id for session in archive.listing(state)]
    commands: list[tuple[str, ...]] = [
        ("session", "show", "--format", "json"),
        ("session", "show"),
        ("transcript", "find", "--children", "--format", "json"),
        ("state", "path"),
        ("state", "check"),
        ("doctor",),
    ]
    for name in ids:
        commands += [("session", "show", name), ("transcript", "stats", name, "--format", "json")]
        commands += [("transcript", "export", name), ("transcript", "show", name, "--format", "json")]
    for name in ids[::8]:
        commands += [("transcript", "events", name), ("transcript", "trace", name, "--format", "json")]
    before = answers(commands)
    assert {code for _, code, _, _ in before} <= {0, 1}
    assert ontoref("backup", "create", "--output", "b.tar.gz").returncode == 0
    shutil.rmtree(layout.root)
    assert ontoref("backup", "restore", "b.tar.gz", "--yes").returncode == 0
    assert answers(commands) == before
    exported = {call[2]: digest for call, _, _, digest in before if call[1:2] == ["export"]}
    with State(layout, read_only=True) as state:
        assert exported == {session.session_id: session.content_sha256 for session in archive.listing(state)}


def test_backups_can_be_taken_at_the_same_time(filled: Layout, tmp_path: Path) -> None:
    threads = [threading.Thread(target=made, args=(filled, tmp_path / f"{n}.tar.gz")) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(3):
        assert backup.verify(str(tmp_path / f"{number}.tar.gz"))


def test_a_backup_says_whom_it_lacks(filled: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-20, S3-81"""
    shutil.rmtree(Path(filled.root) / "agents")
    path = tmp_path / "b.tar.gz"
    done = ontoref("backup", "create", "--output", str(path))
    assert (done.returncode, b"warning: claude-code is not in the backup" in done.stderr) == (0, True)
    assert [one["agent_id"] for one in backup.verify(str(path)).skipped] == ["claude-code"]
