"""The commands over the archive, run as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ontoref.state import Layout

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

ID = f"claude-code:{SESSION}"


def lines(output: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def test_a_session_outlives_its_source(ontoref: Run, tmp_path: Path) -> None:
    folder = project(tmp_path / "home")
    source = folder / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    reading = [
        ("transcript", "show", SESSION, "--format", "json"),
        ("transcript", "show", SESSION),
        ("transcript", "trace", SESSION, "--format", "json"),
        ("transcript", "stats", SESSION, "--format", "json"),
        ("transcript", "events", SESSION, "--format", "jsonl"),
        ("transcript", "draft", SESSION),
    ]
    before = [ontoref(*command) for command in reading]
    assert [done.returncode for done in before] == [0] * len(reading)
    found = lines(ontoref("transcript", "find", "--format", "jsonl").stdout)
    assert [(row["id"], row["archived"]) for row in found] == [(ID, False)]
    assert ontoref("transcript", "import", "--all").returncode == 0
    found = lines(ontoref("transcript", "find", "--format", "jsonl").stdout)
    assert [(row["id"], row["archived"], row["path"]) for row in found] == [(ID, True, str(source))]
    source.unlink()
    after = [ontoref(*command) for command in reading]
    assert [done.stdout for done in after] == [done.stdout for done in before]
    found = lines(ontoref("transcript", "find", "--format", "jsonl").stdout)
    assert [(row["id"], row["archived"], row["path"]) for row in found] == [(ID, True, None)]
    assert b"only copy" in ontoref("transcript", "find").stdout
    assert ontoref("transcript", "export", SESSION[:8]).stdout == claude()


def test_import_takes_an_id_and_says_what_it_did(ontoref: Run, tmp_path: Path) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude() + b"bad\n")
    done = ontoref("transcript", "import", SESSION[:8], "--format", "json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)
    assert (row["status"], row["id"], row["lines"], row["bad_lines"]) == ("imported", ID, 7, 1)
    source.write_bytes(claude() + b"bad\n" + claude_line(8))
    (row,) = json.loads(ontoref("transcript", "import", str(source), "--format", "json").stdout)
    assert (row["status"], row["lines"]) == ("grown", 1)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("transcript", "import"), 2, "say what to import"),
        (("transcript", "import", "/nowhere/x.jsonl"), 2, "no such file"),
        (("transcript", "import", "abc"), 1, "no session is named"),
        (("transcript", "export", "abc"), 1, "no archived session"),
        (("transcript", "export", "../../etc/passwd"), 1, "no archived session"),
        (("session", "show", "/tmp/x.jsonl"), 1, "no archived session"),
        (("session", "delete"), 2, "say which sessions"),
        (("session", "delete", "--older-than", "soon"), 2, "is no time"),
    ],
)
def test_what_cannot_be_done_is_said(ontoref: Run, command: tuple[str, ...], code: int, said: str) -> None:
    """S3-25"""
    done = ontoref(*command)
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_reading_commands_create_nothing_and_import_nothing(ontoref: Run, layout: Layout, tmp_path: Path) -> None:
    """S3-4, S3-30, S3-61"""
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude())
    for command in (
        ("state", "path"),
        ("state", "status"),
        ("state", "check"),
        ("session", "show"),
        ("transcript", "find"),
        ("transcript", "show", SESSION),
        ("state", "reset"),
        ("doctor",),
    ):
        done = ontoref(*command)
        assert done.returncode in (0, 1), done.stderr
        assert not Path(layout.root).exists(), command


def test_a_deleted_session_stays_deleted(ontoref: Run, layout: Layout, tmp_path: Path) -> None:
    """S3-31, S3-32"""
    folder = project(tmp_path / "home")
    source = folder / f"{SESSION}.jsonl"
    source.write_bytes(claude(text="unmistakable"))
    agents = folder / SESSION / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-ab.jsonl").write_bytes(claude(text="unmistakable"))
    ontoref("transcript", "import", str(folder))
    assert ontoref("session", "delete", SESSION).returncode == 2
    dry = ontoref("session", "delete", SESSION, "--dry-run")
    assert dry.stdout.decode().count(ID) == 2
    assert ontoref("session", "delete", ID, "--yes").returncode == 0
    assert json.loads(ontoref("session", "show", "--format", "json").stdout) == []
    for path in Path(layout.root).rglob("*"):
        assert path.is_dir() or b"unmistakable" not in path.read_bytes(), path
    again = json.loads(ontoref("transcript", "import", str(folder), "--format", "json").stdout)
    assert {row["status"] for row in again} == {"deleted"}
    copy = project(tmp_path / "home", "-elsewhere") / f"{SESSION}.jsonl"
    copy.write_bytes(source.read_bytes())
    (row,) = json.loads(ontoref("transcript", "import", str(copy), "--format", "json").stdout)
    assert row["status"] == "deleted"
    back = json.loads(ontoref("transcript", "import", str(source), "--again", "--format", "json").stdout)
    assert {row["status"] for row in back} == {"imported"}
    assert ontoref("transcript", "export", ID).stdout == source.read_bytes()


def test_deletion_by_age_and_project(ontoref: Run, tmp_path: Path) -> None:
    folder = project(tmp_path / "home")
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    ontoref("transcript", "import", str(folder))
    assert b"no session is meant" in ontoref("session", "delete", "--older-than", "2026-01-01", "--yes").stderr
    assert b"no session is meant" in ontoref("session", "delete", "--project", "/other", "--yes").stderr
    done = ontoref("session", "delete", "--older-than", "2027-01-01", "--project", "/home/me/project", "--yes")
    assert b"1 session deleted" in done.stderr


def test_reset_deletes_databases_with_their_companions(ontoref: Run, layout: Layout, tmp_path: Path) -> None:
    """S3-93"""
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude())
    ontoref("transcript", "import", "--all")
    assert ontoref("state", "reset").returncode == 1
    assert list(Path(layout.root).rglob("ontoref-agent.sqlite"))
    assert ontoref("state", "reset", "--yes").returncode == 0
    assert not list(Path(layout.root).rglob("ontoref-agent*"))
    assert ontoref("transcript", "import", "--all").returncode == 0
    assert ontoref("transcript", "export", ID).stdout == claude()


def test_cached_values_expire_by_their_own_time(ontoref: Run, layout: Layout) -> None:
    """S3-51, S3-98"""
    from ontoref.state import State, cache

    with State(layout, read_only=False) as state:
        database = state.writable_agent("codex")
        cache.put(database, "test", "old", {"a": 1}, expires_at=1_000)
        cache.put(database, "test", "new", {"a": 2}, expires_at=4_000_000_000_000)
        cache.put(database, "test", "ever", {"a": 3})
        assert cache.get(database, "test", "old", now=999) == {"a": 1}
        assert cache.get(database, "test", "old", now=1_000) is None
    assert b"1 cached values" in ontoref("state", "gc").stderr
    assert b"1 cached values" in ontoref("state", "gc", "--now", "2100-01-01").stderr
    with State(layout, read_only=True) as state:
        database = state.agent("codex")
        assert database is not None
        assert cache.get(database, "test", "ever") == {"a": 3}


def test_check_tells_a_damaged_database(ontoref: Run, layout: Layout, tmp_path: Path) -> None:
    """S3-21"""
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude(count=400))
    ontoref("transcript", "import", "--all")
    assert ontoref("state", "check").returncode == 0
    path = Path(layout.agent_database("claude-code"))
    content = bytearray(path.read_bytes())
    content[8192:40960] = b"\xff" * (40960 - 8192)
    path.write_bytes(content)
    done = ontoref("state", "check", "--format", "json")
    assert done.returncode == 1
    assert [row["result"] for row in json.loads(done.stdout)] == ["ok", "damaged"]
    assert ontoref("state", "vacuum").returncode == 1


def test_status_tells_the_state_of_each_domain(ontoref: Run, tmp_path: Path) -> None:
    """S3-7"""
    (project(tmp_path / "home") / f"{SESSION}.jsonl").write_bytes(claude())
    ontoref("transcript", "import", "--all")
    rows = json.loads(ontoref("state", "status", "--format", "json").stdout)
    assert [(row["database"], row["state"], row["sessions"]) for row in rows] == [
        ("global", "sqlite-runtime", 0),
        ("claude-code", "sqlite-runtime", 1),
    ]


@pytest.mark.parametrize("command", [("gc",), ("vacuum",), ("reset", "--yes")])
def test_what_looks_after_local_state_makes_none(ontoref: Run, layout: Layout, command: tuple[str, ...]) -> None:
    done = ontoref("state", *command)
    assert (done.returncode, b"nothing is archived yet" in done.stderr) == (0, True)
    assert not Path(layout.root).exists()


def test_a_deletion_says_what_still_holds_it(ontoref: Run, layout: Layout, tmp_path: Path) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    correction = claude_line(7, text="No, do not use npm here, always use pnpm instead of npm")
    source.write_bytes(claude() + correction)
    ontoref("transcript", "import", "--all")
    archives = Path(layout.safety_archives)
    archives.mkdir()
    (archives / "20261130T000000Z-before-doctor.tar.gz").write_bytes(b"")
    told = ontoref("session", "delete", ID, "--yes").stderr.decode()
    assert "1 safety archive still" in told
    assert "1 candidate for lessons that quoted them went along" in told


def test_sessions_are_asked_like_the_interaction_log(ontoref: Run, tmp_path: Path) -> None:
    folder = project(tmp_path / "home")
    other = SESSION[:-1] + ("0" if SESSION[-1] != "0" else "1")
    (folder / f"{SESSION}.jsonl").write_bytes(claude(count=4))
    assert ontoref("transcript", "import", "--all").returncode == 0
    (folder / f"{other}.jsonl").write_bytes(claude(other, count=6))

    def ids(*words: str) -> list[object]:
        done = ontoref(*words, "--format", "jsonl")
        assert done.returncode == 0, done.stderr
        return [row["id"] for row in lines(done.stdout)]

    new = f"claude-code:{other}"
    assert ids("transcript", "find", "--where", "archived=false") == [new]
    assert ids("transcript", "find", "--where", "runtime=codex,claude-code", "--sort", "size") == [ID, new]
    assert ids("transcript", "find", "--sort", "size", "--reverse", "--limit", "1") == [new]
    assert ids("transcript", "find", "--limit", "0") == []
    assert b"1 of 2 sessions" in ontoref("transcript", "find", "--limit", "1").stderr
    assert ontoref("transcript", "import", "--all").returncode == 0
    assert sorted(map(str, ids("session", "show"))) == sorted([ID, new])
    assert ids("session", "show", "--where", "lines=6") == [new]
    assert ids("session", "show", "--where", f"native_id!={other}", "--limit", "1") == [ID]
    assert ids("session", "show", "--since", "2026-11-30T10:00:05Z") == [new]
    assert ids("session", "show", "--until", "2026-11-30T10:00:05Z") == [ID]
    told = ontoref("session", "show", "--sort", "lines", "--columns", "lines,size,size_bytes").stdout.decode().split()
    assert told[:5] == ["lines", "size", "size_bytes", "4", told[4]]
    assert b"none of 2 sessions matches" in ontoref("session", "show", "--where", "runtime=codex").stderr
