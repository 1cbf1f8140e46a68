"""Live files: found by what a parent tells, read again when they change, from several threads at once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from ontoref.replay.answers import tree_answer
from ontoref.replay.files import Files
from ontoref.replay.trees import Trees
from ontoref.transcript.find import Found, look
from tests.replay.test_sources import CHILD, PARENT, files_of, line, write_session


def test_a_file_is_read_once_while_it_stays_the_same(tmp_path: Path) -> None:
    """S2-18: it is only read, and seen when it grows."""
    path = write_session(tmp_path)
    read: list[str] = []
    files = files_of(path, read.append)
    first = files.rows(PARENT)
    assert files.rows(PARENT) is first
    assert len(read) == 1
    before = path.read_bytes()
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line(9, "user", "And now?")) + "\n" + '{"torn')
    assert len(files.rows(PARENT) or ()) == len(first or ()) + 1
    assert len(read) == 2
    assert path.read_bytes().startswith(before)


def test_a_child_is_found_through_its_parent_without_a_search(tmp_path: Path) -> None:
    def search() -> list[Found]:
        raise AssertionError("there is no need to search the machine")

    files = Files(search)
    found = look(str(write_session(tmp_path)))
    assert found is not None
    files.add(found)
    assert files.rows(PARENT) is not None
    assert len(files.rows(CHILD) or ()) == 3


def test_a_session_that_goes_is_gone(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    files = files_of(path)
    assert files.rows(PARENT) is not None
    path.unlink()
    assert files.rows(PARENT) is None


def test_a_search_may_add_what_it_finds_while_others_ask(tmp_path: Path) -> None:
    """Whoever lists sessions has a lock and calls back; two that wait for each other would stand still."""
    found = look(str(write_session(tmp_path)))
    assert found is not None
    lock = threading.Lock()
    files: Files

    def search() -> list[Found]:
        with lock:
            files.add(found)
            return [found]

    files = Files(search)

    def ask() -> None:
        for number in range(50):
            assert files.rows(PARENT) is not None
            assert files.rows(f"codex:{number}") is None

    threads = [threading.Thread(target=ask) for _ in range(8)]
    threads += [threading.Thread(target=lambda: [search() for _ in range(200)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_a_tree_is_built_once_for_all_who_ask_at_once(tmp_path: Path) -> None:
    trees = Trees(files_of(write_session(tmp_path)))
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(trees.tree(PARENT))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len({id(tree) for tree in found}) == 1
    assert tree_answer(trees, PARENT)["totals"] is tree_answer(trees, PARENT)["totals"]
