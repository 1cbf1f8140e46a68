"""The log: names of files, and lines that are added whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref import appending
from ontoref.interaction.log import LogError, append, find, relative_path

fcntl = pytest.importorskip("fcntl", reason="locks are tried here as POSIX has them")
AT = "2026-11-30T18:04:05Z"


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: files with their bytes, folders with None."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


# Names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session", "start"),
    [
        ("s-42", "s-42-"),
        ("../../x", "%2E.%2F..%2Fx-"),
        (".hidden", "%2Ehidden-"),
        ("-rf", "%2Drf-"),
        ("CON", "%43ON-"),
        ("con.txt", "%63on.txt-"),
        ("lpt9.", "%6Cpt9.-"),
        ("a b/c\\d:e", "a%20b%2Fc%5Cd%3Ae-"),
        ("é", "%C3%A9-"),
        ("50%", "50%25-"),
        ("\x00\n", "%00%0A-"),
        ("\ud800", "%ED%A0%80-"),
        ("CONSOLE", "CONSOLE-"),
    ],
)
def test_a_name_is_built_from_any_session_id(session: str, start: str) -> None:
    path = PurePosixPath(relative_path(session, AT, "refs/heads/main"))
    assert path.parent == PurePosixPath("2026/11")
    assert path.name.startswith(start)
    assert path.name == f"{start}{path.name[-14:]}"


@pytest.mark.parametrize("session", ["", None, 7, ["s"]])
def test_without_a_usable_session_id_records_go_to_unsorted(session: object) -> None:
    assert relative_path(session, AT, "refs/heads/main") == os.path.join("2026", "11", "unsorted.jsonl")


@pytest.mark.parametrize("moment", ["", None, 3, "2026-13-01", "../../../", "٢٠٢٦-11-30", "2026/11"])
def test_an_unusable_time_never_names_a_folder(moment: object) -> None:
    assert os.sep not in relative_path("s", moment, None)


def test_a_branch_has_its_own_file_and_long_ids_stay_apart() -> None:
    main, other = (relative_path("s", AT, f"refs/heads/{name}") for name in ("main", "other"))
    assert main != other
    assert relative_path("s", AT, "refs/heads/main") == main
    long, longer = relative_path("x" * 300, AT, None), relative_path("x" * 301, AT, None)
    assert long != longer
    assert len(os.path.basename(long)) <= 100


@given(st.text(max_size=300), st.text(max_size=30), st.none() | st.text(max_size=50))
@settings(max_examples=300, deadline=None)
def test_no_session_id_leads_out_of_the_log(session: str, moment: str, ref: str | None) -> None:
    """A session id of any text never writes outside the log, and its name is one that every system keeps."""
    path = relative_path(session, moment, ref)
    name = os.path.basename(path)
    assert os.path.normpath(os.path.join("/log", path)).startswith("/log/")
    assert len(name) <= 100
    assert name.isascii()
    assert set(name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%")
    assert name[0] not in ".-"
    stem = name.partition(".")[0].upper()
    assert stem not in {"CON", "PRN", "AUX", "NUL"}
    assert not (stem[:3] in ("COM", "LPT") and len(stem) == 4)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2, unique=True))
@settings(max_examples=200, deadline=None)
def test_two_session_ids_never_share_a_name(ids: list[str]) -> None:
    first, second = (relative_path(i, AT, "refs/heads/main") for i in ids)
    assert first != second


# Adding --------------------------------------------------------------------------------------------------------


def test_lines_go_to_the_end_and_say_where(tmp_path: Path) -> None:
    """S4-1: one record a line, and a newline at the end."""
    assert [w.line for w in append(str(tmp_path), "2026/11/s.jsonl", [b"{}", b'{"a":1}'])] == [1, 2]
    assert [w.line for w in append(str(tmp_path), "2026/11/s.jsonl", [b"[]"])] == [3]
    assert (tmp_path / "2026/11/s.jsonl").read_bytes() == b'{}\n{"a":1}\n[]\n'


@pytest.mark.parametrize(
    ("before", "line"), [(b"", 1), (b"{}\n", 2), (b'{}\n{"torn": "', 3), (b"{}", 2), (b"\n", 2)], ids=repr
)
def test_a_torn_last_line_stays_alone(tmp_path: Path, before: bytes, line: int) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(before)
    (written,) = append(str(tmp_path), "s.jsonl", [b'{"new":1}'])
    healed = before if not before or before.endswith(b"\n") else before + b"\n"
    assert path.read_bytes() == healed + b'{"new":1}\n'
    assert written == (str(path), line)


def test_a_guard_is_asked_under_the_lock_and_may_refuse(tmp_path: Path) -> None:
    def refuse(path: str) -> None:
        with open(path, "rb") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise LogError("no")

    with pytest.raises(LogError, match="no"):
        append(str(tmp_path), "2026/11/s.jsonl", [b"{}"], guard=refuse)
    assert tree(tmp_path) == {}


def test_an_id_is_found_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"id":"A","n":1}\n{"ref":"A","id":"B"}\ntorn "A"\n{"id":"A","n":2}')
    found = list(find([str(path)], "A"))
    assert [(place.line, record["n"]) for place, record in found] == [(1, 1), (4, 2)]


# What goes wrong -----------------------------------------------------------------------------------------------

Break = Callable[[Path, pytest.MonkeyPatch], None]


def fail(error: int) -> Callable[..., int]:
    def failing(*_: object) -> int:
        raise OSError(error, os.strerror(error))

    return failing


def short_write(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2]))


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "fsync": lambda m: m.setattr(os, "fsync", fail(5)),
    "no space": lambda m: m.setattr(os, "write", fail(28)),
    "half a write": short_write,
    "folder sync": lambda m: m.setattr(appending, "_sync_folder", fail(5)),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", [None, b"{}\n", b'{"torn'], ids=["new", "whole", "torn"])
def test_what_fails_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, before: bytes | None
) -> None:
    if before is not None:
        (tmp_path / "2026/11").mkdir(parents=True)
        (tmp_path / "2026/11/s.jsonl").write_bytes(before)
        if fault == "folder sync":
            pytest.skip("folders are synced for new files alone")
    was = tree(tmp_path)
    with monkeypatch.context() as patch:
        FAULTS[fault](patch)
        with pytest.raises(LogError) as caught:
            append(str(tmp_path), "2026/11/s.jsonl", [b'{"new":1}'])
    assert caught.value.exit_code == 2
    assert caught.value.location == str(tmp_path / "2026/11/s.jsonl")
    assert tree(tmp_path) == was
    append(str(tmp_path), "2026/11/s.jsonl", [b'{"new":1}'])
    assert tree(tmp_path)["2026/11/s.jsonl"] == (b"" if not before else before.rstrip(b"\n") + b"\n") + b'{"new":1}\n'


def test_a_half_write_that_others_wrote_behind_is_ended_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Direct appenders take no lock: their line after our half one must not be lost."""
    path = tmp_path / "s.jsonl"
    write = os.write

    def half(fd: int, data: bytes) -> int:
        count = write(fd, data[:5])
        monkeypatch.setattr(os, "write", write)
        with path.open("ab") as other:
            other.write(b'\n{"direct":1}\n')
        return count

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(LogError, match="whole"):
        append(str(tmp_path), "s.jsonl", [b'{"new":1}'])
    assert b'{"direct":1}\n' in path.read_bytes()
    append(str(tmp_path), "s.jsonl", [b'{"new":2}'])
    assert path.read_bytes().split(b"\n")[-2] == b'{"new":2}'


