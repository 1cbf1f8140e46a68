"""What is particular to one backend: how it is chosen, how it fails, what it leaves on disk."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from ontoref.errors import OntorefError
from ontoref.lesson.backends import schema
from ontoref.lesson.backends.fallback import FirstFailureFallbackLessonStore
from ontoref.lesson.backends.jsonl import FILE_NAME
from ontoref.lesson.backends.postgres import PostgresLessonStore
from ontoref.lesson.contract import METHODS
from ontoref.lesson.errors import LessonConflictError, LessonNotFoundError, LessonValidationError, StoreUnavailable
from ontoref.lesson.factory import BACKENDS as FACTORIES
from ontoref.lesson.factory import fallback_folder, open_store
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout
from ontoref.state.placement import (
    BackendKind,
    JsonlPlacement,
    PlacementError,
    PostgresPlacement,
    SqlitePlacement,
    masked,
    resolve_domain_storage,
)
from tests.lesson.conftest import BACKENDS, Failing, place_of
from tests.lesson.samples import NOW, audit, candidate, lesson, proposal
from tests.lesson.servers import Server

PASSWORD = "s3cr3t@word"
DEAD = "postgresql://ana:s3cr3t%40word@127.0.0.1:1/nowhere"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path / "state"))


# -- the choice


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (None, SqlitePlacement("/s/state/ontoref.sqlite")),
        ("", SqlitePlacement("/s/state/ontoref.sqlite")),
        ("sqlite:own.db", SqlitePlacement("/s/own.db")),
        ("sqlite:///var/own.db", SqlitePlacement("/var/own.db")),
        ("fs-jsonl:~/lessons", JsonlPlacement("~/lessons")),
        ({"backend": "fs-jsonl", "dir": "a"}, JsonlPlacement("/s/a")),
        ("postgres://h/db", PostgresPlacement("postgres://h/db", "ontoref")),
        ("postgresql:///db?schema=l&host=/run", PostgresPlacement("postgresql:///db?host=/run", "l")),
        ({"backend": "postgres", "database_url": DEAD, "schema": "l"}, PostgresPlacement(DEAD, "l")),
    ],
)
def test_one_function_chooses(place: Any, found: Any) -> None:
    """S1-1, S1-2"""
    if isinstance(found, JsonlPlacement):
        found = JsonlPlacement(os.path.expanduser(found.dir))
    assert resolve_domain_storage("lessons", {"lessons": place, "others": "fs-jsonl:x"}, Layout("/s")) == found


@pytest.mark.parametrize(
    "place",
    ["mysql://ana:s3cr3t@h/db", "lessons.db", {"backend": "redis"}, {"backend": "sqlite"}, 7, "postgres://h:x/db"],
)
def test_what_is_no_place_is_refused(place: Any) -> None:
    """S1-1, S1-14"""
    with pytest.raises(PlacementError) as caught:
        resolve_domain_storage("lessons", {"lessons": place}, Layout("/s"))
    assert "s3cr3t" not in f"{caught.value} {caught.value.hint}"
    if not isinstance(place, int) and "postgres" not in place:
        assert all(name in f"{caught.value} {caught.value.hint}" for name in ("postgres", "sqlite", "fs-jsonl"))


def test_the_choice_the_factory_and_the_suite_know_the_same_backends() -> None:
    """S1-3, S1-4"""
    assert set(get_args(BackendKind)) == set(FACTORIES) == set(BACKENDS) - {"fallback"}


def test_the_contract_has_its_methods() -> None:
    assert len(METHODS) == 22
    assert all(callable(getattr(TableLessonStore, name)) for name in METHODS)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://ana:pw@h:5/db", "postgres://ana:***@h:5/db"),
        (
            "postgres://ana:p%40:w@h/db?password=x&sslmode=require",
            "postgres://ana:***@h/db?password=***&sslmode=require",
        ),
        ("postgresql:///db?host=/run/postgresql", "postgresql:///db?host=/run/postgresql"),
        ("postgres://[broken", "***"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    """S1-14"""
    assert masked(url) == shown
    assert "pw" not in repr(PostgresPlacement(url, "x"))


# -- names in SQL


@pytest.mark.parametrize("name", ["learning", "_l1", "a" * 63])
def test_plain_names_may_stand_in_sql(name: str) -> None:
    """S1-6"""
    assert schema.identifier(name) == f'"{name}"'
    assert all(name in statement for statement in schema.ddl("postgres", name))


@pytest.mark.parametrize("name", ['x"; drop table y; --', "a-b", "1a", "", "a" * 64, "Ab", "ä", "a\n", None])
def test_other_names_are_refused_wherever_they_come_in(name: Any) -> None:
    """S1-6"""
    with pytest.raises(LessonValidationError):
        schema.identifier(name)
    with pytest.raises(LessonValidationError):
        PostgresLessonStore(DEAD, name)
    if name is not None:
        with pytest.raises(LessonValidationError):
            schema.ddl("postgres", name)
        with pytest.raises(LessonValidationError):
            schema.qualified(name)
        with pytest.raises(LessonValidationError):
            open_store(PostgresPlacement(DEAD, name))


# -- SQLite


def test_all_types_of_records_share_one_table(layout: Layout) -> None:
    """69, S1-15, S1-17"""
    store = open_store(SqlitePlacement(layout.global_database), layout)
    store.upsert_lesson(lesson("x"))
    store.upsert_candidate(candidate("x"))
    store.insert_proposal_if_absent(proposal("x"))
    store.append_audit(audit("x"))
    store.close()
    with contextlib.closing(sqlite3.connect(layout.global_database)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        columns = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}
        types = [name for (name,) in db.execute("SELECT record_type FROM learning_records ORDER BY 1")]
    assert [name for name in names if "record_type" in columns[name]] == [schema.TABLE]
    assert types == ["audit", "candidate", "lesson", "proposal"]


def test_reading_creates_nothing(layout: Layout) -> None:
    for placement in (SqlitePlacement(layout.global_database), JsonlPlacement(layout.root + "/l")):
        store = open_store(placement, layout, read_only=True)
        assert store.list_lessons() == []
        assert store.describe_backend()["location"] == (getattr(placement, "path", None) or placement.dir)
        store.close()
    assert not os.path.exists(layout.root)


@pytest.mark.parametrize("fault", ["a folder", "garbage"])
def test_sqlite_that_cannot_be_opened_gives_way_at_once(
    layout: Layout, tmp_path: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-7"""
    path = tmp_path / "lessons.db"
    path.mkdir() if fault == "a folder" else path.write_bytes(b"no database at all" * 99)
    with caplog.at_level(logging.WARNING, "ontoref.lesson"):
        store = open_store(SqlitePlacement(str(path)), layout)
    found = store.describe_backend()
    assert (found["backend"], found["degraded"]) == ("fs-jsonl", True)
    assert found["fallback_reason"]
    assert len(caplog.records) == 1
    store.upsert_lesson(lesson())
    assert open_store(JsonlPlacement(fallback_folder(layout)), layout).get_lesson("a") is not None


