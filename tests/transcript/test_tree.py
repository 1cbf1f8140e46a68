"""Walking a tree: every file is found, and a folder that cannot be listed is told and costs no other."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ontoref.transcript.find import find
from ontoref.transcript.tree import files_below, files_like
from tests.conftest import App
from tests.transcript.test_find import claude, write

PATTERNS = (
    "*/*.jsonl",
    "**/*.jsonl",
    "a/*/b/**/agent-*.jsonl",
    "a/x.jsonl",
    "none/*.jsonl",
    "**/x.jsonl*",
    "*",
    "a/**/b/*",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files in folders, a link to a folder and in a ring, one that leads nowhere, a pipe."""
    for name in ("a/x.jsonl", "a/y/b/x.jsonl", "a/y/b/c/agent-1.jsonl", "a/y/b/agent-2.jsonl", "d/x.jsonl.zst", "top"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "d" / "folder.jsonl").mkdir()
    (tmp_path / "d" / "link").symlink_to("../a")
    (tmp_path / "d" / "ring").symlink_to("ring")
    (tmp_path / "d" / "nowhere.jsonl").symlink_to("gone")
    os.mkfifo(tmp_path / "d" / "pipe.jsonl")
    return tmp_path


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let a folder refuse to be listed; rights do not bind root."""

    def lock(folder: Path) -> None:
        really = os.scandir

        def scandir(path: Any = ".") -> Iterator[os.DirEntry[str]]:
            if os.path.realpath(path) == str(folder):
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return really(path)

        monkeypatch.setattr(os, "scandir", scandir)

    return lock


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_glob_finds_what_pathlib_finds(tree: Path, pattern: str) -> None:
    expected = sorted(str(path) for path in tree.glob(pattern) if path.is_file())
    assert sorted(set(files_like(str(tree), pattern))) == expected


def test_pipes_and_folders_are_no_files(tree: Path) -> None:
    found = [os.path.relpath(path, tree) for path in files_below(str(tree), skipped={"y"})]
    assert found == ["top", "a/x.jsonl", "d/nowhere.jsonl", "d/ring", "d/x.jsonl.zst"]


@pytest.mark.parametrize("walk", [files_below, lambda base, unread: files_like(base, "**/*", unread)])
def test_a_folder_that_cannot_be_listed_costs_no_other(
    tree: Path, locked: Callable[[Path], None], walk: Callable[..., Iterator[str]]
) -> None:
    locked(tree / "a" / "y")
    unread: dict[str, str] = {}
    found = list(walk(str(tree), unread.setdefault))
    assert unread == {str(tree / "a" / "y"): "the folder cannot be listed: Permission denied"}
    assert {str(tree / "a" / "x.jsonl"), str(tree / "d" / "x.jsonl.zst")} <= set(found)


def test_sessions_beside_it_are_found_and_it_is_told(tmp_path: Path, locked: Callable[[Path], None]) -> None:
    projects = tmp_path / ".claude" / "projects"
    write(projects / "-one" / "s1.jsonl", claude("s1", 1))
    write(projects / "-two" / "s2.jsonl", claude("s2", 2))
    broken = tmp_path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\0and no more")
    locked(projects / "-two")
    unread: dict[str, str] = {}
    found = find({}, str(tmp_path), unread=unread.setdefault)
    assert [session.session_id for session in found] == ["s1"]
    assert list(unread) == [str(broken), str(projects / "-two")]


def test_a_pipe_is_read_like_stdin(app: App, tmp_path: Path) -> None:
    """As the shell makes one of `ontoref transcript stats <(zcat old.jsonl.gz)`."""
    content = write(tmp_path / "s.jsonl", claude("s1", 1)).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    done = app("transcript", "stats", pipe, "--format", "json", timeout=60)
    assert (done.code, json.loads(done.out)[0]["runtime"]) == (0, "claude-code"), done


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "table"])
def test_a_name_that_is_no_utf8_is_shown_by_its_bytes(app: App, tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "logs" / "s.jsonl", claude("s1", 1))
    os.rename(source, os.fsencode(source.parent) + b"/\xff.jsonl")
    done = app("transcript", "find", "--root", source.parent, "--format", form)
    assert (done.code, "s1" in done.out, done.err.count("Traceback")) == (0, True, 0), done
