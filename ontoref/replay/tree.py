"""A session's events as the tree they were: turns, delegations at any depth, workflows, approvals, modes.

Shape: a Row is one event with its place in the transcript (its ordinal). Every row of a session stands in its tree
       exactly once; `events_of` gives them back. A tree can be deeper than the interpreter's stack, so whoever walks
       one uses a stack of his own (`walk`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ontoref.transcript import event as e
from ontoref.transcript.event import Mode, ReplayEvent

__all__ = [
    "TURN_0",
    "Delegation",
    "Diagnostics",
    "ModeMark",
    "Node",
    "Row",
    "Tree",
    "Turn",
    "Workflow",
    "events_of",
    "failed",
    "walk",
]

TURN_0 = "turn-0"
# What runtimes write of an agent or a workflow that did not do its work.
_FAILED = frozenset(
    {
        "aborted", "cancelled", "canceled", "denied", "error", "errored", "failed", "forbidden", "interrupted",
        "killed", "not_found", "refused", "rejected", "timeout",
    }
)  # fmt: skip


class Row(NamedTuple):
    """An event and its place in the transcript."""

    ordinal: int
    event: ReplayEvent


class ModeMark(NamedTuple):
    """The session's mode from one event on. turn_id is None before the first turn."""

    row: Row
    turn_id: str | None
    mode: Mode


@dataclass(slots=True, eq=False)
class Node:
    """What holds events: a turn, a delegation or a workflow. Every list is in write order.

    It fills while a tree is built, and is left alone afterwards.
    """

    span_id: str
    events: list[Row] = field(default_factory=list)
    delegations: list[Delegation] = field(default_factory=list)
    approvals: list[Row] = field(default_factory=list)
    mode_changes: list[Row] = field(default_factory=list)
    workflows: list[Workflow] = field(default_factory=list)

    def own(self) -> Iterator[Row]:
        """The rows that stand directly in it, those of nodes inside left out."""
        yield from self.events
        yield from self.approvals
        yield from self.mode_changes


@dataclass(slots=True, eq=False)
class Turn(Node):
    """From one prompt to the next; span_id is the prompt's, `turn-0` before the first one."""


@dataclass(slots=True, eq=False)
class Delegation(Node):
    """One sub-agent: what began it, what ended it, and what is in the same transcript of it."""

    spawn: Row = field(kw_only=True)
    returned: Row | None = field(kw_only=True, default=None)

    @property
    def child_session_id(self) -> str | None:
        """The child's own session, as its runtime calls it; the answer tells it where the call could not."""
        for row in (self.spawn, self.returned):
            found = row.event.payload.get("child_session_id") if row is not None else None
            if isinstance(found, str) and found:
                return found
        return None

    @property
    def status(self) -> str:
        """open, returned or failed."""
        if self.returned is None:
            return "open"
        return "failed" if failed(self.returned) else "returned"

    def own(self) -> Iterator[Row]:
        yield self.spawn
        yield from Node.own(self)
        if self.returned is not None:
            yield self.returned


@dataclass(slots=True, eq=False)
class Workflow(Node):
    """One workflow with its stages. orphan: its start is not in the transcript; turn_id: where it began."""

    orphan: bool = field(kw_only=True, default=False)
    turn_id: str | None = field(kw_only=True, default=None)

    @property
    def status(self) -> str:
        """running, completed or failed; the first end decides."""
        for row in self.events:
            if row.event.kind == e.WORKFLOW_END:
                return "failed" if failed(row) else "completed"
        return "running"

    @property
    def stages(self) -> list[Row]:
        return [row for row in self.events if row.event.kind == e.WORKFLOW_STAGE]

    @property
    def name(self) -> str | None:
        payload = self.events[0].event.payload if self.events else {}
        for key in ("label", "workflow_name", "run_id", "name"):
            found = payload.get(key)
            if isinstance(found, str) and found:
                return found
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics:
    """What did not fit: ids of rows whose parent is missing, ids of every cycle, returns that no spawn waits for."""

    orphans: list[str] = field(default_factory=list)
    cycles: list[list[str]] = field(default_factory=list)
    unplaced: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tree:
    """One session. mode_changes are those before the first turn, mode_history what became of the mode everywhere."""

    session_id: str | None
    runtime: str | None
    mode: Mode | None
    row_count: int
    turns: list[Turn]
    workflows: list[Workflow]
    mode_changes: list[Row]
    mode_history: list[ModeMark]
    diagnostics: Diagnostics


def walk(*roots: Node) -> Iterator[Node]:
    """Nodes and all nodes inside them, each before what it holds."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.workflows))
        stack.extend(reversed(node.delegations))


def events_of(tree: Tree) -> list[Row]:
    """The rows that a tree was built of, in write order: the inverse of `build_tree`."""
    found = [*tree.mode_changes, *tree.diagnostics.unplaced]
    for node in walk(*tree.turns, *tree.workflows):
        found.extend(node.own())
    return sorted(found, key=lambda row: (row.ordinal, row.event.ts, row.event.span_id))


def failed(row: Row) -> bool:
    """Whether an answer or an end tells of a failure."""
    payload: dict[str, Any] = row.event.payload
    status = payload.get("status")
    return payload.get("is_error") is True or (isinstance(status, str) and status.lower() in _FAILED)
