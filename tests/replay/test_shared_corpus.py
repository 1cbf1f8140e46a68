"""Real sessions of three runtimes become the trees that their description tells of."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontoref.replay import Delegation, Tree, build_tree, events_of, walk
from ontoref.replay.answers import Options, children_answer, tree_answer
from ontoref.replay.files import Files
from ontoref.replay.source import numbered
from ontoref.transcript.find import look
from ontoref.transcript.reader import read
from tests.conftest import SHARED

pytestmark = pytest.mark.shared
CORPUS = SHARED / "transcripts"


def tree_of(path: Path) -> Tree:
    return build_tree(numbered(read(path).events))


def one(pattern: str) -> Path:
    (found,) = CORPUS.glob(pattern)
    return found


def delegations(tree: Tree) -> list[Delegation]:
    return [node for node in walk(*tree.turns, *tree.workflows) if isinstance(node, Delegation)]


# File, delegations, how they stand, how many of their sessions are in the corpus, orphaned events.
TREES = [
    ("claude-code/agent-team/*.jsonl", ["returned"] * 6, 6),
    ("claude-code/mode-switch/*.jsonl", ["returned"], 1),
    ("claude-code/watchdog-town/01a2be2d*.jsonl", ["returned"], 1),
    ("claude-code/fixtures/teammates/*.jsonl", ["returned"] * 2, 1),
    ("claude-code/fixtures/dedup_main.jsonl", ["returned"], 0),
    ("claude-code/fixtures/sidechain_in_main_file*.jsonl", ["open"], 0),
    ("codex/subagents/*00-29-29*.jsonl", ["returned"] * 3, 1),
    ("openclaw/tester-team/agents/main/sessions/f5b63bc9*.reset.*", ["failed", "open", "returned", "returned", "open"], 2),
    ("openclaw/spawn-pptx/*.jsonl.reset.*", ["failed"] * 3, 0),
    ("edge/13-subagent-files/*.jsonl", ["returned"] * 2, 2),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "statuses", "here"), TREES, ids=[row[0] for row in TREES])
def test_sub_agents_of_a_real_session(pattern: str, statuses: list[str], here: int) -> None:
    """Must hold 1; S2-31, S2-32, S2-33, S2-51."""
    path = one(pattern)
    tree = tree_of(path)
    assert [node.status for node in delegations(tree)] == statuses
    assert tree.diagnostics.unplaced == []
    assert tree.diagnostics.cycles == []
    read_paths: list[str] = []
    files = Files(list, reading=read_paths.append)
    found = look(str(path))
    assert found is not None
    files.add(found)
    closed = tree_answer(files, found.id, Options(limit=10_000))
    assert len(read_paths) == 1, "S2-47: nothing but the session itself"
    opened = tree_answer(files, found.id, Options(limit=10_000, depth=1))
    nodes = [node for turn in opened["turns"] for node in turn["delegations"]]
    assert len(nodes) == sum(len(turn["delegations"]) for turn in closed["turns"]) == len(statuses)
    with_session = [node for node in nodes if node["child_id"] and not node["missing"]]
    assert len(with_session) == here
    for node in nodes:
        assert node == children_answer(files, found.id, node["span_id"], Options(limit=10_000))
    for node in with_session:
        direct = tree_answer(files, node["child_id"], Options(limit=10_000))
        for name in ("events", "delegations", "approvals"):
            assert node[name] == [value for turn in direct["turns"] for value in turn[name]]
        assert node["event_count"] >= direct["row_count"]


def test_a_workflow_of_a_real_session() -> None:
    """Must hold 1; S2-39: three agents below one workflow, each in a file of its own."""
    path = one("claude-code/fixtures/workflow_basic/*.jsonl")
    files = Files(list)
    found = look(str(path))
    assert found is not None
    files.add(found)
    (node,) = tree_answer(files, found.id, Options(depth=1))["workflows"]
    assert (node["status"], node["orphan"], len(node["stages"])) == ("completed", False, 3)
    assert [stage["event_count"] for stage in node["stages"]] == [4, 4, 3]
    assert not any(stage["missing"] for stage in node["stages"])


def test_a_sidechain_in_the_main_file_stands_inside_its_sub_agent() -> None:
    """S2-27, S2-31."""
    tree = tree_of(one("claude-code/fixtures/sidechain_in_main_file*.jsonl"))
    (node,) = delegations(tree)
    assert len(node.events) == 6
    assert node.child_session_id is None


ALL = sorted(p for p in CORPUS.rglob("*.jsonl*") if p.is_file()) if CORPUS.is_dir() else []


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.relative_to(CORPUS).as_posix()[-70:])
def test_every_event_of_every_real_file_is_placed_once(path: Path) -> None:
    """S2-30."""
    try:
        rows = numbered(read(path).events)
    except Exception as error:
        pytest.skip(str(error))
    tree = build_tree(rows)
    assert events_of(tree) == rows
    spans = [row.event.span_id for row in rows]
    assert len(set(spans)) == len(spans), "a span id names one event of its session"
