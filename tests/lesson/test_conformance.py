"""What every lesson store does, whatever it stands on. The numbers are those of the cases in section 2.9."""

from __future__ import annotations

import contextlib
import datetime
import multiprocessing
import threading
import time
from typing import Any

import pytest

from ontoref.lesson.errors import LessonConflictError, LessonNotFoundError, LessonValidationError
from ontoref.lesson.records import row_of
from ontoref.lesson.store import MOST_ATTEMPTS, TableLessonStore
from tests.lesson.conftest import Place, place_of
from tests.lesson.samples import NOW, at, audit, candidate, lesson, proposal

OTHER = {"agent_id": "other"}
MAIN = {"agent_id": "main"}


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in found]


def raw(store: TableLessonStore, *records: dict[str, Any]) -> None:
    """Write lessons as an older version left them."""
    table = inner(store).table
    with table.writing():
        for record in records:
            table.put(row_of("lesson", record))


def inner(store: Any) -> TableLessonStore:
    """The store that does the work, behind a fallback if there is one."""
    store.list_lessons(limit=0)
    return store._delegate if hasattr(store, "_primary") else store


# -- lessons


def test_an_unknown_lesson_is_none(store: TableLessonStore) -> None:
    """1, S1-26"""
    assert store.get_lesson("nobody") is None
    assert store.get_lesson("") is None
    assert store.get_lesson("a\0b") is None


def test_what_was_put_comes_back_equal(store: TableLessonStore) -> None:
    """2, S1-27"""
    new = lesson(tags=["git"], evidence=[{"session_id": "s", "observed_at": NOW}], confidence=0.5)
    assert store.upsert_lesson(new) == new
    assert store.get_lesson("a") == new


def test_equal_content_writes_nothing(store: TableLessonStore) -> None:
    """3"""
    first = store.upsert_lesson(lesson())
    assert store.upsert_lesson(lesson()) == first
    assert store.upsert_lesson({**first, "updated_at": at(9)}) == first
    assert store.upsert_lesson({**first, "tags": ()}) == first


def test_changed_content_is_another_version_of_the_same_age(store: TableLessonStore) -> None:
    """4"""
    store.upsert_lesson(lesson())
    second = store.upsert_lesson(lesson(minute=5, statement="Use spaces."))
    assert (second["version"], second["created_at"], second["updated_at"]) == (2, at(0), at(5))
    assert store.get_lesson("a") == second


def test_a_stale_version_is_a_conflict(store: TableLessonStore) -> None:
    """5"""
    store.upsert_lesson(lesson(), expected_version=0)
    store.upsert_lesson(lesson(statement="Two."), expected_version=1)
    for stale in (0, 1, 3):
        with pytest.raises(LessonConflictError):
            store.upsert_lesson(lesson(statement="Three."), expected_version=stale)
    with pytest.raises(LessonConflictError):
        store.upsert_lesson(lesson("b"), expected_version=1)
    assert store.get_lesson("a")["statement"] == "Two."  # type: ignore[index]
    assert store.get_lesson("b") is None


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"record_kind": "candidate"}, id="6 candidate is no kind"),
        pytest.param({"durability": "forever"}, id="7 unknown durability"),
        pytest.param({"schema_version": 2}, id="8 newer schema"),
        pytest.param({"id": ""}, id="empty id"),
        pytest.param({"id": 7}, id="id is a number"),
        pytest.param({"id": "x" * 256}, id="endless id"),
        pytest.param({"scope": {"team": "a"}}, id="unknown scope"),
        pytest.param({"scope": {}}, id="scope of nobody"),
        pytest.param({"tags": "git"}, id="tags are text"),
        pytest.param({"evidence": ["s-1"]}, id="evidence is text"),
        pytest.param({"harmful": -1}, id="negative votes"),
        pytest.param({"confidence": 2}, id="more than sure"),
        pytest.param({"valid_from": "yesterday"}, id="no time"),
        pytest.param({"updated_at": None}, id="never updated"),
        pytest.param({"title": "", "statement": ""}, id="says nothing"),
        pytest.param({"statement": "\ud800"}, id="half a character"),
        pytest.param({"extra": {1, 2}}, id="no JSON"),
    ],
)
def test_a_bad_lesson_is_refused_and_nothing_written(store: TableLessonStore, fields: dict[str, Any]) -> None:
    """6, 7, 8, S1-16, S1-18"""
    before = store.describe_backend().get("counts")
    with pytest.raises(LessonValidationError):
        store.upsert_lesson({**lesson(), **fields})
    with pytest.raises(ValueError, match=r"."):
        store.upsert_lesson({**lesson(), **fields})
    assert store.list_lessons() == []
    assert before in (None, store.describe_backend()["counts"])