# -- the file


def lines_of(layout: Layout) -> Path:
    return Path(layout.root) / "l" / FILE_NAME


@pytest.fixture
def file_store(layout: Layout) -> TableLessonStore:
    return open_store(JsonlPlacement(str(Path(layout.root) / "l")), layout)


def test_the_file_can_be_read_by_anybody(file_store: TableLessonStore, layout: Layout) -> None:
    """S1-17"""
    file_store.upsert_lesson(lesson("x"))
    file_store.insert_proposal_if_absent(proposal("p"))
    file_store.record_proposal_decision("p", "accepted", "ana", NOW)
    found = [json.loads(line) for line in lines_of(layout).read_text().splitlines()]
    assert [(one["record_type"], one["id"]) for one in found] == [
        ("lesson", "x"),
        ("proposal", "p"),
        ("proposal", "p"),
        ("audit", "accepted:p"),
    ]
    assert [one.get("group", [None, 0, 0])[1:] for one in found] == [[0, 0], [0, 0], [1, 2], [2, 2]]
    assert lines_of(layout).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_torn_line_is_left_out_and_healed_by_the_next_write(
    file_store: TableLessonStore, layout: Layout, cut: int
) -> None:
    """64"""
    file_store.upsert_lesson(lesson("a"))
    file_store.upsert_lesson(lesson("b"))
    path = lines_of(layout)
    path.write_bytes(path.read_bytes()[:-cut])
    again = open_store(JsonlPlacement(str(path.parent)), layout)
    # Without its newline alone the line is whole: an editor took it, and nothing is lost.
    whole = ["a", "b"] if cut == 1 else ["a"]
    for store in (again, file_store):
        assert [one["id"] for one in store.list_lessons()] == whole
    again.upsert_lesson(lesson("c"))
    for store in (again, file_store, open_store(JsonlPlacement(str(path.parent)), layout)):
        assert [one["id"] for one in store.list_lessons()] == [*whole, "c"]
    assert path.read_bytes().endswith(b"\n")
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("kept", [1, 2])
def test_lines_that_belong_together_count_together(file_store: TableLessonStore, layout: Layout, kept: int) -> None:
    """27: a process that dies within a write leaves the state before it."""
    file_store.upsert_lesson(lesson("a"))
    file_store.supersede_lesson("a", {"id": "b", "statement": "New."}, NOW)
    path = lines_of(layout)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    path.write_bytes(b"".join(lines[: 1 + kept]))
    again = open_store(JsonlPlacement(str(path.parent)), layout)
    assert [one["id"] for one in again.list_lessons()] == ["a"]
    assert again.get_lesson("a")["invalid_at"] is None  # type: ignore[index]
    again.upsert_lesson(lesson("c"))
    assert [one["id"] for one in again.list_lessons()] == ["a", "c"]


