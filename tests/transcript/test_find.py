"""Sessions on this machine, and the one that a few characters name."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ontoref.transcript.find import AmbiguousSession, Found, UnknownSession, find, resolve
from tests.conftest import App


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def claude(session: str, day: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u-{session}-{day}",
        "parentUuid": None,
        "sessionId": session,
        "cwd": "/home/ada/web",
        "timestamp": f"2026-03-{day:02}T10:00:00.000Z",
        "message": {"role": "user", "content": "hello"},
        **more,
    }


def opencode_database(path: Path, *sessions: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(
            "create table session(id text, parent_id text, directory text, title text, version text,"
            " time_created integer, time_updated integer);"
            "create table message(id text, session_id text, time_created integer, time_updated integer, data text);"
            "create table part(id text, message_id text, session_id text, time_created integer,"
            " time_updated integer, data text);"
        )
        for number, session in enumerate(sessions):
            created = 1770000000000 + number
            database.execute(
                "insert into session values(?, null, '/home/ada/x', 'about it', '1', ?, ?)", (session, created, created)
            )
            for role, text in (("user", "make it"), ("assistant", "made")):
                message = f"msg_{session}_{role}"
                database.execute(
                    "insert into message values(?, ?, ?, ?, ?)",
                    (message, session, created, created, json.dumps({"role": role, "modelID": "m"})),
                )
                database.execute(
                    "insert into part values(?, ?, ?, ?, ?, ?)",
                    (f"prt_{message}", message, session, created, created, json.dumps({"type": "text", "text": text})),
                )
    database.close()
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a session of every runtime."""
    home = tmp_path / "home-of-ada"
    project = home / ".claude" / "projects" / "-home-ada-web"
    write(project / "c-1.jsonl", claude("c-1", 1))
    write(project / "c-2.jsonl", claude("c-2", 9))
    write(project / "c-1" / "subagents" / "agent-7f.jsonl", claude("c-1", 2, isSidechain=True, agentId="7f"))
    (project / "empty.jsonl").touch()
    folder = home / ".openclaw" / "agents" / "main" / "sessions"
    header = {"type": "session", "version": 3, "id": "o-1", "timestamp": "2026-03-05T00:00:00Z", "cwd": "/w"}
    said = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "hi"}}
    write(folder / "o-1.jsonl", header, said)
    write(folder / "o-1.jsonl.reset.2026-03-04T00-00-00.000Z", header | {"timestamp": "2026-03-04T00:00:00Z"}, said)
    write(folder / "o-1.checkpoint.x.jsonl", header, said)
    write(folder / "o-1.trajectory.jsonl", {"traceSchema": "openclaw-trajectory", "type": "session.started"})
    write(folder / "sessions.json", {})
    write(
        home / ".pi" / "agent" / "sessions" / "--w--" / "2026-03-03T00-00-00-000Z_p-1.jsonl",
        header | {"id": "p-1", "timestamp": "2026-03-03T00:00:00Z"},
    )
    write(
        home / ".gemini" / "tmp" / "h" / "chats" / "session-2026-03-02T00-00-g1.json",
        {"sessionId": "g-1", "projectHash": "h", "startTime": "2026-03-02T00:00:00Z", "messages": []},
    )
    opencode_database(home / ".local" / "share" / "opencode" / "opencode.db", "ses_1", "ses_2")
    return home


def names(found: list[Found]) -> list[str]:
    return [session.id for session in found]


def test_every_runtime_is_found_newest_first(home: Path) -> None:
    found = find({}, str(home))
    assert names(found) == [
        "claude-code:c-2",
        "openclaw:o-1",
        "openclaw:o-1",
        "pi:p-1",
        "gemini:g-1",
        "claude-code:c-1",
        "opencode:ses_2",
        "opencode:ses_1",
    ]
    assert found[0].project == "/home/ada/web"
    assert found[0].size_bytes > 0


def test_sub_agents_come_when_asked_for(home: Path) -> None:
    every = names(find({}, str(home), runtimes=["claude-code"], children=True))
    assert every == ["claude-code:c-2", "claude-code:c-1:agent-7f", "claude-code:c-1"]


