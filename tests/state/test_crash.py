"""Each protocol killed at each of its steps, then run again: nothing lost, nothing doubled."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import ontoref
from ontoref.replay import statistics
from ontoref.replay.archive_index import counted
from ontoref.state import Layout, State, archive, backup, companions
from ontoref.state.sessions import stored

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL")

# The package under test, in a checkout or installed.
PACKAGE = Path(ontoref.__file__).parent
ID = f"claude-code:{SESSION}"
Content = dict[str, object]


def steps(protocol: str) -> list[str]:
    """Names of a protocol's steps, read from the sources."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "step":
                (name,) = node.args
                assert isinstance(name, ast.Constant)
                if str(name.value).startswith(f"{protocol}:"):
                    found.append(str(name.value))
    return sorted(set(found))


def times(names: list[str], twice: tuple[str, ...] = ()) -> list[str]:
    return [*names, *(f"{name}@2" for name in names if name in twice)]


def tree(home: Path) -> Path:
    """Two runtimes, a sub-agent, files beside, an index and a trace."""
    folder = project(home)
    (folder / f"{SESSION}.jsonl").write_bytes(claude(count=20) + b"bad line\n\n" + claude_line(21) + b'{"torn')
    agents = folder / SESSION / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-ab.jsonl").write_bytes(claude())
    (agents / "agent-ab.meta.json").write_text("{}")
    results = folder / SESSION / "tool-results"
    results.mkdir()
    (results / "r.txt").write_text("result")
    other = home / ".openclaw" / "agents" / "main" / "sessions"
    other.mkdir(parents=True)
    header = {"type": "session", "version": 3, "id": "oc-1", "timestamp": "2026-11-30T10:00:00.000Z", "cwd": "/w"}
    (other / "oc-1.jsonl").write_text(json.dumps(header) + "\n")
    (other / "oc-1.trajectory.jsonl").write_text('{"traceSchema": "openclaw-trajectory", "runId": "r"}\n')
    (other / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "oc-1", "updatedAt": 5}}))
    return home


def content(layout: Layout) -> Content:
    """All that the archive holds, without times; SQLite must find every database whole."""
    found: Content = {}
    with State(layout, read_only=True) as state:
        control = state.control()
        if control is None:
            return found
        assert control.integrity() == []
        for database in state.agents():
            assert database.integrity() == []
            found[f"routes {database.agent_id}"] = [(r.session_key, r.session_id) for r in companions.routes(database)]
            found[f"names {database.agent_id}"] = database.all(
                "SELECT session_row, seq, event_id FROM transcript_event_identities ORDER BY 1, 2"
            )
        for session in archive.listing(state):
            database = state.writable_agent(session.agent_id)
            row = stored(database, session.session_id)
            assert row is not None
            text = archive.content(state, session)
            assert len(text) == row.size_bytes
            found[session.session_id] = (
                text,
                row.line_count,
                row.bad_line_count,
                [(a.name, a.sha256) for a in companions.artifacts(database, row.session_row)],
                companions.trajectory(database, row.session_row),
            )
    return found


def killed(ontoref: Run, place: str, *command: str) -> None:
    done = ontoref(*command, extra={"ONTOREF_TEST_KILL_AT": place})
    assert done.returncode == -9, f"{place} is no step of {command}: {done.stderr.decode()}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Content]:
    """What an import gives that nobody kills."""

    def expected(home: Path) -> Content:
        from ontoref.state.importer import Importer

        layout = Layout(str(tmp_path_factory.mktemp("whole")))
        with State(layout, read_only=False) as state:
            importer = Importer(state)
            list(importer.run([str(home)]))
            importer.finish()
        return content(layout)

    return expected