def test_lines_of_other_shapes(file_store: TableLessonStore, layout: Layout) -> None:
    """59, S1-21: older lines hold the record itself; lines that are none stay and are counted."""
    path = lines_of(layout)
    path.parent.mkdir(parents=True)
    older = {"id": "old", "statement": "Use tabs.", "created_at": NOW}
    lines = [json.dumps(older), json.dumps({**older, "id": "typed", "record_type": "lesson"}), "", "no JSON", "[1]"]
    lines += ['{"record_type": "lesson"}', '{"record_type": "other", "id": "x"}', '{"group": 7, "record": {}}']
    path.write_text("\n".join(lines) + "\n")
    assert [one["id"] for one in file_store.list_lessons()] == ["old", "typed"]
    assert file_store.get_lesson("old")["schema_version"] == 1  # type: ignore[index]
    assert file_store.table.bad_lines == 5  # type: ignore[attr-defined]
    file_store.upsert_lesson(lesson("new"))
    assert path.read_text().startswith("\n".join(lines) + "\n")


def test_a_file_that_was_replaced_is_read_anew(file_store: TableLessonStore, layout: Layout) -> None:
    file_store.upsert_lesson(lesson("a"))
    other = lines_of(layout).with_suffix(".new")
    other.write_text(json.dumps({"record_type": "lesson", "id": "b", "record": lesson("b")}) + "\n")
    other.replace(lines_of(layout))
    assert [one["id"] for one in file_store.list_lessons()] == ["b"]
    lines_of(layout).unlink()
    assert file_store.list_lessons() == []


# -- the fallback


def test_the_first_failure_is_the_last(layout: Layout, caplog: pytest.LogCaptureFixture) -> None:
    """S1-8, S1-14: a server that is not there."""
    begun = time.monotonic()
    store = open_store(PostgresPlacement(DEAD, "l"), layout)
    described = store.describe_backend()
    assert time.monotonic() - begun < 1
    assert (described["backend"], described["degraded"], "counts" in described) == ("postgres", False, False)
    assert not os.path.exists(layout.root)
    with caplog.at_level(logging.DEBUG, "ontoref.lesson"):
        assert store.upsert_lesson(lesson())["version"] == 1
        assert store.get_lesson("a") is not None
    described = store.describe_backend()
    assert (described["backend"], described["degraded"]) == ("fs-jsonl", True)
    assert (Path(fallback_folder(layout)) / FILE_NAME).exists()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    everything = f"{described} {caplog.text} {store!r} {vars(store)['reason']}"
    assert PASSWORD not in everything
    assert "s3cr3t" not in everything


