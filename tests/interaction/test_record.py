"""`ontoref interaction record`: completed, checked, written once, or refused so that it can be mended."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App, Result

GOOD = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "Mended the help."}
OPTIONS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--summary", "Mended the help."]
AGENT = {"CLAUDECODE": "1", "ONTOREF_SESSION_ID": "s-42"}
ID = "01M8QPSYVZ1P2NQ1P7HN9N90K9"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Recorder:
    """Runs `record` as an agent does."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.folder = app.folder

    def __call__(self, *words: Any, stdin: Any = b"", env: dict[str, str] | None = None) -> Result:
        text = stdin if isinstance(stdin, (str, bytes)) else json.dumps(stdin)
        return self.app("interaction", "record", *words, stdin=text, env=AGENT if env is None else env)

    def lines(self) -> list[dict[str, Any]]:
        paths = sorted((self.folder / ".ontoref").rglob("*.jsonl"))
        return [json.loads(line) for path in paths for line in path.read_bytes().split(b"\n")[:-1]]

    def untouched(self) -> bool:
        return not (self.folder / ".ontoref").exists()


@pytest.fixture
def record(app: App) -> Recorder:
    return Recorder(app)


# What is asked of a record while it is written ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("started", "ended", "warned"),
    [
        ("2026-11-30T18:00:00Z", "2026-11-30T18:00:00Z", False),
        ("2026-11-30T18:00:00.7Z", "2026-11-30T18:00:00Z", False),
        ("2026-11-30T18:00:00Z", "2026-11-30T18:00:00.123456789Z", False),
        ("2026-11-30T18:00:01.5Z", "2026-11-30T18:00:00Z", True),
        ("2026-12-01T00:00:00Z", "2026-11-30T23:59:59.999Z", True),
    ],
)
def test_a_segment_that_ends_before_it_begins_is_recorded_with_a_warning(
    record: Recorder, started: str, ended: str, warned: bool
) -> None:
    done = record("-", "--format", "json", stdin={**GOOD, "started_at": started, "ended_at": ended})
    assert done.code == 0
    assert len(record.lines()) == 1
    told = [json.loads(line) for line in done.err.splitlines()]
    warnings = [one["warning"] for one in told if "warning" in one]
    assert [(one["rule"], one["pointer"]) for one in warnings] == [("time-order", "/ended_at")] * warned
    assert record.app("interaction", "validate", "--strict").code == 0


def test_moments_that_are_none_are_not_compared(record: Recorder) -> None:
    given = {**GOOD, "started_at": "yesterday", "ended_at": "2026-11-30T18:00:00Z"}
    done = record("-", "--format", "json", stdin=given)
    assert done.code == 1
    findings = json.loads(done.err.splitlines()[-1])["error"]["findings"]
    assert [(one["rule"], one["pointer"]) for one in findings] == [("pattern", "/started_at")]


# What is written -----------------------------------------------------------------------------------------------


def test_a_record_is_completed_with_what_can_be_known(record: Recorder, git: Callable[..., str]) -> None:
    """S4-1: one object on one line, and a newline at the end; its id and place are printed."""
    git("commit", "-q", "--allow-empty", "-m", "first")
    done = record("-", stdin=GOOD)
    assert done.code == 0, done.err
    (written,) = record.lines()
    identity, _, place = done.out.strip().partition("  ")
    assert written["id"] == identity
    assert place.startswith(".ontoref/interactions/")
    assert place.endswith(".jsonl:1")
    assert {k: written[k] for k in GOOD} == GOOD
    assert written["schema_version"] == 1
    assert written["session_id"] == "s-42"
    assert written["actor"] == "AgentClaude"
    assert written["revision"] == git("rev-parse", "HEAD").strip()
    assert written["vocabulary"].startswith("sha256:")
    assert written["origin"] == "Emitted"
    assert ".ontoref is new" in done.err
    assert record("-", stdin=GOOD).err == ""
    assert record.app("interaction", "validate").code == 0


