"""The doctor: finds without writing, mends after a verified backup."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ontoref.state import Layout, State, backup, ledger, registry
from ontoref.state.doctor import Finding, examine, repair
from ontoref.state.errors import DatabaseUnusable
from ontoref.state.importer import Importer
from ontoref.state.leases import Owner, acquire
from ontoref.state.workshop import temporary_name

from .conftest import Run
from .samples import SESSION, claude, project

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def filled(layout: Layout, tmp_path: Path) -> Layout:
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude())
    with State(layout, read_only=False) as state:
        importer = Importer(state)
        list(importer.run([str(tmp_path / "home")]))
        importer.finish()
    return layout


def found(layout: Layout, home: Path, now_s: float = 0.0) -> list[Finding]:
    with State(layout, read_only=True) as state:
        return examine(state, {}, str(home), now_s)


def rules(layout: Layout, home: Path, now_s: float = 0.0) -> set[str]:
    return {finding.rule for finding in found(layout, home, now_s)}


def fixed(layout: Layout, home: Path) -> list[str]:
    findings = found(layout, home)
    with State(layout, read_only=False) as state:
        return repair(state, findings, NOW)


def tree(root: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_where_nothing_is_nothing_is_wrong_and_nothing_is_made(ontoref: Run, layout: Layout) -> None:
    """S3-62"""
    done = ontoref("doctor")
    assert (done.returncode, done.stdout) == (0, b"")
    assert ontoref("doctor", "--fix").returncode == 0
    assert not Path(layout.root).exists()


def test_a_sound_state_has_no_findings(filled: Layout, tmp_path: Path) -> None:
    assert found(filled, tmp_path / "home") == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_open_files_are_found_and_closed(filled: Layout, tmp_path: Path) -> None:
    """S3-9"""
    os.chmod(filled.root, 0o755)
    os.chmod(filled.agent_database("claude-code"), 0o644)
    before = tree(tmp_path)
    (finding,) = found(filled, tmp_path / "home")
    assert finding.rule == "permissions"
    assert {filled.root, filled.agent_database("claude-code")} <= set(finding.items)
    assert tree(tmp_path) == before
    fixed(filled, tmp_path / "home")
    assert rules(filled, tmp_path / "home") == set()


def test_a_vanished_database_and_a_stray_one(filled: Layout, tmp_path: Path) -> None:
    """S3-20"""
    with State(filled, read_only=False) as state:
        state.agent("codex")
        registry.note_seen(state.writable(), filled, "pi", str(tmp_path / "gone.sqlite"))
        registry.forget(state.writable(), filled, filled.agent_database("codex"))
    assert rules(filled, tmp_path / "home") == {"registry", "stray-database"}
    fixed(filled, tmp_path / "home")
    assert rules(filled, tmp_path / "home") == set()
    with State(filled, read_only=True) as state:
        assert state.agent_ids() == ["claude-code", "codex"]


def test_leftovers_dead_leases_and_killed_runs_are_swept(filled: Layout, tmp_path: Path) -> None:
    """S3-65"""
    mine = temporary_name("restore")
    dead = mine.replace(f"-{os.getpid()}-", "-999999999-")
    (Path(filled.root) / "state" / dead).write_text("x")
    (Path(filled.root) / dead).mkdir()
    (Path(filled.root) / mine).mkdir()
    with State(filled, read_only=False) as state:
        acquire(state.writable(), "import", "x", owner=Owner("o", "elsewhere", 1, ""), now=1000)
        ledger.begin_run(state.writable(), "old", "import")
    assert rules(filled, tmp_path / "home") == {"leftovers", "dead-lease", "killed-run"}
    fixed(filled, tmp_path / "home")
    assert rules(filled, tmp_path / "home") == set()
    assert (Path(filled.root) / mine).exists()
    with State(filled, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all("SELECT kind, status FROM migration_runs WHERE id <> 'old' ORDER BY kind") == [
            ("doctor", "completed"),
            ("import", "completed"),
        ]
        assert control.all("SELECT status FROM migration_runs WHERE id = 'old'") == [("failed",)]


@pytest.mark.parametrize("source_is_there", [True, False])
def test_a_killed_import_is_completed(layout: Layout, tmp_path: Path, ontoref: Run, source_is_there: bool) -> None:
    """S3-64, S3-68"""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    killed = ontoref("transcript", "import", str(source), extra={"ONTOREF_TEST_KILL_AT": "import:described"})
    assert killed.returncode == -9
    if not source_is_there:
        source.unlink()
    (finding,) = [one for one in found(layout, tmp_path / "home") if one.rule == "killed-import"]
    assert finding.items == (str(source),)
    done = ontoref("doctor", "--fix")
    assert done.returncode == 0, done.stderr
    assert ontoref("transcript", "export", SESSION).stdout == claude()
    assert rules(layout, tmp_path / "home") == set()


def test_the_backup_comes_first_and_can_be_trusted(filled: Layout, tmp_path: Path) -> None:
    """S3-63"""
    os.chmod(filled.root, 0o755)
    fixed(filled, tmp_path / "home")
    (archive,) = Path(filled.safety_archives).iterdir()
    assert [asset.agent_id for asset in backup.verify(str(archive)).assets] == [None, "claude-code"]


def test_without_a_backup_nothing_is_mended(filled: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3-63"""
    os.chmod(filled.agent_database("claude-code"), 0o644)
    findings = found(filled, tmp_path / "home")

    def fail(*_: object, **__: object) -> None:
        raise DatabaseUnusable("disk full")

    monkeypatch.setattr(sys.modules["ontoref.state.doctor.repair"], "create", fail)
    with State(filled, read_only=False) as state:
        with pytest.raises(DatabaseUnusable):
            repair(state, findings, NOW)
        assert state.writable().all("SELECT kind FROM migration_runs") == [("import",)]


