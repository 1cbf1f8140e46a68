"""Where the command line meets terminals, odd places and odd targets."""

from __future__ import annotations

import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ontoref.text import printable_json
from tests.conftest import App

RECORD = {
    "kind": "Fix",
    "domain": "Cli",
    "outcome": "Completed",
    "actor": "Human",
    "session_id": "s-1",
    "summary": "a \u202e b \x9b c \x7f é\n",
}
posix = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals and pipes as files")


def recorded(app: App) -> None:
    assert app("interaction", "record", "-", stdin=json.dumps(RECORD)).code == 0


def on_terminal(app: App, *words: str) -> str:
    """What the app puts on stdout where that is a terminal."""
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen(app.command(*words), cwd=app.folder, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        said = b""
        try:
            while block := os.read(ours, 1 << 16):
                said += block
        except OSError:  # the other end is closed
            pass
        process.wait(60)
    os.close(ours)
    return said.decode()


@posix
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_on_a_terminal_cannot_steer_it_and_is_the_same_json(app: App, form: str) -> None:
    recorded(app)
    piped = app("interaction", "records", "--format", form).out
    shown = on_terminal(app, "interaction", "records", "--format", form)
    assert "\u202e" in piped
    assert not {"\u202e", "\x9b", "\x7f"} & set(shown)
    assert "é" in shown
    assert json.loads(shown) == json.loads(piped)


@posix
@pytest.mark.parametrize(
    "words",
    [
        ["interaction", "record", "rec.json", "--dry-run"],
        ["interaction", "record", "rec.json", "--dry-run", "--format", "json"],
        ["interaction", "records", "--format", "csv", "--columns", "summary"],
        ["interaction", "show", "--format", "json"],
        ["interaction", "export", "--prose", "--format", "csv"],
    ],
    ids=" ".join,
)
def test_no_text_of_a_record_steers_a_terminal(app: App, words: list[str]) -> None:
    recorded(app)
    (app.folder / "rec.json").write_text(json.dumps(RECORD))
    if words[1] == "show":
        words = [*words, json.loads(app("interaction", "records", "--format", "jsonl").out)["id"]]
    shown = on_terminal(app, *words)
    assert "u202e" in shown
    assert not {"\u202e", "\x9b", "\x7f"} & set(shown)


def test_escaped_json_is_the_same_value() -> None:
    value = {"a\u2028": ["\u202e\x7f\x9b\ufeff", "tab\t", "line\n", "é", "\\u202e"]}
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, ensure_ascii=False, indent=2)):
        assert json.loads(printable_json(text)) == value
        assert "\u202e" not in printable_json(text)


def test_findings_go_into_a_file_beside_us(app: App) -> None:
    recorded(app)
    done = app("interaction", "validate", "--format", "sarif", "--output", "out.sarif")
    assert done.code == 0, done.err
    assert json.loads((app.folder / "out.sarif").read_text())["version"] == "2.1.0"
    assert "written to out.sarif" in done.err


@posix
@pytest.mark.parametrize("command", [["interaction", "validate"], ["interaction", "export"]], ids=" ".join)
def test_what_is_no_file_is_written_to_and_never_replaced(app: App, command: list[str]) -> None:
    recorded(app)
    fifo = app.folder / "fifo"
    os.mkfifo(fifo)
    form = ["--format", "json"] if command[-1] == "validate" else ["--format", "csv"]
    ours = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen(app.command(*command, *form, "--output", "fifo"), cwd=app.folder) as process:
        assert process.wait(60) == 0
    assert os.read(ours, 1)
    os.close(ours)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_summary_counts_warnings_in_plain_words(app: App) -> None:
    recorded(app)
    log = next(app.folder.rglob("*.jsonl"))
    log.write_bytes(log.read_bytes() + b"\n")
    assert app("interaction", "validate").err.startswith("1 warning in 1 of 1 file, 1 record (")
    log.write_bytes(log.read_bytes() + b"[]\n")
    assert app("interaction", "validate").err.startswith("2 findings (1 warning) in 1 of 1 file, 1 record (")


def test_a_skipped_line_is_named_as_validate_names_it(app: App) -> None:
    recorded(app)
    log = next(app.folder.rglob("*.jsonl"))
    log.write_bytes(log.read_bytes() + b"[]\n")
    place = f"{log.relative_to(app.folder).as_posix()}:2:"
    assert app("interaction", "validate").out.startswith(place)
    assert app("interaction", "records").err.splitlines()[-2].startswith(place)


def test_a_folder_that_cannot_be_made_is_not_said_to_be_new(app: App) -> None:
    (app.folder / ".ontoref").write_text("a file where the folder would be")
    done = app("interaction", "record", "-", stdin=json.dumps(RECORD))
    assert done.code == 2
    assert "is new" not in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (".ontoref/config.yaml", "logg: x\n", 'there is no setting "logg"\n    did you mean "log"?  one of: '),
        (".ontoref/config.yaml", "log: [\n", "version control"),
        (".ontoref/schemas/coder.yaml", "a: [\n", "version control"),
    ],
)
def test_a_broken_file_of_ours_says_where_and_what_to_do(app: App, file: str, text: str, said: str) -> None:
    assert app("init").code == 0
    (app.folder / file).write_text(text)
    for words in (["interaction", "validate"], ["interaction", "record", "-"], ["interaction", "records"]):
        done = app(*words, stdin=json.dumps(RECORD))
        assert done.code == 2
        assert f"{file}:" in done.err
        assert said in done.err
    assert not [*app.folder.rglob("*.jsonl")]


