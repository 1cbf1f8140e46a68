"""One contract for everything that trees are built from, and answers that open only what was asked for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.replay.answers import BadParameter, Options, children_answer, tree_answer
from ontoref.replay.archived import Archive
from ontoref.replay.duckdb_store import DuckStore, DuckWriter
from ontoref.replay.files import Files
from ontoref.replay.source import Memory, Source, Sources
from ontoref.state import Layout, State
from ontoref.transcript.find import look
from tests.replay.events import event, pairs

Make = Callable[[Path], Source]
PARENT = "claude-code:00000000-aaaa-4bbb-8ccc-000000000001"
CHILD = f"{PARENT}:agent-a1"


def line(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"m{number}", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 2}}
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": None,
        "timestamp": f"2026-01-01T00:00:{number:02d}.000Z",
        "sessionId": PARENT.partition(":")[2],
        "cwd": "/home/ada/shop",
        "version": "2.1.0",
        "message": message,
        **more,
    }


def write_session(folder: Path, children: int = 1) -> Path:
    """A session of Claude Code with sub-agents in files of their own."""
    native = PARENT.partition(":")[2]
    path = folder / f"{native}.jsonl"
    lines = [line(1, "user", "Count the files.")]
    for number in range(1, children + 1):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Task", "input": {"description": f"look {number}",
                "prompt": f"Look {number}", "subagent_type": "Explore"}}  # fmt: skip
        lines.append(line(2, "assistant", [call]) | {"uuid": f"s{number}"})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"type": "text", "text": "3 files"}]}
        more = {"toolUseResult": {"agentId": f"a{number}", "status": "completed"}}
        lines.append(line(3, "user", [result]) | {"uuid": f"r{number}", **more})
        child = folder / native / "subagents" / f"agent-a{number}.jsonl"
        child.parent.mkdir(parents=True, exist_ok=True)
        inside = [
            line(4, "user", f"Look {number}", isSidechain=True, agentId=f"a{number}"),
            line(5, "assistant", [{"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": "ls"}}],
                 isSidechain=True, agentId=f"a{number}"),
            line(6, "assistant", [{"type": "text", "text": "3 files"}], isSidechain=True, agentId=f"a{number}"),
        ]  # fmt: skip
        child.write_text("".join(json.dumps(one) + "\n" for one in inside), encoding="utf-8")
    lines.append(line(7, "assistant", [{"type": "text", "text": "There are 3."}]))
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def files_of(path: Path, reading: Callable[[str], None] = lambda path: None) -> Files:
    files = Files(list, reading=reading)
    found = look(str(path))
    assert found is not None
    files.add(found)
    return files


def archive_of(folder: Path, reading: Callable[[str], None] = lambda name: None) -> Archive:
    from ontoref.replay.archive_index import index
    from ontoref.state import archive
    from ontoref.state.importer import Importer

    layout = Layout(str(folder / "state"))
    with State(layout, read_only=False) as state:
        importer = Importer(state)
        list(importer.run([str(folder)]))
        importer.finish()
        for found in archive.listing(state):
            index(state, found.session_id, 1)
    return Archive(lambda: State(layout, read_only=True), reading=reading)


def duck_of(folder: Path) -> DuckStore:
    files = files_of(next(folder.glob("*.jsonl")))
    sessions = []
    for name in (PARENT, CHILD):
        rows = files.rows(name)
        assert rows is not None
        sessions.append((name, rows))
    path = str(folder / "x.duckdb")
    with DuckWriter(path) as writer:
        writer.write(sessions, 1)
        writer.write(sessions, 2)
    return DuckStore(path)


MAKE: dict[str, Make] = {
    "files": lambda folder: files_of(next(folder.glob("*.jsonl"))),
    "archive": archive_of,
    "duckdb": duck_of,
}


@pytest.fixture(params=MAKE)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    if request.param == "duckdb":
        pytest.importorskip("duckdb")
    write_session(tmp_path)
    made: Source = MAKE[request.param](tmp_path)
    return made


def test_every_source_gives_the_same_rows(source: Source, tmp_path: Path) -> None:
    """S2-14, S2-19: order, types and nulls as they were."""
    expected = files_of(next(tmp_path.glob("*.jsonl")))
    for name in (PARENT, CHILD):
        rows = source.rows(name)
        assert rows is not None
        assert list(rows) == list(expected.rows(name) or ())
        assert [row.ordinal for row in rows] == list(range(len(rows)))


def test_an_unknown_session_is_none(source: Source) -> None:
    """S2-19, S2-23, S2-24."""
    for name in ("claude-code:nobody", "../../etc/passwd", "", "x:y\0z"):
        assert source.rows(name) is None
        assert source.counts([name]) == {}
    answer = tree_answer(source, "claude-code:nobody")
    assert (answer["session_id"], answer["runtime"], answer["mode"]) == ("nobody", None, None)
    assert (answer["turns"], answer["workflows"], answer["row_count"], answer["known"]) == ([], [], 0, False)


def test_the_same_tree_from_every_source(source: Source) -> None:
    """S2-21, S2-22, S2-51."""
    answer = tree_answer(source, PARENT)
    (turn,) = answer["turns"]
    (node,) = turn["delegations"]
    assert (node["child_session_id"], node["child_id"]) == (CHILD.partition(":")[2], CHILD)
    assert (node["label"], node["agent"], node["status"], node["expanded"]) == ("look 1", "Explore", "returned", False)
    assert (node["events"], node["delegations"], node["approvals"]) == ([], [], [])
    assert node["totals"]["complete"] is False
    (opened,) = tree_answer(source, PARENT, Options(depth=1))["turns"][0]["delegations"]
    assert opened["expanded"]
    assert opened["event_count"] == 3
    assert opened == children_answer(source, PARENT, node["span_id"])
    assert (
        opened
        == tree_answer(source, PARENT, Options(expand=frozenset([node["span_id"]])))["turns"][0]["delegations"][0]
    )
    alone = tree_answer(source, CHILD)
    for name in ("events", "delegations", "approvals"):
        assert opened[name] == [one for turn in alone["turns"] for one in turn[name]]


def test_the_archive_tells_sizes_by_its_index(tmp_path: Path) -> None:
    """S2-11, S2-12, S2-14, S2-48: rows of each session once, however often it is indexed."""
    from ontoref.replay.archive_index import index

    write_session(tmp_path)
    source = archive_of(tmp_path)
    assert source.counts([PARENT, CHILD, "codex:no"]) == {PARENT: 4, CHILD: 3}
    (node,) = tree_answer(source, PARENT)["turns"][0]["delegations"]
    assert node["event_count"] == 3
    with State(Layout(str(tmp_path / "state")), read_only=False) as state:
        assert index(state, PARENT, 2) == 4
    assert source.counts([PARENT, CHILD]) == {PARENT: 4, CHILD: 3}


def test_a_reader_that_fails_leaves_the_index_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2-15."""
    from ontoref.replay import archive_index

    write_session(tmp_path)
    source = archive_of(tmp_path)

    class Broken:
        @property
        def events(self) -> Any:
            yield event("u1")
            raise OSError("gone")

    monkeypatch.setattr(archive_index, "read_source", lambda *_: Broken())
    with State(Layout(str(tmp_path / "state")), read_only=False) as state, pytest.raises(OSError, match="gone"):
        archive_index.index(state, PARENT, 2)
    assert source.counts([PARENT]) == {PARENT: 4}


