"""What a store forgets when sessions are deleted, on every backend, and that no byte of it is left on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from ontoref.lesson.backends.jsonl import FILE_NAME, JsonlTable
from ontoref.lesson.factory import every_table, fallback_folder, open_store
from ontoref.lesson.forget import forget_sessions, quoting
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout
from ontoref.state.placement import JsonlPlacement, SqlitePlacement
from tests.lesson.conftest import Place
from tests.lesson.samples import NOW, audit, candidate, lesson, proposal

GONE = "claude-code:gone"
OTHER = "claude-code:other"
SECRET = "the secret words of it"
SEEN = {"session_id": GONE, "event_id": "e-1", "excerpt": SECRET, "observed_at": NOW}
ELSEWHERE = {"session_id": OTHER, "event_id": "e-2", "excerpt": "said elsewhere", "observed_at": NOW}


def table_of(store: Any) -> Any:
    store.list_lessons(limit=0)
    return (store._delegate if hasattr(store, "_primary") else store).table


def quoted(id: str, sources: list[str], *evidence: dict[str, Any], **more: Any) -> dict[str, Any]:
    draft = {"title": id, "statement": f"{id} says", "evidence": list(evidence)}
    return proposal(id, draft=draft, source_candidate_ids=sources, context="what was said before", **more)


def fill(store: TableLessonStore) -> None:
    store.upsert_candidate(candidate("c-gone", session_id=GONE, event_id="e-1", excerpt=SECRET))
    store.upsert_candidate(candidate("c-done", session_id=GONE, event_id="e-3", excerpt=SECRET))
    store.mark_candidate_processed("c-done", "discarded", NOW)
    store.upsert_candidate(candidate("c-other", session_id=OTHER, event_id="e-2", excerpt="said elsewhere"))
    store.upsert_candidate(candidate("c-record", session_id=GONE, record_id="r-1", excerpt="an insight, committed"))
    for one in (
        quoted("p-alone", ["c-gone"], SEEN),
        quoted("p-rejected", ["c-gone"], SEEN),
        quoted("p-accepted", ["c-gone"], SEEN),
        quoted("p-both", ["c-gone", "c-other"], SEEN, ELSEWHERE),
        quoted("p-other", ["c-other"], ELSEWHERE),
        quoted("p-end", []),
    ):
        store.upsert_proposal(one)
    store.record_proposal_decision("p-rejected", "rejected", "ana", NOW)
    store.record_proposal_decision("p-accepted", "accepted", "ana", NOW)
    store.upsert_lesson(lesson("l-seen", evidence=[SEEN, ELSEWHERE], observation_count=2))
    store.upsert_lesson(lesson("l-other", evidence=[ELSEWHERE]))


def test_what_quotes_a_deleted_session_is_forgotten(store: TableLessonStore) -> None:
    """S3-31: derived rows go; what a person accepted or others bear out stays, without the words."""
    fill(store)
    before = {id: store.get_proposal(id) for id in ("p-other", "p-end")}
    table = table_of(store)
    would = quoting(table, {GONE})
    done = forget_sessions(table, {GONE}, NOW)
    assert (done.candidates, done.proposals, done.quotes) == (2, 2, 3)
    assert (would.candidates, would.proposals, would.quotes) == (2, 2, 3)
    assert [one for one in ("c-gone", "c-done", "c-other", "c-record") if store.get_candidate(one)] == [
        "c-other",
        "c-record",
    ]
    assert [one["id"] for one in store.list_proposals()] == ["p-accepted", "p-both", "p-end", "p-other"]
    assert {id: store.get_proposal(id) for id in before} == before
    both = store.get_proposal("p-both")
    assert both is not None
    assert both["draft"]["evidence"] == [
        {"session_id": GONE, "event_id": "e-1", "observed_at": NOW},
        ELSEWHERE,
    ]
    assert "context" not in both
    seen, other = store.get_lesson("l-seen"), store.get_lesson("l-other")
    assert seen is not None
    assert other is not None
    assert [one.get("excerpt") for one in seen["evidence"]] == [None, "said elsewhere"]
    assert (seen["version"], seen["observation_count"], seen["updated_at"]) == (2, 2, lesson("l-seen")["updated_at"])
    assert other["version"] == 1
    assert SECRET not in "".join(text for _, text in store.records())
    (trace,) = [one for one in store.list_audit() if one["action"] == "forget"]
    assert trace["details"] == {"candidates": 2, "proposals": 2, "quotes": 3}


def test_forgetting_again_changes_nothing(store: TableLessonStore) -> None:
    fill(store)
    table = table_of(store)
    forget_sessions(table, {GONE}, NOW)
    before = list(store.records())
    again = forget_sessions(table, {GONE, "nobody"}, NOW)
    assert not again.anything
    assert list(store.records()) == before
    assert not forget_sessions(table, set(), NOW).anything


def test_another_store_sees_it_and_writes_on(place: Place) -> None:
    """A store that had read everything before goes on with what is there now."""
    first, second = place.open(), place.open()
    fill(first)
    assert second.get_candidate("c-gone")
    forget_sessions(table_of(first), {GONE}, NOW)
    assert second.get_candidate("c-gone") is None
    second.upsert_candidate(candidate("c-new"))
    first.append_audit(audit("a-1"))
    assert first.get_candidate("c-new")
    assert place.open().get_candidate("c-new")
    assert SECRET not in "".join(text for _, text in place.open().records())


@pytest.mark.parametrize("backend", ["sqlite", "own sqlite", "fs-jsonl"])
def test_no_byte_of_it_is_left(tmp_path: Path, backend: str) -> None:
    """S3-31: in the file, in its WAL, in lines that were replaced."""
    layout = Layout(str(tmp_path / "state"))
    placed: Any = {
        "sqlite": SqlitePlacement(layout.global_database),
        "own sqlite": SqlitePlacement(str(tmp_path / "own.db")),
        "fs-jsonl": JsonlPlacement(str(tmp_path / "lessons")),
    }[backend]
    store = open_store(placed, layout, fallback=False)
    fill(store)
    # Older forms of a lesson are lines of their own in a file.
    store.merge_lesson("l-seen", {"helpful": 1}, NOW)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(SECRET.encode() in path.read_bytes() for path in files)
    assert forget_sessions(store.table, {GONE}, NOW).wiped
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    store.close()


@pytest.fixture
def table(tmp_path: Path) -> JsonlTable:
    return JsonlTable(str(tmp_path))


def line(id: str, group: list[Any] | None = None, **record: Any) -> bytes:
    belongs = {"group": group} if group else {}
    return orjson.dumps(
        {"record_type": "candidate", "id": id, **belongs, "record": candidate(id, **record)},
        option=orjson.OPT_APPEND_NEWLINE,
    )


def test_a_file_keeps_every_other_line_as_it_was(table: JsonlTable, tmp_path: Path) -> None:
    kept = [line("c-1"), b'{"a hand wrote this": \n', orjson.dumps(candidate("old"), option=orjson.OPT_APPEND_NEWLINE)]
    torn = line("c-gone", session_id=GONE)[:60]
    (tmp_path / f".{FILE_NAME}.12345-0123abcd.tmp").write_bytes(line("c-gone", session_id=GONE))
    group = [line("c-2", ["g", 1, 2]), line("c-gone", ["g", 2, 2], session_id=GONE)]
    whole = [line("c-3", ["h", 1, 2]), line("c-4", ["h", 2, 2])]
    half = [line("c-5", ["i", 1, 2])]
    path = tmp_path / FILE_NAME
    path.write_bytes(b"".join([*kept, torn + b"\n", *group, *whole, *half]) + line("c-6").rstrip(b"\n"))
    forget_sessions(table, {GONE}, NOW)
    lines = path.read_bytes().splitlines(keepends=True)
    assert lines[:3] == kept
    assert lines[3] == line("c-2"), "it belonged to a line that is gone, and would not count any more"
    assert lines[4:8] == [*whole, *half, line("c-6")]
    assert (len(lines), GONE.encode() in path.read_bytes()) == (9, False)
    fresh = TableLessonStore(JsonlTable(str(tmp_path)))
    found = [id for id in ("c-1", "c-2", "c-3", "c-4", "c-5", "c-6", "c-gone") if fresh.get_candidate(id)]
    assert found == ["c-1", "c-2", "c-3", "c-4", "c-6"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [FILE_NAME]


def test_a_file_that_has_the_number_of_the_one_before_is_read_anew(table: JsonlTable, tmp_path: Path) -> None:
    """File numbers are given again: a longer file in the old one's place is no addition to it."""
    store = TableLessonStore(table)
    store.upsert_candidate(candidate("c-1"))
    path = tmp_path / FILE_NAME
    path.write_bytes(line("c-2", excerpt="x" * 400) + line("c-3"))
    assert store.get_candidate("c-1") is None
    assert store.get_candidate("c-2")
    assert store.get_candidate("c-3")


def test_a_failure_within_changes_nothing(store: TableLessonStore, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    table = table_of(store)
    before = list(store.records())

    def fails(row: Any) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as patched:
        patched.setattr(table, "put", fails)
        with pytest.raises(RuntimeError):
            forget_sessions(table, {GONE}, NOW)
    assert list(store.records()) == before


def test_the_fallback_is_looked_at_too_and_nothing_is_made(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path / "state"))
    placed = SqlitePlacement(layout.global_database)
    assert list(every_table(placed, layout)) == []
    assert not (tmp_path / "state").exists()
    fill(open_store(JsonlPlacement(fallback_folder(layout)), layout))
    tables = list(every_table(placed, layout))
    assert [table.backend for table in tables] == ["fs-jsonl"]
    fill(open_store(placed, layout, fallback=False))
    tables = list(every_table(placed, layout))
    assert [table.backend for table in tables] == ["sqlite", "fs-jsonl"]
    assert [forget_sessions(table, {GONE}, NOW).candidates for table in tables] == [2, 2]
    for table in tables:
        table.close()