@pytest.mark.parametrize(
    ("env", "words", "actor", "session"),
    [
        (AGENT, [], "AgentClaude", "s-42"),
        ({"CLAUDE_CODE_SESSION_ID": "c-1"}, [], "AgentClaude", "c-1"),
        ({"CLAUDE_CODE_SESSION_ID": "c-1", "ONTOREF_SESSION_ID": "o-1"}, [], "AgentClaude", "o-1"),
        ({"GEMINI_CLI": "1"}, ["--session", "g"], "AgentGemini", "g"),
        ({"ONTOREF_ACTOR": "Human", "CLAUDECODE": "1"}, ["--session", "h"], "Human", "h"),
        ({"ONTOREF_ACTOR": "Human"}, ["--actor", "Automation", "--session", "x"], "Automation", "x"),
    ],
)
def test_actor_and_session_come_from_the_nearest_source(
    record: Recorder, env: dict[str, str], words: list[str], actor: str, session: str
) -> None:
    done = record(*OPTIONS, *words, env={"CI": "", **env})
    assert done.code == 0, done.err
    (written,) = record.lines()
    assert (written["actor"], written["session_id"]) == (actor, session)


def test_what_was_given_wins(record: Recorder) -> None:
    given = {**GOOD, "session_id": "own", "actor": "Human", "recorded_at": "2025-01-02T03:04:05Z", "id": ID}
    assert record("-", "--session", "other", stdin=given).code == 0
    (written,) = record.lines()
    assert written | given == written
    assert [p.parent.as_posix() for p in record.folder.rglob("own-*.jsonl")] == [
        (record.folder / ".ontoref/interactions/2025/01").as_posix()
    ]


def test_options_build_a_record(record: Recorder, git: Callable[..., str]) -> None:
    """S4-8: op_ref stands without a witness."""
    (record.folder / "sub").mkdir()
    decision = {"id": "a-b", "reversible": True, "adr_candidate": False}
    words = [
        *OPTIONS, "--category", "Milestone", "--model", "m-1", "--event", '{"kind":"Finding","note":"x"}',
        "--action", '{"kind":"Edit","op_ref":"own"}', "--decision", json.dumps(decision),
        "--insight", '{"kind":"Pitfall","subject":"s"}', "--file", "sub/../a.py", "--tension", "speed-vs-safety",
        "--op-ref", "op-7", "--supersedes", ID, "--parent", ID, "--started", "2026-11-30T18:00:00Z",
    ]  # fmt: skip
    done = record(*words)
    assert done.code == 0, done.err
    (written,) = record.lines()
    assert written["events"] == [{"kind": "Finding", "note": "x", "op_ref": "op-7"}]
    assert written["actions"] == [{"kind": "Edit", "op_ref": "own"}]
    assert written["decisions"] == [decision]
    assert written["files_touched"] == ["a.py"]
    assert written["tensions_engaged"] == ["speed-vs-safety"]
    assert written["supersedes"] == [ID]
    assert "witness" not in written


def test_a_reference_to_nothing_is_warned_of_before_validate_refuses_it(record: Recorder) -> None:
    first = {**GOOD, "id": ID}
    other = "01JE4Q8ZT3W6M1K9V2C5N7X0RC"
    assert (
        f'supersedes[0]: no record "{ID}" is in the log'
        in record("-", "--dry-run", stdin={**GOOD, "supersedes": [ID]}).err
    )
    done = record("-", stdin="\n".join(json.dumps(r) for r in ({**GOOD, "parent_record": ID}, first)))
    assert done.code == 0
    assert "warning" not in done.err
    assert record("-", stdin={**GOOD, "supersedes": [ID]}).err == ""
    done = record("-", "--format", "json", stdin={**GOOD, "supersedes": [ID, other]})
    assert done.code == 0
    assert json.loads(done.err)["warning"]["location"] == "/supersedes/1"
    assert "[unknown-record]" in record.app("interaction", "validate", cwd=record.folder).out


@pytest.mark.parametrize("witness", [None, {"op_id": "o", "state_root": "a" * 40, "signature": "QUJD"}], ids=repr)
def test_a_witness_may_be_there_or_not(record: Recorder, witness: Any) -> None:
    """S4-7: absent is valid, present is checked for its shape; record drops nulls."""
    assert record("-", stdin={**GOOD, "witness": witness}).code == 0
    assert record.lines()[0].get("witness") == witness