def test_s0_45_a_variable_moves_a_runtimes_folder(home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    write(moved / "projects" / "p" / "c-9.jsonl", claude("c-9", 1))
    assert names(find({"CLAUDE_CONFIG_DIR": str(moved)}, str(home), runtimes=["claude-code"])) == ["claude-code:c-9"]
    assert find({"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}, str(home), runtimes=["claude-code"]) == []


def test_any_folder_can_be_searched(home: Path, tmp_path: Path) -> None:
    assert names(find({}, str(tmp_path / "nobody"), root=str(home), runtimes=["pi"])) == ["pi:p-1"]
    assert len(find({}, str(tmp_path / "nobody"), root=str(home))) == 8


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ("claude-code:c-1", "claude-code:c-1"),
        ("c-1", "claude-code:c-1"),
        ("p-", "pi:p-1"),
        ("pi:", "pi:p-1"),
        ("agent-7", "claude-code:c-1:agent-7f"),
        ("c-1:agent", "claude-code:c-1:agent-7f"),
    ],
)
def test_an_id_or_its_unique_beginning_names_a_session(home: Path, given: str, chosen: str) -> None:
    assert resolve(given, find({}, str(home), children=True)).id == chosen


def test_of_the_files_of_one_session_the_live_one_is_chosen(home: Path) -> None:
    assert resolve("o-1", find({}, str(home))).path.endswith("o-1.jsonl")


def test_what_names_no_session_or_several_is_told(home: Path) -> None:
    found = find({}, str(home), children=True)
    with pytest.raises(AmbiguousSession, match="beginning of several") as several:
        resolve("ses_", found)
    assert "opencode:ses_1" in (several.value.hint or "")
    for given in ("", "nothing", "../../etc/passwd"):
        with pytest.raises(UnknownSession):
            resolve(given, found)


def test_the_command_lists_them(app: App, home: Path) -> None:
    env = {"HOME": str(home), "USERPROFILE": str(home)}
    listed = app("transcript", "find", "--format", "json", env=env)
    assert listed.code == 0, listed.err
    rows = json.loads(listed.out)
    assert rows[0]["id"] == "claude-code:c-2"
    assert {"id", "runtime", "session", "project", "started", "size_bytes", "path"} <= rows[0].keys()
    table = app("transcript", "find", "--runtime", "codex", "--runtime", "pi", env=env)
    assert table.out.count("\n") == 2
    assert "1 session" in table.err
    assert app("transcript", "find", "--runtime", "emacs", env=env).code == 2


def test_a_database_is_read_one_session_at_a_time(app: App, home: Path) -> None:
    env = {"HOME": str(home), "USERPROFILE": str(home)}
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    by_id = app("transcript", "trace", "ses_1", "--format", "json", env=env)
    assert by_id.code == 0, by_id.err
    assert json.loads(by_id.out)["question"] == "make it"
    assert json.loads(by_id.out)["answer"] == "made"
    both = app("transcript", "trace", database)
    assert both.code == 2
    assert "#ses_" in both.err
    assert app("transcript", "trace", f"{database}#ses_2", "--format", "json").out == by_id.out
    assert not database.with_name("opencode.db-shm").exists()


def test_a_database_is_read_while_its_owner_writes(app: App, tmp_path: Path) -> None:
    database = opencode_database(tmp_path / "opencode.db", "ses_1")
    owner = sqlite3.connect(database)
    owner.execute("pragma journal_mode = wal")
    owner.execute("begin immediate")
    owner.execute("insert into message values('m9', 'ses_1', 1, 1, '{}')")
    shown = app("transcript", "trace", database, "--format", "json")
    owner.commit()
    owner.close()
    assert json.loads(shown.out)["answer"] == "made"


@pytest.mark.parametrize("content", [b"SQLite format 3\x00 and then nothing", b"", b"no database at all\n"])
def test_a_damaged_database_is_told(app: App, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    done = app("transcript", "show", path)
    assert done.code == 2
    assert str(path) in done.err
    assert "Traceback" not in done.err
    assert json.loads(app("transcript", "find", "--root", tmp_path, "--format", "json").out) == []
