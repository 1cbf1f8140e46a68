"""What the endpoints answer."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from ontoref.replay.answers import tree_answer
from ontoref.web.data import Data
from tests.web.conftest import Ask


def test_a_tree_has_every_key_on_every_level(ask: Ask, data: Data) -> None:
    """S2-21, S2-22."""
    answer = ask("/api/replay-tree/codex:s")
    assert answer.headers["content-type"] == "application/json"
    tree = answer.json()
    assert tree == tree_answer(data.source, "codex:s")
    assert {"session_id", "runtime", "mode", "turns", "workflows", "row_count"} <= set(tree)
    (turn,) = tree["turns"]
    assert {"turn_id", "events", "delegations", "approvals"} <= set(turn)
    (node,) = turn["delegations"]
    assert {"span_id", "child_session_id", "events", "delegations", "approvals"} <= set(node)
    assert tree["workflows"] == []
    assert ask("/api/replay-tree/s").json() == tree, "a native id will do"


def test_children_and_events(ask: Ask) -> None:
    """S2-49, S2-51."""
    node = ask("/api/replay-tree/codex:s/children/s1").json()
    assert (node["expanded"], [one["span_id"] for one in node["events"]]) == (True, ["u1", "a1"])
    assert ask("/api/replay-tree/codex:s", params={"depth": 1}).json()["turns"][0]["delegations"] == [node]
    assert ask("/api/replay-tree/codex:s", params={"expand": "s1"}).json()["turns"][0]["delegations"] == [node]
    event = ask("/api/event/codex:s/t1").json()
    assert (event["truncated"], event["payload"]["output"]) == (False, "x" * 5000)


@pytest.mark.parametrize("path", ["/api/replay-tree/codex:s/children/no", "/api/event/codex:s/no", "/api/no", "/no"])
def test_what_is_not_there(ask: Ask, path: str) -> None:
    answer = ask(path)
    assert answer.status_code == 404
    assert set(answer.json()["error"]) == {"kind", "message", "hint", "location"}


@pytest.mark.parametrize(
    "query",
    ["depth=11", "depth=-1", "depth=x", "depth=1&depth=2", "limit=0", "limit=10001", "limit=", "cursor=x", "turn=no",
     "nonsense=1", "turn=%FF", "depth=" + "9" * 5000],
)  # fmt: skip
def test_wrong_parameters(ask: Ask, query: str) -> None:
    """S2-49."""
    answer = ask(f"/api/replay-tree/codex:s?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["kind"] == "usage"


@pytest.mark.parametrize("given", ["codex:nobody", "../../etc/passwd", "/etc/passwd", "a\0b", "%2e%2e%2f", "💥"])
def test_an_unknown_session_is_an_empty_tree(ask: Ask, given: str) -> None:
    """S2-23, S2-24."""
    answer = ask(f"/api/replay-tree/{quote(given, safe='')}")
    assert answer.status_code == 200
    tree = answer.json()
    assert (tree["runtime"], tree["mode"], tree["turns"], tree["workflows"], tree["row_count"]) == (
        None,
        None,
        [],
        [],
        0,
    )


def test_an_id_may_hold_anything(ask: Ask) -> None:
    """S2-24."""
    assert ask(f"/api/replay-tree/{quote('codex:a/b?#%', safe='')}").json()["row_count"] == 1


def test_a_flat_transcript(ask: Ask) -> None:
    """S2-26."""
    whole = ask("/api/transcript/codex:s").json()
    assert [one["span_id"] for one in whole["events"]] == ["u1", "t1", "s1"]
    first = ask("/api/transcript/codex:s?limit=2").json()
    assert (first["has_more"], first["next_cursor"]) == (True, "2")
    last = ask("/api/transcript/codex:s?limit=2&cursor=2").json()
    assert (last["has_more"], first["events"] + last["events"]) == (False, whole["events"])
    assert ask("/api/transcript/codex:no").json()["known"] is False


def test_figures_of_a_session(ask: Ask) -> None:
    figures = ask("/api/figures/codex:s").json()
    assert (figures["events"], figures["agents"], figures["turns"], figures["complete"]) == (3, 1, 1, False)
    assert len(figures["activity"]) == 24


def test_listings_take_the_filters_of_the_commands(ask: Ask) -> None:
    assert ask("/api/sessions?limit=2&runtime=codex").json()["found"] == 3
    assert ask("/api/records?kind=Fix&kind=Feature").json()["rows"] == [{"kind": ["Fix", "Feature"]}]
    assert ask("/api/decisions?open=true").json() == {"rows": []}


def test_every_endpoint_is_described(ask: Ask) -> None:
    document = ask("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {
        "/api/sessions",
        "/api/figures/{session}",
        "/api/replay-tree/{session}",
        "/api/replay-tree/{session}/children/{span}",
        "/api/event/{session}/{span}",
        "/api/transcript/{session}",
        "/api/outline/{session}",
        "/api/locate/{session}",
        "/api/search/{session}",
        "/api/records",
        "/api/decisions",
        "/api/stream/{session}",
    }
    assert all(set(methods) == {"get"} for methods in document["paths"].values())


def test_a_fault_of_ours_is_json_as_well(ask: Ask, data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, given: str) -> str:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(type(data.sessions), "resolve", broken)
    answer = ask("/api/replay-tree/codex:s")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (500, "bug")
    assert "secret" not in answer.text


def test_pages_never_leave_their_folder(ask: Ask) -> None:
    for path in ("/..%2f..%2fpyproject.toml", "/%2e%2e/app.py", "/..\\app.py"):
        assert ask(path).status_code == 404
    assert "ontoref" in ask("/").text
    assert (Path(__file__).parent / "test_api.py").exists()