def test_reading_takes_no_lock_and_changes_nothing(tmp_path: Path) -> None:
    """S2-16, S2-17: another process writes meanwhile."""
    write_session(tmp_path)
    source = archive_of(tmp_path)
    (database,) = (tmp_path / "state").rglob("ontoref-agent.sqlite")
    before = database.read_bytes()
    with sqlite3.connect(database, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        for _ in range(3):
            assert tree_answer(source, PARENT)["row_count"] == 4
            assert source.counts([PARENT]) == {PARENT: 4}
        writer.execute("ROLLBACK")
    writer.close()
    assert database.read_bytes() == before


@pytest.mark.parametrize("kind", ["files", "archive"])
def test_forty_sub_agents_cost_nothing_until_one_is_opened(kind: str, tmp_path: Path) -> None:
    """S2-47, S2-48: what is read is told by the source itself."""
    path = write_session(tmp_path, children=40)
    read: list[str] = []
    source: Source = files_of(path, read.append) if kind == "files" else archive_of(tmp_path, read.append)
    answer = tree_answer(source, PARENT)
    nodes = answer["turns"][0]["delegations"]
    assert len(nodes) == 40
    assert len(read) == 1
    assert len(json.dumps(answer)) < 200_000
    children_answer(source, PARENT, nodes[7]["span_id"])
    assert len(read) == 2
    assert "agent-a8" in read[1]


def test_the_size_of_a_closed_sub_agent_comes_from_one_question() -> None:
    """S2-48."""

    class Counting(Memory):
        asked: list[list[str]] = []  # noqa: RUF012

        def counts(self, session_ids: Any) -> Any:
            self.asked.append(list(session_ids))
            return super().counts(session_ids)

    source = Counting({
        "codex:s": [event("u1"), *(event(f"s{n}", child_session_id=f"c{n}") for n in range(9))],
        **{f"codex:c{n}": [event("u1")] * (n + 1) for n in range(9)},
    })  # fmt: skip
    nodes = tree_answer(source, "codex:s")["turns"][0]["delegations"]
    assert [node["event_count"] for node in nodes] == list(range(1, 10))
    assert len(source.asked) == 1


def family() -> Memory:
    return Memory({
        "codex:s": [event("u1"), event("s1", child_session_id="a"), event("s2", child_session_id="gone")],
        "codex:a": [event("u1"), event("s3", child_session_id="b"), event("a1")],
        "codex:b": [event("u1"), event("s4", child_session_id="s"), event("s5", child_session_id="b")],
    })  # fmt: skip


def test_each_level_is_opened_as_far_as_it_was_asked() -> None:
    """S2-49, S2-50."""
    (first, second) = tree_answer(family(), "codex:s", Options(depth=1))["turns"][0]["delegations"]
    assert first["delegations"][0]["expanded"] is False
    assert (second["expanded"], second["events"], second["missing"]) == (True, [], True)
    (first, _) = tree_answer(family(), "codex:s", Options(depth=10))["turns"][0]["delegations"]
    (inner,) = first["delegations"]
    for node in inner["delegations"]:
        assert (node["cycle"], node["expanded"], node["events"]) == (True, False, [])


@pytest.mark.parametrize("options", [{"depth": -1}, {"depth": 11}, {"limit": 0}, {"limit": 10_001}])
def test_parameters_out_of_range_are_refused(options: dict[str, int]) -> None:
    """S2-49."""
    with pytest.raises(BadParameter):
        Options(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [Options(cursor="x"), Options(cursor="3@nobody"), Options(turn="nobody")])
def test_cursors_and_turns_that_are_none_are_refused(options: Options) -> None:
    """S2-49."""
    with pytest.raises(BadParameter):
        tree_answer(family(), "codex:s", options)


def pages(source: Source, name: str, limit: int | None) -> list[dict[str, Any]]:
    found = [tree_answer(source, name, Options(limit=limit))]
    while found[-1]["next_cursor"]:
        found.append(tree_answer(source, name, Options(limit=limit, cursor=found[-1]["next_cursor"])))
    return found


@pytest.mark.parametrize("limit", [1, 3, 7, None])
def test_pages_together_are_the_whole(limit: int | None) -> None:
    """S2-49."""
    events = [event("k0"), *(event(f"{'utarqm'[n % 6]}{n}") for n in range(40)), event("s1")]
    found = pages(Memory({"codex:s": events}), "codex:s", limit)
    assert (len(found) > 1) == (limit is not None)
    spans = [
        one["span_id"]
        for page in found
        for turn in page["turns"]
        for name in ("events", "approvals", "mode_changes", "delegations")
        for one in turn[name]
    ]
    assert sorted(spans) == sorted(one.span_id for one in events)
    assert all(sum(len(turn["events"]) for turn in page["turns"]) <= (limit or 99) for page in found)


def test_a_page_that_nobody_gave_a_size_is_small_and_a_turn_may_go_over_pages() -> None:
    events = [event("u1"), *(event(f"a{n}", text="x" * 9_000) for n in range(400))]
    found = pages(Memory({"codex:s": events}), "codex:s", None)
    assert len(found) > 2
    assert all(len(json.dumps(page)) < 200_000 for page in found)
    assert [page["turns"][0]["continued"] for page in found] == [False, *[True] * (len(found) - 1)]
    assert sum(len(page["turns"][0]["events"]) for page in found) == 401


def test_a_node_is_paged_as_well() -> None:
    """S2-49."""
    source = Memory({"codex:s": [event("s1"), *(event(f"a{n}", "s1") for n in range(25))]})
    first = children_answer(source, "codex:s", "s1", Options(limit=10))
    assert (first["has_more"], first["next_cursor"], first["event_count"]) == (True, "10", 25)
    last = children_answer(source, "codex:s", "s1", Options(limit=10, cursor="20"))
    assert (last["has_more"], len(last["events"])) == (False, 5)


def test_nodes_deeper_than_json_goes_are_cut_and_told() -> None:
    """S2-44."""
    source = Memory({"codex:s": [event("s0"), *(event(f"s{n}", f"s{n - 1}") for n in range(1, 400))]})
    answer = tree_answer(source, "codex:s")
    text = json.dumps(answer)
    node = answer["turns"][0]["delegations"][0]
    depth = 1
    while node["delegations"]:
        node = node["delegations"][0]
        depth += 1
    assert node["truncated"]
    assert depth < 100
    assert len(text) < 400_000
    (again,) = children_answer(source, "codex:s", node["span_id"])["delegations"]
    assert again["span_id"] == f"s{depth}"


def test_large_payloads_are_previews() -> None:
    rows = pairs(event("r1", output="x" * 100_000, tool_use_id="c"), event("r2", output="y"))
    answer = tree_answer(Memory({"codex:s": [one for _, one in rows]}), "codex:s")
    first, second = answer["turns"][0]["events"]
    assert first["truncated"]
    assert first["bytes"] > 100_000
    assert len(json.dumps(first["payload"])) <= 2048
    assert first["payload"]["tool_use_id"] == "c"
    assert (second["truncated"], second["payload"]) == (False, {"output": "y"})
    whole = tree_answer(Memory({"codex:s": [rows[0][1]]}), "codex:s", Options(full=True))
    assert whole["turns"][0]["events"][0]["payload"]["output"] == "x" * 100_000


def test_sources_are_asked_one_after_the_other() -> None:
    first, second = Memory({"codex:a": [event("u1")]}), Memory({"codex:b": [event("u1")] * 2})
    both = Sources(first, second)
    assert len(both.rows("codex:b") or ()) == 2
    assert both.counts(["codex:a", "codex:b", "codex:c"]) == {"codex:a": 1, "codex:b": 2}


def test_a_store_keeps_what_json_can_hold(tmp_path: Path) -> None:
    """S2-13: any payload comes back as it was."""
    pytest.importorskip("duckdb")
    odd = event("r1", output="\x00\u2028\"'\\{}[]\n", number=2**70, nested=[[[{"": None}]]], flag=True)
    path = str(tmp_path / "odd.duckdb")
    with DuckWriter(path) as writer:
        writer.write([("codex:s", pairs_to_rows([odd])), ("pi:s", pairs_to_rows([odd._replace(runtime="pi")]))], 1)
    store = DuckStore(path)
    assert [row.event for row in store.rows("codex:s") or ()] == [odd]
    assert store.counts(["codex:s", "pi:s"]) == {"codex:s": 1, "pi:s": 1}
    (row,) = store.query("SELECT count(*) AS n FROM duckdb_indexes() WHERE table_name = 'replay_events'")
    assert row == {"n": 5}


def pairs_to_rows(events: list[Any]) -> Any:
    from ontoref.replay.source import numbered

    return numbered(events)
