"""What was lost comes back with the next import; what was deleted does not, unless that is said."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ontoref.state import Layout, State, archive, companions, deletion, events, ledger, sessions
from ontoref.state.importer import Importer, Outcome

from .conftest import Run
from .samples import SESSION, claude, claude_line, project

ID = f"claude-code:{SESSION}"
OPENCLAW_LINES = (
    b'{"type":"session","version":3,"id":"%s","timestamp":"2026-11-30T10:00:00.000Z","cwd":"/home/me/p"}\n',
    b'{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-11-30T10:00:01.000Z",'
    b'"message":{"role":"user","content":"hello"}}\n',
)


def load(layout: Layout, *paths: Path, again: bool = False) -> list[Outcome]:
    with State(layout, read_only=False) as state:
        importer = Importer(state, again=again)
        outcomes = list(importer.run([str(path) for path in paths]))
        importer.finish()
        return outcomes


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def delete(layout: Layout, *session_ids: str) -> None:
    with State(layout, read_only=False) as state:
        deletion.delete(state, [archive.resolve(state, name) for name in session_ids])


def ids(layout: Layout) -> list[str]:
    with State(layout, read_only=True) as state:
        return sorted(session.session_id for session in archive.listing(state))


def files(layout: Layout, session_id: str) -> list[str]:
    """Names of the files that are kept with a session."""
    with State(layout, read_only=True) as state:
        database = state.agent("claude-code")
        assert database is not None
        row = sessions.stored(database, session_id)
        assert row is not None
        return [one.name for one in companions.artifacts(database, row.session_row)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A transcript with a file beside it."""
    path = project(tmp_path / "home") / f"{SESSION}.jsonl"
    path.write_bytes(claude())
    results = path.with_suffix("") / "tool-results"
    results.mkdir(parents=True)
    (results / "a.txt").write_text("a large result")
    return path


def index(tmp_path: Path, *native_ids: str) -> Path:
    """A folder of OpenClaw with an index of session keys."""
    folder = tmp_path / "home" / ".openclaw" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for name in native_ids:
        (folder / f"{name}.jsonl").write_bytes(OPENCLAW_LINES[0] % name.encode() + OPENCLAW_LINES[1])
    entries = {f"agent:main:{name}": {"sessionId": name, "updatedAt": 1} for name in native_ids}
    (folder / "sessions.json").write_text(json.dumps(entries))
    return folder


def routes(layout: Layout) -> list[str]:
    with State(layout, read_only=True) as state:
        database = state.agent("openclaw-main")
        assert database is not None
        return [route.session_id for route in companions.routes(database)]


@pytest.mark.parametrize("mended", [False, True])
def test_a_lost_database_is_filled_again(
    layout: Layout, source: Path, tmp_path: Path, ontoref: Run, mended: bool
) -> None:
    """S3-20: the archive says what is stored, not the ledger; also after doctor has forgotten the place."""
    folder = index(tmp_path, "one")
    trace = folder / "one.trajectory.jsonl"
    trace.write_bytes(b'{"traceSchema":"openclaw-trajectory","type":"session.started","runId":"r","sessionId":"one"}\n')
    load(layout, source, folder)
    shutil.rmtree(Path(layout.root) / "agents")
    if mended:
        assert ontoref("doctor", "--fix").returncode == 0
    assert set(statuses(load(layout, source, folder))) == {"imported"}
    assert ids(layout) == [ID, "openclaw:one"]
    assert files(layout, ID) == [f"{SESSION}/tool-results/a.txt"]
    assert routes(layout) == ["openclaw:one"]
    with State(layout, read_only=True) as state:
        database = state.agent("openclaw-main")
        assert database is not None
        row = sessions.stored(database, "openclaw:one")
        assert row is not None
        assert companions.trajectory(database, row.session_row) == [trace.read_bytes()]
    assert set(statuses(load(layout, source, folder))) == {"unchanged"}


def test_what_is_brought_back_brings_its_files(layout: Layout, source: Path) -> None:
    load(layout, source)
    delete(layout, ID)
    assert statuses(load(layout, source)) == ["deleted"]
    assert statuses(load(layout, source, again=True)) == ["imported"]
    assert files(layout, ID) == [f"{SESSION}/tool-results/a.txt"]


def test_a_trace_comes_back_after_its_session(layout: Layout, tmp_path: Path) -> None:
    folder = index(tmp_path, "one")
    (folder / "one.trajectory.jsonl").write_bytes(
        b'{"traceSchema":"openclaw-trajectory","type":"session.started","runId":"r","sessionId":"one"}\n'
    )
    load(layout, folder)
    delete(layout, "openclaw:one")
    load(layout, folder / "one.jsonl", again=True)
    assert "deleted" not in statuses(load(layout, folder))


def test_the_later_version_of_a_source_has_files_of_its_own(layout: Layout, source: Path) -> None:
    """Deleting the earlier version takes nothing from it."""
    load(layout, source)
    source.write_bytes(claude(text="another"))
    (outcome,) = load(layout, source)
    assert outcome.status == "rewritten"
    delete(layout, ID)
    assert files(layout, outcome.session_id or "") == [f"{SESSION}/tool-results/a.txt"]
    assert statuses(load(layout, source)) == ["unchanged"]