def test_a_torn_line_of_an_unlocked_writer_costs_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody dies within a line between our look and our write: ours is written again, on its own line."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}\n")
    write = os.write

    def torn_before(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        with path.open("ab") as other:
            other.write(b'{"torn":"')
        return write(fd, data)

    monkeypatch.setattr(os, "write", torn_before)
    (place,) = append(str(tmp_path), "s.jsonl", [b'{"new":1}'])
    assert path.read_bytes().split(b"\n")[place.line - 1] == b'{"new":1}'


def test_a_file_that_git_replaces_meanwhile_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"old\n")
    write = os.write

    def replaced(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        (tmp_path / "new").write_bytes(b"checked out\n")
        os.replace(tmp_path / "new", path)
        return write(fd, data)

    monkeypatch.setattr(os, "write", replaced)
    (place,) = append(str(tmp_path), "s.jsonl", [b'{"new":1}'])
    assert path.read_bytes() == b'checked out\n{"new":1}\n'
    assert place.line == 2


def test_a_folder_that_vanishes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def vanish(path: str, *rest: int) -> int:
        monkeypatch.setattr(os, "open", opened)
        os.rmdir(tmp_path / "2026/11")
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", vanish)
    (place,) = append(str(tmp_path), "2026/11/s.jsonl", [b"{}"])
    assert Path(place.path).read_bytes() == b"{}\n"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "2026").write_text("no folder")
    for path in ("folder.jsonl", "pipe.jsonl", "2026/11/s.jsonl"):
        was = tree(tmp_path / "folder.jsonl")
        with pytest.raises(LogError) as caught:
            append(str(tmp_path), path, [b"{}"])
        assert caught.value.location
        assert tree(tmp_path / "folder.jsonl") == was
    assert (tmp_path / "2026").read_text() == "no folder"


