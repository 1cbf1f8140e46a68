"""Passes: registered, ordered, run. S1-55 to S1-58, and what review does with their proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ontoref.lesson.errors import LessonConflictError, LessonNotFoundError, LessonValidationError
from ontoref.lesson.factory import open_store
from ontoref.lesson.passes import all_passes, decay, promote, title_of
from ontoref.lesson.review import accept, full_id, reject, vote
from ontoref.lesson.store import TableLessonStore
from ontoref.lesson.tasks import Passes, TaskPass
from ontoref.state.layout import Layout
from ontoref.state.placement import JsonlPlacement
from tests.lesson.samples import NOW, at, candidate, lesson, proposal

LATER = "2027-11-30T10:00:00Z"


@pytest.fixture
def store(tmp_path: Path) -> TableLessonStore:
    return open_store(JsonlPlacement(str(tmp_path)), Layout(str(tmp_path)))


def one_pass(id: str, priority: int = 1, stage: str = "light", run: Any = lambda *_: {}) -> TaskPass:
    return TaskPass(id, stage, priority, "agent", "deterministic", run)


def test_promote_is_registered_as_the_contract_says() -> None:
    """S1-55"""
    first = all_passes().in_order()[0]
    assert (first.id, first.stage, first.priority, first.scope, first.cost_class) == (
        "promote",
        "light",
        50,
        "agent",
        "deterministic",
    )


def test_passes_run_by_stage_priority_and_id_whatever_fails() -> None:
    """S1-57, S1-58"""
    seen: list[tuple[str, Any]] = []

    def noting(name: str) -> Any:
        return lambda store, config, now: seen.append((name, (store, config, now))) or {}

    def fail(*_: Any) -> Any:
        seen.append(("bad", None))
        raise RuntimeError("broken")

    passes = Passes(
        [
            one_pass("deep", 99, "deep", noting("deep")),
            one_pass("b", 5, run=noting("b")),
            one_pass("a", 5, run=noting("a")),
            one_pass("bad", 50, run=fail),
        ]
    )
    results = passes.run("store", {"k": 1}, NOW)  # type: ignore[arg-type]
    assert [name for name, _ in seen] == ["bad", "a", "b", "deep"]
    assert seen[1][1] == ("store", {"k": 1}, NOW)
    assert [one.error for one in results] == ["broken", None, None, None]
    with pytest.raises(LessonValidationError):
        passes.register(one_pass("a"))
    with pytest.raises(LessonValidationError):
        passes.register(one_pass("c", stage="heavy"))
    with pytest.raises(LessonValidationError):
        passes.run("store", {}, NOW, ["nobody"])  # type: ignore[arg-type]


def filled(folder: Path) -> TableLessonStore:
    store = open_store(JsonlPlacement(str(folder)), Layout(str(folder)))
    store.upsert_candidate(candidate("c1", 0, event_id="e1"))
    store.upsert_candidate(candidate("c2", 1, excerpt="No, USE  tabs", session_id="s-2"))
    store.upsert_candidate(candidate("c3", 2, scope={"agent_id": "other"}))
    store.upsert_candidate(candidate("c4", 3, excerpt="never push to main"))
    return store


def test_candidates_become_proposals_and_no_lesson(tmp_path: Path) -> None:
    """S1-58"""
    store = filled(tmp_path)
    assert promote(store, {}, at(9)) == {"candidates": 4, "proposed": 3, "merged": 1, "discarded": 0, "failed": 0}
    assert store.list_lessons() == []
    assert store.list_pending_candidates() == []
    tabs = next(one for one in store.list_proposals() if "c2" in one["source_candidate_ids"])
    assert tabs["source_candidate_ids"] == ["c1", "c2"]
    assert [seen["session_id"] for seen in tabs["draft"]["evidence"]] == ["s-1", "s-2"]
    assert store.get_candidate("c1")["result_ids"] == [tabs["id"]]  # type: ignore[index]
    assert promote(store, {}, at(10))["candidates"] == 0


def test_a_pass_gives_the_same_for_the_same_now(tmp_path: Path) -> None:
    """S1-57"""
    found = []
    for name in ("one", "two"):
        store = filled(tmp_path / name)
        all_passes().run(store, {}, at(9))
        accept(store, store.list_proposals()[0]["id"], "ana", at(10))
        all_passes().run(store, {}, LATER)
        found.append(list(store.records()))
    assert found[0] == found[1]


def test_what_was_rejected_is_not_proposed_again(store: TableLessonStore) -> None:
    store.upsert_candidate(candidate("c1"))
    promote(store, {}, at(1))
    (first,) = store.list_proposals()
    reject(store, first["id"], "ana", at(2), "in jest")
    store.upsert_candidate(candidate("c2", 3))
    assert promote(store, {}, at(4))["discarded"] == 1
    assert len(store.list_proposals()) == 1


def test_what_is_known_gathers_evidence(store: TableLessonStore) -> None:
    store.upsert_candidate(candidate("c1"))
    promote(store, {}, at(1))
    made = accept(store, store.list_proposals()[0]["id"], "ana", at(2))
    store.upsert_candidate(candidate("c2", 3, session_id="s-2", excerpt="No, use TABS"))
    promote(store, {}, at(4))
    (second,) = store.list_proposals("pending")
    assert (second["action"], second["target_lesson_id"]) == ("merge", made["id"])
    merged = accept(store, second["id"], "ana", at(5))
    assert merged["id"] == made["id"]
    assert [seen["session_id"] for seen in merged["evidence"]] == ["s-1", "s-2"]
    assert merged["observation_count"] == 2


def test_a_candidate_that_cannot_be_promoted_fails_alone(store: TableLessonStore, monkeypatch: Any) -> None:
    store.upsert_candidate(candidate("c1"))
    store.upsert_candidate(candidate("c2", 1, excerpt="never push"))
    insert = store.insert_proposal_if_absent

    def fail(one: Any) -> Any:
        if "tabs" in one["draft"]["statement"]:
            raise LessonConflictError("busy")
        return insert(one)

    monkeypatch.setattr(store, "insert_proposal_if_absent", fail)
    assert promote(store, {}, at(2)) == {"candidates": 2, "proposed": 1, "merged": 0, "discarded": 0, "failed": 1}
    (left,) = store.list_pending_candidates()
    assert (left["id"], left["status"], left["last_error"]) == ("c1", "failed", "busy")


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        ({"durability": "ephemeral"}, "aged"),
        ({"durability": "decaying"}, "aged"),
        ({"durability": "durable"}, None),
        ({"durability": "ephemeral", "updated_at": "2027-11-20T10:00:00Z"}, None),
        ({"durability": "decaying", "updated_at": "2027-10-01T10:00:00Z"}, None),
        ({"durability": "decaying", "updated_at": LATER, "harmful": 1, "helpful": 3}, "harmful"),
        ({"durability": "decaying", "updated_at": LATER, "harmful": 1, "helpful": 4}, None),
        ({"durability": "durable", "harmful": 1}, "proposed"),
    ],
)
def test_what_aged_or_did_harm_ends(store: TableLessonStore, fields: dict[str, Any], ends: str | None) -> None:
    store.upsert_lesson(lesson("a", **fields))
    counts = decay(store, {}, LATER)
    assert counts == {"looked_at": 1, "aged": 0, "harmful": 0, "proposed": 0} | ({ends: 1} if ends else {})
    after = store.get_lesson("a")
    assert after is not None
    if ends in ("aged", "harmful"):
        assert (after["status"], after["invalid_at"], after["decay_reason"]) == ("decayed", LATER, ends)
        assert [one["action"] for one in store.list_audit("a")] == ["decayed"]
    else:
        assert after["invalid_at"] is None
    assert decay(store, {}, LATER)["aged"] == 0
    if ends == "proposed":
        (waiting,) = store.list_proposals("pending")
        ended = accept(store, waiting["id"], "ana", LATER)
        assert (ended["id"], ended["invalid_at"], ended["status"]) == ("a", LATER, "invalid")
        assert store.list_active_lessons(LATER) == []


def test_accepting_again_completes_what_was_cut_short(store: TableLessonStore) -> None:
    store.insert_proposal_if_absent(proposal("p"))
    store.record_proposal_decision("p", "accepted", "ana", at(1))
    made = accept(store, "p", "ana", at(2))
    assert accept(store, "p", "ana", at(3)) == made
    assert (made["source_proposal_id"], made["title"]) == ("p", "Tabs")
    assert [one["action"] for one in store.list_audit()] == ["accepted", "create"]
    with pytest.raises(LessonConflictError):
        reject(store, "p", "ana", at(4))
    with pytest.raises(LessonNotFoundError):
        accept(store, "nobody", "ana", at(4))


def test_a_proposal_about_a_lesson_that_is_gone_stays_undecided(store: TableLessonStore) -> None:
    store.insert_proposal_if_absent(proposal("p", action="merge", target_lesson_id="gone"))
    with pytest.raises(LessonNotFoundError):
        accept(store, "p", "ana", at(1))
    assert store.get_proposal("p")["status"] == "pending"  # type: ignore[index]


def test_a_proposal_may_supersede(store: TableLessonStore) -> None:
    store.upsert_lesson(lesson("a"))
    store.insert_proposal_if_absent(proposal("p", action="supersede", target_lesson_id="a"))
    new = accept(store, "p", "ana", at(1), changes={"statement": "Use spaces.", "title": "Spaces"})
    assert [one["statement"] for one in store.get_lesson_chain("a")] == ["Use tabs.", "Use spaces."]
    assert accept(store, "p", "ana", at(2)) == new


def test_votes_are_counted_and_told(store: TableLessonStore) -> None:
    store.upsert_lesson(lesson("a"))
    vote(store, "a", "helpful", "ana", at(1))
    assert vote(store, "a", "harmful", "bob", at(2), "misled me")["harmful"] == 1
    assert [(one["actor"], one["action"]) for one in store.list_audit("a")] == [("ana", "helpful"), ("bob", "harmful")]


def test_an_id_may_be_named_by_its_beginning() -> None:
    assert full_id("ab", ["abc", "b"], "lesson") == "abc"
    assert full_id("a", ["a", "abc"], "lesson") == "a"
    with pytest.raises(LessonConflictError):
        full_id("a", ["abc", "abd"], "lesson")
    with pytest.raises(LessonNotFoundError):
        full_id("z", ["abc"], "lesson")


def test_a_title_is_the_first_line() -> None:
    assert title_of("\n  Use tabs. \nReally.") == "Use tabs."
    assert len(title_of("x" * 200)) == 80
    assert title_of(" \n ") == ""
