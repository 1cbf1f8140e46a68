"""No line is lost, mixed or half there: crowds, kills, full disks and whatever else befalls a log (S4-22)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ontoref.interaction.given import Given
from ontoref.interaction.log import append
from ontoref.interaction.record import Item
from ontoref.interaction.store import add, settle
from tests.conftest import App
from tests.interaction.crowd import (
    PATH,
    Reading,
    check,
    crowd,
    kill_commands,
    kill_rounds,
    line_of,
    readers_beside,
    start,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes and disks as POSIX has them")

OPTIONS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--summary", "x" * 300]
AGENT = {"CLAUDECODE": "1", "ONTOREF_SESSION_ID": "s-42"}


# Crowds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many_files", [False, True], ids=["one file", "many files"])
def test_a_crowd_loses_nothing(tmp_path: Path, many_files: bool) -> None:
    """S4-22: sixteen writers at once; 16 x 1,000 in benchmarks/soak.py."""
    told = crowd(tmp_path, 16, 25, many_files=many_files)
    report = check(tmp_path, told)
    assert report == (16 * 25, 16 * 25, 0)


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda rows: rows[:1] + rows[2:], id="lost"),
        pytest.param(lambda rows: rows[:2] + rows[1:], id="twice"),
        pytest.param(lambda rows: [rows[0], rows[1][:-9], *rows[2:]], id="torn"),
        pytest.param(lambda rows: [rows[0], rows[1].replace(b"x", b"y", 1), *rows[2:]], id="altered"),
        pytest.param(lambda rows: [rows[0][:90] + rows[1], rows[0][90:], *rows[2:]], id="mixed"),
        pytest.param(lambda rows: [rows[1], rows[0], *rows[2:]], id="elsewhere"),
    ],
)
def test_what_a_crowd_could_lose_would_be_noticed(tmp_path: Path, harm: Callable[[list[bytes]], list[bytes]]) -> None:
    told = crowd(tmp_path, 1, 5, many_files=False)
    path = tmp_path / PATH
    path.write_bytes(b"".join(row + b"\n" for row in harm(path.read_bytes().splitlines())))
    with pytest.raises(AssertionError):
        check(tmp_path, told)


def test_writers_without_a_lock_do_no_harm(tmp_path: Path) -> None:
    told = crowd(tmp_path, 6, 40, many_files=False, unlocked=2)
    assert check(tmp_path, told) == (8 * 40, 8 * 40, 0)


def test_nobody_starves_beside_busy_writers(tmp_path: Path) -> None:
    """Two writers that never pause; a third one gets its turn each time within its timeout."""
    busy = [start("locked", tmp_path, PATH, 1_000_000, f"b{n}") for n in range(2)]
    try:
        for process in busy:
            assert process.stdout is not None
            process.stdout.readline()
        for number in range(20):
            append(str(tmp_path), PATH, [line_of("patient", number)], lock_timeout_s=10)
    finally:
        for process in busy:
            process.kill()
            process.communicate()
    assert check(tmp_path, [f"patient-{number} 0 {PATH}" for number in range(20)]).told == 20


@pytest.mark.parametrize("many_files", [False, True], ids=["one file", "many files"])
def test_readers_beside_writers_see_whole_records(tmp_path: Path, many_files: bool) -> None:
    """validate and queries run while the log grows: what was seen once is seen again, and nothing is found wrong."""
    with readers_beside(tmp_path):
        told = crowd(tmp_path, 4, 150, many_files=many_files)
    assert check(tmp_path, told) == (600, 600, 0)
    Reading(tmp_path).all(told)


def test_many_commands_at_once(app: App) -> None:
    commands = [
        subprocess.Popen(
            App.command("interaction", "record", *OPTIONS, "--format", "json"),
            cwd=app.folder,
            env={**os.environ, **AGENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(8)
    ]
    places = [json.loads(command.communicate()[0])[0] for command in commands]
    (path,) = app.folder.rglob("*.jsonl")
    lines = path.read_bytes().splitlines()
    assert sorted(place["line"] for place in places) == list(range(1, 9))
    assert all(json.loads(lines[place["line"] - 1])["id"] == place["id"] for place in places)


def test_the_same_record_from_many_processes_is_written_once(app: App) -> None:
    text = json.dumps(
        {"id": "01M8QPSYVZ1P2NQ1P7HN9N90K9", "kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "x"}
    )
    (app.folder / "rec.json").write_text(text)
    commands = [
        subprocess.Popen(
            App.command("interaction", "record", "rec.json"),
            cwd=app.folder,
            env={**os.environ, **AGENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(8)
    ]
    answers = [command.communicate()[0].decode() for command in commands]
    assert [command.returncode for command in commands] == [0] * 8
    assert sum("already recorded" not in answer for answer in answers) == 1
    (path,) = app.folder.rglob("*.jsonl")
    assert len(path.read_bytes().splitlines()) == 1


def test_a_retry_that_looked_too_early_is_told_that_the_record_is_there(tmp_path: Path) -> None:
    record = {"id": "01M8QPSYVZ1P2NQ1P7HN9N90K9", "session_id": "s-42", "recorded_at": "2026-11-09T10:12:44Z"}
    item = Item(Given(record, b""), record, record, json.dumps(record).encode())
    looked = [settle([item], str(tmp_path)) for _ in range(2)]
    kept = [add(settled.new, str(tmp_path), None)[0] for settled in looked]
    assert [(one.again, one.place.line) for one in kept] == [(False, 1), (True, 1)]


@pytest.mark.parametrize("program", ["slow", "locked"])
def test_a_killed_writer_loses_nothing_that_it_told(tmp_path: Path, program: str) -> None:
    """kill -9 at random moments, 500 rounds in benchmarks/soak.py: at most one torn line a crash, and readers go on."""
    report = kill_rounds(tmp_path, 12, program=program, look=Reading(tmp_path).one)
    assert report.told >= 24


def test_a_killed_record_command_loses_nothing_that_it_told(tmp_path: Path) -> None:
    assert kill_commands(tmp_path, 10, look=Reading(tmp_path).one).told >= 11


def test_readers_and_the_next_writer_work_after_a_crash(app: App) -> None:
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    (path,) = app.folder.rglob("*.jsonl")
    with path.open("ab") as file:
        file.write(path.read_bytes()[:-40])
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    done = app("interaction", "validate", "--format", "json")
    assert done.code == 1
    assert [(f["rule"], f["line"]) for f in json.loads(done.out)["findings"]] == [("torn", 2)]
    done = app("interaction", "records", "--format", "json")
    assert len(json.loads(done.out)) == 2


# Disks ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_takes_a_record_whole_or_not_at_all(app: App, small_disk: Path) -> None:
    big = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "y" * 30_000}
    codes, sizes = [], []
    for _ in range(6):
        before = {p: p.read_bytes() for p in small_disk.rglob("*.jsonl")}
        done = app("interaction", "record", "-", "--log", small_disk, stdin=json.dumps(big), env=AGENT)
        codes.append(done.code)
        if done.code:
            assert {p: p.read_bytes() for p in small_disk.rglob("*.jsonl")} == before
            assert "disk" in done.err or "space" in done.err.lower()
            assert done.out == ""
        sizes.append(sum(p.stat().st_size for p in small_disk.rglob("*.jsonl")))
    assert set(codes) == {0, 2}
    assert codes == sorted(codes)
    (path,) = small_disk.rglob("*.jsonl")
    assert [json.loads(line)["summary"] for line in path.read_bytes().splitlines()] == ["y" * 30_000] * codes.count(0)
    # Somebody makes room, and the log goes on where it was.
    subprocess.run(["mount", "-o", "remount,size=512k", str(small_disk)], check=True)
    done = app("interaction", "record", *OPTIONS, "--log", small_disk, env=AGENT)
    assert done.code == 0, done.err
    assert done.out.rstrip().endswith(f":{codes.count(0) + 1}")


def test_a_read_only_disk_is_named(app: App, small_disk: Path) -> None:
    assert app("interaction", "record", *OPTIONS, "--log", small_disk, env=AGENT).code == 0
    (path,) = small_disk.rglob("*.jsonl")
    before = path.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for session in ("s-42", "another"):
        done = app("interaction", "record", *OPTIONS, "--log", small_disk, "--session", session, env=AGENT)
        assert done.code == 2
        assert "Read-only" in done.err
        assert str(small_disk) in done.err
    assert path.read_bytes() == before


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(app: App) -> None:
    (app.folder / "log").mkdir(mode=0o555)
    done = app("interaction", "record", *OPTIONS, "--log", "log", env=AGENT)
    assert done.code == 2
    assert "Permission" in done.err


def test_a_vanished_folder_is_named(app: App, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    words = ["sh", "-c", script, "sh", str(gone), *App.command("interaction", "record", *OPTIONS)]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **AGENT}, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", [".ontoref", ".ontoref/interactions", ".ontoref/interactions/2026"])
def test_a_file_where_a_folder_should_be_is_named(app: App, place: str) -> None:
    path = app.folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")
    given = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "x"}
    given["recorded_at"] = "2026-11-30T18:04:05Z"
    done = app("interaction", "record", "-", stdin=json.dumps(given), env=AGENT)
    assert done.code == 2, done.err
    assert place in done.err
    assert path.read_text() == "in the way"


def test_a_link_out_of_the_log_is_refused(app: App, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (app.folder / ".ontoref/interactions").mkdir(parents=True)
    (app.folder / ".ontoref/interactions/2026").symlink_to(outside)
    given = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "x"}
    given["recorded_at"] = "2026-11-30T18:04:05Z"
    done = app("interaction", "record", "-", stdin=json.dumps(given), env=AGENT)
    assert done.code == 2
    assert "link" in done.err
    assert list(outside.iterdir()) == []


def test_a_lock_held_for_ever_ends_in_an_answer(app: App) -> None:
    import fcntl

    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    (path,) = app.folder.rglob("*.jsonl")
    before = path.read_bytes()
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        begun = time.monotonic()
        done = app("interaction", "record", *OPTIONS, "--lock-timeout", "0.3", "--format", "json", env=AGENT)
        assert time.monotonic() - begun < 20
    assert done.code == 2
    error = json.loads(done.err)["error"]
    assert error["kind"] == "log"
    assert "--lock-timeout" in error["hint"]
    assert path.read_bytes() == before


def test_a_disk_that_fails_to_sync_leaves_the_log_as_it_was(app: App, tmp_path: Path) -> None:
    """Fault injection: every fsync of the process fails."""
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults" / "sitecustomize.py").write_text(
        "import os\n\ndef fsync(_):\n    raise OSError(5, 'Input/output error')\n\nos.fsync = fsync\n"
    )
    env = {**AGENT, "PYTHONPATH": os.pathsep.join([str(tmp_path / "faults"), os.environ.get("PYTHONPATH", "")])}
    done = app("interaction", "record", *OPTIONS, env=env)
    assert done.code == 2
    assert "Input/output error" in done.err
    assert list(app.folder.rglob("*.jsonl")) == []
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0
    (path,) = app.folder.rglob("*.jsonl")
    before = path.read_bytes()
    assert app("interaction", "record", *OPTIONS, env=env).code == 2
    assert path.read_bytes() == before
    assert app("interaction", "record", *OPTIONS, env=AGENT).code == 0


def test_half_a_batch_that_was_written_is_told(app: App) -> None:
    """The second file cannot be written: what stands in the first one is told before the error."""
    given = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "summary": "x"}
    first = {**given, "recorded_at": "2026-10-30T18:04:05Z"}
    second = {**given, "recorded_at": "2026-11-30T18:04:05Z"}
    (app.folder / ".ontoref/interactions/2026").mkdir(parents=True)
    (app.folder / ".ontoref/interactions/2026/11").write_text("in the way")
    done = app("interaction", "record", "-", "--format", "json", stdin=json.dumps([first, second]), env=AGENT)
    assert done.code == 2
    (place,) = json.loads(done.out)
    assert json.loads(Path(app.folder, place["path"]).read_bytes())["id"] == place["id"]