def test_after_the_swap_errors_are_the_fallbacks(layout: Layout, tmp_path: Path) -> None:
    """S1-9"""
    (tmp_path / "state").mkdir()
    Path(fallback_folder(layout)).write_text("a file, no folder")
    store = open_store(PostgresPlacement(DEAD, "l"), layout)
    for _ in range(2):
        with pytest.raises(OntorefError):
            store.upsert_lesson(lesson())
    assert vars(store)["reason"] is not None


class Third:
    """A store that fails at its third operation and ever after."""

    def __init__(self, store: TableLessonStore) -> None:
        self.store = store
        self.left = 2

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise OSError("gone")
            return found(*arguments, **named)

        return call if name in METHODS else found


def wrapped(layout: Layout, primary: Any) -> FirstFailureFallbackLessonStore:
    return FirstFailureFallbackLessonStore(primary, lambda: open_store(JsonlPlacement(fallback_folder(layout)), layout))


def test_a_later_failure_swaps_too_and_nothing_is_copied(layout: Layout) -> None:
    """S1-10, S1-12"""
    healthy = open_store(SqlitePlacement(layout.global_database), layout)
    store = wrapped(layout, Third(healthy))
    store.upsert_lesson(lesson("a"))
    store.upsert_lesson(lesson("b"))
    store.upsert_lesson(lesson("c"))
    assert [one["id"] for one in store.list_lessons()] == ["c"]
    # The store that failed was let go of.
    left = open_store(SqlitePlacement(layout.global_database), layout)
    assert [one["id"] for one in left.list_lessons()] == ["a", "b"]
    left.close()
    assert store.describe_backend()["fallback_reason"] == "gone"


def test_what_the_caller_did_wrong_is_no_failure(layout: Layout) -> None:
    """S1-11"""
    healthy = open_store(SqlitePlacement(layout.global_database), layout)
    store = wrapped(layout, healthy)
    before = store.describe_backend()
    with pytest.raises(LessonValidationError):
        store.upsert_lesson({"id": ""})
    with pytest.raises(LessonNotFoundError):
        store.merge_lesson("nobody", {}, NOW)
    with pytest.raises(LessonConflictError):
        store.upsert_lesson(lesson(), expected_version=4)
    assert store.describe_backend() == before
    # Nor does it reach a backend that is down.
    broken = wrapped(layout, PostgresLessonStore(DEAD, "l"))
    with pytest.raises(LessonValidationError):
        broken.upsert_lesson({"id": ""})
    assert broken.reason is None
    with pytest.raises(AttributeError):
        _ = store.nothing_of_the_kind
    healthy.close()


