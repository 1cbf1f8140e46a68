"""From a correction in a transcript to a rule that an agent reads, through the command line alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import App
from tests.lesson.running import Lessons
from tests.state.samples import SESSION, claude_line

STARTED = [
    ("user", "Write a Makefile."),
    ("assistant", "Here is a Makefile, indented with spaces."),
    ("user", "no, use tabs in Makefiles. My token is ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("assistant", "Done: tabs."),
    ("user", "Thanks, now the README."),
]


def transcript(folder: Path, said: list[tuple[str, str]] | None = None, session: str = SESSION) -> Path:
    path = folder / f"{session}.jsonl"
    lines = [claude_line(n, session, text, kind) for n, (kind, text) in enumerate(said or STARTED, 1)]
    path.write_bytes(b"".join(lines))
    return path


@pytest.fixture
def cli(app: App, tmp_path: Path) -> Lessons:
    return Lessons(app, tmp_path / "state")


def test_a_correction_becomes_a_reviewed_lesson_that_agents_read(cli: Lessons, tmp_path: Path) -> None:
    """The whole way: S1-47 to S1-58."""
    source = transcript(tmp_path)
    imported = cli("transcript", "import", str(source))
    assert "1 candidate for lessons" in imported.err
    (candidate,) = cli.json("lesson", "candidates")
    assert candidate["excerpt"].startswith("no, use tabs in Makefiles.")
    assert "ghp_" not in json.dumps(candidate)
    assert candidate["signals"] == ["correction"]
    assert candidate["context"] == "Here is a Makefile, indented with spaces. 2"
    assert candidate["scope"] == {"agent_id": "claude-code", "workspace": "/home/me/project"}
    assert cli.json("lesson", "list") == []

    ran = cli.json("lesson", "run", "promote")
    assert ran[0] | {"error": None} == ran[0]
    assert (ran[0]["candidates"], ran[0]["proposed"]) == (1, 1)
    assert cli.json("lesson", "candidates") == []
    (proposal,) = cli.json("lesson", "proposals")
    assert (proposal["action"], proposal["status"]) == ("create", "pending")
    assert cli.json("lesson", "list") == []
    assert "use tabs" not in cli("lesson", "brief").out

    words = ["--statement", "Indent Makefiles with tabs.", "--tag", "make", "--reason", "make demands it"]
    accepted = cli("lesson", "accept", proposal["id"][:8], *words).out.strip()
    (lesson,) = cli.json("lesson", "list")
    assert (lesson["id"], lesson["statement"], lesson["tags"]) == (accepted, "Indent Makefiles with tabs.", ["make"])
    assert lesson["active"] is True
    (seen,) = lesson["evidence"]
    assert seen["session_id"] == f"claude-code:{SESSION}"
    assert seen["event_id"] in cli("transcript", "events", seen["session_id"]).out
    assert [hit["id"] for hit in cli.json("lesson", "search", "MAKEFILES", "tab")] == [accepted]
    brief = cli("lesson", "brief", "--scope", "workspace=/home/me/project", "--budget", "100").out
    assert brief == "## Lessons\n\n- Indent Makefiles with tabs.\n"
    assert cli("lesson", "brief", "--scope", "workspace=/home/me/other").out == ""

    newer = cli("lesson", "supersede", accepted, "--statement", "Indent with tabs everywhere.", "--reason", "gofmt")
    chain = cli.json("lesson", "chain", newer.out.strip())
    assert [one["statement"] for one in chain] == ["Indent Makefiles with tabs.", "Indent with tabs everywhere."]
    assert [one["active"] for one in chain] == [False, True]
    assert cli("lesson", "brief").out == "## Lessons\n\n- Indent with tabs everywhere.\n"

    story = [(one["actor"], one["action"], one["record_id"]) for one in cli.json("lesson", "audit")]
    assert story == [
        ("ana", "accepted", proposal["id"]),
        ("ana", "create", accepted),
        ("store", "supersede", accepted),
    ]
    # Nothing comes twice.
    again = cli("transcript", "import", str(source))
    assert "candidates" not in again.err
    cli("lesson", "capture", "--all")
    assert cli.json("lesson", "run")[0]["candidates"] == 0


def test_with_capture_off_nothing_is_kept(cli: Lessons, tmp_path: Path) -> None:
    """S1-47"""
    source = transcript(tmp_path)
    cli("transcript", "import", str(source), env={"ONTOREF_CAPTURE": "off"})
    cli("lesson", "capture", "--all", env={"ONTOREF_CAPTURE": "off"})
    assert cli.json("lesson", "candidates") == []
    cli("lesson", "capture", "--all")
    assert len(cli.json("lesson", "candidates")) == 1
    cli("lesson", "capture", "--all", code=2, env={"ONTOREF_CAPTURE": "maybe"})


def test_a_session_that_grows_is_captured_once(cli: Lessons, tmp_path: Path) -> None:
    """S1-51: only what is new is told, and a session that cannot be read costs no other."""
    transcript(tmp_path, STARTED[:3])
    assert "1 candidate" in cli("transcript", "import", str(tmp_path / f"{SESSION}.jsonl")).err
    source = transcript(tmp_path, [*STARTED, ("user", "stop, never push to main")])
    assert "1 candidate" in cli("transcript", "import", str(source)).err
    assert len(cli.json("lesson", "candidates")) == 2
    again = cli("lesson", "capture", SESSION)
    assert "1 session read, 0 new candidates" in again.err
