"""The kept numbers of archived sessions: the same as computed ones, and never those of something else."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.replay import archive_index, statistics
from ontoref.replay.archive_index import index
from ontoref.replay.archived import Archive
from ontoref.replay.figures import figures_of
from ontoref.replay.preview import packed
from ontoref.replay.trees import Trees
from ontoref.state import Layout, State, archive, cache, sessions
from ontoref.state.importer import Importer
from tests.conftest import SHARED
from tests.transcript.lines import SESSIONS

from .conftest import Run
from .samples import SESSION, claude, claude_line, project
from .test_crash import tree

ID = f"claude-code:{SESSION}"
Ids = list[str]


def openclaw(home: Path) -> Path:
    return home / ".openclaw" / "agents" / "main" / "sessions"


def samples(home: Path) -> None:
    """Sessions of three runtimes, with bad and unknown lines, sub-agents, files beside and an index of keys."""
    tree(home)
    for name, lines in SESSIONS.items():
        folder = project(home, f"-{name}") if name != "openclaw" else openclaw(home)
        content = b"".join(lines) + b"\0\0\n" * 12 + b'{"type":"future"}\n{"half'
        (folder / f"every-{name}.jsonl").write_bytes(content)


def imported(layout: Layout, *paths: Path, indexed: bool = True) -> Ids:
    with State(layout, read_only=False) as state:
        importer = Importer(state)
        list(importer.run([str(path) for path in paths]))
        importer.finish()
        found = [session.session_id for session in archive.listing(state)]
        if indexed:
            for session_id in found:
                index(state, session_id, 1)
    return found


def kept(layout: Layout, session_id: str) -> statistics.Statistics | None:
    with State(layout, read_only=True) as state:
        return statistics.kept(state, archive.resolve(state, session_id))


def forget(layout: Layout) -> int:
    with State(layout, read_only=False) as state:
        return sum(database.execute("DELETE FROM cache_entries").rowcount for database in state.agents())


def entries(layout: Layout) -> list[tuple[str, int | None]]:
    with State(layout, read_only=True) as state:
        return [
            (key, row)
            for database in state.agents()
            for key, row in database.all("SELECT key, session_row FROM cache_entries ORDER BY key")
        ]


def told(ontoref: Run, ids: Ids) -> list[tuple[str, bytes, bytes]]:
    """All that `stats` prints of every session, in each form."""
    return [
        (name, done.stdout, done.stderr)
        for name in ids
        for form in ("table", "json")
        for done in [ontoref("transcript", "stats", name, "--format", form)]
    ]


@pytest.mark.parametrize("corpus", ["own", pytest.param("shared", marks=pytest.mark.shared)])
def test_kept_numbers_are_the_computed_ones_byte_for_byte(
    layout: Layout, tmp_path: Path, ontoref: Run, corpus: str
) -> None:
    """S3-43, S3-53: whichever way they come, for every runtime."""
    home = tmp_path / "home"
    if corpus == "own":
        samples(home)
    else:
        shutil.copytree(SHARED / "transcripts", home / "corpus")
    assert ontoref("transcript", "import", str(home)).returncode in (0, 1)
    with State(layout, read_only=True) as state:
        sessions_here = list(archive.listing(state))
    ids = [session.session_id for session in sessions_here]
    shutil.rmtree(home)
    assert len(entries(layout)) == len(ids) > 5
    assert len({session.runtime for session in sessions_here}) >= 3
    source = Archive(lambda: State(layout, read_only=True))
    figures = {name: source.figures(name) for name in ids}
    sample = ids if corpus == "own" else ids[:: len(ids) // 12]
    with_cache = told(ontoref, sample)
    counts = {name: kept(layout, name) for name in ids}
    assert None not in counts.values()

    assert forget(layout) == len(ids)
    trees = Trees(Archive(lambda: State(layout, read_only=True)))
    assert told(ontoref, sample) == with_cache
    from ontoref.transcript.reader import read_source
    from ontoref.transcript.stats import count

    with State(layout, read_only=True) as state:
        for session in sessions_here:
            name, found = session.session_id, counts[session.session_id]
            assert found is not None
            transcript = read_source(archive.source(state, session), session.runtime)
            assert list(found.stats.as_dict().items()) == list(count(transcript).as_dict().items())
            assert packed(figures[name]) == packed(figures_of(trees, name)), name


def test_kept_numbers_are_given_without_reading_a_line(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement asks for lines, and no reader is called."""
    home = tmp_path / "home"
    samples(home)
    imported(layout, home)
    statements: list[str] = []
    with State(layout, read_only=True) as state:
        session = archive.resolve(state, ID)
        database = state.agent(session.agent_id)
        assert database is not None
        database.connection.set_trace_callback(statements.append)
        found = statistics.kept(state, session)
    assert found is not None
    assert found.stats.counts["user"] == 11
    assert statements
    assert not [text for text in statements if "transcript_events" in text or "blob FROM" in text]

    def no_reader(*_: Any) -> Any:
        raise AssertionError("a transcript was read")

    from ontoref.cli.transcript.session import Session

    monkeypatch.setattr("ontoref.transcript.reader.read_source", no_reader)
    monkeypatch.setattr("ontoref.replay.archived.read_source", no_reader)
    assert Session(None, "claude-code", archived=ID).counted()[0] == found.stats
    assert Archive(lambda: State(layout, read_only=True)).figures(ID) == found.figures


