"""`show`: a whole record, or a decision with everything that was ever said of it."""

from __future__ import annotations

import json

import pytest

from ontoref.interaction.lookup import NotFound, look_up
from tests.conftest import App
from tests.interaction.test_query import LOGS, log

__all__ = ["log"]


def test_a_decision_is_shown_with_every_entry_newest_first(log: App) -> None:
    done = log("interaction", "show", "store")
    assert done.code == 0
    newest, oldest = done.out.split("\n\n")
    assert newest.startswith("store  2026-11-03T10:00:00Z  s-2  Human")
    assert "ADR-0001" in newest
    assert oldest.startswith("store  2026-11-01T10:00:00Z  s-1")
    assert "zebra" in oldest
    entries = json.loads(log("interaction", "show", "store", "--format", "json").out)
    assert [entry["record"]["session_id"] for entry in entries] == ["s-2", "s-1"]
    assert entries[1]["rationale"] == "zebra"


def test_a_superseded_entry_says_by_what(log: App) -> None:
    done = log("interaction", "show", "wrong")
    assert "superseded by  01JE4Q8ZT3W6M1K9V2C5N7X006" in done.out


def test_a_record_is_found_by_its_id_or_a_beginning_that_is_only_its_own(log: App) -> None:
    whole = json.loads(log("interaction", "show", "01JE4Q8ZT3W6M1K9V2C5N7X008", "--format", "json").out)
    assert whole == LOGS["three.jsonl"][2]
    done = log("interaction", "show", "01JE4Q8ZT3W6M1K9V2C5N7X005")
    assert "zebra in prose" in done.out
    assert "superseded by" in done.out


@pytest.mark.parametrize(
    ("wanted", "said"), [("01JE4", "begins 8 record ids"), ("nothing", 'has the id "nothing"'), ("stor", "has the id")]
)
def test_what_is_not_there_or_not_one_is_no(log: App, wanted: str, said: str) -> None:
    done = log("interaction", "show", wanted)
    assert done.code == 1
    assert said in done.err
    assert done.out == ""


def test_show_reads_the_logs_it_is_given(log: App) -> None:
    path = next(log.folder.rglob("one.jsonl"))
    assert len(json.loads(log("interaction", "show", "store", str(path), "--format", "json").out)) == 1


def test_a_beginning_of_very_many_ids_is_told_with_a_few_of_them(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    path = app.folder / "many.jsonl"
    path.write_text("".join(json.dumps({"id": f"01JE{number:022d}"}) + "\n" for number in range(40)))
    with pytest.raises(NotFound, match='"01JE" begins 40 record ids'):
        look_up("01JE", [str(path)])
    monkeypatch.setattr("ontoref.interaction.lookup._MOST_IDS", 10)
    with pytest.raises(NotFound, match='"01JE" begins 10 or more record ids'):
        look_up("01JE", [str(path)])
    assert look_up(f"01JE{7:022d}", [str(path)]).records == ({"id": f"01JE{7:022d}"},)
