"""One agent's database that cannot be read costs that agent; the global one costs everything (ADR-0075)."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ontoref.cli.serving import Local
from ontoref.state import Layout, State, archive, backup, deletion, upkeep
from ontoref.state.doctor import examine, repair
from ontoref.state.errors import DatabaseUnreadable, DatabaseUnusable, SessionUnreadable
from ontoref.state.importer import Importer

from .conftest import Run
from .samples import SESSION, claude, project

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)
CODEX = "019c8572-0000-7000-8000-000000000001"
HEALTHY, LOST = f"claude-code:{SESSION}", f"codex:{CODEX}"


def codex() -> bytes:
    """A transcript of Codex."""
    at = "2026-11-30T10:00:00.000Z"
    meta = {"id": CODEX, "timestamp": at, "cwd": "/home/me/project", "originator": "codex_cli", "cli_version": "0.1"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    lines = [{"timestamp": at, "type": "session_meta", "payload": meta}]
    lines += [{"timestamp": at, "type": "response_item", "payload": said}] * 400
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def overwritten(path: Path, other: Path) -> None:
    path.write_bytes(b"x" * 8192 + path.read_bytes()[8192:])


def overwritten_inside(path: Path, other: Path) -> None:
    """The database opens, and its list of sessions is lost."""
    with closing(sqlite3.connect(path)) as connection:
        roots = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'sessions'").fetchall()
        page = connection.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    for (root,) in roots:
        content[(root - 1) * page : root * page] = b"\xff" * page
    path.write_bytes(content)


def truncated(path: Path, other: Path) -> None:
    os.truncate(path, 20_000)


def emptied(path: Path, other: Path) -> None:
    os.truncate(path, 0)


def newer(path: Path, other: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")


def foreign(path: Path, other: Path) -> None:
    shutil.copyfile(other, path)


Damage = Callable[[Path, Path], None]
DAMAGED: list[Damage] = [overwritten, overwritten_inside, truncated, emptied]
REFUSED: list[Damage] = [newer, foreign]
EVERY = pytest.mark.parametrize("damage", [*DAMAGED, *REFUSED], ids=lambda damage: damage.__name__)


@pytest.fixture
def two(layout: Layout, tmp_path: Path) -> Layout:
    """Two agents, each with one archived session whose source is still there."""
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude())
    folder = tmp_path / "home" / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    (folder / f"rollout-2026-11-30T10-00-00-{CODEX}.jsonl").write_bytes(codex())
    with State(layout, read_only=False) as state:
        importer = Importer(state)
        assert [outcome.status for outcome in importer.run([str(tmp_path / "home")])] == ["imported", "imported"]
        importer.finish()
    return layout


def harm(layout: Layout, damage: Damage) -> Path:
    """Damage the database of codex."""
    path = Path(layout.agent_database("codex"))
    damage(path, Path(layout.agent_database("claude-code")))
    return path


# Command, exit code, what stdout has of the healthy agent, what is said.
COMMANDS: list[tuple[str, int, str, str]] = [
    ("transcript find --format json", 1, SESSION, "codex is left out"),
    ("session show --format json", 1, HEALTHY, "codex is left out"),
    (f"session show {HEALTHY} --format json", 0, HEALTHY, ""),
    (f"session show {LOST}", 2, "", "the database of codex cannot be read"),
    (f"transcript export {LOST}", 2, "", "the database of codex cannot be read"),
    (f"transcript export {SESSION}", 0, SESSION, "codex is left out"),
    ("session delete --older-than 2026-12-01 --dry-run", 1, HEALTHY, "codex is left out"),
    ("session show nobody", 2, "", "the database of codex cannot be read"),
    ("session show claude-code:nobody", 1, "", "no archived session"),
    ("lesson capture --all", 1, "", "1 session read"),
    ("state status --format json", 1, '"sessions":1', "codex is left out"),
    ("state check", 1, "claude-code  ok", "1 of 3 databases"),
    ("state reset", 1, "", "ontoref-agent.sqlite (cannot be read, "),
    ("state vacuum", 1, "", "claude-code: "),
    ("transcript import --all --format json", 1, '"status":"failed"', "1 unchanged"),
]


@EVERY
@pytest.mark.parametrize(("command", "code", "shown", "said"), COMMANDS, ids=[words for words, *_ in COMMANDS])
def test_a_bad_database_costs_its_agent_alone(
    two: Layout, ontoref: Run, damage: Damage, command: str, code: int, shown: str, said: str
) -> None:
    path = harm(two, damage)
    before = path.read_bytes()
    done = ontoref(*command.split())
    told = done.stderr.decode()
    assert (done.returncode, "Traceback" in told) == (code, False), told
    assert shown in done.stdout.decode()
    assert said in told
    assert told.count("is left out") <= 1
    assert path.read_bytes() == before


@EVERY
def test_only_its_own_sources_fail_to_be_imported(two: Layout, tmp_path: Path, damage: Damage) -> None:
    path = harm(two, damage)
    more = "99999999-2222-4333-8444-555555555555"
    (project(tmp_path / "home") / f"{more}.jsonl").write_bytes(claude(more))
    with State(two, read_only=False) as state:
        importer = Importer(state)
        found = {outcome.status: outcome for outcome in importer.run([str(tmp_path / "home")])}
        importer.finish()
        assert set(found) == {"unchanged", "imported", "failed"}
        assert "cannot be read" in (found["failed"].note or "")
        assert list(state.left_out) == ["codex"]
    # Once the way is free the next import brings it back.
    path.rename(path.with_name("away"))
    with State(two, read_only=False) as state:
        importer = Importer(state)
        assert sorted(outcome.status for outcome in importer.run([str(tmp_path / "home")])) == [
            "imported",
            "unchanged",
            "unchanged",
        ]
        importer.finish()
        assert archive.content(state, archive.resolve(state, LOST)) == codex()


@EVERY
def test_a_deletion_takes_what_it_can_reach(two: Layout, ontoref: Run, damage: Damage) -> None:
    path = harm(two, damage)
    before = path.read_bytes()
    done = ontoref("session", "delete", "--older-than", "2026-12-01", "--yes")
    assert (done.returncode, b"1 session deleted" in done.stderr, b"codex is left out" in done.stderr) == (
        1,
        True,
        True,
    )
    assert ontoref("session", "delete", LOST, "--yes").returncode == 2
    assert path.read_bytes() == before


@EVERY
def test_a_backup_says_which_agent_it_lacks(two: Layout, ontoref: Run, tmp_path: Path, damage: Damage) -> None:
    """S3-82: what is damaged never gets into an archive, whatever is left out of the checks."""
    harm(two, damage)
    file = str(tmp_path / "b.tar.gz")
    done = ontoref("backup", "create", "--no-verify", "--output", file)
    assert done.returncode == 1
    assert b"codex is not in the backup: its database cannot be read" in done.stderr
    assert b"not verified, without codex" in done.stderr
    (row,) = json.loads(ontoref("backup", "list", "--format", "json").stdout)
    assert (row["status"], row["without"]) == ("completed", ["codex"])
    manifest = backup.verify(file)
    assert [asset.agent_id for asset in manifest.assets] == [None, "claude-code"]
    assert [one["agent_id"] for one in manifest.skipped] == ["codex"]
    assert b"codex is not in the backup" in ontoref("backup", "verify", file).stderr


@EVERY
@pytest.mark.parametrize("lost", [False, True], ids=["", "the global one is lost too"])
def test_a_restore_leaves_alone_what_its_archive_lacks(two: Layout, tmp_path: Path, damage: Damage, lost: bool) -> None:
    """S3-88"""
    path = harm(two, damage)
    before = path.read_bytes()
    with State(two, read_only=False) as state:
        made = backup.create(state, str(tmp_path / "b.tar.gz"), NOW)
    if lost:
        os.unlink(two.global_database)
    done = backup.restore(made.path, two, NOW)
    assert done.aside == ()
    assert path.read_bytes() == before
    with State(two, read_only=True) as state:
        assert state.agent_ids() == ["claude-code", "codex"]
        assert [one.session_id for one in archive.listing(state)] == [HEALTHY]
        assert list(state.left_out) == ["codex"]
    # A backup from before it happened, or an update, finds it at its place.
    with pytest.raises(SessionUnreadable), State(two, read_only=True) as state:
        archive.resolve(state, LOST)


@pytest.mark.parametrize("damage", [overwritten, truncated, newer], ids=lambda damage: damage.__name__)
def test_the_plan_of_a_backup_looks_at_each_database(two: Layout, ontoref: Run, damage: Damage) -> None:
    """S3-86: it opens them; only a snapshot looks at every page."""
    harm(two, damage)
    done = ontoref("backup", "create", "--dry-run", "--format", "json")
    assert (done.returncode, [row["database"] for row in json.loads(done.stdout)]) == (1, ["global", "claude-code"])


def test_a_backup_without_any_agent_is_none(two: Layout, tmp_path: Path) -> None:
    """S3-82, S3-84"""
    for agent in ("codex", "claude-code"):
        overwritten(Path(two.agent_database(agent)), tmp_path)
    with State(two, read_only=False) as state, pytest.raises(DatabaseUnreadable):
        backup.create(state, str(tmp_path / "b.tar.gz"), NOW, check=False)
    assert not list(tmp_path.glob("*.tar.gz"))


@pytest.mark.parametrize("damage", DAMAGED, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("way", ["a backup", "no backup"])
def test_the_remedy_leads_out(two: Layout, tmp_path: Path, ontoref: Run, damage: Damage, way: str) -> None:
    """S3-77"""
    with State(two, read_only=False) as state:
        made = backup.create(state, str(tmp_path / "b.tar.gz"), NOW)
    path = harm(two, damage)
    rows = json.loads(ontoref("doctor", "--format", "json").stdout)
    remedies = {row["remedy"] for row in rows if row["rule"] == "database"}
    assert len(remedies) == 1
    (remedy,) = remedies
    assert "backup restore ARCHIVE --yes" in remedy
    assert "Without a backup move it away" in remedy
    if way == "a backup":
        assert ontoref("backup", "restore", made.path, "--yes").returncode == 0
        assert list(path.parent.glob("*.damaged-*"))
    else:
        path.rename(path.with_name("away"))
        assert ontoref("transcript", "import", "--all").returncode == 0
    done = ontoref("transcript", "export", LOST)
    assert (done.returncode, done.stdout, done.stderr) == (0, codex(), b"")
    assert ontoref("doctor").returncode == 0


@pytest.mark.parametrize(
    ("damage", "first"), [(newer, "update ontoref, or "), (foreign, "put back what belongs there, or ")]
)
def test_what_is_sound_and_not_ours_is_moved_by_hand(two: Layout, ontoref: Run, damage: Damage, first: str) -> None:
    path = harm(two, damage)
    (row,) = json.loads(ontoref("doctor", "--format", "json").stdout)
    assert row["remedy"].startswith(first + "move it away: ")
    path.rename(path.with_name("away"))
    assert ontoref("transcript", "import", "--all").returncode == 0
    assert ontoref("transcript", "export", LOST).stdout == codex()
    assert ontoref("doctor").returncode == 0


@EVERY
def test_the_doctor_mends_what_else_there_is(two: Layout, tmp_path: Path, damage: Damage) -> None:
    harm(two, damage)
    os.chmod(two.root, 0o755)
    with State(two, read_only=True) as state:
        found = examine(state, {}, str(tmp_path / "nobody"), NOW.timestamp())
    with State(two, read_only=False) as state:
        done = repair(state, found, NOW)
    assert any("closed to other users" in line for line in done)
    assert [asset.agent_id for asset in backup.verify(done.backup).assets] == [None, "claude-code"]


@EVERY
def test_reset_lists_and_deletes_it(two: Layout, ontoref: Run, damage: Damage) -> None:
    path = harm(two, damage)
    assert b"cannot be read" in ontoref("state", "reset").stderr
    assert ontoref("state", "reset", "--yes").returncode == 0
    assert not path.exists()


@EVERY
def test_sizes_have_no_number_for_what_cannot_be_read(two: Layout, damage: Damage) -> None:
    harm(two, damage)
    with State(two, read_only=True) as state:
        found = {size.agent_id: (size.sessions, size.problem is None) for size in upkeep.sizes(state)}
    assert found == {None: (0, True), "claude-code": (1, True), "codex": (None, False)}


@pytest.mark.parametrize("damage", [overwritten, overwritten_inside], ids=lambda damage: damage.__name__)
def test_the_served_list_goes_on_and_warns_once(
    two: Layout, damage: Damage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontoref.cli.state.shared._TOLD", set())
    harm(two, damage)
    for _ in range(2):
        rows = Local().rows({})["rows"]
        assert {row["id"]: row["archived"] for row in rows} == {HEALTHY: True, LOST: False}
    assert capsys.readouterr().err.count("codex is left out") == 1


def test_an_export_of_everything_has_the_others(two: Layout, ontoref: Run, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    shutil.rmtree(tmp_path / "home")
    harm(two, overwritten)
    done = ontoref("replay", "export", "--all", "--duckdb", str(tmp_path / "x.duckdb"))
    assert (done.returncode, b"of 1 session in" in done.stderr) == (1, True)


@pytest.mark.parametrize("seed", range(12))
def test_no_damage_ends_more_than_its_agent(two: Layout, tmp_path: Path, seed: int) -> None:
    """Whatever bytes are overwritten: what SQLite says of it is about that database, or it is not noticed."""
    chance = random.Random(seed)
    path = Path(two.agent_database("codex"))
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 20))):
        at, size = chance.randrange(len(content)), chance.choice((1, 8, 200, 8192))
        if chance.random() < 0.5:
            at -= at % 8192
        content[at : at + size] = chance.randbytes(len(content[at : at + size]))
    path.write_bytes(content)
    with State(two, read_only=True) as state:
        assert HEALTHY in [one.session_id for one in archive.listing(state)]
        assert {None, "claude-code"} <= {size.agent_id for size in upkeep.sizes(state)}
        assert [one.problems for one in upkeep.check(state)][:2] == [(), ()]
    with State(two, read_only=False) as state:
        upkeep.expire(state)
        made = backup.create(state, str(tmp_path / "b.tar.gz"), NOW)
        assert made.manifest.assets[1].agent_id == "claude-code"
        assert "claude-code" in [place.agent_id for place, _, _ in upkeep.vacuum(state)]
        deletion.delete(state, [one for one in archive.listing(state) if one.session_id == HEALTHY])


def test_what_waits_is_not_damaged(two: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that lasts stops the command: nothing is wrong with the database."""
    monkeypatch.setattr("ontoref.state.opening._BUSY_MS", 10)
    with closing(sqlite3.connect(two.agent_database("codex"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with State(two, read_only=False) as state:
            with pytest.raises(DatabaseUnusable, match="locked"):
                upkeep.expire(state)
            assert state.left_out == {}


GLOBAL = [
    "transcript find",
    "session show",
    f"transcript export {LOST}",
    "session delete --older-than 2026-12-01 --yes",
    "lesson capture --all",
    "state status",
    "state reset",
    "state gc",
    "state vacuum",
    "transcript import --all",
    "backup create",
    "backup list",
]


@pytest.mark.parametrize("damage", [overwritten, truncated, emptied, newer], ids=lambda damage: damage.__name__)
def test_a_bad_global_database_stops_everything_but_the_way_out(
    two: Layout, ontoref: Run, tmp_path: Path, damage: Damage
) -> None:
    with State(two, read_only=False) as state:
        made = backup.create(state, str(tmp_path / "b.tar.gz"), NOW)
    damage(Path(two.global_database), tmp_path)
    for command in GLOBAL:
        done = ontoref(*command.split())
        assert (done.returncode, done.stdout) == (2, b""), command
        assert two.global_database.encode() in done.stderr
    assert ontoref("doctor").returncode == 1
    assert ontoref("doctor", "--fix").returncode == 1
    code = ontoref("backup", "restore", made.path, "--yes").returncode
    assert code == (2 if damage is newer else 0)
    if code == 0:
        assert ontoref("transcript", "export", LOST).stdout == codex()
