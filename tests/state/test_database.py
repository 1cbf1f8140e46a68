"""Layout, opening, pragmas, refusals, transactions, registry."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import re
import sqlite3
import stat
from pathlib import Path

import pytest

from ontoref.errors import OntorefError
from ontoref.state import Layout, State, default_layout, registry
from ontoref.state.database import Database, companions
from ontoref.state.errors import BadAgentId, DatabaseRefused, DatabaseUnusable, StateError
from ontoref.state.layout import agent_id_of
from ontoref.state.opening import open_reader, open_writer, schema_text

PACKAGE = Path(__file__).parents[2] / "ontoref"


def sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def tables(database: Database) -> set[str]:
    return {name for (name,) in database.all("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_two_agents_make_three_files_and_nothing_else(state: State, layout: Layout) -> None:
    """S3-1, S3-5"""
    state.agent("claude-code")
    state.agent("codex")
    state.close()
    found = sorted(str(p.relative_to(layout.root)) for p in Path(layout.root).rglob("*") if p.is_file())
    assert found == [
        "agents/claude-code/agent/ontoref-agent.sqlite",
        "agents/codex/agent/ontoref-agent.sqlite",
        "state/ontoref.sqlite",
    ]


def test_the_two_tiers_share_no_table_but_their_identity(state: State) -> None:
    """S3-2, S3-6"""
    both = tables(state.writable()) & tables(state.writable_agent("codex"))
    assert both == {"schema_meta"}
    assert not {"kv", "agents"} & (tables(state.writable()) | tables(state.writable_agent("codex")))


@pytest.mark.parametrize("value", ["undefined", "null", "", "   "])
def test_a_path_that_is_no_path_counts_as_unset(value: str, tmp_path: Path) -> None:
    """S3-8"""
    environ = {"ONTOREF_STATE_DIR": value, "XDG_DATA_HOME": str(tmp_path)}
    assert default_layout(environ) == default_layout({"XDG_DATA_HOME": str(tmp_path)})


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_state_is_closed_to_others(state: State, layout: Layout) -> None:
    """S3-9"""
    state.writable()
    os.chmod(layout.root, 0o755)
    with State(layout, read_only=False) as again:
        database = again.writable_agent("codex")
        database.execute("SELECT 1 FROM sessions")
        for path in (database.path, *companions(database.path), layout.global_database):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
        for folder in (layout.root, os.path.dirname(database.path), os.path.dirname(layout.global_database)):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700, folder


def test_a_writer_sets_its_pragmas(state: State) -> None:
    """S3-10, S3-13"""
    for database in (state.writable(), state.writable_agent("codex")):
        got = {
            name: (database.one(f"PRAGMA {name}") or (None,))[0]
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys", "user_version")
        }
        assert got == {
            "journal_mode": "wal",
            "synchronous": 1,
            "busy_timeout": 30000,
            "foreign_keys": 1,
            "user_version": 1,
        }


def test_tables_are_made_in_sql_files_alone() -> None:
    """S3-12"""
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"CREATE\s+(TABLE|INDEX)\s+\w+\s*\(", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("role", ["global", "agent"])
def test_every_table_is_strict(role: str) -> None:
    """S3-16"""
    text = schema_text(role)  # type: ignore[arg-type]
    assert text.count("CREATE TABLE") == len(re.findall(r"^\) STRICT", text, re.MULTILINE))


@pytest.mark.parametrize("opener", [open_writer, open_reader])
def test_a_newer_database_is_refused_untouched(state: State, layout: Layout, opener: object) -> None:
    """S3-14"""
    state.writable()
    state.close()
    with sqlite3.connect(layout.global_database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = sha256(layout.global_database)
    with pytest.raises(DatabaseRefused, match="99"):
        opener(layout.global_database, "global")  # type: ignore[operator]
    assert sha256(layout.global_database) == before


def test_a_database_at_another_agents_place_is_refused(state: State, layout: Layout) -> None:
    """S3-15"""
    state.agent("codex")
    state.close()
    target = Path(layout.agent_database("claude-code"))
    target.parent.mkdir(parents=True)
    target.write_bytes(Path(layout.agent_database("codex")).read_bytes())
    with State(layout, read_only=False) as again, pytest.raises(DatabaseRefused, match="codex"):
        again.agent("claude-code")


def test_a_foreign_database_and_a_text_file_are_refused_untouched(layout: Layout) -> None:
    """S3-14, S3-15"""
    path = Path(layout.global_database)
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    before = sha256(str(path))
    with State(layout, read_only=False) as state, pytest.raises(DatabaseRefused, match="not a database of"):
        state.control()
    assert sha256(str(path)) == before
    path.write_bytes(b"this is a letter to my aunt, and no database at all" * 100)
    with State(layout, read_only=True) as state, pytest.raises(DatabaseUnusable, match="not a database"):
        state.control()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO migration_runs VALUES ('r', 'import', 1, NULL, 'happy', NULL)",
        "INSERT INTO migration_runs VALUES ('r', 'import', 'noon', NULL, 'running', NULL)",
        "INSERT INTO migration_runs VALUES ('r', 'import', 1, NULL, 'running', '{')",
        "INSERT INTO backup_runs VALUES ('b', 1, '/x', 'maybe', 0, NULL)",
    ],
)
def test_closed_columns_are_closed(state: State, statement: str) -> None:
    """S3-16"""
    with pytest.raises(sqlite3.IntegrityError):
        state.writable().execute(statement)


def test_a_full_text_index_can_be_added_beside_the_tables(state: State) -> None:
    """S3-17"""
    database = state.writable_agent("codex")
    database.execute("CREATE VIRTUAL TABLE transcript_events_fts USING fts5(line)")
    state.close()
    with State(state.layout, read_only=True) as again:
        assert again.agent("codex") is not None


def test_opening_registers_and_later_openings_grow_last_seen(state: State, layout: Layout) -> None:
    """S3-18"""
    state.agent("codex")
    first = registry.registered(state.writable(), layout)
    assert [(row.agent_id, row.schema_version) for row in first] == [("codex", 1)]
    assert first[0].size_bytes > 0
    state.writable().execute("UPDATE agent_databases SET last_seen_at = last_seen_at - 5")
    with State(layout, read_only=False) as again:
        again.agent("codex")
        assert registry.registered(again.writable(), layout)[0].last_seen_at >= first[0].last_seen_at


def test_the_registry_finds_a_moved_database_and_no_stray_one(state: State, layout: Layout, tmp_path: Path) -> None:
    """S3-19, S3-20"""
    state.agent("codex")
    state.agent("openclaw-main")
    state.close()
    moved = tmp_path / "elsewhere" / "db.sqlite"
    moved.parent.mkdir()
    os.rename(layout.agent_database("codex"), moved)
    stray = Path(layout.agent_database("stray"))
    stray.parent.mkdir(parents=True)
    stray.write_bytes(moved.read_bytes())
    with State(layout, read_only=False) as again:
        assert again.agent_ids() == ["openclaw-main"]
        registry.note_seen(again.writable(), layout, "codex", str(moved))
        assert again.agent_ids() == ["codex", "openclaw-main"]
        found = again.agent("codex")
        assert found is not None
        assert found.path == str(moved)


def test_a_moved_state_directory_still_finds_its_agents(state: State, layout: Layout, tmp_path: Path) -> None:
    state.agent("codex")
    state.close()
    os.rename(layout.root, tmp_path / "moved")
    with State(Layout(str(tmp_path / "moved")), read_only=True) as again:
        assert again.agent_ids() == ["codex"]


@pytest.mark.parametrize(("name", "agent_id"), [(" Main ", "main"), ("openclaw-Main", "openclaw-main")])
def test_agent_ids_are_normalised(name: str, agent_id: str) -> None:
    """S3-22"""
    assert agent_id_of(name) == agent_id


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "../x", ".hidden", "nul", "a\x00b", "x" * 101])
def test_agent_ids_that_would_escape_are_refused(name: str) -> None:
    """S3-22"""
    with pytest.raises(BadAgentId):
        agent_id_of(name)


def test_a_reader_creates_nothing_and_changes_nothing(layout: Layout) -> None:
    """S3-30"""
    with State(layout, read_only=True) as state:
        assert state.control() is None
        assert state.agent("codex") is None
        assert state.agent_ids() == []
    assert not os.path.exists(layout.root)
    with State(layout, read_only=False) as state:
        state.agent("codex")
    before = sha256(layout.global_database), sha256(layout.agent_database("codex"))
    with State(layout, read_only=True) as state:
        database = state.agent("codex")
        assert database is not None
        with pytest.raises((sqlite3.OperationalError, DatabaseUnusable)):
            database.execute("DELETE FROM sessions")
    assert (sha256(layout.global_database), sha256(layout.agent_database("codex"))) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind root")
def test_a_reader_works_in_a_folder_it_may_not_write(state: State, layout: Layout) -> None:
    state.writable()
    state.close()
    folder = os.path.dirname(layout.global_database)
    for leftover in companions(layout.global_database):
        assert not os.path.exists(leftover)
    os.chmod(folder, 0o500)
    try:
        with State(layout, read_only=True) as again:
            assert again.agent_ids() == []
    finally:
        os.chmod(folder, 0o700)


def test_a_failed_transaction_leaves_nothing_and_nesting_is_a_savepoint(state: State) -> None:
    """S3-95"""
    database = state.writable()
    insert = "INSERT INTO backup_runs VALUES (?, 1, '/x', 'completed', 0, NULL)"

    def fail(_: Database) -> None:
        database.execute(insert, ("lost",))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.atomically(fail)
    assert database.all("SELECT id FROM backup_runs") == []
    with database.transaction():
        database.execute(insert, ("outer",))
        with pytest.raises(ZeroDivisionError):
            database.atomically(fail)
        with database.transaction():
            database.execute(insert, ("second",))
    assert database.all("SELECT id FROM backup_runs ORDER BY id") == [("outer",), ("second",)]


def test_a_transaction_never_waits_for_a_coroutine(state: State) -> None:
    """S3-95"""

    async def body() -> None:
        return None

    def start(database: Database) -> object:
        database.execute("INSERT INTO backup_runs VALUES ('a', 1, '/x', 'completed', 0, NULL)")
        return body()

    with pytest.raises(StateError, match="asynchronous"):
        state.writable().atomically(start)
    assert state.writable().all("SELECT id FROM backup_runs") == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_handle_does_not_cross_a_fork(state: State) -> None:
    """S3-94"""
    database = state.writable()
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            database.execute("SELECT 1")
            os.write(writing, b"used")
        except OntorefError:
            os.write(writing, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 20) == b"refused"
    os.close(reading)
    os.close(writing)


def _create(root: str, barrier: object, results: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    with State(Layout(root), read_only=False) as state:
        for number in range(20):
            with state.writable_agent("codex").transaction() as database:
                database.execute(
                    "INSERT INTO session_routes VALUES (?, 'codex:x', NULL, '{}', 1)", (f"{os.getpid()}-{number}",)
                )
    results.put(True)  # type: ignore[attr-defined]


def test_eight_processes_create_one_database(layout: Layout) -> None:
    """S3-95: nobody sees half a database, nobody is told it is locked."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(8), context.Queue()
    workers = [context.Process(target=_create, args=(layout.root, barrier, results)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 8
    with State(layout, read_only=True) as state:
        database = state.agent("codex")
        assert database is not None
        assert database.all("SELECT count(*) FROM session_routes") == [(160,)]
        assert database.integrity() == []
    assert not [p for p in Path(layout.root).rglob("*.tmp*")]