def test_damage_is_an_error_with_its_remedy(filled: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-77"""
    path = Path(filled.agent_database("claude-code"))
    content = bytearray(path.read_bytes())
    content[4096 * 2 : 4096 * 8] = b"\xff" * 4096 * 6
    path.write_bytes(content)
    done = ontoref("doctor", "--format", "json")
    assert done.returncode == 1
    row = json.loads(done.stdout)[0]
    assert (row["severity"], row["rule"], row["place"]) == ("error", "database", str(path))
    assert "backup restore" in row["remedy"]


def test_transcripts_in_danger_are_told(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    """Reported, never changed. S3-78"""
    home = tmp_path / "home"
    folder = project(home)
    old, new = folder / "old.jsonl", folder / "new.jsonl"
    for path, age_days in ((old, 25), (new, 3)):
        path.write_bytes(claude())
        os.utime(path, (1e9 - age_days * 86400, 1e9 - age_days * 86400))
    (finding,) = found(layout, home, 1e9)
    assert (finding.rule, finding.items) == ("about-to-be-deleted", (str(old),))
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 99}')
    assert found(layout, home, 1e9) == []
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 5}')
    assert found(layout, home, 1e9)[0].items == (str(new), str(old))
    ontoref("transcript", "import", str(folder))
    assert found(layout, home, 1e9) == []


def test_a_project_is_looked_at_too(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    top = tmp_path / "repo"
    log = top / ".ontoref" / "interactions" / "2026"
    log.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (log / "a.jsonl").write_bytes(b'{"torn": ')
    schemas = top / ".ontoref" / "schemas"
    schemas.mkdir()
    (schemas / "coder.yaml").write_text("- no\n- vocabulary: [\n")
    before = tree(tmp_path)
    done = ontoref("doctor", "--format", "json", cwd=top)
    assert done.returncode == 1
    assert {row["rule"] for row in json.loads(done.stdout)} >= {"torn-tail", "vocabulary", "hook"}
    assert tree(tmp_path) == before


def test_no_finding_names_a_fix_that_is_not_there() -> None:
    import ontoref.state.doctor
    from ontoref.state.doctor.repair import _REPAIRS

    source = Path(ontoref.state.doctor.__file__).with_name("examine.py").read_text()
    assert source.count("fixable=True") == len(_REPAIRS)
    for rule in _REPAIRS:
        assert f'"{rule}"' in source
