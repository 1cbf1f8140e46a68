"""What is close to the form that a field asks for is offered in that form, and what is offered is then accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import App

RECORD = {"kind": "Fix", "domain": "Cli", "outcome": "Completed", "actor": "Human", "summary": "x", "session_id": "s"}
DECISION = {"id": "a", "reversible": True, "adr_candidate": False}


@pytest.mark.parametrize(
    ("field", "given", "offered"),
    [
        ("files_touched", [r"src\a.py"], "src/a.py"),
        ("files_touched", ["./src/a.py"], "src/a.py"),
        ("files_touched", [r"C:\src\a.py"], None),
        ("files_touched", ["../a.py"], None),
        ("session_id", "a b", "a-b"),
        ("decisions", [{**DECISION, "id": "Some Thing"}], "some-thing"),
        ("actions", [{"kind": "Edit", "target": "two\nlines"}], "two lines"),
        ("supersedes", ["01je4q8zt3w6m1k9v2c5n7x0rb"], "01JE4Q8ZT3W6M1K9V2C5N7X0RB"),
        ("revision", "AB" * 20, "ab" * 20),
        ("recorded_at", "yesterday", None),
    ],
)
def test_a_text_is_offered_in_its_form(app: App, field: str, given: Any, offered: str | None) -> None:
    done = app("interaction", "record", "-", "--format", "json", stdin=json.dumps({**RECORD, field: given}))
    (finding,) = json.loads(done.err.splitlines()[-1])["error"]["findings"][:1]
    assert (finding["rule"], finding.get("suggestion")) == ("pattern", offered)
    if offered is not None:
        mended = json.dumps({**RECORD, field: given}).replace(json.dumps(finding["value"]), json.dumps(offered))
        assert app("interaction", "record", "-", "--dry-run", stdin=mended).code == 0