def grown(layout: Layout, home: Path) -> None:
    """More lines came, and nobody counted them yet."""
    with (project(home) / f"{SESSION}.jsonl").open("ab") as file:
        file.write(b'"}\n' + claude_line(22))
    imported(layout, home, indexed=False)


def rewritten_code(layout: Layout, home: Path) -> None:
    with State(layout, read_only=False) as state:
        database = state.writable_agent("claude-code")
        database.execute("UPDATE cache_entries SET key = substr(key, 1, length(key) - 16) || '0123456789abcdef'")


def more_agents(layout: Layout, home: Path) -> None:
    """A sub-agent's file came, which the reader of its parent looks for."""
    (project(home) / SESSION / "subagents" / "agent-cd.jsonl").write_bytes(claude())
    imported(layout, home, indexed=False)


def other_files(layout: Layout, home: Path) -> None:
    (project(home) / SESSION / "tool-results" / "r.txt").write_text("another result")
    imported(layout, home, indexed=False)


def moved(layout: Layout, home: Path) -> None:
    """The path is part of what is told."""
    home.rename(home.parent / "other")
    imported(layout, home.parent / "other", indexed=False)


def expired(layout: Layout, home: Path) -> None:
    with State(layout, read_only=False) as state:
        state.writable_agent("claude-code").execute("UPDATE cache_entries SET expires_at = 1")


def foreign_hand(layout: Layout, home: Path) -> None:
    with State(layout, read_only=False) as state:
        state.writable_agent("claude-code").execute("UPDATE cache_entries SET value_json = '{\"path\": 1}'")


STALE: list[Callable[[Layout, Path], None]] = [
    grown,
    rewritten_code,
    more_agents,
    other_files,
    moved,
    expired,
    foreign_hand,
]


@pytest.mark.parametrize("change", STALE, ids=lambda change: change.__name__)
def test_numbers_of_something_else_are_never_given(
    layout: Layout, tmp_path: Path, ontoref: Run, change: Callable[[Layout, Path], None]
) -> None:
    """S3-51: a poisoned entry shows that it is not asked."""
    home = tmp_path / "home"
    tree(home)
    imported(layout, home)
    with State(layout, read_only=False) as state:
        database = state.writable_agent("claude-code")
        database.execute("UPDATE cache_entries SET value_json = json_set(value_json, '$.counts.user', 4711)")
    poisoned = kept(layout, ID)
    assert poisoned is not None
    assert poisoned.stats.counts["user"] == 4711
    change(layout, home)
    assert kept(layout, ID) is None
    shutil.rmtree(home, ignore_errors=True)
    shutil.rmtree(home.parent / "other", ignore_errors=True)
    (row,) = json.loads(ontoref("transcript", "stats", ID, "--format", "json").stdout)
    assert row["user"] == (11 if change is not grown else 12)


@pytest.mark.parametrize(
    ("change", "fresh"),
    [
        ({"agent:main:other": {"sessionId": "oc-9", "updatedAt": 9}}, True),
        ({"agent:main:other": {"sessionId": "oc-1", "updatedAt": 9}}, False),
        ({"agent:main:main": {"sessionId": "oc-1", "updatedAt": 9, "status": "x"}}, False),
        ({"agent:main:main": {"sessionId": "oc-2", "updatedAt": 9}}, False),
        ({"agent:main:subagent:1": {"sessionId": "oc-8", "updatedAt": 9}}, False),
        ({"agent:main:subagent:2": {"sessionId": "oc-8", "updatedAt": 9}}, True),
    ],
)
def test_an_index_of_keys_counts_as_far_as_the_reader_looked(
    layout: Layout, tmp_path: Path, change: dict[str, Any], fresh: bool
) -> None:
    """OpenClaw's index changes with every answer of any session."""
    home = tmp_path / "home"
    tree(home)
    call = {"type": "toolCall", "id": "c", "name": "sessions_spawn", "arguments": {"task": "t"}}
    details = {"status": "accepted", "childSessionKey": "agent:main:subagent:1", "runId": "r"}
    lines = [
        {"type": "message", "id": "a", "message": {"role": "assistant", "content": [call]}},
        {
            "type": "message",
            "id": "b",
            "message": {"role": "toolResult", "toolCallId": "c", "toolName": "sessions_spawn", "content": [],
                        "details": details},
        },
    ]  # fmt: skip
    with (openclaw(home) / "oc-1.jsonl").open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    imported(layout, home)
    found = kept(layout, "openclaw:oc-1")
    assert found is not None
    assert found.stats.counts["delegations"] == 1
    entries = json.loads((openclaw(home) / "sessions.json").read_text())
    (openclaw(home) / "sessions.json").write_text(json.dumps(entries | change))
    imported(layout, home, indexed=False)
    assert (kept(layout, "openclaw:oc-1") is not None) == fresh