@pytest.mark.parametrize("place", times(steps("import"), ("import:chunk", "import:inside", "import:claimed")))
def test_a_killed_import(
    layout: Layout, tmp_path: Path, ontoref: Run, whole: Callable[[Path], Content], place: str
) -> None:
    """S3-35, S3-68"""
    home = tree(tmp_path / "home")
    killed(ontoref, place, "transcript", "import", str(home))
    content(layout)
    assert ontoref("transcript", "import", str(home)).returncode == 0
    assert content(layout) == whole(home)
    with State(layout, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all("SELECT DISTINCT status FROM migration_sources") == [("completed",)]
        # Whatever was killed, the next import counted and indexed what it had not.
        for session in archive.listing(state):
            assert statistics.kept(state, session) is not None, session.session_id
            assert counted(state.writable_agent(session.agent_id), [session.session_id])


@pytest.mark.parametrize("place", ["import:claimed", "import:inside", "import:chunk", "import:completed"])
def test_a_killed_import_of_what_grew(
    layout: Layout, tmp_path: Path, ontoref: Run, whole: Callable[[Path], Content], place: str
) -> None:
    home = tree(tmp_path / "home")
    ontoref("transcript", "import", str(home))
    source = project(home) / f"{SESSION}.jsonl"
    source.write_bytes(source.read_bytes() + b' line"}\n' + claude_line(22))
    killed(ontoref, place, "transcript", "import", str(source))
    assert ontoref("transcript", "import", str(home)).returncode == 0
    assert content(layout) == whole(home)


@pytest.mark.parametrize("place", times(steps("delete"), ("delete:buried", "delete:deleted")))
def test_a_killed_deletion(layout: Layout, tmp_path: Path, ontoref: Run, place: str) -> None:
    home = tree(tmp_path / "home")
    source = project(home) / f"{SESSION}.jsonl"
    # What a person corrects becomes a candidate for a lesson, in the global database.
    source.write_bytes(
        source.read_bytes() + b'"}\n' + claude_line(22, text="No, never say hello 1, always say good day")
    )
    ontoref("transcript", "import", str(home))
    killed(ontoref, place, "session", "delete", ID, "--yes")
    content(layout)
    ontoref("transcript", "import", str(home))
    for name in (ID, f"{ID}:agent-ab"):
        assert ontoref("session", "delete", name, "--yes").returncode == 0
    ontoref("transcript", "import", str(home))
    assert [name for name in content(layout) if ":" in name] == ["openclaw:oc-1"]
    for path in Path(layout.root).rglob("*"):
        assert path.is_dir() or b"hello 1" not in path.read_bytes(), path


@pytest.mark.parametrize("place", times(steps("backup"), ("backup:snapshot",)))
def test_a_killed_backup(layout: Layout, tmp_path: Path, ontoref: Run, place: str) -> None:
    home = tree(tmp_path / "home")
    ontoref("transcript", "import", str(home))
    before = content(layout)
    output = tmp_path / "b.tar.gz"
    killed(ontoref, place, "backup", "create", "--output", str(output))
    assert content(layout) == before
    if output.exists():
        backup.verify(str(output))
        output.unlink()
    assert ontoref("backup", "create", "--output", str(output)).returncode == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".ontoref-")]
    shutil.rmtree(layout.root)
    assert ontoref("backup", "restore", str(output), "--yes").returncode == 0
    assert content(layout) == before


@pytest.mark.parametrize("place", times(steps("restore"), ("restore:agent",)))
def test_a_killed_restore(layout: Layout, tmp_path: Path, ontoref: Run, place: str) -> None:
    """S3-89"""
    home = tree(tmp_path / "home")
    ontoref("transcript", "import", str(home))
    old, output = content(layout), tmp_path / "b.tar.gz"
    ontoref("backup", "create", "--output", str(output))
    with (project(home) / f"{SESSION}.jsonl").open("ab") as file:
        file.write(b' line"}\n' + claude_line(22))
    ontoref("transcript", "import", str(home))
    new = content(layout)
    assert new != old
    killed(ontoref, place, "backup", "restore", str(output), "--yes")
    content(layout)
    assert ontoref("backup", "restore", str(output), "--yes").returncode == 0
    assert content(layout) == old
    assert ontoref("doctor", "--fix").returncode == 0
    first = min(Path(layout.safety_archives).glob("*restore*"))
    assert ontoref("backup", "restore", str(first), "--yes").returncode == 0
    assert content(layout) == new


@pytest.mark.parametrize("place", steps("doctor"))
def test_a_killed_repair(
    layout: Layout, tmp_path: Path, ontoref: Run, whole: Callable[[Path], Content], place: str
) -> None:
    """S3-68"""
    home = tree(tmp_path / "home")
    killed(ontoref, "import:chunk", "transcript", "import", str(home))
    os.chmod(layout.agent_database("claude-code"), 0o644)
    killed(ontoref, place, "doctor", "--fix")
    content(layout)
    again = ontoref("doctor", "--fix")
    assert again.returncode == 0, again.stdout + again.stderr
    assert ontoref("doctor").stdout == b""
    ontoref("transcript", "import", str(home))
    assert content(layout) == whole(home)


def test_every_step_belongs_to_a_protocol_that_is_killed_here() -> None:
    known = {name for protocol in ("import", "delete", "backup", "restore", "doctor") for name in steps(protocol)}
    everywhere = set()
    for path in PACKAGE.rglob("*.py"):
        everywhere |= set(re.findall(r"^ *step\(\"([^\"]+)\"\)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert everywhere == known
    assert len(known) > 20