def test_what_comes_back_is_the_callers_own(store: TableLessonStore) -> None:
    """9"""
    given = lesson(tags=["git"])
    got = store.upsert_lesson(given)
    given["tags"].append("mine")
    got["tags"].append("mine")
    got["scope"]["agent_id"] = "other"
    for one in (store.get_lesson("a"), *store.list_lessons(), store.search_lessons("tabs")[0]["lesson"]):
        assert one is not None
        assert (one["tags"], one["scope"]) == (["git"], MAIN)
        one["tags"].append("mine")


def test_the_latest_come_first_then_ids_decide(store: TableLessonStore) -> None:
    """10, S1-25"""
    for one in (lesson("b", 1), lesson("a", 1), lesson("c", 2), lesson("ä", 1), lesson("B", 1), lesson("😀", 1)):
        store.upsert_lesson(one)
    assert ids(store.list_lessons()) == ["c", "B", "a", "b", "ä", "😀"]


def test_lessons_are_kept_apart_by_kind_scope_and_durability(store: TableLessonStore) -> None:
    """11, 12, 13, 14"""
    store.upsert_lesson(lesson("a"))
    store.upsert_lesson(lesson("b", record_kind="skill"))
    store.upsert_lesson(lesson("c", durability="decaying"))
    store.upsert_lesson(lesson("d", scope={"agent_id": "main", "workspace": "/app"}))
    store.upsert_lesson(lesson("e", scope=OTHER))
    assert ids(store.list_lessons(record_kind="skill")) == ["b"]
    assert ids(store.list_lessons(durability="decaying")) == ["c"]
    assert ids(store.list_lessons(scope=MAIN)) == ["a", "b", "c", "d"]
    assert ids(store.list_lessons(scope={"workspace": "/app"})) == ["d"]
    assert ids(store.list_lessons(scope=OTHER, record_kind="skill")) == []
    assert store.list_lessons(limit=0) == []
    assert ids(store.list_lessons(limit=2)) == ["a", "b"]
    for wrong in ({"limit": -1}, {"record_kind": "rule"}, {"durability": "long"}, {"scope": {"x": "y"}}):
        with pytest.raises(LessonValidationError):
            store.list_lessons(**wrong)


def test_a_listing_can_leave_out_what_has_ended(store: TableLessonStore) -> None:
    """S1-25"""
    store.upsert_lesson(lesson("a"))
    store.upsert_lesson(lesson("b", 1, invalid_at=at(9)))
    store.upsert_lesson(lesson("c", 2))
    store.supersede_lesson("c", {"id": "d", "statement": "Better."}, at(3))
    assert ids(store.list_lessons(include_inactive=False)) == ["d", "a"]
    assert ids(store.list_lessons(include_inactive=False, limit=1)) == ["d"]


def test_merging_into_nothing_is_refused(store: TableLessonStore) -> None:
    """15"""
    with pytest.raises(LessonNotFoundError):
        store.merge_lesson("nobody", {"helpful": 1}, NOW)


def test_merging_unites_lists_and_adds_counts(store: TableLessonStore) -> None:
    """16, 17, S1-28"""
    first, second = {"session_id": "s-1"}, {"session_id": "s-2"}
    store.upsert_lesson(lesson(evidence=[first], tags=["a"], helpful=1))
    patch = {"evidence": [first, second, second], "tags": ["b", "a"], "title": "Tabs"}
    once = store.merge_lesson("a", patch, at(1))
    assert (once["evidence"], once["tags"], once["title"]) == ([first, second], ["a", "b"], "Tabs")
    assert (once["observation_count"], once["version"], once["updated_at"]) == (2, 2, at(1))
    assert store.merge_lesson("a", patch, at(2)) == once
    voted = store.merge_lesson("a", {"helpful": 2, "harmful": 1}, at(3))
    assert (voted["helpful"], voted["harmful"], voted["observation_count"]) == (3, 1, 2)
    assert (
        store.merge_lesson("a", {"evidence": [{"session_id": "s-3"}], "observation_count": 3}, at(4))[
            "observation_count"
        ]
        == 5
    )


