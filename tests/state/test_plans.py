"""What SQLite does for a listing among a hundred thousand sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ontoref.state import Layout, State, archive, cache, companions, ledger, runs, sessions
from ontoref.state.database import Database
from ontoref.state.opening import open_writer

MANY = 100_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    layout = Layout(str(tmp_path_factory.mktemp("many")))
    with State(layout, read_only=False) as state:
        database = state.writable_agent("codex")
        with database.transaction():
            database.connection.executemany(
                "INSERT INTO sessions (session_id, native_id, runtime, format, project, parent_session_id, session_key,"
                " status, ended_at, created_at, updated_at, content_sha256)"
                " VALUES (?, ?, 'codex', 'jsonl', ?, ?, ?, 'archived', ?, 1, 1, '')",
                (
                    (f"codex:{n:08x}", f"{n:08x}", f"/p/{n % 100}", f"codex:{n // 9:08x}", f"k{n}", n * 7919 % 10**9)
                    for n in range(MANY)
                ),
            )
        control = state.writable()
        with control.transaction():
            control.connection.executemany(
                "INSERT INTO migration_sources (source_key, migration_kind, source_path, target_table, agent_id,"
                " session_id, source_size_bytes, source_mtime_ns, source_offset_bytes, source_record_count, status)"
                " VALUES (?, 'transcript', ?, 'transcript_events', 'codex', ?, 1, 1, 1, 1, 'completed')",
                ((f"{n}", f"/src/{n % 50}/{n}.jsonl", f"codex:{n:08x}") for n in range(MANY)),
            )
    return layout


def plans(database: Database, call: Callable[[], object]) -> list[str]:
    """The plan of each statement that a call runs."""
    statements: list[str] = []
    database.connection.set_trace_callback(statements.append)
    call()
    database.connection.set_trace_callback(None)
    assert statements
    return [
        row[3]
        for statement in statements
        if statement.lstrip().upper().startswith(("SELECT", "DELETE", "UPDATE"))
        for row in database.all(f"EXPLAIN QUERY PLAN {statement}")
    ]


AGENT: dict[str, Callable[[Database], object]] = {
    "newest first": lambda d: list(sessions.listing(d, limit=50)),
    "all of them": lambda d: sum(1 for _ in sessions.listing(d)),
    "of a project": lambda d: list(sessions.listing(d, project="/p/7", limit=50)),
    "that ended before": lambda d: list(sessions.listing(d, ended_before=10**6)),
    "of a project, that ended before": lambda d: list(sessions.listing(d, project="/p/7", ended_before=10**6)),
    "by id": lambda d: sessions.get(d, "codex:00000007"),
    "by beginning": lambda d: sessions.matching(d, "codex:00001"),
    "by native id": lambda d: sessions.matching(d, "00000007"),
    "sub-agents": lambda d: sessions.children(d, "codex:00000007"),
    "how much is stored": lambda d: sessions.stored(d, "codex:00000007"),
    "a route": lambda d: companions.route(d, "k7"),
    "a cached value": lambda d: cache.get(d, "statistics", "x"),
    "expired values": lambda d: cache.expire(d, 1),
    "a value to keep": lambda d: cache.put(d, "statistics", "x", 1, session_id="codex:00000007"),
    "values that are due": lambda d: cache.stale(d, "statistics", "x", [f"codex:{n:08x}" for n in range(1000)]),
    "stale values": lambda d: cache.drop_stale(d, "statistics", "x"),
    "a deletion": lambda d: sessions.delete(d, "codex:00000008"),
}
CONTROL: dict[str, Callable[[Database], object]] = {
    "a source": lambda d: ledger.get(d, "/src/7/7.jsonl", "transcript_events"),
    "sources of a session": lambda d: ledger.of_session(d, "codex", "codex:00000007"),
    "claimants": lambda d: ledger.claimants(d, "codex", "codex:00000007", "transcript_events"),
    "sources in a folder": lambda d: ledger.located_in(d, "/src/7", "/"),
    "unfinished sources": ledger.unfinished,
    "failures": ledger.failures,
    "tombstones": lambda d: (ledger.any_buried(d), ledger.is_buried(d, "0")),
    "backups": runs.listing,
}


@pytest.mark.parametrize("call", AGENT.values(), ids=AGENT.keys())
def test_no_listing_of_sessions_scans_them_all(many: Layout, call: Callable[[Database], object]) -> None:
    """S3-97"""
    with State(many, read_only=False) as state:
        database = state.writable_agent("codex")
        found = plans(database, lambda: call(database))
        assert not [plan for plan in found if plan.startswith("SCAN ") and "CONSTANT ROW" not in plan], found
        assert not [plan for plan in found if "TEMP B-TREE FOR ORDER BY" in plan and "sessions_" not in str(found)]


def test_the_sums_of_a_status_take_one_pass(many: Layout) -> None:
    """Nothing but the sums themselves may look at every session."""
    with State(many, read_only=False) as state:
        database = state.writable_agent("codex")
        assert plans(database, lambda: sessions.count(database)) == ["SCAN sessions"]
        assert sessions.count(database)[0] >= MANY - 1


@pytest.mark.parametrize("call", CONTROL.values(), ids=CONTROL.keys())
def test_no_look_into_the_ledger_scans_it(many: Layout, call: Callable[[Database], object]) -> None:
    """S3-97"""
    with State(many, read_only=False) as state:
        found = plans(state.writable(), lambda: call(state.writable()))
        assert not [plan for plan in found if plan.startswith("SCAN ") and "backup_runs" not in plan], found


def test_pages_give_each_session_once_newest_first(many: Layout) -> None:
    """S3-41"""
    with State(many, read_only=True) as state:
        found = [(session.ended_at, session.session_id) for session in archive.listing(state)]
    assert len(set(found)) == len(found) >= MANY - 1
    assert found == sorted(found, reverse=True)


def test_a_fresh_database_says_so_in_its_header(tmp_path: Path) -> None:
    """S3-11, S3-13"""
    with open_writer(str(tmp_path / "x" / "db.sqlite"), "global") as database:
        assert database.one("PRAGMA auto_vacuum") == (2,)
    header = (tmp_path / "x" / "db.sqlite").read_bytes()[:100]
    assert header[18:20] == b"\x02\x02"
    assert int.from_bytes(header[60:64], "big") == 1