def test_half_a_witness_is_refused(record: Recorder) -> None:
    """S4-7."""
    done = record("-", stdin={**GOOD, "witness": {"op_id": "o"}})
    assert done.code == 1
    assert "state_root" in done.err
    assert "signature" in done.err


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([GOOD, GOOD]),
        json.dumps([GOOD, GOOD], indent=2),
        f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}",
        f"\n{json.dumps(GOOD)}\r\n\r\n{json.dumps(GOOD)}\r\n",
        "\ufeff" + json.dumps([GOOD, GOOD]),
    ],
    ids=["array", "spread array", "lines", "CR LF and blank lines", "byte order mark"],
)
def test_many_records_come_as_array_or_as_lines(record: Recorder, text: str) -> None:
    """S4-1: n records are n lines."""
    done = record("-", "--format", "json", stdin=text.encode())
    assert done.code == 0, done.err
    places = json.loads(done.out)
    assert [place["line"] for place in places] == [1, 2]
    assert [set(place) for place in places] == [{"id", "path", "line"}] * 2
    assert [line["id"] for line in record.lines()] == [place["id"] for place in places]


def test_the_project_is_the_nearest_folder_up_to_the_top_of_git(record: Recorder, git: Callable[..., str]) -> None:
    inner = record.folder / "packages" / "one"
    (inner / "deep").mkdir(parents=True)
    assert record.app("interaction", "record", *OPTIONS, env=AGENT, cwd=inner / "deep").code == 0
    assert (record.folder / ".ontoref").is_dir()
    (inner / ".ontoref").mkdir()
    assert record.app("interaction", "record", *OPTIONS, env=AGENT, cwd=inner / "deep").code == 0
    assert (inner / ".ontoref" / "interactions").is_dir()


def test_the_log_may_lie_elsewhere(record: Recorder) -> None:
    (record.folder / ".ontoref").mkdir()
    (record.folder / ".ontoref" / "config.yaml").write_text("log: ../private\nactor: Human\n")
    done = record(*OPTIONS, env={"ONTOREF_SESSION_ID": "s"})
    assert done.code == 0, done.err
    assert [json.loads(p.read_text())["actor"] for p in (record.folder.parent / "private").rglob("*.jsonl")] == [
        "Human"
    ]
    assert record(*OPTIONS, "--log", "here").code == 0
    assert list((record.folder / "here").rglob("s-42-*.jsonl"))


def test_an_unknown_setting_is_named_with_what_was_meant(record: Recorder) -> None:
    (record.folder / ".ontoref").mkdir()
    (record.folder / ".ontoref" / "config.yaml").write_text("\nacter: Human\n")
    done = record(*OPTIONS)
    assert done.code == 2
    assert "config.yaml:2" in done.err
    assert 'did you mean "actor"?' in done.err


def test_files_come_from_git(record: Recorder, git: Callable[..., str]) -> None:
    for name in ("kept.py", "old.py", "gone.py"):
        (record.folder / name).write_text(name)
    git("add", "-A")
    git("commit", "-qm", "first")
    (record.folder / "old.py").write_text("new")
    (record.folder / "gone.py").unlink()
    (record.folder / "sub").mkdir()
    (record.folder / "sub" / "é b.py").write_text("")
    (record.folder / "bad\\name").write_text("")
    (record.folder / "sub" / "two").mkdir()
    done = record.app(
        "interaction", "record", *OPTIONS, "--files-from-git", env=AGENT, cwd=record.folder / "sub" / "two"
    )
    assert done.code == 0, done.err
    assert "left out" in done.err
    assert record.lines()[0]["files_touched"] == ["gone.py", "old.py", "sub/é b.py"]
    (record.folder / "bad\\name").unlink()
    git("add", "-A")
    git("commit", "-qm", "second")
    assert record(*OPTIONS, "--files-from-git", "HEAD~1").code == 0
    assert record.lines()[1]["files_touched"] == ["gone.py", "old.py", "sub/é b.py"]
    done = record(*OPTIONS, "--files-from-git", "no-such")
    assert done.code == 2
    assert "no-such" in done.err


def test_files_from_git_before_the_first_commit(record: Recorder, git: Callable[..., str]) -> None:
    (record.folder / "a").write_text("")
    (record.folder / "b").write_text("")
    git("add", "a")
    assert record(*OPTIONS, "--files-from-git").code == 0
    assert record.lines()[0]["files_touched"] == ["a", "b"]
    assert "revision" not in record.lines()[0]


# Retries and ids -----------------------------------------------------------------------------------------------