@pytest.mark.parametrize(
    "patch",
    [{"id": "b"}, {"record_kind": "skill"}, {"created_at": at(7)}, {"supersedes": "z"}, {"helpful": -1}, {"tags": "x"}],
)
def test_merging_cannot_change_who_a_lesson_is(store: TableLessonStore, patch: dict[str, Any]) -> None:
    """18"""
    before = store.upsert_lesson(lesson())
    with pytest.raises(LessonValidationError):
        store.merge_lesson("a", patch, at(1))
    assert store.get_lesson("a") == before


@pytest.mark.parametrize(
    ("fields", "now", "active"),
    [
        pytest.param({"valid_from": at(5)}, at(4), False, id="19 not yet"),
        pytest.param({"invalid_at": at(5)}, at(5), False, id="20 ends at now"),
        pytest.param({"invalid_at": at(5)}, at(4), True, id="before its end"),
        pytest.param({"valid_from": at(5)}, at(5), True, id="21 begins at now"),
        pytest.param({"valid_from": None}, "1970-01-01", True, id="always was"),
        pytest.param({"valid_from": "2026-11-30T12:00:00+02:00"}, NOW, True, id="22 offset, begins now"),
        pytest.param({"valid_from": "2026-11-30T12:00:01+02:00"}, NOW, False, id="22 offset, a second later"),
        pytest.param({"invalid_at": "2026-11-30T12:00:00.000001+02:00"}, NOW, True, id="22 a microsecond more"),
        pytest.param({"valid_from": "2026-11-30T10:00:00"}, "2026-11-30T11:00:00+01:00", True, id="naive is UTC"),
    ],
)
def test_a_lesson_holds_from_its_beginning_until_before_its_end(
    store: TableLessonStore, fields: dict[str, Any], now: str, active: bool
) -> None:
    """19 to 22, S1-23, S1-39"""
    store.upsert_lesson(lesson(**fields))
    assert ids(store.list_active_lessons(now)) == ["a"] * active
    assert [hit["lesson"]["id"] for hit in store.search_lessons("tabs", now=now)] == ["a"] * active
    assert store.list_active_lessons(now, scope=OTHER) == []
    assert store.list_active_lessons(now, record_kind="skill") == []


# -- chains


def test_superseding_ends_the_old_one_and_links_both(store: TableLessonStore) -> None:
    """23, S1-38"""
    store.upsert_lesson(lesson("a"))
    both = store.supersede_lesson("a", {"id": "b", "statement": "Use spaces."}, at(5), reason="the linter says so")
    assert (both["old"]["invalid_at"], both["old"]["superseded_by"]) == (at(5), "b")
    assert both["old"]["supersede_reason"] == "the linter says so"
    assert (both["new"]["supersedes"], both["new"]["valid_from"]) == ("a", at(5))
    assert both == {"old": store.get_lesson("a"), "new": store.get_lesson("b")}
    assert ids(store.list_active_lessons(at(4))) == ["a"]
    assert ids(store.list_active_lessons(at(5))) == ["b"]
    (entry,) = store.list_audit(record_id="a")
    assert (entry["action"], entry["details"]) == ("supersede", {"by": "b", "reason": "the linter says so"})


def test_superseding_an_unknown_one_writes_nothing(store: TableLessonStore) -> None:
    """24"""
    with pytest.raises(LessonNotFoundError):
        store.supersede_lesson("nobody", {"id": "b", "statement": "New."}, NOW)
    assert store.list_lessons() == []


def test_superseding_again_changes_nothing_and_by_another_is_a_conflict(store: TableLessonStore) -> None:
    """25, 26"""
    store.upsert_lesson(lesson("a"))
    new = {"id": "b", "statement": "New."}
    first = store.supersede_lesson("a", new, at(1))
    assert store.supersede_lesson("a", new, at(2)) == first
    with pytest.raises(LessonConflictError):
        store.supersede_lesson("a", {"id": "c", "statement": "Newer."}, at(3))
    assert store.get_lesson("c") is None
    assert len(store.list_audit()) == 1


def test_a_chain_cannot_close_nor_change_its_kind(store: TableLessonStore) -> None:
    """S1-38"""
    store.upsert_lesson(lesson("a"))
    store.supersede_lesson("a", {"id": "b", "statement": "New."}, at(1))
    for wrong in ({"id": "b"}, {"id": "a"}, {"id": "c", "record_kind": "skill"}, {"id": "c", "durability": "x"}):
        with pytest.raises(LessonValidationError):
            store.supersede_lesson("b", {"statement": "Again.", **wrong}, at(2))
    assert ids(store.get_lesson_chain("a")) == ["a", "b"]