@pytest.mark.parametrize("link", ["2026", "2026/11", "2026/11/s.jsonl"])
def test_a_link_out_of_the_log_is_not_followed(tmp_path: Path, link: str) -> None:
    folder, outside = tmp_path / "log", tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("untouched")
    at = folder / link
    at.parent.mkdir(parents=True)
    at.symlink_to(outside / "victim" if link.endswith("l") else outside)
    with pytest.raises(LogError, match="link"):
        append(str(folder), "2026/11/s.jsonl", [b"{}"])
    assert tree(outside) == {"victim": b"untouched"}


def test_the_log_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "log").symlink_to(tmp_path / "real")
    append(str(tmp_path / "log"), "s.jsonl", [b"{}"])
    assert tree(tmp_path / "real") == {"s.jsonl": b"{}\n"}


def test_a_lock_held_for_ever_ends_in_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}\n")
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(LogError, match="lock") as caught:
            append(str(tmp_path), "s.jsonl", [b"{}"], lock_timeout_s=0.1)
    assert "--lock-timeout" in (caught.value.hint or "")
    assert path.read_bytes() == b"{}\n"


def test_a_writer_whose_file_was_taken_back_while_it_waited_loses_nothing(tmp_path: Path) -> None:
    """The first writer's sync fails and it removes its new file; the second one waits on just that file."""
    waits = threading.Event()
    done: list[object] = []

    def refuse(path: str) -> None:
        thread.start()
        waits.wait(0.2)
        raise LogError("no")

    thread = threading.Thread(target=lambda: done.extend(append(str(tmp_path), "2026/11/s.jsonl", [b'{"second":1}'])))
    with pytest.raises(LogError):
        append(str(tmp_path), "2026/11/s.jsonl", [b'{"first":1}'], guard=refuse)
    thread.join(10)
    assert len(done) == 1
    assert (tmp_path / "2026/11/s.jsonl").read_bytes() == b'{"second":1}\n'


def test_who_gave_up_waiting_keeps_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"")
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        for _ in range(3):
            with pytest.raises(LogError, match="lock"):
                append(str(tmp_path), "s.jsonl", [b"{}"], lock_timeout_s=0.05)
    for _ in range(3):
        append(str(tmp_path), "s.jsonl", [b"{}"], lock_timeout_s=5)
    assert path.read_bytes() == b"{}\n" * 3
