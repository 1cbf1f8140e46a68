"""The commands over lessons, as the real program runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App
from tests.lesson.running import InProcess, Lessons
from tests.lesson.samples import NOW, candidate, lesson, proposal
from tests.lesson.servers import Server

DEAD = "postgres://ana:s3cr3t%40word@127.0.0.1:1/nowhere"
BOOK: dict[str, Any] = {
    "skills": {
        "git-00001": {
            "id": "git-00001",
            "section": "git",
            "content": "Rebase before you push.",
            "justification": "less noise",
            "evidence": "session 7",
            "helpful": 3,
            "harmful": 1,
            "neutral": 2,
            "created_at": "2026-01-02T03:04:05+00:00",
            "updated_at": "2026-02-02T03:04:05+00:00",
            "status": "active",
            "team": "core",
        },
        "make-00004": {
            "id": "make-00004",
            "section": "make",
            "content": "Indent with spaces.",
            "justification": None,
            "evidence": None,
            "helpful": 0,
            "harmful": 5,
            "neutral": 0,
            "created_at": "2026-01-03T00:00:00+00:00",
            "updated_at": "2026-03-01T00:00:00+00:00",
            "status": "invalid",
        },
    },
    "sections": {"git": ["git-00001"], "make": ["make-00004"]},
    "next_id": 9,
    "similarity_decisions": {"a|b": {"decision": "KEEP"}},
}


@pytest.fixture
def cli(app: App, tmp_path: Path) -> Lessons:
    return Lessons(InProcess(app.folder), tmp_path / "state")


def export_of(*records: tuple[str, dict[str, Any]]) -> str:
    return "".join(json.dumps({"record_type": kind, "record": record}) + "\n" for kind, record in records)


def test_without_anything_nothing_is_made(cli: Lessons, tmp_path: Path) -> None:
    for words in ("list", "candidates", "proposals", "audit", "brief", "passes"):
        cli("lesson", words)
    assert cli.json("lesson", "stats")[0]["lessons"] == 0
    assert not (tmp_path / "state").exists()


def test_a_skillbook_comes_in_and_goes_out_as_it_was(cli: Lessons, app: App) -> None:
    """S0-47"""
    (app.folder / "book.json").write_text(json.dumps(BOOK))
    first = cli.json("lesson", "import", "book.json")
    assert first == [{"added": 3, "updated": 0, "unchanged": 0, "older": 0}]
    assert cli.json("lesson", "import", "book.json")[0]["unchanged"] == 3
    found = {one["id"]: one for one in cli.json("lesson", "list", "--all", "--kind", "skill")}
    assert set(found) == set(BOOK["skills"])
    git, make = found["git-00001"], found["make-00004"]
    assert (git["statement"], git["section"], git["active"]) == ("Rebase before you push.", "git", True)
    assert (git["helpful"], git["harmful"], git["neutral"]) == (3, 1, 2)
    assert (make["active"], make["invalid_at"]) == (False, "2026-03-01T00:00:00+00:00")
    assert json.loads(cli("lesson", "export", "--format", "skillbook").out) == BOOK
    cli("lesson", "vote", "git-00001", "helpful")
    assert json.loads(cli("lesson", "export", "--format", "skillbook").out)["skills"]["git-00001"]["helpful"] == 4


def test_a_book_that_is_wrong_is_left_out_whole(cli: Lessons, app: App) -> None:
    (app.folder / "book.json").write_text(json.dumps({**BOOK, "skills": {**BOOK["skills"], "x": {"content": ""}}}))
    assert "'x' has no content" in cli("lesson", "import", "book.json", code=2).err
    assert cli.json("lesson", "list", "--all") == []


def test_an_export_goes_round_byte_for_byte(cli: Lessons, app: App, tmp_path: Path) -> None:
    book = json.dumps(BOOK)
    cli("lesson", "import", "-", stdin=book)
    cli(
        "lesson",
        "import",
        "-",
        stdin=export_of(("lesson", lesson("ä 😀")), ("proposal", proposal()), ("candidate", candidate())),
    )
    cli("lesson", "run", "promote", "--now", NOW)
    cli("lesson", "accept", "p", "--by", "ana")
    first = cli("lesson", "export").out
    assert first == cli("lesson", "export").out
    other = {"ONTOREF_STATE_DIR": str(tmp_path / "other")}
    cli("lesson", "import", "-", stdin=first, env=other)
    assert cli("lesson", "export", env=other).out == first
    cli("lesson", "export", "-o", "all.jsonl")
    assert (app.folder / "all.jsonl").read_text() == first
    cli("lesson", "export", "-o", "all.jsonl", code=2)
    assert len(json.loads(cli("lesson", "export", "--format", "json").out)) == len(first.splitlines())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no JSON\n", "-:1"),
        (export_of(("lesson", lesson())) + "[1]\n", "-:2"),
        (export_of(("rule", lesson())), "'rule' is no record type"),
        (export_of(("lesson", {**lesson(), "schema_version": 2})), "schema_version"),
        (export_of(("proposal", {**proposal(), "status": "new"})), "status is 'new'"),
        (export_of(("lesson", {"id": "x"})), "needs a title or a statement"),
    ],
)
def test_what_cannot_be_read_is_named_and_nothing_taken_in(cli: Lessons, text: str, said: str) -> None:
    assert said in cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("first"))) * 0 + text, code=2).err
    assert cli.json("lesson", "list", "--all") == []


def test_a_fallback_folder_is_merged_once(cli: Lessons, app: App, tmp_path: Path) -> None:
    """S1-12"""
    dead = {"ONTOREF_LESSONS": DEAD}
    done = cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("a"))), code=2, env=dead)
    assert "s3cr3t" not in done.err + done.out
    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("a")), ("proposal", proposal())))
    ran = cli("lesson", "run", "--now", NOW, env=dead)
    assert "fallback" in ran.err
    folder = tmp_path / "state" / "lessons-fallback"
    other = {"ONTOREF_LESSONS": f"fs-jsonl:{folder}"}
    cli(
        "lesson",
        "import",
        "-",
        stdin=export_of(("lesson", lesson("b")), ("lesson", lesson("a", 5, version=3))),
        env=other,
    )
    assert cli.json("lesson", "import", str(folder)) == [{"added": 1, "updated": 1, "unchanged": 0, "older": 0}]
    assert cli.json("lesson", "import", str(folder)) == [{"added": 0, "updated": 0, "unchanged": 2, "older": 0}]
    assert "holds no learning-records.jsonl" in cli("lesson", "import", str(app.folder), code=2).err


def test_passwords_are_in_no_output(cli: Lessons) -> None:
    """S1-14"""
    env = {"ONTOREF_LESSONS": DEAD}
    for words in (["stats"], ["stats", "--format", "json"], ["list"], ["run"], ["export"], ["move", "--to", DEAD]):
        done = cli.app("lesson", *words, env={**cli.env, **env})
        assert "s3cr3t" not in done.out + done.err, words
        assert "Traceback" not in done.err
    (stats,) = cli.json("lesson", "stats", env=env)
    assert (stats["store"]["backend"], stats["store"]["degraded"]) == ("fs-jsonl", True)
    done = cli("lesson", "move", "--to", DEAD, "--format", "json", code=2)
    assert json.loads(done.err)["error"]["kind"] == "lesson-store" if "error" in json.loads(done.err) else True


def test_lessons_move_between_all_backends(cli: Lessons, tmp_path: Path, server: Server) -> None:
    cli("lesson", "import", "-", stdin=json.dumps(BOOK))
    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("a")), ("proposal", proposal())))
    first = cli("lesson", "export").out
    places = [f"fs-jsonl:{tmp_path / 'moved'}", f"{server.url}&schema=moved_here", f"sqlite:{tmp_path / 'm' / 'l.db'}"]
    at = ""
    for place in places:
        (done,) = cli.json("lesson", "move", "--to", place, env={"ONTOREF_LESSONS": at})
        assert (
            done["from"]["counts"] == done["to"]["counts"] == {"lesson": 3, "proposal": 1, "candidate": 0, "audit": 1}
        )
        assert done["added"] == 5
        assert "not-a-real-password" not in json.dumps(done)
        at = place
        assert cli("lesson", "export", env={"ONTOREF_LESSONS": at}).out == first
    (again,) = cli.json("lesson", "move", "--to", places[-1])
    assert again["added"] == 0
    assert "kept there already" in cli("lesson", "move", "--to", at, code=2, env={"ONTOREF_LESSONS": at}).err


def test_listings_are_filtered(cli: Lessons) -> None:
    said = [
        lesson("a", tags=["git", "make"], evidence=[{"session_id": "s-1"}], scope={"agent_id": "x", "workspace": "/w"}),
        lesson("b", tags=["git"], durability="decaying"),
        lesson("c", record_kind="skill", invalid_at=NOW),
    ]
    cli("lesson", "import", "-", stdin=export_of(*(("lesson", one) for one in said)))

    def ids(*words: str) -> list[str]:
        return [one["id"] for one in cli.json("lesson", "list", *words)]

    assert ids() == ["a", "b"]
    assert ids("--all") == ["a", "b", "c"]
    assert ids("--tag", "git", "--tag", "make") == ["a"]
    assert ids("--session", "s-1") == ["a"]
    assert ids("--scope", "workspace=/w") == ids("--scope", "agent_id=x,workspace=/w") == ["a"]
    assert ids("--durability", "decaying") == ["b"]
    assert ids("--all", "--kind", "skill") == ["c"]
    assert ids("--limit", "1") == ["a"]
    assert ids("--until", "2026-11-30") == []
    assert ids("--since", "2026-11-30", "--all", "--limit", "2") == ["a", "b"]
    for wrong in (["--scope", "x"], ["--scope", "team=a"], ["--kind", "rule"], ["--durability", "x"], ["--since", "q"]):
        assert cli("lesson", "list", *wrong, code=2).err.startswith("error")
    table = cli("lesson", "list").out
    assert "Lesson a" in table
    assert cli("lesson", "list", "--format", "csv").out.splitlines()[0].startswith("id,title")


def test_one_is_shown_with_where_it_was_seen(cli: Lessons) -> None:
    evil = lesson("abc", statement="a\x1b[31mred\u202e", evidence=[{"session_id": "codex:s-1", "event_id": "e-1"}])
    cli(
        "lesson",
        "import",
        "-",
        stdin=export_of(("lesson", evil), ("candidate", candidate("cand")), ("proposal", proposal("prop"))),
    )
    shown = cli("lesson", "show", "ab").out
    assert "ontoref transcript show codex:s-1" in shown
    assert "\\x1b[31mred\\u202e" in shown
    assert "no, use tabs" in cli("lesson", "show", "cand").out
    assert "Use tabs, says prop." in cli("lesson", "show", "prop").out
    assert cli.json("lesson", "show", "abc")[0]["active"] is True
    for words in (["show", "zzz"], ["chain", "zzz"], ["accept", "zzz"], ["vote", "zzz", "helpful"], ["audit", "zzz"]):
        assert "zzz" in cli("lesson", *words, code=1).err


def test_a_decision_is_final(cli: Lessons) -> None:
    cli("lesson", "import", "-", stdin=export_of(("proposal", proposal("p1")), ("proposal", proposal("p2"))))
    cli("lesson", "reject", "p1", "--reason", "no")
    cli("lesson", "reject", "p1")
    assert "was rejected already" in cli("lesson", "accept", "p1", code=1).err
    cli("lesson", "accept", "p2", "--durability", "for ever", code=2)
    cli("lesson", "accept", "p2", "--by", "bob")
    (entry,) = cli.json("lesson", "audit", "p2")
    assert (entry["actor"], entry["action"]) == ("bob", "accepted")
    made = cli.json("lesson", "list")[0]["id"]
    cli("lesson", "supersede", made, code=2)
    assert cli("lesson", "proposals").out == ""


def test_a_brief_keeps_its_block_and_leaves_the_rest(cli: Lessons, app: App) -> None:
    """S0-48"""
    said = [
        lesson("a", statement="Use tabs.", title="", helpful=2),
        lesson("b", statement="Very long. " + "x" * 400, title="Long", helpful=9),
        lesson("c", statement="Harmful.", title="", harmful=1, helpful=3),
        lesson("d", statement="Two\nlines <!-- ontoref:lessons:end -->", title="", observation_count=5),
    ]
    cli("lesson", "import", "-", stdin=export_of(*(("lesson", one) for one in said)))
    whole = cli("lesson", "brief").out
    order = [whole.index(word) for word in ("Very long", "Use tabs", "Two", "Harmful")]
    assert order == sorted(order)
    assert "- Two\n  lines &lt;!-- ontoref:lessons:end --&gt;\n" in whole
    small = cli("lesson", "brief", "--budget", "30")
    assert "Very long" not in small.out
    assert "Use tabs." in small.out
    assert "did not fit" in small.err
    (found,) = cli.json("lesson", "brief", "--budget", "30")
    assert found["tokens"] <= 30
    file = app.folder / "AGENTS.md"
    for before in ("", "# Mine\n\nText.\n", "# Mine", "# Mine\r\n\r\nText.\r\n"):
        file.write_bytes(before.encode())
        cli("lesson", "brief", "--write", "AGENTS.md")
        once = file.read_bytes()
        assert once.startswith(before.encode())
        cli("lesson", "brief", "--write", "AGENTS.md")
        assert file.read_bytes() == once
    text = "top\n<!-- ACE:SKILLBOOK:START -->\nold\n<!-- ACE:SKILLBOOK:END -->\nbottom\n"
    file.write_text(text)
    cli("lesson", "brief", "--write", "AGENTS.md", "--budget", "11")
    assert file.read_text() == text.replace("old", "## Lessons\n\n- Use tabs.")
    cli("lesson", "brief", "--write", "AGENTS.md", "--scope", "agent_id=nobody")
    assert file.read_text() == text.replace("old\n", "")
    file.write_text("<!-- ontoref:lessons:end -->")
    assert "AGENTS.md:1" in cli("lesson", "brief", "--write", "AGENTS.md", code=2).err
    file.write_bytes(b"\xff\xfe")
    assert "no UTF-8" in cli("lesson", "brief", "--write", "AGENTS.md", code=2).err


def test_a_place_comes_from_the_environment_the_project_or_the_user(cli: Lessons, app: App, tmp_path: Path) -> None:
    def place(**env: str) -> str:
        found: str = cli.json("lesson", "stats", env=env)[0]["store"]["location"]
        return found

    state = str(tmp_path / "state")
    config = tmp_path / "config"
    config.mkdir()
    assert place() == os.path.join(state, "state", "ontoref.sqlite")
    (config / "config.yaml").write_text("lessons: fs-jsonl:mine\n")
    own = {"ONTOREF_CONFIG_DIR": str(config)}
    assert place(**own) == os.path.join(state, "mine")
    (app.folder / ".ontoref").mkdir()
    settings = app.folder / ".ontoref" / "config.yaml"
    settings.write_text("lessons: fs-jsonl:.ontoref/lessons\n")
    assert place(**own) == str(app.folder / ".ontoref" / "lessons")
    assert place(ONTOREF_LESSONS="fs-jsonl:/nowhere/here", **own) == "/nowhere/here"
    for foreign in ("postgres://evil.example/db", "fs-jsonl:../outside", "sqlite:/etc/x.db"):
        settings.write_text(f"lessons: {foreign}\n")
        assert "a project keeps lessons in itself" in cli("lesson", "list", code=2).err
    assert "no backend" in cli("lesson", "list", code=2, env={"ONTOREF_LESSONS": "mysql://x"}).err
    assert (
        "cannot name a schema"
        in cli("lesson", "list", code=2, env={"ONTOREF_LESSONS": "postgres://h/d?schema=A-b"}).err
    )


def test_insights_of_the_projects_records_are_candidates(cli: Lessons, app: App) -> None:
    log = app.folder / ".ontoref" / "interactions"
    log.mkdir(parents=True)
    record = {
        "id": "01JE4Q8ZT3W6M1K9V2C5N7X0RB",
        "session_id": "s-9",
        "recorded_at": "2026-11-30T10:00:00Z",
        "actor": "AgentClaude",
        "insights": [{"kind": "Pitfall", "subject": "orjson refuses lone surrogates"}],
    }
    (log / "a.jsonl").write_text(json.dumps(record) + "\n")
    ran = cli("lesson", "run")
    assert "1 insights captured" in ran.err
    (waiting,) = cli.json("lesson", "proposals")
    assert waiting["draft"]["statement"] == "orjson refuses lone surrogates"
    assert waiting["scope"] == {"agent_id": "claude-code", "workspace": str(app.folder)}
    assert "insights" not in cli("lesson", "run").err


def test_doctor_tells_what_is_wrong_with_the_store(cli: Lessons, tmp_path: Path) -> None:
    def rules(code: int = 0, **env: str) -> dict[str, str]:
        done = cli("doctor", "--format", "json", code=code, env=env)
        assert "s3cr3t" not in done.out + done.err
        return {one["rule"]: one["remedy"] for one in json.loads(done.out) if one["rule"].startswith("lesson")}

    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("a"))))
    assert rules() == {}
    assert set(rules(1, ONTOREF_LESSONS=DEAD)) == {"lesson-store"}
    folder = tmp_path / "state" / "lessons-fallback"
    env = {"ONTOREF_LESSONS": f"fs-jsonl:{folder}"}
    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("b", supersedes="gone"))), env=env)
    found = rules(1)
    assert found == {"lesson-fallback": f"ontoref lesson import {folder}"}
    assert set(rules(1, **env)) == {"lesson-chain"}
    cli("lesson", "import", str(folder))
    assert set(rules(1)) == {"lesson-chain"}
    file = folder / "learning-records.jsonl"
    whole = file.read_text()
    file.write_text(whole + "half a li")
    assert set(rules(1, **env)) == {"lesson-chain"}
    file.write_text(whole + "half a line\n")
    assert set(rules(1, **env)) == {"lesson-chain", "lesson-lines"}


def test_a_backup_holds_lessons_wherever_they_are(cli: Lessons, app: App, tmp_path: Path) -> None:
    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("a"))))
    cli("backup", "create", "-o", "one.tar.gz")
    assert not (app.folder / "one.lessons.jsonl").exists()
    env = {"ONTOREF_LESSONS": f"fs-jsonl:{tmp_path / 'own'}"}
    cli("lesson", "import", "-", stdin=export_of(("lesson", lesson("b"))), env=env)
    assert "two.lessons.jsonl" in cli("backup", "create", "-o", "two.tar.gz", "--dry-run", env=env).err
    cli("backup", "create", "-o", "two.tar.gz", env=env)
    beside = app.folder / "two.lessons.jsonl"
    assert beside.stat().st_mode & 0o777 == 0o600
    other = {"ONTOREF_STATE_DIR": str(tmp_path / "other")}
    cli("backup", "restore", "one.tar.gz", "--yes", env=other)
    assert [one["id"] for one in cli.json("lesson", "search", "tabs", env=other)] == ["a"]
    assert "ontoref lesson import" in cli("backup", "restore", "two.tar.gz", "--yes", env=other).err
    cli("lesson", "import", str(beside), env=other)
    assert [one["id"] for one in cli.json("lesson", "list", env=other)] == ["a", "b"]