def test_superseding_is_all_or_nothing(store: TableLessonStore) -> None:
    """27, 67"""
    before = store.upsert_lesson(lesson("a"))
    table = inner(store).table
    put = table.put
    for good in (0, 1, 2):
        left = good

        def fail(row: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            put(row)

        table.put = fail  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            store.supersede_lesson("a", {"id": "b", "statement": "New."}, at(1))
        del table.put
        assert store.get_lesson("a") == before
        assert store.get_lesson("b") is None
        assert store.list_audit() == []


def test_a_chain_is_the_same_from_each_of_its_members(store: TableLessonStore) -> None:
    """28, 29, S1-40"""
    store.upsert_lesson(lesson("a"))
    store.supersede_lesson("a", {"id": "b", "statement": "Two."}, at(1))
    store.supersede_lesson("b", {"id": "c", "statement": "Three."}, at(2))
    store.upsert_lesson(lesson("single"))
    for member in "abc":
        assert ids(store.get_lesson_chain(member)) == ["a", "b", "c"]
    assert ids(store.get_lesson_chain("single")) == ["single"]
    assert store.get_lesson_chain("nobody") == []


def test_a_chain_bent_into_a_ring_ends(store: TableLessonStore) -> None:
    """30"""
    raw(store, lesson("a", supersedes="b", superseded_by="b"), lesson("b", supersedes="a", superseded_by="a"))
    raw(store, lesson("self", supersedes="self"), lesson("torn", supersedes="gone"))
    assert sorted(ids(store.get_lesson_chain("a"))) == ["a", "b"]
    assert ids(store.get_lesson_chain("self")) == ["self"]
    assert ids(store.get_lesson_chain("torn")) == ["torn"]


# -- candidates


def test_one_id_in_three_types_is_three_records(store: TableLessonStore) -> None:
    """31, S1-19"""
    store.upsert_lesson(lesson("x"))
    store.upsert_candidate(candidate("x", excerpt="tabs tabs"))
    store.insert_proposal_if_absent(proposal("x"))
    store.append_audit(audit("x"))
    assert ids(store.list_lessons()) == ["x"]
    assert [hit["lesson"]["id"] for hit in store.search_lessons("tabs")] == ["x"]
    assert ids(store.list_pending_candidates()) == ["x"]
    assert ids(store.list_proposals()) == ["x"]
    assert store.get_candidate("x")["excerpt"] == "tabs tabs"  # type: ignore[index]


def test_a_candidate_is_captured_once(store: TableLessonStore) -> None:
    """32, S1-42"""
    first = store.upsert_candidate(candidate())
    assert store.upsert_candidate(candidate()) == first
    assert store.list_pending_candidates() == [first]
    assert (first["status"], first["attempts"], first["result_ids"]) == ("pending", 0, [])
    for wrong in ({"excerpt": " "}, {"excerpt": None}, {"signals": "x"}, {"status": "new"}, {"id": ""}):
        with pytest.raises(LessonValidationError):
            store.upsert_candidate({**candidate(), **wrong})
    assert store.get_candidate("nobody") is None


def test_waiting_candidates_come_oldest_first(store: TableLessonStore) -> None:
    """33, S1-44"""
    for one in (candidate("b", 2), candidate("a", 2), candidate("z", 1), candidate("o", 0, scope=OTHER)):
        store.upsert_candidate(one)
    assert ids(store.list_pending_candidates()) == ["o", "z", "a", "b"]
    assert ids(store.list_pending_candidates(scope=MAIN, limit=2)) == ["z", "a"]


def test_a_processed_candidate_waits_no_more_and_stays_so(store: TableLessonStore) -> None:
    """34, 35, S1-45"""
    store.upsert_candidate(candidate())
    done = store.mark_candidate_processed("c", "promoted", at(1), ["p"])
    assert (done["status"], done["outcome"], done["result_ids"]) == ("processed", "promoted", ["p"])
    assert store.list_pending_candidates() == []
    assert store.mark_candidate_processed("c", "promoted", at(2)) == done
    with pytest.raises(LessonConflictError):
        store.mark_candidate_processed("c", "discarded", at(2))
    again = store.upsert_candidate(candidate(signals=["correction", "refusal"]))
    assert again == {**done, "signals": ["correction", "refusal"]}
    assert store.list_pending_candidates() == []


def test_an_unknown_candidate_cannot_be_processed(store: TableLessonStore) -> None:
    """36"""
    with pytest.raises(LessonNotFoundError):
        store.mark_candidate_processed("nobody", "promoted", NOW)
    store.upsert_candidate(candidate())
    with pytest.raises(LessonValidationError):
        store.mark_candidate_processed("c", "liked", NOW)
    assert ids(store.list_pending_candidates()) == ["c"]


def test_a_failed_candidate_is_tried_again_but_not_for_ever(store: TableLessonStore) -> None:
    """37"""
    store.upsert_candidate(candidate())
    for attempt in range(1, MOST_ATTEMPTS + 1):
        failed = store.mark_candidate_processed("c", "error", at(attempt), error="no model")
        assert (failed["status"], failed["attempts"], failed["last_error"]) == ("failed", attempt, "no model")
        assert ids(store.list_pending_candidates()) == ["c"] * (attempt < MOST_ATTEMPTS)
    assert store.mark_candidate_processed("c", "promoted", at(9))["status"] == "processed"


# -- proposals


def test_a_proposal_is_inserted_once(store: TableLessonStore) -> None:
    """38, 39, 40, S1-33"""
    first = store.insert_proposal_if_absent(proposal())
    assert first["inserted"] is True
    assert store.insert_proposal_if_absent(proposal(draft={"statement": "Other."})) == {**first, "inserted": False}
    same = proposal("q", draft={"statement": "  USE tabs,\nsays p. "})
    assert store.insert_proposal_if_absent(same) == {**first, "inserted": False}
    assert store.insert_proposal_if_absent({**same, "scope": OTHER})["inserted"] is True
    assert store.insert_proposal_if_absent(proposal("r", action="merge", target_lesson_id="a"))["inserted"] is True
    store.record_proposal_decision("p", "rejected", "ana", at(1))
    decided = store.insert_proposal_if_absent(proposal())
    assert (decided["inserted"], decided["proposal"]["status"]) == (False, "rejected")
    assert store.insert_proposal_if_absent({**same, "id": "s"})["inserted"] is True


def test_of_two_writers_one_inserts(place: Place) -> None:
    """41"""
    barrier = threading.Barrier(4)
    found: list[bool] = []

    def insert(number: int) -> None:
        with contextlib.closing(place.open()) as store:
            barrier.wait()
            same = proposal(f"p{number}", draft={"statement": "Use tabs."})
            found.append(store.insert_proposal_if_absent(same)["inserted"])

    place.open().list_lessons()
    threads = [threading.Thread(target=insert, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False, False, False, True]
    assert len(place.open().list_proposals()) == 1


def test_a_decision_is_made_once_and_written_down(store: TableLessonStore) -> None:
    """42, 43, 44, 45, S1-35"""
    store.insert_proposal_if_absent(proposal())
    done = store.record_proposal_decision("p", "accepted", "ana", at(1), reason="yes")
    assert done["status"] == "accepted"
    assert done["decision"] == {"verdict": "accepted", "decided_by": "ana", "decided_at": at(1), "reason": "yes"}
    assert store.record_proposal_decision("p", "accepted", "bob", at(2)) == done
    with pytest.raises(LessonConflictError):
        store.record_proposal_decision("p", "rejected", "bob", at(2))
    (entry,) = store.list_audit(record_id="p")
    assert (entry["actor"], entry["action"], entry["at"], entry["seq"]) == ("ana", "accepted", at(1), 1)
    assert store.list_lessons() == []
    with pytest.raises(LessonNotFoundError):
        store.record_proposal_decision("nobody", "accepted", "ana", NOW)
    for wrong in (("p", "maybe", "ana", NOW), ("p", "accepted", "", NOW), ("p", "accepted", "ana", "now")):
        with pytest.raises(LessonValidationError):
            store.record_proposal_decision(*wrong)


def test_putting_a_proposal_cannot_undo_its_decision(store: TableLessonStore) -> None:
    """46, S1-34"""
    stored = store.upsert_proposal(proposal())
    assert store.upsert_proposal({**stored, "rationale": "better said"})["rationale"] == "better said"
    done = store.record_proposal_decision("p", "rejected", "ana", at(1))
    for undone in (proposal(), {**done, "status": "accepted"}, {**done, "decision": None}):
        with pytest.raises(LessonConflictError):
            store.upsert_proposal(undone)
    assert store.upsert_proposal({**done, "rationale": "later"})["decision"] == done["decision"]
    for wrong in ({"action": "delete"}, {"status": "new"}, {"draft": "text"}, {"created_at": None}):
        with pytest.raises(LessonValidationError):
            store.upsert_proposal({**proposal("q"), **wrong})


def test_agents_do_not_see_each_others_proposals(store: TableLessonStore) -> None:
    """47, 48, S1-31, S1-32"""
    wide = {"agent_id": "main", "workspace": "/app"}
    store.insert_proposal_if_absent(proposal("b", 1))
    store.insert_proposal_if_absent(proposal("a", 1, draft={"statement": "Other."}))
    store.insert_proposal_if_absent(proposal("o", scope=OTHER))
    store.insert_proposal_if_absent(proposal("w", scope=wide))
    assert store.find_proposal_with_scope("o", MAIN) is None
    assert store.find_proposal_with_scope("nobody", MAIN) is None
    assert store.find_proposal_with_scope("w", MAIN) is None
    assert store.find_proposal_with_scope("w", {"workspace": "/app", "agent_id": "main"}) is not None
    found = store.find_proposal_with_scope("o", OTHER)
    assert found is not None
    assert (found["proposal"]["id"], found["scope"]) == ("o", OTHER)
    assert [one["proposal"]["id"] for one in store.list_proposals_with_scope(MAIN)] == ["a", "b"]
    store.record_proposal_decision("a", "accepted", "ana", NOW)
    assert [one["proposal"]["id"] for one in store.list_proposals_with_scope(MAIN, status="pending")] == ["b"]
    assert ids(store.list_proposals()) == ["o", "w", "a", "b"]
    assert ids(store.list_proposals(status="pending", limit=2)) == ["o", "w"]
    with pytest.raises(LessonValidationError):
        store.list_proposals(status="open")


# -- audit


def test_the_trail_is_in_order_and_only_grows(store: TableLessonStore) -> None:
    """49, 50, 51, S1-36, S1-37"""
    for name in ("x", "y", "z"):
        store.append_audit(audit(name, record_id="a" if name != "y" else "b"))
    assert [(one["id"], one["seq"]) for one in store.list_audit()] == [("x", 1), ("y", 2), ("z", 3)]
    assert ids(store.list_audit(since_seq=1)) == ["y", "z"]
    assert ids(store.list_audit(since_seq=1, limit=1)) == ["y"]
    assert ids(store.list_audit(record_id="a")) == ["x", "z"]
    first = store.append_audit(audit("x", 9, action="other", seq=99))
    assert (first["action"], first["seq"], len(store.list_audit())) == ("noted", 1, 3)
    assert store.append_audit({**audit("q"), "id": "w"})["seq"] == 4
    assert not [name for name in dir(store) if "audit" in name and name.startswith(("delete", "update", "upsert"))]
    for wrong in ({"at": None}, {"action": ""}, {"details": []}):
        with pytest.raises(LessonValidationError):
            store.append_audit({**audit("bad"), **wrong})


# -- search


def found_by(store: TableLessonStore, query: str, **more: Any) -> list[str]:
    return [hit["lesson"]["id"] for hit in store.search_lessons(query, **more)]


def test_a_search_knows_neither_case_nor_accents(store: TableLessonStore) -> None:
    """52, S1-46"""
    store.upsert_lesson(lesson("a", title="Café Straße", statement="ΟΔΟΣ"))
    store.upsert_lesson(lesson("b", title="Other", statement="Nothing here", tags=["Éclair"]))
    for query in ("cafe", "CAFÉ", "cafe\u0301", "strasse", "STRASSE café", "οδος", "ΟΔΌΣ"):
        assert found_by(store, query) == ["a"]
    assert found_by(store, "eclair") == ["b"]


def test_every_word_must_occur(store: TableLessonStore) -> None:
    """53"""
    store.upsert_lesson(lesson("a", title="Tabs", statement="in Makefiles", tags=["make"]))
    assert found_by(store, "tabs makefiles make") == ["a"]
    assert found_by(store, " \n makefiles\ttabs ") == ["a"]
    assert found_by(store, "tabs spaces") == []
    assert found_by(store, "") == found_by(store, " \n") == []
    with pytest.raises(LessonValidationError):
        store.search_lessons(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", ["%", "_", "'", '"', "*", "\\", "?", "%s", "--", ";", "(", "[a]", "^", "$1", ":x"])
def test_signs_of_query_languages_mean_themselves(store: TableLessonStore, sign: str) -> None:
    """54"""
    store.upsert_lesson(lesson("a", title="Plain", statement="nothing special"))
    store.upsert_lesson(lesson("b", title="Sign", statement=f"50{sign} off"))
    assert found_by(store, sign) == ["b"]
    assert found_by(store, f"0{sign}") == ["b"]


def test_a_title_counts_more_and_the_latest_come_first(store: TableLessonStore) -> None:
    """S1-46"""
    store.upsert_lesson(lesson("a", 5, title="Other", statement="git rebase"))
    store.upsert_lesson(lesson("b", 1, title="Git", statement="rebase"))
    store.upsert_lesson(lesson("c", 1, title="Git", statement="rebase"))
    store.upsert_lesson(lesson("d", 0, title="Git rebase", statement="x"))
    assert found_by(store, "git rebase") == ["d", "b", "c", "a"]
    assert found_by(store, "git rebase", limit=2) == ["d", "b"]
    assert found_by(store, "git", limit=0) == []
    assert found_by(store, "git", scope=OTHER) == []
    assert found_by(store, "git", record_kind="skill") == []
    assert found_by(store, "git", limit=None, now="2020-01-01") == []


# -- what is stored


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Grüße 😀 \u2028 \x85 a\tb\nc\r\n", id="56 Unicode and newlines"),
        pytest.param("a\0b", id="NUL"),
        pytest.param('"quotes" \\ back\\slash \u202e', id="quotes"),
        pytest.param("x" * (4 << 20), id="57 four megabytes"),
    ],
)
def test_texts_come_back_as_they_were(place: Place, text: str) -> None:
    """56, 57"""
    place.open().upsert_lesson(lesson(statement=text, tags=[text[:50]]))
    again = place.open().get_lesson("a")
    assert again is not None
    assert again["statement"] == text


@pytest.mark.parametrize(
    "id", ["a/b", "../../etc/passwd", "a b", ".", "C:\\x", "ü😀", "'; DROP TABLE x; --", "%s", "?"]
)
def test_any_id_is_kept(place: Place, id: str) -> None:
    """58"""
    store = place.open()
    store.upsert_lesson(lesson(id))
    store.upsert_candidate(candidate(id))
    assert place.open().get_lesson(id) is not None
    assert ids(place.open().list_lessons()) == [id]


OLD = {"id": "old", "title": "Old", "statement": "From before.", "created_at": at(0), "mood": "calm"}


def test_an_older_record_reads_in_todays_form(store: TableLessonStore) -> None:
    """59, 60, S1-21, S1-22"""
    raw(store, OLD, {"id": "ageless", "statement": "No time."})
    first = store.get_lesson("old")
    assert first is not None
    assert first == store.get_lesson("old")
    assert {**OLD, "record_kind": "lesson", "durability": "durable", "valid_from": at(0)}.items() <= first.items()
    assert (first["schema_version"], first["invalid_at"], first["scope"]) == (1, None, MAIN)
    ageless = store.get_lesson("ageless")
    assert ageless is not None
    assert ageless["valid_from"] is None
    assert ids(store.list_active_lessons("1980-01-01")) == ["ageless"]
    assert ids(store.list_lessons(scope=MAIN, record_kind="lesson", durability="durable")) == ["old", "ageless"]
    written = {record for kind, record in inner(store).records() if '"old"' in record}
    assert len(written) == 1
    assert "schema_version" not in written.pop()


def test_everything_is_there_when_opened_again(place: Place) -> None:
    """61"""
    first = place.open()
    first.upsert_lesson(lesson())
    first.upsert_candidate(candidate())
    first.insert_proposal_if_absent(proposal())
    first.append_audit(audit("x"))
    before = list(inner(first).records())
    first.close()
    again = place.open()
    assert list(inner(again).records()) == before
    assert len(before) == 4


def test_two_stores_on_one_place_see_each_other(place: Place) -> None:
    """62"""
    left, right = place.open(), place.open()
    left.upsert_lesson(lesson("a"))
    assert ids(right.list_lessons()) == ["a"]
    right.upsert_lesson(lesson("b"))
    right.merge_lesson("a", {"helpful": 1}, at(1))
    assert ids(left.list_lessons()) == ["a", "b"]
    assert left.get_lesson("a")["helpful"] == 1  # type: ignore[index]


def append_many(backend: str, root: str, placement: Any, name: str, count: int) -> None:
    from ontoref.state.layout import Layout

    place = place_of(backend, Layout(root), getattr(placement, "database_url", None))
    place.placement = placement
    store = place.open()
    for number in range(count):
        store.upsert_lesson(lesson(f"{name}-{number}"))
        store.merge_lesson("shared", {"helpful": 1}, at(number % 60))
        store.append_audit(audit(f"{name}-{number}"))
    store.close()


def test_two_processes_lose_nothing(place: Place) -> None:
    """63"""
    place.open().upsert_lesson(lesson("shared"))
    count = 200 if place.backend != "fallback" else 50
    context = multiprocessing.get_context("spawn")
    work = [
        context.Process(target=append_many, args=(place.backend, place.layout.root, place.placement, name, count))
        for name in ("left", "right")
    ]
    for process in work:
        process.start()
    for process in work:
        process.join()
    assert [process.exitcode for process in work] == [0, 0]
    store = place.open()
    assert len(store.list_lessons()) == 2 * count + 1
    assert store.get_lesson("shared")["helpful"] == 2 * count  # type: ignore[index]
    assert [one["seq"] for one in store.list_audit()] == list(range(1, 2 * count + 1))


def test_a_store_tells_what_it_is(place: Place) -> None:
    """65, S1-41"""
    store = place.open()
    store.upsert_lesson(lesson())
    found = store.describe_backend()
    kinds = {"fallback": "fs-jsonl"}
    assert found["backend"] == kinds.get(place.backend, place.backend)
    assert found["location"]
    assert "not-a-real-password" not in repr(found)
    assert found["schema_version"] == 1
    assert found["degraded"] is (place.backend == "fallback")
    assert found["counts"] == {"lesson": 1, "proposal": 0, "candidate": 0, "audit": 0}


def test_no_method_reads_a_clock(store: TableLessonStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """66, S1-23, S1-24"""

    def refuse(*_: Any) -> Any:
        raise AssertionError("somebody asked for the time")

    class Clockless(datetime.datetime):
        now = utcnow = today = refuse  # type: ignore[assignment]

    store.list_lessons()
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", refuse)
        patch.setattr(time, "time_ns", refuse)
        patch.setattr(datetime, "datetime", Clockless)
        store.upsert_lesson(lesson())
        store.merge_lesson("a", {"helpful": 1}, at(1))
        store.supersede_lesson("a", {"id": "b", "statement": "New."}, at(2))
        store.list_active_lessons(at(3))
        store.search_lessons("new", now=at(3))
        store.upsert_candidate(candidate())
        store.mark_candidate_processed("c", "promoted", at(4))
        store.insert_proposal_if_absent(proposal())
        store.record_proposal_decision("p", "accepted", "ana", at(5))
        store.append_audit(audit("x"))


def test_a_failed_write_leaves_what_was(store: TableLessonStore) -> None:
    """67"""
    before = store.upsert_lesson(lesson())
    for call in (
        lambda: store.upsert_lesson(lesson(statement="\ud800")),
        lambda: store.merge_lesson("a", {"title": "\udfff"}, at(1)),
        lambda: store.merge_lesson("a", {"durability": "long"}, at(1)),
        lambda: store.supersede_lesson("a", {"id": "b", "statement": {1}}, at(1)),
        lambda: store.upsert_lesson(lesson(statement="Two."), expected_version=7),
    ):
        with pytest.raises((LessonValidationError, LessonConflictError)):
            call()
    assert store.list_lessons() == [before]


def test_an_empty_store_lists_nothing(store: TableLessonStore) -> None:
    """68"""
    assert store.list_lessons() == store.list_active_lessons(NOW) == store.get_lesson_chain("a") == []
    assert store.list_proposals() == store.list_proposals_with_scope(MAIN) == store.list_pending_candidates() == []
    assert store.list_audit() == store.search_lessons("tabs") == []
    assert (store.get_proposal("p"), store.get_candidate("c")) == (None, None)


def test_unknown_fields_survive(store: TableLessonStore) -> None:
    """70"""
    extra = {"x-team": {"deep": [1, 2.5, None, True]}}
    assert store.upsert_lesson(lesson(**extra))["x-team"] == extra["x-team"]
    assert store.merge_lesson("a", {"helpful": 1}, at(1))["x-team"] == extra["x-team"]
    store.upsert_candidate(candidate(**extra))
    assert store.mark_candidate_processed("c", "promoted", at(1))["x-team"] == extra["x-team"]
    store.insert_proposal_if_absent(proposal(**extra))
    assert store.record_proposal_decision("p", "accepted", "ana", at(1))["x-team"] == extra["x-team"]
    assert store.append_audit(audit("x", **extra))["x-team"] == extra["x-team"]