def test_a_retry_writes_once_and_says_so(record: Recorder) -> None:
    given = {**GOOD, "id": ID, "witness": {"op_id": "o", "state_root": "a" * 40, "signature": "QUJD"}}
    first = record("-", stdin=given)
    again = record("-", stdin={**given, "witness": {**given["witness"], "signature": "REVG"}})
    assert (first.code, again.code) == (0, 0)
    assert again.out.strip() == first.out.strip() + "  already recorded"
    assert len(record.lines()) == 1


def test_another_record_with_a_known_id_is_refused(record: Recorder) -> None:
    record("-", stdin={**GOOD, "id": ID})
    done = record("-", stdin={**GOOD, "id": ID, "kind": "Review"})
    assert done.code == 1
    assert "kind" in done.err
    assert "supersedes" in done.err
    assert len(record.lines()) == 1


def test_an_id_is_looked_for_in_the_whole_log(record: Recorder, git: Callable[..., str]) -> None:
    record("-", stdin={**GOOD, "id": ID, "recorded_at": "2025-01-01T00:00:00Z"})
    git("checkout", "-q", "-b", "other")
    assert record("-", stdin={**GOOD, "id": ID}, env={**AGENT, "ONTOREF_SESSION_ID": "other"}).out.endswith(
        "recorded\n"
    )


def test_an_id_that_stands_twice_in_a_batch(record: Recorder) -> None:
    one, two = {**GOOD, "id": ID}, {**GOOD, "id": ID, "kind": "Review"}
    assert record("-", stdin=[one, two]).code == 1
    assert record.untouched()
    done = record("-", stdin=[one, one])
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    assert len(record.lines()) == 1


def test_a_redacted_record_can_be_retried(record: Recorder) -> None:
    given = {**GOOD, "id": ID, "summary": f"with {TOKEN}"}
    assert record("-", "--redact", stdin=given).code == 0
    assert record("-", "--redact", stdin=given).out.endswith("already recorded\n")


# Secrets -------------------------------------------------------------------------------------------------------


def test_a_secret_is_warned_of_and_never_shown(record: Recorder) -> None:
    given = {**GOOD, "events": [{"kind": "Finding", "note": f"it is {TOKEN}"}]}
    done = record("-", stdin=given)
    assert done.code == 0
    assert "/events/0/note" in done.err
    assert "github-token" in done.err
    assert TOKEN not in done.err + done.out
    assert record.lines()[0]["events"][0]["note"].endswith(TOKEN)


@pytest.mark.parametrize("by", ["option", "config"])
def test_secrets_are_replaced_on_request(record: Recorder, by: str) -> None:
    if by == "config":
        (record.folder / ".ontoref").mkdir()
        (record.folder / ".ontoref" / "config.yaml").write_text("redact: true\n")
    done = record("-", *(["--redact"] if by == "option" else []), stdin={**GOOD, "summary": f"with {TOKEN}"})
    assert done.code == 0
    assert "warning" not in done.err
    assert record.lines()[0]["summary"] == "with [redacted:github-token]"


# What is refused -----------------------------------------------------------------------------------------------


def test_a_malformed_record_is_refused_and_nothing_is_written(record: Recorder) -> None:
    """S4-13: the sketch of a session in which an agent gets it wrong."""
    text = (
        '{"kind":"Fxi","domain":"Cli","outcome":"Done","summary":"x",\n "decisions":[{"id":"a","adr_candidate":true}]}'
    )
    (record.folder / "rec.json").write_text(text)
    done = record("rec.json")
    assert done.code == 1
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith('rec.json:1:9: kind: "Fxi" is not a Kind ')
    assert lines[0].endswith("[enum] /kind")
    assert 'did you mean "Fix"?  one of: Feature Fix' in lines[1]
    assert lines[2].startswith('rec.json:1:40: outcome: "Done" is not an Outcome')
    assert lines[4].startswith('rec.json:2:15: decisions[0]: "reversible" is missing')
    assert lines[-1] == "not recorded: 3 findings (nothing was written)"
    assert record.untouched()


def test_one_bad_record_keeps_a_batch_out(record: Recorder) -> None:
    """S4-13: a batch goes in whole or not at all."""
    done = record("-", stdin=f"{json.dumps(GOOD)}\n{json.dumps({**GOOD, 'kind': 'Nope'})}\n")
    assert done.code == 1
    assert done.err.startswith('-:2:10: kind: "Nope"')
    assert record.untouched()