def test_failures_at_the_same_time_swap_once(layout: Layout, caplog: pytest.LogCaptureFixture) -> None:
    """S1-10"""
    barrier = threading.Barrier(2)

    class Together(Failing):
        def __getattr__(self, name: str) -> Any:
            fail = super().__getattr__(name)

            def call(*_: Any, **__: Any) -> Any:
                barrier.wait()
                fail()

            return call

    store = wrapped(layout, Together())
    threads = [threading.Thread(target=store.upsert_lesson, args=(lesson(name),)) for name in "ab"]
    with caplog.at_level(logging.WARNING, "ontoref.lesson"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [one["id"] for one in store.list_lessons()] == ["a", "b"]
    assert len(caplog.records) == 1


def test_a_missing_driver_is_a_failure_like_any_other(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1-13"""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    store = open_store(PostgresPlacement(DEAD, "l"), layout)
    store.upsert_lesson(lesson())
    assert "psycopg" in store.describe_backend()["fallback_reason"]


# -- PostgreSQL


@pytest.fixture
def own_server(server: Server) -> Iterator[Server]:
    yield server
    with contextlib.suppress(AssertionError):
        server.start()


def test_a_server_that_dies_is_left_and_one_that_comes_back_keeps_what_it_had(
    own_server: Server, layout: Layout, caplog: pytest.LogCaptureFixture
) -> None:
    """S1-8, S1-9, S1-10, S1-12: killed between two operations, then started again."""
    place = place_of("postgres", layout, own_server.url)
    store = place.open(fallback=True)
    bare = place.open()
    store.upsert_lesson(lesson("before"))
    assert bare.get_lesson("before") is not None
    own_server.stop()
    with caplog.at_level(logging.WARNING, "ontoref.lesson"):
        assert store.upsert_lesson(lesson("while"))["version"] == 1
    with pytest.raises(StoreUnavailable) as caught:
        bare.list_lessons()
    assert "not-a-real-password" not in f"{caught.value} {caught.value.location} {caplog.text}"
    assert store.describe_backend()["degraded"] is True
    own_server.start()
    # The store that swapped stays where it is; another one finds the server, and nothing was copied.
    store.upsert_lesson(lesson("after"))
    assert [one["id"] for one in store.list_lessons()] == ["after", "while"]
    assert [one["id"] for one in bare.list_lessons()] == ["before"]
    fresh = place.open(fallback=True)
    assert fresh.describe_backend()["degraded"] is False
    with JsonlOf(layout) as left:
        records = [(kind, json.loads(text)) for kind, text in left.records()]
    assert (fresh.load(records).added, fresh.load(records).unchanged) == (2, 2)
    assert [one["id"] for one in fresh.list_lessons()] == ["after", "before", "while"]
    for one in (store, bare, fresh):
        one.close()


def JsonlOf(layout: Layout) -> TableLessonStore:
    return open_store(JsonlPlacement(fallback_folder(layout)), layout)


def test_a_server_that_dies_within_an_operation_leaves_nothing_half_done(own_server: Server, layout: Layout) -> None:
    """27 with a real crash: the first row is written when the server is killed."""
    place = place_of("postgres", layout, own_server.url)
    store = place.open()
    store.upsert_lesson(lesson("a"))
    put = store.table.put

    def kill_after(row: Any) -> None:
        put(row)
        own_server.restart()

    store.table.put = kill_after  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        store.supersede_lesson("a", {"id": "b", "statement": "New."}, NOW)
    del store.table.put
    again = place.open()
    for one in (store, again):
        assert [found["id"] for found in one.list_lessons()] == ["a"]
        assert one.get_lesson("a")["invalid_at"] is None  # type: ignore[index]
        one.close()


# -- across backends


def test_every_backend_finds_the_same(server: Server, tmp_path: Path) -> None:
    """55"""
    places = [place_of(name, Layout(str(tmp_path / name)), server.url) for name in BACKENDS]
    stores = [place.open() for place in places]
    words = ["tabs", "Git", "rébase", "50%", "a_b", "ÜBER", "日本", "x" * 300]
    for store in stores:
        for number in range(40):
            said = " ".join(words[(number * step) % len(words)] for step in (1, 3, 5))
            store.upsert_lesson(
                lesson(f"l{number}", number % 7, title=said[:20], statement=said, tags=[words[number % 8]])
            )
    for query in ("git", "GIT rebase", "%", "_", "uber tabs", "日本", "50% a_b", "x", "nothing"):
        for limit in (None, 5):
            answers = [[hit["lesson"]["id"] for hit in store.search_lessons(query, limit=limit)] for store in stores]
            assert all(answer == answers[0] for answer in answers), query
    listings = [[one["id"] for one in store.list_active_lessons("2026-11-30T10:03:00Z", limit=9)] for store in stores]
    assert all(listing == listings[0] for listing in listings)
    for store in stores:
        store.close()