def test_an_entry_of_half_a_session_is_that_of_no_whole_one(layout: Layout, tmp_path: Path) -> None:
    """What grows while it is counted is not kept under either content."""
    home = tmp_path / "home"
    tree(home)
    imported(layout, home, indexed=False)
    with State(layout, read_only=False) as state:
        session = archive.resolve(state, ID)
        gathering = statistics.Gathering(state, session)
        database = state.writable_agent(session.agent_id)
        for change in ("line_count = line_count + 1", "created_at = created_at + 1", "content_sha256 = 'x'"):
            database.execute(f"UPDATE sessions SET {change} WHERE session_id = ?", (ID,))
            gathering.keep(database, {"path": ""})
            assert database.all("SELECT * FROM cache_entries") == []
            gathering = statistics.Gathering(state, archive.resolve(state, ID))
        sessions.delete(database, ID)
        gathering.keep(database, {"path": ""})
        assert database.all("SELECT * FROM cache_entries") == []


def test_a_session_has_one_entry_and_takes_it_along(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-31, S3-51, S3-53"""
    home = tmp_path / "home"
    tree(home)
    assert ontoref("transcript", "import", str(home)).returncode == 0
    before = entries(layout)
    assert len(before) == 3
    with (project(home) / f"{SESSION}.jsonl").open("ab") as file:
        file.write(b'"}\n' + claude_line(22))
    assert ontoref("transcript", "import", str(home)).returncode == 0
    after = entries(layout)
    assert len(after) == 3
    assert len(set(before) & set(after)) == 2
    assert kept(layout, ID) is not None
    assert ontoref("session", "delete", ID, "--yes").returncode == 0
    assert [key.partition(" ")[0] for key, _ in entries(layout)] == ["openclaw:oc-1"]
    assert ontoref("state", "check").returncode == 0


def test_gc_drops_what_can_not_be_given_any_more(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-98"""
    home = tmp_path / "home"
    tree(home)
    imported(layout, home)
    assert b"0 cached values" in ontoref("state", "gc").stderr
    grown(layout, home)
    with State(layout, read_only=False) as state:
        cache.put(state.writable_agent("claude-code"), "statistics", "nobody's", 1)
        cache.put(state.writable_agent("claude-code"), "other", "nobody's", 1)
    assert b"2 cached values" in ontoref("state", "gc").stderr
    assert [key.partition(" ")[0] for key, _ in entries(layout)] == [f"{ID}:agent-ab", "nobody's", "openclaw:oc-1"]
    assert b"0 cached values" in ontoref("state", "gc").stderr


def test_readers_write_nothing(layout: Layout, tmp_path: Path, ontoref: Run) -> None:
    """S3-30: neither with numbers that are kept nor without."""
    home = tmp_path / "home"
    tree(home)
    imported(layout, home)
    shutil.rmtree(home)

    def digests() -> dict[str, str]:
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in Path(layout.root).rglob("*.sqlite")}

    before = digests()
    assert ontoref("transcript", "stats", ID).returncode == 0
    assert digests() == before
    forget(layout)
    before = digests()
    assert ontoref("transcript", "stats", ID).returncode == 0
    assert Archive(lambda: State(layout, read_only=True)).figures(ID) is None
    assert digests() == before
    assert entries(layout) == []