def test_keep_going_writes_the_good_and_puts_the_others_aside(record: Recorder) -> None:
    bad = {**GOOD, "kind": "Nope"}
    text = f"{json.dumps(GOOD)}\n{json.dumps(bad)}\nnot json\n{json.dumps(GOOD)}\n"
    (record.folder / "rejects.jsonl").write_text("earlier\n")
    done = record("-", "--keep-going", "--rejects", "rejects.jsonl", stdin=text)
    assert done.code == 1
    assert len(record.lines()) == 2
    assert "2 of 4 not recorded" in done.err
    earlier, first, second = (record.folder / "rejects.jsonl").read_text().splitlines()
    assert (earlier, json.loads(first), second) == ("earlier", bad, "not json")
    assert record("-", "--rejects", "r", stdin=GOOD).code == 2


@pytest.mark.parametrize("text", [b'{"anything": [1, null]}', b'{"kind": "Fxi"}'])
def test_no_validate_still_demands_objects(record: Recorder, text: bytes) -> None:
    """S4-14: what is there is written unchecked, completed with an id, as one object a line."""
    done = record("-", "--no-validate", stdin=text)
    assert done.code == 0, done.err
    (written,) = record.lines()
    assert written["id"] == done.out.split()[0]
    assert record.app("interaction", "validate").code == 1


@pytest.mark.parametrize("text", [b"[]x", b"7", b'"text"', b'[{"a":1}, 7]', b'{"a":1}{"b":2}', b'{"a":', b"\xff"])
def test_no_validate_refuses_what_is_no_object(record: Recorder, text: bytes) -> None:
    """S4-14: the file stays JSONL."""
    assert record("-", "--no-validate", stdin=text).code == 1
    assert record.untouched()


def test_without_a_usable_session_a_record_is_unsorted(record: Recorder) -> None:
    assert record("-", "--no-validate", stdin={"session_id": 7}).code == 0
    assert [p.name for p in record.folder.rglob("*.jsonl")] == ["unsorted.jsonl"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
    ],
)
def test_nothing_to_record_is_a_wrong_call(record: Recorder, text: bytes, says: str) -> None:
    done = record("-", stdin=text)
    assert done.code == 2
    assert says in done.err


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        (b'{"kind": "Fix"', "-:1:15", "the text ends"),
        (b"{'kind': 1}", "-:1:2", "expected"),
        (b'{"kind": "Fix",\n "kind": "Fix"}', "-:2:2", "stands twice"),
        (b'{"summary": "\\ud800"}', "-:1:14", "half of a character"),
        (b'{"summary":\n "a\xffb"}', "-:2:4", "UTF-8"),
        ("{}".encode("utf-16"), "-:1:1", "UTF-16"),
        (b"[" * 100_000, "-:1:", "deep"),
        (b'{"x":' * 300 + b"1" + b"}" * 300, "-:1:", "deep"),
        (b'{"schema_version": 123456789012345678901234567890}', "-:1:20", "64 bits"),
        (b'{"schema_version": 1e999}', "-:1:20", "1e999"),
        (b'[1, {"kind": "Fix"}]', "-:1:2", "not an object"),
        (b"null", "-:1:1", "not an object"),
        (b'{"summary": "a\x00b"}', "-:1:15", "control"),
        (b'{"session_id": "a b"}', "-:1:16", "session_id"),
    ],
    ids=lambda v: repr(v[:24]),
)
def test_hostile_input_gets_an_answer(record: Recorder, text: bytes, place: str, says: str) -> None:
    """S4-13: what is wrong and where, in no time, and nothing is written."""
    done = record("-", stdin=text)
    assert done.code == 1, done.err
    assert place in done.err
    assert says in done.err
    assert "Traceback" not in done.err
    assert record.untouched()


def test_a_value_from_the_environment_is_named_by_its_source(record: Recorder) -> None:
    done = record(*OPTIONS, env={**AGENT, "ONTOREF_ACTOR": "Bob"})
    assert done.code == 1
    assert "ONTOREF_ACTOR" in done.err
    done = record(*OPTIONS, env={**AGENT, "ONTOREF_SESSION_ID": "a b"})
    assert done.code == 1
    assert "ONTOREF_SESSION_ID" in done.err


