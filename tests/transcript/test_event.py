"""The neutral event: its words, its shape, and what `validate` finds (S2-1 … S2-10)."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ontoref import vocabulary
from ontoref.transcript import event as e
from ontoref.transcript.event import KINDS, STATUSES, ReplayEvent, validate

SCHEMA = vocabulary.load().documents["replay.yaml"]


def make(**fields: Any) -> dict[str, Any]:
    event = ReplayEvent(1.5, e.LLM_CALL, "x:s:a:0", None, "s", "x", {"line": 1})._asdict()
    return event | fields


MODE = {"permission": "plan", "sandbox": None, "collaboration": None}
ASKED = {"status": "requested", "decision_reason": None, "resolver": None, "edit_diff": None}


def test_the_words_in_the_code_are_those_in_the_file() -> None:
    """S2-2"""
    shape = SCHEMA["$defs"]["ReplayKind"]["oneOf"]
    assert tuple(member["const"] for member in shape) == KINDS
    assert len(set(KINDS)) == 14
    assert tuple(m["const"] for m in SCHEMA["$defs"]["ApprovalStatus"]["oneOf"]) == STATUSES


def test_the_fields_in_the_code_are_those_in_the_file() -> None:
    """S2-1"""
    assert tuple(SCHEMA["$defs"]["ReplayEvent"]["properties"]) == ReplayEvent._fields
    assert tuple(SCHEMA["$defs"]["Mode"]["properties"]) == tuple(e.Mode.__annotations__)
    assert tuple(SCHEMA["$defs"]["Approval"]["properties"]) == tuple(e.Approval.__annotations__)


@pytest.mark.parametrize(
    "event",
    [
        make(),
        make(parent_span_id="x:s:b:0"),
        make(kind=e.MODE_CHANGED, mode=MODE),
        make(kind=e.MODE_CHANGED, mode=MODE | {"permission": "dontAsk", "sandbox": "container"}),
        make(kind=e.APPROVAL_REQUESTED, approval=ASKED),
        make(kind=e.APPROVAL_DECIDED, approval=ASKED | {"status": "edited", "edit_diff": {"before": 1, "after": 2}}),
        *(make(kind=kind, payload={}) for kind in KINDS if kind not in e.KINDS[9:12]),
    ],
)
def test_sound_events_have_no_fault(event: dict[str, Any]) -> None:
    """S2-5, S2-6, S2-9"""
    assert validate(event) == []
    Draft202012Validator(SCHEMA).validate(event)


@pytest.mark.parametrize(
    "event",
    [
        make(ts=True),
        make(ts="1"),
        make(kind="llm.reply"),
        make(span_id=""),
        make(parent_span_id=""),
        make(session_id=None),
        make(payload=[]),
        make(extra=1),
        make(mode=MODE),
        make(kind=e.MODE_CHANGED),
        make(kind=e.MODE_CHANGED, mode={"permission": 1, "sandbox": None, "collaboration": None}),
        make(approval=ASKED),
        make(kind=e.APPROVAL_DECIDED, approval=ASKED),
        make(kind=e.APPROVAL_REQUESTED, approval=ASKED | {"status": "approved"}),
        make(kind=e.APPROVAL_REQUESTED, approval={}),
    ],
)
def test_code_and_file_refuse_the_same_faults(event: dict[str, Any]) -> None:
    """S2-4, S2-7, S2-8"""
    assert validate(event)
    assert not Draft202012Validator(SCHEMA).is_valid(event)


def test_all_faults_are_told_at_once_and_none_is_raised() -> None:
    """S2-4"""
    assert len(validate({})) >= 5
    assert validate(make(ts=float("nan")))
    for odd in (None, 3, [], "x"):
        assert validate(odd)  # type: ignore[arg-type]


def test_importing_the_event_loads_no_web_and_no_database() -> None:
    """S2-3"""
    code = "import sys, ontoref.transcript.event; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"sqlite3", "duckdb", "starlette", "uvicorn", "psycopg", "asyncio"} & set(out.split())