def test_an_import_of_nothing_new_makes_what_is_missing_a_little_at_a_time(
    layout: Layout, tmp_path: Path, ontoref: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an update of ontoref, or a kill between import and count."""
    home = tmp_path / "home"
    tree(home)
    ids = imported(layout, home)
    rewritten_code(layout, home)
    with State(layout, read_only=False) as state:
        claude_ids = [name for name in ids if name.startswith("claude")]
        assert statistics.due(state, ids) == claude_ids
        assert statistics.due(state, []) == []
        assert statistics.due(state, ["claude-code:nobody", *ids[:1]]) == [name for name in ids[:1] if "claude" in name]
        monkeypatch.setattr(statistics, "_RENEWED_BYTES", 10)
        assert len(statistics.due(state, ids)) == 1
    assert ontoref("transcript", "import", str(home)).returncode == 0
    assert None not in [kept(layout, name) for name in ids]
    assert len(entries(layout)) == 3


def test_a_follower_counts_what_became_quiet(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it still follows, not only when it ends."""
    from ontoref.cli.main import run
    from ontoref.cli.transcript import import_

    home = tmp_path / "home"
    source = tree(home) / ".claude" / "projects" / "-home-me-project" / f"{SESSION}.jsonl"
    monkeypatch.setattr(import_, "_QUIET_SECONDS", 0.0)
    original, rounds = import_._pause(0.4, lambda: None), []

    def pause(idle: float | None, rest: Callable[[], None]) -> Callable[[bool], bool]:
        def once(news: bool) -> bool:
            rest()
            rounds.append(len(entries(layout)))
            return original(news)

        return once

    monkeypatch.setattr(import_, "_pause", pause)
    assert run(["transcript", "import", str(source), "--follow", "--idle", "0.4"]) == 0
    assert rounds[0] == 2
    assert kept(layout, ID) is not None


def test_the_index_of_a_session_that_was_deleted_meanwhile_is_left_out(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    tree(home)
    imported(layout, home, indexed=False)
    with State(layout, read_only=False) as state:
        value = statistics.Gathering.value

        def late(self: statistics.Gathering, report: Any) -> Any:
            sessions.delete(state.writable_agent("claude-code"), ID)
            return value(self, report)

        monkeypatch.setattr(statistics.Gathering, "value", late)
        assert index(state, ID, 1) == 0
        assert state.writable_agent("claude-code").all("SELECT * FROM cache_entries") == []


def test_the_numbers_of_a_large_session_come_without_its_figures(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tree would need all events in memory."""
    monkeypatch.setattr(statistics, "_TREE_BYTES", 100)
    tree(tmp_path / "home")
    imported(layout, tmp_path / "home")
    found = kept(layout, ID)
    assert found is not None
    assert found.stats.counts["user"] == 11
    assert found.figures is None


def test_the_server_takes_kept_figures_only_where_no_file_is(layout: Layout, tmp_path: Path) -> None:
    """A live file may have more than was archived of it."""
    from ontoref.cli.serving import data_of

    tree(tmp_path / "home")
    imported(layout, tmp_path / "home")
    found = kept(layout, ID)
    assert found is not None
    data = data_of()
    assert data.figures(ID) is None
    shutil.rmtree(tmp_path / "home")
    assert data.figures(ID) == found.figures == figures_of(Trees(data.source), ID)
    assert data.figures("claude-code:nobody") is None


def test_the_server_reads_again_when_something_beside_a_session_changed(layout: Layout, tmp_path: Path) -> None:
    """Rows and trees of a server that runs on are those of the archive as it is now."""
    home = tmp_path / "home"
    tree(home)
    call = {"type": "toolCall", "id": "c", "name": "sessions_spawn", "arguments": {"task": "t"}}
    details = {"status": "accepted", "childSessionKey": "agent:main:subagent:7", "runId": "r"}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "sessions_spawn", "content": [], "details": details}
    with (openclaw(home) / "oc-1.jsonl").open("a") as file:
        for name, message in (("a", {"role": "assistant", "content": [call]}), ("b", result)):
            file.write(json.dumps({"type": "message", "id": name, "message": message}) + "\n")
    imported(layout, home)
    read: list[str] = []
    running = Archive(lambda: State(layout, read_only=True), reading=read.append)
    first = running.rows("openclaw:oc-1")
    assert running.rows("openclaw:oc-1") is first
    index = openclaw(home) / "sessions.json"
    entry = {"agent:main:subagent:7": {"sessionId": "oc-7", "updatedAt": 9, "label": "seven"}}
    index.write_text(json.dumps(json.loads(index.read_text()) | entry))
    imported(layout, home, indexed=False)
    second = running.rows("openclaw:oc-1")
    assert second is not None
    assert second == Archive(lambda: State(layout, read_only=True)).rows("openclaw:oc-1") != first
    assert running.rows("openclaw:oc-1") is second
    assert read == ["openclaw:oc-1"] * 2


def test_rows_beyond_a_few_wait_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row once and in order, however many are held in memory."""
    for many in (0, 1, 4, 5, 6, 12):
        with monkeypatch.context() as patch, archive_index._Aside() as rows:
            patch.setattr(archive_index, "_IN_MEMORY", 5)
            for number in range(many):
                rows.add((number, "lone \ud800", None))
            assert (rows.count, [row[0] for row in rows.all()]) == (many, list(range(many)))
