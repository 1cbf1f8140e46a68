"""Transcripts into the archive and out again, byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.state import Layout, State, archive, companions, events, ledger, sessions
from ontoref.state.identify import Candidate, agent_of
from ontoref.state.importer import Importer, Outcome

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

CORPUS = Path(__file__).parents[3] / "shared" / "transcripts"
ID = f"claude-code:{SESSION}"


def load(layout: Layout, *paths: Path, **options: object) -> list[Outcome]:
    with State(layout, read_only=False) as state:
        importer = Importer(state, **options)  # type: ignore[arg-type]
        outcomes = list(importer.run([str(path) for path in paths]))
        importer.finish()
        return outcomes


def exported(layout: Layout, session_id: str) -> bytes:
    with State(layout, read_only=True) as state:
        return archive.content(state, archive.resolve(state, session_id))


def counts(layout: Layout) -> tuple[int, int]:
    """Lines and their names in the archive of Claude Code."""
    with State(layout, read_only=True) as state:
        database = state.agent("claude-code")
        assert database is not None
        return (
            database.all("SELECT count(*) FROM transcript_events")[0][0],
            database.all("SELECT count(*) FROM transcript_event_identities")[0][0],
        )


EDGES = {
    "whole": lambda good: good,
    "no final newline": lambda good: good.removesuffix(b"\n"),
    "torn last line": lambda good: good + b'{"type": "us',
    "blank lines": lambda good: b"\n" + good + b"\n\n",
    "bad lines": lambda good: good + b"not json\n" + b"\x00" * 300 + b"\n" + b"\xff\xfe\n" + good,
    "bom and crlf": lambda good: b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n"),
    "unicode separators": lambda good: good + '{"type": "user", "text": "\u2028\u0085"}\n'.encode(),
    "only newlines at the end": lambda good: good + b"\n" * 5,
    "a lone cr": lambda good: good + b"\r",
    "deep": lambda good: good + b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("change", EDGES.values(), ids=EDGES.keys())
def test_an_export_is_its_source(layout: Layout, tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(change(claude()))
    assert [outcome.status for outcome in load(layout, source)] == ["imported"]
    assert exported(layout, ID) == source.read_bytes()
    with State(layout, read_only=True) as state:
        found = archive.resolve(state, ID)
        assert found.content_sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
        assert found.size_bytes == source.stat().st_size


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared transcripts are not here")
def test_every_shared_transcript_comes_back_as_it_was(layout: Layout) -> None:
    outcomes = load(layout, CORPUS)
    stored = [o for o in outcomes if o.session_id and not o.path.endswith(".trajectory.jsonl")]
    assert len({outcome.session_id for outcome in stored}) == len(stored) > 30
    assert not [outcome for outcome in outcomes if outcome.status == "failed"]
    with State(layout, read_only=True) as state:
        for outcome in stored:
            found = archive.archived_path(state, outcome.path)
            assert found is not None
            assert archive.content(state, found) == Path(outcome.path).read_bytes()
        for database in state.agents():
            assert database.integrity() == []


def test_a_second_import_changes_nothing(layout: Layout, tmp_path: Path) -> None:
    """S3-64: not a row, not a run."""
    folder = project(tmp_path / "home")
    for number in range(3):
        session = f"{number}{SESSION[1:]}"
        (folder / f"{session}.jsonl").write_bytes(claude(session))
    load(layout, folder)
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in Path(layout.root).rglob("*agent.sqlite")}
    assert {outcome.status for outcome in load(layout, folder)} == {"unchanged"}
    assert {path: hashlib.sha256(path.read_bytes()).digest() for path in before} == before
    with State(layout, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all("SELECT kind, status FROM migration_runs") == [("import", "completed")]


def test_sources_are_never_touched(layout: Layout, tmp_path: Path) -> None:
    """S3-67, S3-71, S3-78"""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    source.chmod(0o400)
    before = source.stat()
    load(layout, source)
    after = source.stat()
    assert (after.st_mtime_ns, after.st_size, after.st_ino) == (before.st_mtime_ns, before.st_size, before.st_ino)
    assert sorted(path.name for path in source.parent.iterdir()) == [source.name]


@pytest.mark.parametrize("cut", [1, 40, len(claude(count=3)), len(claude(count=3)) - 1, len(claude(count=3)) + 10])
def test_a_source_that_grew_is_continued(layout: Layout, tmp_path: Path, cut: int) -> None:
    """Also from the middle of a line, and from just before its newline."""
    whole = claude()
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude_line(1))
    load(layout, source)
    source.write_bytes(whole[: len(claude_line(1)) + cut])
    load(layout, source)
    source.write_bytes(whole)
    outcomes = load(layout, source)
    assert [outcome.status for outcome in outcomes] == ["grown"]
    assert exported(layout, ID) == whole
    assert counts(layout) == (6, 6)
    with State(layout, read_only=True) as state:
        assert archive.resolve(state, ID).bad_line_count == 0


def test_a_rewritten_source_is_kept_beside_what_it_was(layout: Layout, tmp_path: Path) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude(text="first"))
    load(layout, source)
    source.write_bytes(claude(text="other"))
    (outcome,) = load(layout, source)
    assert outcome.status == "rewritten"
    assert outcome.session_id is not None
    assert exported(layout, ID) == claude(text="first")
    assert exported(layout, outcome.session_id) == claude(text="other")
    source.write_bytes(claude(text="other") + claude_line(7))
    assert [o.status for o in load(layout, source)] == ["grown"]


def test_a_source_that_shrank_loses_nothing_in_the_archive(layout: Layout, tmp_path: Path) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    load(layout, source)
    source.write_bytes(claude()[:-200])
    assert [outcome.status for outcome in load(layout, source)] == ["shorter"]
    assert exported(layout, ID) == claude()


def test_sources_that_claim_one_id_become_separate_sessions(layout: Layout, tmp_path: Path) -> None:
    first = project(tmp_path / "home", "-a") / f"{SESSION}.jsonl"
    second = project(tmp_path / "home", "-b") / f"{SESSION}.jsonl"
    first.write_bytes(claude(text="first"))
    second.write_bytes(claude(text="second"))
    outcomes = load(layout, first, second)
    digest = hashlib.sha256(str(second.resolve()).encode()).hexdigest()[:8]
    assert [outcome.session_id for outcome in outcomes] == [ID, f"{ID}~{digest}"]
    assert exported(layout, ID) == first.read_bytes()
    assert exported(layout, f"{ID}~{digest}") == second.read_bytes()
    assert {outcome.status for outcome in load(layout, second, first)} == {"unchanged"}


def test_a_source_that_moved_is_the_same_session(layout: Layout, tmp_path: Path) -> None:
    first = project(tmp_path / "home", "-a") / f"{SESSION}.jsonl"
    first.write_bytes(claude(count=3))
    load(layout, first)
    second = project(tmp_path / "home", "-b") / f"{SESSION}.jsonl"
    os.rename(first, second)
    second.write_bytes(claude())
    (outcome,) = load(layout, second)
    assert (outcome.status, outcome.session_id) == ("moved", ID)
    assert exported(layout, ID) == claude()
    assert counts(layout) == (6, 6)


def test_files_beside_a_transcript_come_along_and_readers_find_them(layout: Layout, tmp_path: Path) -> None:
    """S3-50, S3-52"""
    folder = project(tmp_path / "home")
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    agents = folder / SESSION / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-ab12.jsonl").write_bytes(claude())
    (agents / "agent-ab12.meta.json").write_text('{"agentType": "explorer"}')
    results = folder / SESSION / "tool-results"
    results.mkdir()
    large = os.urandom(5 << 20)
    (results / "toolu_1.txt").write_bytes(large)
    # What comes along is not looked at again where a search names it as well.
    outcomes = load(layout, folder / f"{SESSION}.jsonl", agents / "agent-ab12.jsonl")
    assert [outcome.session_id for outcome in outcomes] == [ID, f"{ID}:agent-ab12"]
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    with State(layout, read_only=True) as state:
        side = archive.source(state, archive.resolve(state, ID)).side
        assert side.names(f"{SESSION}/subagents") == [
            f"{SESSION}/subagents/agent-ab12.jsonl",
            f"{SESSION}/subagents/agent-ab12.meta.json",
        ]
        assert side.read(f"{SESSION}/subagents/agent-ab12.meta.json") == b'{"agentType": "explorer"}'
        assert side.read(f"{SESSION}/subagents/agent-ab12.jsonl") == claude()
        assert side.read(f"{SESSION}/tool-results/toolu_1.txt") == large
        assert side.read("../../../etc/passwd") is None
        database = state.agent("claude-code")
        assert database is not None
        assert database.all("SELECT DISTINCT typeof(blob) FROM tool_artifacts") == [("blob",)]


def openclaw(home: Path, agent: str = "main") -> Path:
    folder = home / ".openclaw" / "agents" / agent / "sessions"
    folder.mkdir(parents=True)
    lines = [
        {"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-11-30T10:00:00.000Z", "cwd": "/w"},
        {
            "type": "message",
            "id": "a1",
            "parentId": None,
            "timestamp": "2026-11-30T10:00:01.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        },
    ]
    (folder / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_session_keys_lead_to_sessions_and_the_newer_entry_wins(layout: Layout, tmp_path: Path) -> None:
    """S3-26, S3-70"""
    folder = openclaw(tmp_path / "home")
    key = "agent:main:subagent:99"
    entry = {"sessionId": SESSION, "spawnedBy": "agent:main:main", "updatedAt": 2000}
    (folder / "sessions.json").write_text(json.dumps({key: entry, "broken": 1}))
    load(layout, folder)
    (folder / "sessions.json").write_text(json.dumps({key: {**entry, "sessionId": "older", "updatedAt": 1000}}))
    load(layout, folder)
    with State(layout, read_only=True) as state:
        database = state.agent("openclaw-main")
        assert database is not None
        route = companions.route(database, key)
        assert route is not None
        assert (route.session_id, route.spawned_by) == (f"openclaw:{SESSION}", "agent:main:main")
        assert archive.resolve(state, f"openclaw:{SESSION}").session_key == key


def test_a_broken_index_stays_where_it_is_and_others_proceed(layout: Layout, tmp_path: Path) -> None:
    """S3-67, S3-70"""
    folder = openclaw(tmp_path / "home")
    (folder / "sessions.json").write_text("{")
    assert [(Path(o.path).name, o.status) for o in load(layout, folder)] == [
        (f"{SESSION}.jsonl", "imported"),
        ("sessions.json", "failed"),
    ]


def test_a_run_trace_goes_to_its_session(layout: Layout, tmp_path: Path) -> None:
    """S3-45"""
    folder = openclaw(tmp_path / "home")
    trace = b'{"traceSchema": "openclaw-trajectory", "type": "session.started", "runId": "r1"}\nnot json\n'
    (folder / f"{SESSION}.trajectory.jsonl").write_bytes(trace)
    load(layout, folder)
    load(layout, folder)
    with State(layout, read_only=True) as state:
        database = state.agent("openclaw-main")
        assert database is not None
        stored = sessions.stored(database, f"openclaw:{SESSION}")
        assert stored is not None
        assert b"".join(companions.trajectory(database, stored.session_row)) == trace


def test_settings_are_kept_without_their_secrets(layout: Layout, tmp_path: Path) -> None:
    folder = openclaw(tmp_path / "home")
    settings = {"gateway": {"auth": {"token": "hunter2"}}, "tools": {"exec": {"security": "full", "ask": "off"}}}
    (tmp_path / "home" / ".openclaw" / "openclaw.json").write_text(json.dumps(settings))
    load(layout, folder)
    with State(layout, read_only=True) as state:
        kept = archive.source(state, archive.resolve(state, SESSION)).side.read("../../../openclaw.json")
    assert json.loads(kept or b"") == {"tools": {"exec": {"ask": "off", "security": "full"}}}


@pytest.mark.parametrize(
    ("runtime", "native", "agent_id"),
    [("codex", None, "codex"), ("openclaw", "Main", "openclaw-main"), ("openclaw", None, "openclaw-main")],
)
def test_each_agent_has_a_database_of_its_own(runtime: str, native: str | None, agent_id: str) -> None:
    """S3-22"""
    assert agent_of(runtime, native) == agent_id


def test_an_agent_name_that_is_a_path_makes_no_path() -> None:
    """S3-22"""
    assert "/" not in agent_of("openclaw", "../../etc")


def test_the_ledger_has_a_row_for_each_source(layout: Layout, tmp_path: Path) -> None:
    """S3-65, S3-66"""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude() + b"bad\n")
    load(layout, source)
    with State(layout, read_only=True) as state:
        control = state.control()
        assert control is not None
        row = ledger.get(control, str(source.resolve()), "transcript_events")
    assert row is not None
    assert row.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert (row.record_count, row.offset_bytes, row.status) == (7, source.stat().st_size, "completed")


def test_metadata_is_typed_and_holds_no_path_of_a_transcript(layout: Layout, tmp_path: Path) -> None:
    """S3-23, S3-24"""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    load(layout, source)
    with State(layout, read_only=True) as state:
        found = archive.resolve(state, ID)
        assert (found.project, found.model, found.runtime) == ("/home/me/project", "claude-opus-5", "claude-code")
        assert found.started_at == 1796032801000
        assert found.ended_at == 1796032806000
        database = state.agent("claude-code")
        assert database is not None
        cells = [str(cell) for row in database.all("SELECT * FROM sessions") for cell in row]
    assert not [cell for cell in cells if cell.endswith((".jsonl", ".lock")) or "://" in cell]


def test_repeated_events_are_found_in_other_sessions(layout: Layout, tmp_path: Path) -> None:
    """S3-39"""
    folder = project(tmp_path / "home")
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    resumed = "2" + SESSION[1:]
    (folder / f"{resumed}.jsonl").write_bytes(claude(count=4) + claude_line(9, resumed))
    load(layout, folder)
    with State(layout, read_only=True) as state:
        database = state.agent("claude-code")
        assert database is not None
        assert events.copies(database, ID)[0][1] == 4


def test_an_id_that_is_a_path_or_unknown_or_ambiguous_is_refused(layout: Layout, tmp_path: Path) -> None:
    """S3-25, S3-111"""
    folder = project(tmp_path / "home")
    for session in (SESSION, SESSION[:-1] + "6"):
        (folder / f"{session}.jsonl").write_bytes(claude(session))
    load(layout, folder)
    with State(layout, read_only=True) as state:
        assert archive.resolve(state, SESSION).session_id == ID
        for text in (str(folder / f"{SESSION}.jsonl"), "nothing", "", "".join(("sqlite-transcript", "://a/b"))):
            assert archive.find(state, text) == [] or text == ""
        with pytest.raises(archive.Ambiguous, match="2 sessions"):
            archive.resolve(state, SESSION[:-1])


def test_excluded_projects_stay_out(layout: Layout, tmp_path: Path) -> None:
    folder = project(tmp_path / "home")
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    for name in ("-home-me-project", "/home/me/project", str(folder)):
        assert {o.status for o in load(layout, tmp_path / "home", exclude=(name,))} == {"excluded"}


def test_what_is_no_transcript_is_left_alone(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"some": "data"}\n')
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert {o.status for o in load(layout, tmp_path)} <= {"unknown", "failed"}


def test_one_source_at_a_time_can_be_imported(layout: Layout, tmp_path: Path) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    with State(layout, read_only=False) as state:
        assert Importer(state).one(Candidate(str(source), "transcript")).status == "imported"


def opencode(path: Path, texts: list[str]) -> Path:
    """A database of OpenCode with one session."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(
            "create table session(id text, parent_id text, directory text, title text, time_created, time_updated);"
            "create table message(id text, session_id text, time_created integer, time_updated integer, data text);"
            "create table part(id text, message_id text, session_id text, time_created, time_updated, data text);"
        )
        when = 1770000000000
        database.execute(
            "insert into session values ('ses_1', null, '/p', 't', ?, ?)", (when, when + len(texts) + len(texts[0]))
        )
        for number, text in enumerate(texts):
            data = json.dumps({"role": "user"})
            database.execute("insert into message values (?, 'ses_1', ?, ?, ?)", (f"m{number}", when, when, data))
            data = json.dumps({"type": "text", "text": text})
            row = (f"p{number}", f"m{number}", when, when, data)
            database.execute("insert into part values (?, ?, 'ses_1', ?, ?, ?)", row)
    database.close()
    return path