@pytest.mark.parametrize("more", [b"", claude_line(7)])
def test_the_earlier_version_of_a_source_stays_deleted(
    layout: Layout, source: Path, tmp_path: Path, ontoref: Run, more: bytes
) -> None:
    """Its source is another session's by now; a copy of what it was, or of what became of that, is known all the same."""
    first = source.read_bytes()
    load(layout, source)
    source.write_bytes(claude(text="another"))
    (later,) = load(layout, source)
    delete(layout, ID)
    copy = tmp_path / "elsewhere" / f"{SESSION}.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(first + more)
    assert statuses(load(layout, copy, source)) == ["deleted", "unchanged"]
    assert ids(layout) == [later.session_id]
    told = ontoref("session", "delete", ID, "--yes")
    assert (told.returncode, told.stderr.decode().strip()) == (0, "deleted before")
    assert statuses(load(layout, copy, again=True)) == ["moved"]
    assert ids(layout) == sorted([ID, later.session_id or ""])


def test_an_index_does_not_bring_back_entries_of_what_was_deleted(layout: Layout, tmp_path: Path) -> None:
    folder = index(tmp_path, "one", "two")
    load(layout, folder)
    assert routes(layout) == ["openclaw:one", "openclaw:two"]
    delete(layout, "openclaw:one")
    os.utime(folder / "sessions.json", ns=(1, 1))
    load(layout, folder)
    assert routes(layout) == ["openclaw:two"]
    load(layout, folder, again=True)
    assert routes(layout) == ["openclaw:one", "openclaw:two"]


def test_what_lies_beside_a_changed_row_of_a_store_stays(layout: Layout, tmp_path: Path) -> None:
    """Rows of another program's database change in place. What changes is the lines."""
    folder = index(tmp_path)
    (folder / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "s1", "updatedAt": 1}}))
    trace = folder / "s1.trajectory.jsonl"
    trace.write_bytes(b'{"traceSchema":"openclaw-trajectory","type":"session.started","runId":"r","sessionId":"s1"}\n')
    path = folder.parent / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir()
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(
        "create table transcript_events (session_id text, seq integer, event_json blob, created_at integer)"
    )
    for seq, line in enumerate((OPENCLAW_LINES[0] % b"s1", OPENCLAW_LINES[1])):
        database.execute("insert into transcript_events values ('s1', ?, ?, ?)", (seq, line.decode().strip(), seq))
    load(layout, path, folder)
    database.execute(
        "update transcript_events set event_json = replace(event_json, 'hello', 'good day'), created_at = 9"
    )
    database.close()
    assert statuses(load(layout, path)) == ["grown"]
    assert routes(layout) == ["openclaw:s1"]
    with State(layout, read_only=True) as state:
        kept = state.agent("openclaw-main")
        assert kept is not None
        row = sessions.stored(kept, "openclaw:s1")
        assert row is not None
        assert companions.trajectory(kept, row.session_row) == [trace.read_bytes()]
        stored = list(events.lines(kept, row.session_row))
        assert (len(stored), b"good day" in stored[1]) == (2, True)
        whole = archive.content(state, archive.resolve(state, "openclaw:s1"))
        assert row.content_sha256 == hashlib.sha256(whole).hexdigest()


FAR = {
    "a large number": b"1e30",
    "no number": b"NaN",
    "more digits than a float has": b"9" * 400,
    "after the year 9999": b'"9999-12-31T23:59:59-14:00"',
    "the last moment": b'"9999-12-31T23:59:59Z"',
}


@pytest.mark.parametrize("time", FAR.values(), ids=FAR)
def test_no_time_ends_an_import(layout: Layout, tmp_path: Path, ontoref: Run, time: bytes) -> None:
    """A source with a time beyond every calendar is archived like any other, and costs no other one."""
    folder = project(tmp_path / "home")
    odd = folder / f"{SESSION}.jsonl"
    odd.write_bytes(claude_line(1).replace(b'"2026-11-30T10:00:01.000Z"', time))
    (folder / ("2" + SESSION[1:] + ".jsonl")).write_bytes(claude("2" + SESSION[1:]))
    entries = b'{"k": {"sessionId": "a", "updatedAt": %s}}' % (time if time.isdigit() else b"1" + b"0" * 30)
    folder = index(tmp_path, "one")
    (folder / "sessions.json").write_bytes(entries)
    done = ontoref("transcript", "import", str(tmp_path / "home"), "--format", "json")
    assert (done.returncode, [row["status"] for row in json.loads(done.stdout)]) == (0, ["imported"] * 4), done.stderr
    assert ontoref("transcript", "export", ID).stdout == odd.read_bytes()
    commands = ("events", "show", "stats", "trace", "draft")
    assert [ontoref("transcript", name, str(odd)).returncode for name in commands] == [0] * 5
    assert ontoref("transcript", "events", str(odd), "--format", "table").returncode == 0
    assert ontoref("session", "show", ID).returncode == 0


def test_a_number_that_sqlite_cannot_hold_fails_its_source_alone(
    layout: Layout, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = source.with_name("2" + source.name[1:])
    other.write_bytes(claude("2" + SESSION[1:]))
    really: Callable[..., None] = sessions.describe

    def describe(database: object, session_id: str, **columns: object) -> None:
        really(database, session_id, **(columns | ({"ended_at": 1 << 70} if session_id == ID else {})))

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "describe", describe)
        assert statuses(load(layout, source.parent)) == ["failed", "imported"]
    with State(layout, read_only=False) as state:
        ((path, why),) = ledger.failures(state.writable())
        assert (path, "larger than SQLite can hold" in why) == (str(source), True)
    assert statuses(load(layout, source.parent)) == ["unchanged", "unchanged"]