def test_control_characters_never_reach_the_terminal(record: Recorder) -> None:
    done = record("-", stdin={**GOOD, "kind": "\x1b[31mFix\u202e"})
    assert done.code == 1
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["rec.json", "--kind", "Fix"],
        ["--event", "{"],
        ["--event", "[]"],
        ["--file", "../outside"],
        [],
        ["missing.json"],
        ["--lock-timeout", "-1", *OPTIONS],
    ],
)
def test_a_wrong_call_is_exit_2(record: Recorder, words: list[str]) -> None:
    done = record(*words)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert record.untouched()


def test_errors_are_json_too(record: Recorder) -> None:
    done = record("-", "--format", "json", stdin={**GOOD, "kind": "Fxi"})
    assert (done.code, done.out) == (1, "")
    error = json.loads(done.err)["error"]
    assert error["kind"] == "refused"
    (finding,) = error["findings"]
    assert finding["suggestion"] == "Fix"
    assert finding["pointer"] == "/kind"
    assert "Fix" in finding["allowed"]


def test_a_warning_does_not_refuse(record: Recorder) -> None:
    done = record("-", stdin={**GOOD, "tensions_engaged": ["cats-vs-dogs"]})
    assert done.code == 0
    assert "warning" in done.err
    assert len(record.lines()) == 1


def test_a_dry_run_shows_the_record_and_writes_nothing(record: Recorder) -> None:
    done = record("-", "--dry-run", stdin=GOOD)
    assert done.code == 0
    assert json.loads(done.out)["kind"] == "Fix"
    assert record.untouched()
    assert record("-", "--dry-run", stdin={**GOOD, "kind": "x"}).code == 1


def test_a_broken_vocabulary_accepts_nothing(record: Recorder) -> None:
    schemas = record.folder / ".ontoref" / "schemas"
    schemas.mkdir(parents=True)
    done = record(*OPTIONS)
    assert done.code == 2
    assert "coder.yaml" in done.err
    assert list(record.folder.rglob("*.jsonl")) == []


def test_reading_and_asking_make_nothing(record: Recorder) -> None:
    """S4-19: a project that never emits is valid and pays nothing."""
    assert record.app("interaction", "validate").code == 0
    assert record("--help").code == 0
    assert record("-", stdin={"kind": "Fxi"}).code == 1
    assert record.untouched()


def test_a_closed_stdout_loses_no_record(record: Recorder, tmp_path: Path) -> None:
    import subprocess

    command = App.command("interaction", "record", *OPTIONS)
    with subprocess.Popen(
        command, cwd=record.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.read()
    assert process.returncode == 0
    assert len(record.lines()) == 1


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, **AGENT}


def test_every_actor_that_can_be_told_is_an_actor() -> None:
    from ontoref.vocabulary import load, load_table

    table = load_table("actors")
    assert {*table["variables"].values(), table["terminal"]} <= set(load().enum("ActorKind"))


def test_an_input_without_end_gets_an_answer(record: Recorder) -> None:
    """More than fits is not read to its end."""
    import subprocess

    words = App.command("interaction", "record", "-")
    with subprocess.Popen(words, cwd=record.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            while process.poll() is None:
                process.stdin.write(b'{"summary":"' + b"x" * (1 << 20))
        except BrokenPipeError:
            pass
        said = process.stderr.read()
    assert process.returncode == 2
    assert b"larger than" in said
    assert record.untouched()


def test_a_record_too_long_for_a_line_is_refused(record: Recorder) -> None:
    done = record("-", stdin={**GOOD, "summary": "x" * (33 << 20)})
    assert done.code == 1
    assert "at most" in done.err
    assert record.untouched()


def test_a_missing_actor_says_all_the_ways_to_name_one(app: App) -> None:
    result = app(
        "interaction", "record", "--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--summary", "x"
    )
    assert result.code == 1
    assert "--actor, ONTOREF_ACTOR" in result.err


def test_a_record_as_an_argument_is_told_where_it_belongs(record: Recorder) -> None:
    done = record('{"summary": "x"}')
    assert (done.code, "from a file or from stdin" in done.err, "record -" in done.err) == (2, True, True)
    assert record.untouched()