def test_a_session_in_anothers_database_follows_what_its_owner_makes_of_it(layout: Layout, tmp_path: Path) -> None:
    store = opencode(tmp_path / "opencode.db", ["hello"])
    before = store.read_bytes()
    (outcome,) = load(layout, store)
    assert (outcome.status, outcome.session_id) == ("imported", "opencode:ses_1")
    assert store.read_bytes() == before
    assert [outcome.status for outcome in load(layout, tmp_path)] == ["unchanged"]
    assert b"hello" in exported(layout, "ses_1")
    opencode(store, ["hello", "more"])
    assert [outcome.status for outcome in load(layout, store)] == ["grown"]
    opencode(store, ["changed in place"])
    load(layout, store)
    assert b"hello" not in exported(layout, "ses_1")
    assert b"changed in place" in exported(layout, "ses_1")
    store.unlink()
    with State(layout, read_only=True) as state:
        assert [session.session_id for session in archive.listing(state)] == ["opencode:ses_1"]


def test_a_packed_transcript_is_the_session_that_the_plain_file_was(layout: Layout, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    folder = project(tmp_path / "home")
    plain, packed = folder / f"{SESSION}.jsonl", folder / f"{SESSION}.jsonl.zst"
    plain.write_bytes(claude(count=4))
    load(layout, plain)
    plain.unlink()
    packed.write_bytes(zstandard.ZstdCompressor().compress(claude()))
    (outcome,) = load(layout, folder)
    assert (outcome.status, outcome.session_id) == ("moved", ID)
    assert exported(layout, ID) == claude()


def test_one_broken_source_of_three_is_written_down_and_tried_again(
    layout: Layout, tmp_path: Path, ontoref: Run
) -> None:
    """S3-67, S3-70: the source stays, the others go in, the next run tries again and then the row is like any other."""
    zstandard = pytest.importorskip("zstandard")
    folder = project(tmp_path / "home")
    packed = zstandard.ZstdCompressor().compress(claude("2" + SESSION[1:], count=3000))
    broken = folder / ("2" + SESSION[1:] + ".jsonl.zst")
    half = len(packed) // 2
    broken.write_bytes(packed[:half] + b"\0\0\0\0" + packed[half + 4 :])
    damaged = broken.read_bytes()
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    (folder / ("3" + SESSION[1:] + ".jsonl")).write_bytes(claude("3" + SESSION[1:]))
    index = tmp_path / "home" / ".openclaw" / "agents" / "main" / "sessions" / "sessions.json"
    index.parent.mkdir(parents=True)
    index.write_text("{broken")
    rows = (
        "SELECT status, removed_source, imported_at IS NULL, report_json IS NOT NULL FROM migration_sources"
        " ORDER BY source_path DESC"
    )
    for number in range(3):
        done = ontoref("transcript", "import", str(folder), str(index), "--format", "json")
        assert done.returncode == 1
        statuses = sorted(row["status"] for row in json.loads(done.stdout))
        assert statuses == (["failed", "failed", *["unchanged" if number else "imported"] * 2])
        assert broken.read_bytes() == damaged
        with State(layout, read_only=True) as state:
            control = state.control()
            assert control is not None
            assert control.all(rows) == [
                ("warning", 0, 1, 1),
                ("completed", 0, 0, 0),
                ("warning", 0, 1, 1),
                ("completed", 0, 0, 0),
            ]
    told = ontoref("doctor")
    assert told.returncode == 1
    assert str(broken) in told.stdout.decode()
    assert str(index) in told.stdout.decode()
    broken.write_bytes(packed)
    index.write_text("{}")
    assert ontoref("transcript", "import", str(folder), str(index)).returncode == 0
    with State(layout, read_only=True) as state:
        control = state.control()
        assert control is not None
        assert control.all(rows) == [("completed", 0, 0, 0)] * 4
    assert ontoref("doctor").returncode == 0


def test_a_source_that_can_not_be_read_is_written_down(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-67: also before anybody knows whose it is, and after it was imported."""
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    for before in (0, 6):
        with monkeypatch.context() as patch:
            patch.setattr("ontoref.state.importer.identify", refused)
            assert [o.status for o in load(layout, source)] == ["failed"]
        with State(layout, read_only=False) as state:
            control = state.writable()
            row = ledger.get(control, str(source), "transcript_events")
            assert row is not None
            assert (row.status, row.record_count, row.imported_at is None) == ("warning", before, before == 0)
            assert ledger.failures(control) == [(str(source), "Permission denied")]
        assert [o.status for o in load(layout, source)] == ["unchanged" if before else "imported"]
        assert exported(layout, ID) == claude()
        source.touch()
    assert [o.status for o in load(layout, source)] == ["unchanged"]


def test_a_folder_that_cannot_be_listed_fails_alone(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be looked into is a failure of its own; everything else goes in."""
    one, two = project(tmp_path / "home"), tmp_path / "home" / ".claude" / "projects" / "-two"
    two.mkdir()
    for folder in (one, two):
        (folder / f"{folder.name[-1] + SESSION[1:]}.jsonl").write_bytes(claude(folder.name[-1] + SESSION[1:]))
    os.mkfifo(one / "pipe.jsonl")
    really = os.scandir

    def scandir(path: Any = ".") -> Any:
        if os.path.realpath(path) == str(two):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return really(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        outcomes = load(layout, one.parent)
    assert [(o.status, o.path.rpartition("/")[2], o.note) for o in outcomes[1:]] == [
        ("failed", "-two", "the folder cannot be listed: Permission denied")
    ]
    assert [o.status for o in load(layout, one.parent)] == ["unchanged", "imported"]
    (pipe,) = load(layout, one / "pipe.jsonl")
    assert (pipe.status, "no file that can be read again" in (pipe.note or "")) == ("failed", True)


def test_what_beside_a_session_cannot_be_read_is_told_and_costs_it_nothing(
    layout: Layout, tmp_path: Path, ontoref: Run
) -> None:
    """A pipe hangs nothing; a link that leads nowhere and a name that is no UTF-8 are failures of their own."""
    folder = project(tmp_path / "home")
    (folder / f"{SESSION}.jsonl").write_bytes(claude())
    results = folder / SESSION / "tool-results"
    results.mkdir(parents=True)
    (results / "good.txt").write_text("kept")
    (results / "nowhere.txt").symlink_to("gone")
    os.mkfifo(results / "pipe.txt")
    strange = os.fsencode(results) + b"/\xff.txt"
    with open(strange, "wb"):
        pass
    for status in ("imported", "unchanged"):
        done = ontoref("transcript", "import", str(folder), "--format", "json")
        rows = json.loads(done.stdout)
        assert (done.returncode, rows[0]["status"]) == (1, status), done
        assert sorted(row["note"] for row in rows[1:]) == ["No such file or directory", "the file's name is no UTF-8"]
    with State(layout, read_only=True) as state:
        database = state.agent("claude-code")
        assert database is not None
        row = sessions.stored(database, ID)
        assert row is not None
        assert [one.name for one in companions.artifacts(database, row.session_row)] == [
            f"{SESSION}/tool-results/good.txt"
        ]
    assert exported(layout, ID) == claude()


def test_a_follower_tells_a_failure_once(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = project(tmp_path / "home") / f"{SESSION}.jsonl"
    source.write_bytes(claude())

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ontoref.state.importer.identify", refused)
    rounds = iter([True, True, False])
    with State(layout, read_only=False) as state:
        followed = Importer(state).follow(lambda: [str(source)], lambda news: next(rounds))
        assert [o.status for o in followed] == ["failed"]


def test_a_line_that_sqlite_cannot_hold_fails_its_source_alone(layout: Layout, tmp_path: Path) -> None:
    """S3-67"""
    folder = project(tmp_path / "home")
    other = "2" + SESSION[1:]
    (folder / f"{SESSION}.jsonl").write_bytes(claude() + claude_line(7, text="x" * 20_000))
    (folder / f"{other}.jsonl").write_bytes(claude(other))
    with State(layout, read_only=False) as state:
        database = state.writable_agent("claude-code")
        before = database.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
        importer = Importer(state)
        assert [o.status for o in importer.run([str(folder)])] == ["failed", "imported"]
        importer.finish()
        database.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)
        assert state.writable().all("SELECT status FROM migration_runs") == [("warning",)]
        ((path, why),) = ledger.failures(state.writable())
        assert (path, "larger than SQLite" in why) == (str(folder / f"{SESSION}.jsonl"), True)
    assert load(layout, folder)[0].status in ("imported", "grown")
    with State(layout, read_only=True) as state:
        assert ledger.failures(state.control()) == []  # type: ignore[arg-type]
    assert exported(layout, ID) == (folder / f"{SESSION}.jsonl").read_bytes()


def test_rows_are_given_as_they_were_archived(layout: Layout, tmp_path: Path) -> None:
    """S3-28, S3-43: nothing is upgraded on the way out, and columns are the truth whatever a key looks like."""
    folder = openclaw(tmp_path / "home")
    source = folder / f"{SESSION}.jsonl"
    source.write_text(source.read_text().replace('"version": 3', '"version": 1'))
    key = "agent:x:group:y"
    (folder / "sessions.json").write_text(json.dumps({key: {"sessionId": SESSION, "updatedAt": 1}}))
    load(layout, folder)
    assert exported(layout, SESSION) == source.read_bytes()
    with State(layout, read_only=True) as state:
        found = archive.resolve(state, SESSION)
        assert (found.agent_id, found.session_scope, found.session_key) == ("openclaw-main", "main", key)