def test_a_value_that_is_cut_still_ends_in_its_quote(app: App) -> None:
    done = app("interaction", "record", "-", stdin=json.dumps({**RECORD, "kind": "long " * 40}))
    assert '…" is not a Kind' in done.err


def test_instructions_for_all_agents_wire_none_of_them(app: App, git: Callable[..., str]) -> None:
    app("init")
    states = {row["hook"]: row["state"] for row in json.loads(app("hook", "status", "--format", "json").out)}
    assert states["codex"] == states["cursor"] == states["claude-code"] == "absent"


@pytest.mark.parametrize(
    "words",
    [
        ("interaction", "record", "-"),
        ("init",),
        ("key", "new", "--owner", "Ana"),
        ("hook", "install", "claude-code", "--yes"),
        ("transcript", "draft", "nothing"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("place", ["bare.git", "bare.git/hooks", "project/.git", "project/.git/refs"])
def test_nothing_of_ours_goes_into_a_folder_of_gits_own(
    app: App, git: Callable[..., str], tmp_path: Path, place: str, words: tuple[str, ...]
) -> None:
    git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    app("init")
    before = sorted(tmp_path.rglob("*"))
    done = app(*words, cwd=tmp_path / place, stdin=json.dumps(RECORD))
    assert done.code == 2
    assert f"{place.removesuffix('/hooks').removesuffix('/refs')}: this is a folder of git's own" in done.err
    assert "work tree" in done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_log_that_is_named_may_be_written_from_anywhere(app: App, git: Callable[..., str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = app("interaction", "record", "-", "--log", str(log), cwd=app.folder / ".git", stdin=json.dumps(RECORD))
    assert done.code == 0
    assert [*log.rglob("*.jsonl")]


def test_a_work_tree_beside_a_bare_repository_is_a_project(app: App, git: Callable[..., str], tmp_path: Path) -> None:
    app("interaction", "record", "-", stdin=json.dumps(RECORD))
    git("commit", "-q", "--allow-empty", "-m", "begin")
    git("worktree", "add", "-q", str(tmp_path / "other"))
    done = app("interaction", "record", "-", cwd=tmp_path / "other", stdin=json.dumps(RECORD))
    assert done.code == 0
    assert [*(tmp_path / "other").rglob("*.jsonl")]


def test_a_bare_repository_takes_no_hook(app: App, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", bare], check=True)
    done = app("hook", "install", cwd=bare)
    assert done.code == 2
    assert "bare repository" in done.err
    assert not (bare / "hooks/pre-commit").exists()


@posix
@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_process_that_is_stopped_while_it_writes_writes_all(app: App, unbuffered: str) -> None:
    """The pipe is full when it is stopped: the system then cuts the write short."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    words = app.command("capabilities", "--format", "json")
    with subprocess.Popen(words, cwd=app.folder, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        select.select([process.stdout], [], [])
        # What fits into the pipe is there; give the rest of the write the time to block.
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        process.send_signal(signal.SIGCONT)
        told = process.stdout.read()
    assert process.returncode == 0
    assert json.loads(told)["commands"]


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["interaction record rec.json", "interaction records", "interaction validate"])
def test_a_caller_that_closed_our_streams_changes_no_answer(app: App, words: str, closed: str) -> None:
    (app.folder / "rec.json").write_text(json.dumps(RECORD))
    line = f"{sys.executable} -m ontoref {words} {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=app.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "bug" in done.stderr) == (0, False), done.stderr
    if "rec.json" in words:
        (log,) = app.folder.rglob("*.jsonl")
        assert json.loads(log.read_text())["summary"] == RECORD["summary"]


def test_json_laid_out_for_people_is_told_from_a_broken_log(app: App) -> None:
    (app.folder / "rec.json").write_text(json.dumps(RECORD, indent=2))
    done = app("interaction", "validate", "rec.json")
    assert done.code == 1
    assert "ontoref interaction record rec.json takes it" in done.err
    recorded(app)
    log = next(app.folder.rglob("*.jsonl"))
    log.write_bytes(log.read_bytes() + b"{\n")
    assert "over many lines" not in app("interaction", "validate", log).err


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a" * 80, "a" * 80),
        ("claude-code:" + "0123-" * 12, "claude-code:" + "0123-" * 12),
        ("say " * 30, ("say " * 30)[:59] + "…"),
        ("/home/ada/" + "folder/" * 12 + "end.jsonl", "…" + ("/home/ada/" + "folder/" * 12 + "end.jsonl")[-59:]),
        ({"a": "b" * 80}, '{"a":"' + "b" * 53 + "…"),
        ("x" * 400, "x" * 159 + "…"),
        (None, "—"),
    ],
)
def test_what_is_to_be_copied_is_never_cut(value: object, shown: str) -> None:
    """Ids and hashes stay whole; of a path the end stays, of text the beginning."""
    from ontoref.cli.output import table

    assert table([{"what": value}], ("what",), {}).split("\n")[1] == shown
    whole = table([{"what": value}], ("what",), {}, width=0).split("\n")[1]
    assert "…" not in whole
