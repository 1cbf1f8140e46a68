"""A session's draft: what is in it, what never is, and that the same session drafts it once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref import vocabulary
from ontoref.interaction.check import Checker
from ontoref.transcript import Memory, Source, TranscriptError, read, read_source
from ontoref.transcript.draft import Words, draft, relative, session_id, timestamp
from ontoref.transcript.observed import observe
from ontoref.transcript.report import SessionInfo
from ontoref.transcript.tooling import Tooling
from tests.conftest import SHARED, App

VOCABULARY = vocabulary.load()
WORDS = Words(
    Tooling.of(vocabulary.load_table("tools")),
    vocabulary.load_table("runtimes"),
    vocabulary.load_table("drafting"),
    VOCABULARY.enum("RecordOrigin").by_role("drafted"),
    VOCABULARY.digest,
)
NOW = "2026-11-30T12:00:00.000Z"
SECRET = "the secret plan of the prompt"


def line(record: Any) -> bytes:
    return json.dumps(record).encode() + b"\n"


def said(role: str, *content: Any, at: str = "2026-05-01T10:00:01Z", **more: Any) -> bytes:
    return line(
        {"type": "message", "id": None, "timestamp": at, "message": {"role": role, "content": list(content), **more}}
    )


def call(native: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": native, "name": name, "arguments": arguments}


def done(native: str, text: str = "ok", **more: Any) -> bytes:
    return said("toolResult", {"type": "text", "text": text}, toolCallId=native, **more)


HEADER = line(
    {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/home/ada/web"}
)
ASKED = said(
    "user", {"type": "text", "text": SECRET}, {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
)
ANSWER = said(
    "assistant", {"type": "text", "text": "done"}, model="m-1", stopReason="stop", at="2026-05-01T10:05:00.250Z"
)


def drafted(*lines: bytes, **more: Any) -> dict[str, Any]:
    transcript = read_source(Source("s-1.jsonl", [HEADER, *lines], Memory()), "openclaw")
    record = draft(transcript.events, transcript.report, WORDS, recorded_at=NOW, **more).record
    assert Checker(VOCABULARY).check_value(record, "draft") == []
    return record


def table_members(value: Any) -> set[str]:
    """The words on the right sides of a table."""
    if isinstance(value, dict):
        return set().union(*(table_members(inner) for inner in value.values())) if value else set()
    return {value} if isinstance(value, str) else set()


def test_every_member_in_the_tables_exists() -> None:
    tools, drafting = vocabulary.load_table("tools"), vocabulary.load_table("drafting")
    kinds = set(VOCABULARY.enum("ActionKind"))
    for name in ("tools", "verbs", "commands", "changes", "other"):
        assert table_members(tools[name]) <= kinds, name
    assert table_members(vocabulary.load_table("runtimes")) <= set(VOCABULARY.enum("ActorKind"))
    assert table_members(drafting["events"]) <= set(VOCABULARY.enum("EventKind"))
    assert table_members(drafting["results"]) <= set(VOCABULARY.enum("ActionResult"))
    assert table_members(drafting["outcomes"]) <= set(VOCABULARY.enum("Outcome"))
    assert {rule["kind"] for rule in drafting["kinds"]} <= set(VOCABULARY.enum("Kind"))
    assert {rule["action"] for rule in drafting["kinds"] if "action" in rule} <= kinds
    domains = {rule["domain"] for rule in drafting["domains"]} | {drafting["other_domain"]}
    assert domains <= set(VOCABULARY.enum("Domain"))
    assert drafting["kinds"][-1].get("always") is True


def test_every_runtime_has_an_actor() -> None:
    from ontoref.transcript import READERS

    assert READERS.keys() <= vocabulary.load_table("runtimes")["actors"].keys()


def test_a_draft_says_what_can_be_known() -> None:
    record = drafted(
        ASKED,
        said("assistant", call("1", "read", path="src/a.py"), call("2", "write", path="src/b.py", content="x")),
        done("1"),
        done("2"),
        said("assistant", call("3", "exec", command="cd x && pytest -q --token=abc")),
        done("3", "1 failed", details={"exitCode": 1}),
        ANSWER,
    )
    assert record["session_id"] == "s-1"
    assert record["started_at"] == "2026-05-01T10:00:00.000Z"
    assert record["ended_at"] == "2026-05-01T10:05:00.250Z"
    assert record["model"] == "m-1"
    assert record["files_touched"] == ["src/b.py"]
    assert [(a["target"], a["result"]) for a in record["actions"]] == [
        ("src/a.py", WORDS.drafting["results"]["ok"]),
        ("src/b.py", WORDS.drafting["results"]["ok"]),
        ("exec", WORDS.drafting["results"]["error"]),
    ]
    assert [a["kind"] for a in record["actions"]] == [
        WORDS.tools.tools["read"],
        WORDS.tools.changes["write"],
        WORDS.tools.commands["pytest"],
    ]
    events = WORDS.drafting["events"]
    assert [e["kind"] for e in record["events"]] == [events["prompt"], events["error"]]
    assert record["outcome"] == WORDS.drafting["outcomes"]["answered"]
    assert record["origin"] == WORDS.origin
    assert record["vocabulary"] == VOCABULARY.digest
    assert not record.keys() & {"decisions", "insights", "revision", "witness"}
    assert "1 prompt, 1 answer, 3 tool calls (1 failed), 1 file changed" in record["summary"]


def test_a_draft_holds_no_text_of_the_session_and_no_command_line() -> None:
    record = drafted(
        ASKED,
        said(
            "assistant",
            {"type": "thinking", "thinking": "musing"},
            call("1", "exec", command="curl -H 'X: hunter2' x"),
            call("2", "write", path="/etc/elsewhere/x", content="hunter3"),
        ),
        done("1", "hunter4"),
        done("2"),
        ANSWER,
    )
    written = json.dumps(record)
    for text in (SECRET, "iVBOR", "hunter", "curl", "musing", "elsewhere", "/home/ada"):
        assert text not in written


def test_with_redaction_the_first_prompt_is_the_summary() -> None:
    record = drafted(ASKED, said("user", "second"), ANSWER, redact=lambda text: text.replace("secret", "[redacted:x]"))
    assert record["summary"].startswith("the [redacted:x] plan of the prompt\n\n")
    assert "second" not in record["summary"]
    assert "iVBOR" not in json.dumps(record)


def test_a_prompt_after_an_interruption_is_a_correction() -> None:
    record = drafted(ASKED, said("assistant", stopReason="aborted"), said("user", "not so"), ANSWER)
    events = WORDS.drafting["events"]
    assert [e["kind"] for e in record["events"]] == [events["prompt"], events["prompt-after-interruption"]]


def test_a_turn_that_codex_aborted_is_an_interruption() -> None:
    def event(kind: str, **payload: Any) -> bytes:
        return line({"timestamp": "2026-05-01T10:00:00Z", "type": "event_msg", "payload": {"type": kind, **payload}})

    meta = line({"timestamp": "2026-05-01T10:00:00Z", "type": "session_meta", "payload": {"id": "c", "cwd": "/w"}})
    asked = event("user_message", message="go")
    lines = [meta, asked, event("turn_aborted", reason="interrupted"), asked, asked]
    seen = observe(read_source(Source("rollout.jsonl", lines, Memory()), "codex").events)
    assert [moment.signal for moment in seen.moments] == ["prompt", "prompt-after-interruption", "prompt"]


@pytest.mark.parametrize(
    ("lines", "ended"),
    [
        pytest.param([], "silent", id="nothing"),
        pytest.param([ASKED], "silent", id="never answered"),
        pytest.param([ASKED, ANSWER], "answered", id="answered"),
        pytest.param([ASKED, ANSWER, ASKED], "open", id="a question left"),
        pytest.param([ASKED, said("assistant", call("1", "read", path="a"))], "open", id="a call left"),
        pytest.param(
            [ASKED, said("assistant", stopReason="error", errorMessage="quota")], "error", id="the model failed"
        ),
        pytest.param([ASKED, said("assistant", stopReason="aborted")], "interrupted", id="stopped"),
    ],
)
def test_how_it_ended(lines: list[bytes], ended: str) -> None:
    transcript = read_source(Source("s.jsonl", [HEADER, *lines], Memory()), "openclaw")
    assert observe(transcript.events).ended == ended


def test_what_had_been_changed_softens_the_outcome() -> None:
    edit = said("assistant", call("1", "write", path="a.py")), done("1")
    outcomes = WORDS.drafting["outcomes"]
    stopped = said("assistant", stopReason="aborted")
    assert drafted(ASKED, *edit, stopped)["outcome"] == outcomes["interrupted"]
    assert drafted(ASKED, stopped)["outcome"] == outcomes["interrupted-unchanged"]


def test_what_the_person_says_wins() -> None:
    kind = list(VOCABULARY.enum("Kind"))[1]
    record = drafted(ASKED, ANSWER, given={"kind": kind, "summary": "Mended the login."})
    assert (record["kind"], record["summary"]) == (kind, "Mended the login.")


def test_decisions_come_only_from_what_the_session_recorded_itself() -> None:
    own = [
        {"decisions": [{"id": "a", "reversible": True, "adr_candidate": False}]},
        {"decisions": [{"id": "a", "reversible": False, "adr_candidate": True}]},
    ]
    record = drafted(ASKED, ANSWER, own_of=lambda name: own if name == "s-1" else [])
    assert record["decisions"] == [{"id": "a", "reversible": False, "adr_candidate": True}]


def test_the_id_depends_on_the_session_alone() -> None:
    first = drafted(ASKED, ANSWER)
    transcript = read_source(Source("s-1.jsonl", [HEADER, ASKED, ANSWER], Memory()), "openclaw")
    again = draft(transcript.events, transcript.report, WORDS, recorded_at="2027-01-01T00:00:00Z").record
    assert again["id"] == first["id"]
    assert drafted(ASKED, ANSWER, ASKED)["id"] != first["id"]


@pytest.mark.parametrize(
    ("path", "top", "expected"),
    [
        ("/w/a/b.py", "/w", "a/b.py"),
        ("a/b.py", "/w", "a/b.py"),
        ("a/../b.py", "/w", "b.py"),
        ("/w", "/w", None),
        ("/wide/b.py", "/w", None),
        ("../b.py", "/w", None),
        ("/w/.git/x", "/w", ".git/x"),
        ("/w/a\\b", "/w", None),
        ("/w/a b.py", "/w", "a b.py"),
        ("/w/trailing. ", "/w", None),
        (r"C:\Proj\src\A.cs", r"c:\proj", "src/A.cs"),
        (r"C:\Other\A.cs", r"c:\proj", None),
        ("src/A.cs", r"C:\proj", "src/A.cs"),
        (r"C:\x.cs", "/w", None),
        ("x/y.py", None, "x/y.py"),
        ("/x/y.py", None, None),
        ("~/y.py", None, None),
        ("masked/work/x/y.md", "masked/work", "x/y.md"),
        ("", "/w", None),
    ],
)
def test_paths_are_those_of_the_repository(path: str, top: str | None, expected: str | None) -> None:
    assert relative(path, top) == expected


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_id_and_any_path_keep_the_shape_of_a_record(text: str) -> None:
    info = SessionInfo("pi", text or "x", "x")
    name = session_id(info)
    checker = Checker(VOCABULARY)
    base = drafted(ASKED)
    place = relative(text, "/w")
    record = base | {"session_id": name} | ({"files_touched": [place]} if place else {})
    assert checker.check_value(record, "draft") == []


@pytest.mark.parametrize("value", [None, 0, -1.0, 1e18, float("inf"), float("nan")])
def test_times_that_are_none_are_left_out(value: float | None) -> None:
    assert timestamp(value) is None


@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("Read", {}, "read"),
        ("mcp__files__read_file", {}, "read_file"),
        ("context7__get-library-docs", {}, None),
        ("Bash", {"command": "git commit -m x"}, "git commit"),
        ("Bash", {"command": "FOO=1 sudo git push"}, "git push"),
        ("shell", {"command": ["bash", "-lc", "cd a && npm test"]}, "npm test"),
        ("shell", {"command": ["go", "test", "./..."]}, "go test"),
        ("exec_command", {"cmd": "rg -n x | head"}, "rg"),
    ],
)
def test_calls_are_kinds_of_actions(name: str, given: Any, key: str | None) -> None:
    tools = WORDS.tools
    expected = tools.verbs["get"] if key is None else tools.commands.get(key) or tools.tools[key]
    assert tools.kind(name, given) == expected


@pytest.mark.parametrize("name", ["TodoWrite", "update_plan", "mcp__x__wait"])
def test_calls_that_do_nothing_are_no_actions(name: str) -> None:
    assert WORDS.tools.kind(name, {}) is None


@pytest.mark.parametrize("given", [None, 5, "x", [], [1], {"command": 5}, {"command": [1, None]}, {"cmd": "&&;|"}])
def test_strange_arguments_are_just_a_run(given: Any) -> None:
    assert WORDS.tools.kind("bash", given) == WORDS.tools.tools["bash"]


@pytest.mark.shared
def test_every_shared_file_drafts_a_valid_record() -> None:
    checker = Checker(VOCABULARY)
    made = 0
    for path in sorted((SHARED / "transcripts").rglob("*")):
        if not path.is_file():
            continue
        try:
            transcript = read(path)
        except TranscriptError:
            continue
        record = draft(transcript.events, transcript.report, WORDS, recorded_at=NOW, redact=str).record
        if transcript.report.apart is None:
            made += 1
            assert checker.check_line(orjson.dumps(record), str(path), 1) == []
    assert made > 40


# The command.


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(HEADER + ASKED + said("assistant", call("1", "write", path="a.py")) + done("1") + ANSWER)
    return path


def drafts_of(app: App) -> list[dict[str, Any]]:
    found = (app.folder / ".ontoref" / "drafts").glob("*.jsonl")
    return [json.loads(text) for path in sorted(found) for text in path.read_text().splitlines()]


def test_drafting_ten_times_leaves_one_draft(app: App, git: Any, session: Path) -> None:
    first = app("transcript", "draft", session, "--runtime", "openclaw")
    assert first.code == 0, first.err
    for _ in range(9):
        again = app("transcript", "draft", session, "--runtime", "openclaw", "--format", "json")
        assert json.loads(again.out)[0]["status"] == "unchanged"
    (record,) = drafts_of(app)
    assert record["id"] in first.out
    assert f"drafted as {record['kind']} in {record['domain']}" in first.err
    assert git("status", "--porcelain") == ""


def test_a_changed_session_supersedes_its_last_draft(app: App, session: Path) -> None:
    app("transcript", "draft", session, "--runtime", "openclaw")
    with session.open("ab") as file:
        file.write(ASKED + ANSWER)
    app("transcript", "draft", session, "--runtime", "openclaw")
    old, new = drafts_of(app)
    assert new["supersedes"] == [old["id"]]
    assert app("transcript", "draft", session, "--runtime", "openclaw").code == 0
    assert len(drafts_of(app)) == 2


def test_a_dry_run_prints_the_record_and_writes_nothing(app: App, session: Path) -> None:
    shown = app("transcript", "draft", session, "--runtime", "openclaw", "--dry-run", "--format", "json")
    assert json.loads(shown.out)["files_touched"] == ["a.py"]
    assert not (app.folder / ".ontoref").exists()


def test_a_word_that_the_vocabulary_lacks_is_refused(app: App, session: Path) -> None:
    refused = app("transcript", "draft", session, "--runtime", "openclaw", "--kind", "Fxi")
    assert refused.code == 1
    assert "did you mean" in refused.err
    assert not (app.folder / ".ontoref").exists()


def editor(folder: Path, code: str) -> dict[str, str]:
    script = folder / "edit.py"
    script.write_text(f"import json, sys\npath = sys.argv[1]\nrecord = json.load(open(path))\n{code}\n")
    return {"EDITOR": f'"{sys.executable}" "{script}"', "VISUAL": ""}


def test_what_the_editor_gives_back_is_validated(app: App, session: Path, tmp_path: Path) -> None:
    words = ("transcript", "draft", session, "--runtime", "openclaw", "--edit")
    broken = app(*words, env=editor(tmp_path, "record['kind'] = 'Fxi'; json.dump(record, open(path, 'w'))"))
    assert broken.code == 1
    assert "kept in" in broken.err
    assert drafts_of(app) == []
    mended = app(*words, env=editor(tmp_path, "record['summary'] = 'By hand.'; json.dump(record, open(path, 'w'))"))
    assert mended.code == 0, mended.err
    assert [record["summary"] for record in drafts_of(app)] == ["By hand."]
    assert app("transcript", "draft", session, "--runtime", "openclaw").code == 0
    assert len(drafts_of(app)) == 1
    assert app(*words, env={"EDITOR": "", "VISUAL": ""}).code == 2


def test_children_are_records_below_their_parent(app: App, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    base = {
        "sessionId": "c",
        "cwd": "/w",
        "version": "2.1.0",
        "userType": "external",
        "timestamp": "2026-01-01T00:00:00Z",
    }
    spawn = {"type": "tool_use", "id": "t", "name": "Agent", "input": {"prompt": "go", "description": "d"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "found"}
    (folder / "c" / "subagents").mkdir(parents=True)
    (folder / "c.jsonl").write_bytes(
        line({"type": "user", "uuid": "1", "parentUuid": None, **base, "message": {"role": "user", "content": "ask"}})
        + line(
            {
                "type": "assistant",
                "uuid": "2",
                "parentUuid": "1",
                **base,
                "message": {"id": "m", "role": "assistant", "content": [spawn]},
            }
        )
        + line(
            {
                "type": "user",
                "uuid": "3",
                "parentUuid": "2",
                **base,
                "toolUseResult": {"agentId": "ag1"},
                "message": {"role": "user", "content": [result]},
            }
        )
    )
    side = {**base, "isSidechain": True, "agentId": "ag1"}
    (folder / "c" / "subagents" / "agent-ag1.jsonl").write_bytes(
        line({"type": "user", "uuid": "4", "parentUuid": None, **side, "message": {"role": "user", "content": "go"}})
        + line(
            {
                "type": "assistant",
                "uuid": "5",
                "parentUuid": "4",
                **side,
                "message": {"id": "n", "role": "assistant", "content": [{"type": "text", "text": "found"}]},
            }
        )
    )
    shown = app("transcript", "draft", folder / "c.jsonl", "--children", "--dry-run", "--format", "json")
    assert shown.code == 0, shown.err
    parent, child = json.loads(shown.out)
    assert child["parent_record"] == parent["id"]
    assert child["session_id"] == "c:agent-ag1"


def test_decisions_that_the_session_recorded_are_in_its_draft(app: App, session: Path) -> None:
    decision = {"id": "keep-it", "reversible": True, "adr_candidate": True, "rationale": "Because."}
    own = drafted(ASKED, ANSWER) | {
        "decisions": [decision],
        "origin": VOCABULARY.enum("RecordOrigin").by_role("emitted"),
    }
    draft_of_it = drafted(ASKED, ANSWER) | {"decisions": [decision | {"id": "not-this"}]}
    other = own | {"session_id": "s-2", "decisions": [decision | {"id": "nor-this"}]}
    log = app.folder / ".ontoref" / "interactions" / "2026" / "05" / "x.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in (own, draft_of_it, other)))
    shown = app("transcript", "draft", session, "--runtime", "openclaw", "--dry-run", "--format", "json")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["decisions"] == [decision]


def test_an_index_cannot_name_a_child_outside_its_folder(app: App, tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (tmp_path / "agents" / "secret.jsonl").write_bytes(HEADER + ASKED)
    key = "agent:main:subagent:u"
    (folder / "sessions.json").write_text(json.dumps({key: {"sessionId": "../../secret"}}))
    spawned = done("1", details={"status": "accepted", "childSessionKey": key, "runId": "r"})
    (folder / "s-1.jsonl").write_bytes(
        HEADER + ASKED + said("assistant", call("1", "sessions_spawn", task="t")) + spawned
    )
    shown = app("transcript", "draft", folder / "s-1.jsonl", "--children", "--dry-run", "--format", "jsonl")
    assert shown.code == 0, shown.err
    assert len(shown.out.splitlines()) == 1


def test_recording_twice_adds_one_record_and_a_changed_session_supersedes_it(app: App, git: Any, session: Path) -> None:
    words = ("transcript", "draft", session, "--runtime", "openclaw", "--record", "--format", "json")
    (first,) = json.loads(app(*words).out)
    assert first["status"] == "recorded"
    assert first["path"].replace("\\", "/").startswith(".ontoref/interactions/")
    (again,) = json.loads(app(*words).out)
    assert (again["status"], again["id"], again["line"]) == ("already recorded", first["id"], 1)
    with session.open("ab") as file:
        file.write(ASKED + ANSWER)
    (later,) = json.loads(app(*words).out)
    record = json.loads((app.folder / later["path"]).read_text().splitlines()[later["line"] - 1])
    assert record["supersedes"] == [first["id"]]
    assert app("interaction", "validate").code == 0
    listed = app("interaction", "records", "--format", "json")
    assert [row["id"] for row in json.loads(listed.out)] == [later["id"]]


def test_what_was_edited_is_what_is_recorded(app: App, session: Path, tmp_path: Path) -> None:
    words = ("transcript", "draft", session, "--runtime", "openclaw")
    env = editor(tmp_path, "record['summary'] = 'By hand.'; json.dump(record, open(path, 'w'))")
    assert app(*words, "--edit", env=env).code == 0
    (row,) = json.loads(app(*words, "--record", "--format", "json").out)
    assert json.loads((app.folder / row["path"]).read_text())["summary"] == "By hand."


def test_the_prompt_comes_only_when_asked_for_and_without_its_secrets(app: App, tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(HEADER + said("user", "use postgres://ada:correct-horse@db/x please") + ANSWER)
    words = ("transcript", "draft", path, "--runtime", "openclaw", "--dry-run", "--format", "json")
    assert "please" not in app(*words).out
    shown = json.loads(app(*words, "--with-prompt").out)
    assert "please" in shown["summary"]
    assert "correct-horse" not in shown["summary"]
    assert "[redacted:" in shown["summary"]


def test_a_secret_elsewhere_is_a_warning_and_is_replaced_on_request(app: App, tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    secret = "ghp_" + "a1B2" * 9
    path.write_bytes(HEADER + ASKED + said("assistant", call("1", "write", path=f"{secret}.txt")) + done("1"))
    words = ("transcript", "draft", path, "--runtime", "openclaw", "--dry-run", "--format", "json")
    warned = app(*words)
    assert warned.code == 0
    assert "--redact" in warned.err
    replaced = app(*words, "--redact")
    assert replaced.code == 0, replaced.err
    assert secret not in replaced.out
    assert replaced.err == ""
    assert json.loads(replaced.out)["id"] != json.loads(warned.out)["id"]


# typer itself imports names that newer releases of click deprecate.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.shared
def test_every_draft_of_every_shared_file_passes_validate(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from ontoref.cli.main import run

    monkeypatch.chdir(app.folder)
    made = 0
    for path in sorted((SHARED / "transcripts").rglob("*")):
        if path.is_file() and path.suffix != ".md":
            codes = [run(["transcript", "draft", str(path), "--format", "json"]) for _ in range(2)]
            made += codes == [0, 0]
    assert made > 70
    assert app("interaction", "validate", ".ontoref/drafts").code == 0
    ids = [record["id"] for record in drafts_of(app)]
    assert len(set(ids)) == len(ids)
