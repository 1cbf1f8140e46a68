"""Trees as answers: JSON that fits a page, sub-agents' sessions opened only where it was asked for.

Shape: docs/replay.md describes every key. Nothing here reads a session that is not on the way to what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from ontoref.errors import OntorefError
from ontoref.replay.build import build_tree
from ontoref.replay.preview import event_json
from ontoref.replay.source import Source
from ontoref.replay.totals import Totals, totals_of
from ontoref.replay.tree import Delegation, Node, Row, Tree, Turn, Workflow, walk
from ontoref.replay.trees import Trees

__all__ = ["MOST_DEPTH", "MOST_LIMIT", "BadParameter", "Options", "child_id", "children_answer", "tree_answer"]

MOST_DEPTH = 10
MOST_LIMIT = 10_000
LIMIT = 1_000
# A page that nobody gave a size stays below this.
PAGE_BYTES = 120_000
# Two levels of JSON each; what reads JSON seldom goes beyond 200.
MOST_NODES_DEEP = 80


class BadParameter(OntorefError):
    """A parameter of a question is out of range or makes no sense."""

    kind = "usage"


@dataclass(frozen=True, slots=True)
class Options:
    """What of a tree is asked for.

    Shape: depth levels of sub-agents' sessions are opened, and those whose spans are in expand; turn restricts to
           one turn; limit counts what stands in a turn or node directly; cursor is a former answer's next_cursor.
           full leaves payloads whole.
    """

    depth: int = 0
    expand: frozenset[str] = frozenset()
    turn: str | None = None
    limit: int | None = None
    cursor: str | None = None
    full: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= MOST_DEPTH:
            raise BadParameter(f"depth is between 0 and {MOST_DEPTH}")
        if self.limit is not None and not 1 <= self.limit <= MOST_LIMIT:
            raise BadParameter(f"limit is between 1 and {MOST_LIMIT}")


class Item(NamedTuple):
    """Something that stands directly in a node."""

    ordinal: int
    where: str
    value: Row | Delegation | Workflow


@dataclass(slots=True)
class _Budget:
    """How much more fits into a page; everything does where somebody gave the size."""

    left_bytes: int | None

    def spend(self, value: Any) -> None:
        if self.left_bytes is not None:
            self.left_bytes -= len(orjson.dumps(value))

    @property
    def spent(self) -> bool:
        return self.left_bytes is not None and self.left_bytes <= 0


def child_id(runtime: str, session_id: str | None) -> str | None:
    """The archive id of a child session that a payload names."""
    return f"{runtime}:{session_id}" if session_id else None


def tree_answer(source: Source, session_id: str, options: Options | None = None) -> dict[str, Any]:
    """The tree of a session, a page of it. An unknown session has no turns; row_count tells.

    Errors: BadParameter for a cursor or a turn that the session does not have.
    """
    options = options or Options()
    trees = _trees(source)
    tree = trees.tree(session_id)
    return _Answer(trees, session_id, options).tree(tree or build_tree(()), known=tree is not None)


def children_answer(source: Source, session_id: str, span_id: str, options: Options | None = None) -> dict[str, Any]:
    """One delegation, workflow or stage of a session, opened. Errors: LookupError if there is none."""
    options = options or Options()
    trees = _trees(source)
    return _Answer(trees, session_id, options).child(trees.tree(session_id) or build_tree(()), span_id)


def _trees(source: Source) -> Trees:
    return source if isinstance(source, Trees) else Trees(source)


class _Answer:
    def __init__(self, source: Trees, session_id: str, options: Options) -> None:
        self.source = source
        self.session_id = session_id
        self.options = options
        self.limit = options.limit or LIMIT
        self.budget = _Budget(PAGE_BYTES if options.limit is None else None)
        self.counts: dict[str, int] = {}

    # The tree ------------------------------------------------------------------------------------------------

    def tree(self, tree: Tree, *, known: bool) -> dict[str, Any]:
        turns = tree.turns
        start, offset = self._start(turns)
        if self.options.turn is not None:
            chosen = [turn for turn in turns if turn.span_id == self.options.turn]
            if not chosen:
                raise BadParameter(f"the session has no turn {self.options.turn!r}")
            first, last = turns.index(chosen[0]), turns.index(chosen[0]) + 1
            if not first <= start < last:
                start, offset = first, 0
        else:
            last = len(turns)
        pages = []
        left = self.limit
        following: str | None = None
        for index in range(start, last):
            if left <= 0 or self.budget.spent:
                following = f"0@{turns[index].span_id}"
                break
            page, used, rest = self._turn(turns[index], index, offset, left, tree)
            pages.append(page)
            left -= max(used, 1)
            if rest is not None:
                following = f"{rest}@{turns[index].span_id}"
                break
            offset = 0
        event = self._event
        found: dict[str, Any] = {
            "session_id": tree.session_id or self.session_id.partition(":")[2] or self.session_id,
            "id": self.session_id,
            "known": known,
            "runtime": tree.runtime,
            "mode": tree.mode,
            "turns": pages,
            "workflows": [],
            "row_count": tree.row_count,
            "turn_count": len(turns),
            "turn_index": start if pages else 0,
            "has_more": following is not None,
            "next_cursor": following,
            "mode_changes": [],
            "mode_history": [
                {
                    "ts": mark.row.event.ts,
                    "span_id": mark.row.event.span_id,
                    "turn_id": mark.turn_id,
                    "mode": mark.mode,
                }
                for mark in tree.mode_history
            ],
            "diagnostics": {
                "orphans": tree.diagnostics.orphans,
                "cycles": tree.diagnostics.cycles,
                "unplaced": [event(row) for row in tree.diagnostics.unplaced],
            },
            "totals": self._whole(tree),
        }
        if self.options.cursor is None and self.options.turn is None:
            found["mode_changes"] = [event(row) for row in tree.mode_changes]
            found["workflows"] = [self._workflow(node, 1, (self.session_id,), 0) for node in tree.workflows]
        self._fill_counts(found)
        return found

    def _start(self, turns: Sequence[Turn]) -> tuple[int, int]:
        """The turn and the place in it where a page begins."""
        cursor = self.options.cursor
        if cursor is None:
            return 0, 0
        number, at, name = cursor.partition("@")
        if at and number.isascii() and number.isdigit():
            for index, turn in enumerate(turns):
                if turn.span_id == name:
                    return index, int(number)
        raise BadParameter("this cursor is none that an answer gave")

    def _turn(
        self, turn: Turn, index: int, offset: int, left: int, tree: Tree
    ) -> tuple[dict[str, Any], int, int | None]:
        page: dict[str, Any] = {"turn_id": turn.span_id, "index": index, "continued": offset > 0}
        items = items_of(turn)
        used, rest = self._fill(page, items, offset, left, 1, (self.session_id,), 0)
        page["event_count"] = len(items)
        page["totals"] = self._totals(rows_in(turn), walk(turn))
        page["has_more"] = rest is not None
        page["workflow_ids"] = [node.span_id for node in tree.workflows if node.turn_id == turn.span_id]
        return page, used, rest

    # Nodes ---------------------------------------------------------------------------------------------------

    def child(self, tree: Tree, span_id: str) -> dict[str, Any]:
        """One node, opened; its place in the tree decides nothing."""
        for node in walk(*tree.turns, *tree.workflows):
            if isinstance(node, Delegation) and node.span_id == span_id:
                opened = self._delegation(node, 1, (self.session_id,), 0, opened=True)
                break
            if isinstance(node, Workflow):
                if node.span_id == span_id:
                    opened = self._workflow(node, 1, (self.session_id,), 0, opened=True)
                    break
                stage = next((row for row in node.stages if row.event.span_id == span_id), None)
                if stage is not None:
                    opened = self._stage(stage, 1, (self.session_id,), 0, opened=True)
                    break
        else:
            raise LookupError(span_id)
        self._fill_counts(opened)
        return opened

    def _delegation(
        self, node: Delegation, deep: int, above: tuple[str, ...], level: int, *, opened: bool = False
    ) -> dict[str, Any]:
        spawn, returned = node.spawn.event, node.returned
        payload = spawn.payload
        found: dict[str, Any] = {
            "kind": "delegation",
            "span_id": node.span_id,
            "child_session_id": node.child_session_id,
            "child_id": child_id(spawn.runtime, node.child_session_id),
            "label": word(payload, "label", "description"),
            "agent": word(payload, "agent_type", "agent_id", "name"),
            "model": word(payload, "model"),
            "status": node.status,
            "spawn": self._event(node.spawn),
            "return": self._event(returned) if returned is not None else None,
        }
        return self._open(found, node, deep, above, level, opened=opened)

    def _workflow(
        self, node: Workflow, deep: int, above: tuple[str, ...], level: int, *, opened: bool = False
    ) -> dict[str, Any]:
        found: dict[str, Any] = {
            "kind": "workflow",
            "span_id": node.span_id,
            "child_session_id": None,
            "child_id": None,
            "name": node.name,
            "status": node.status,
            "orphan": node.orphan,
            "turn_id": node.turn_id,
            "stages": [self._stage(row, deep + 1, above, level) for row in node.stages],
        }
        return self._open(found, node, deep, above, level, opened=opened)

    def _stage(
        self, row: Row, deep: int, above: tuple[str, ...], level: int, *, opened: bool = False
    ) -> dict[str, Any]:
        """A stage; its own event stands among the workflow's."""
        payload = row.event.payload
        child = word(payload, "child_session_id")
        found: dict[str, Any] = {
            "kind": "stage",
            "span_id": row.event.span_id,
            "child_session_id": child,
            "child_id": child_id(row.event.runtime, child),
            "label": word(payload, "label"),
            "name": word(payload, "name"),
            "ts": row.event.ts,
            "status": word(payload, "status"),
        }
        return self._open(found, Node(row.event.span_id), deep, above, level, opened=opened)

    def _open(
        self, found: dict[str, Any], node: Node, deep: int, above: tuple[str, ...], level: int, *, opened: bool
    ) -> dict[str, Any]:
        """What stands in a node: its rows of this session, then those of its own session if that is opened."""
        child = found["child_id"]
        items = items_of(node)
        inside = rows_in(node)
        nested: Iterable[Node] = walk(*node.delegations, *node.workflows)
        cycle = child is not None and child in above
        wanted = opened or level < self.options.depth or node.span_id in self.options.expand
        expanded = child is None
        missing = False
        if child is not None and wanted and not cycle:
            expanded = True
            above = (*above, child)
            level += 1
            own = self.source.tree(child)
            missing = own is None
            tree = own or build_tree(())
            items = items + flattened(tree)
            inside = [*inside, *rows_of(tree)]
            nested = [*nested, *nodes_of(tree)]
        cursor = self.options.cursor if opened else None
        offset = 0
        if cursor is not None:
            if not (cursor.isascii() and cursor.isdigit()):
                raise BadParameter("this cursor is none that an answer gave")
            offset = int(cursor)
        deeper = deep < MOST_NODES_DEEP
        _, rest = self._fill(found, items if deeper else [], offset, self.limit, deep + 1, above, level)
        found |= {
            "event_count": len(inside) if expanded else None,
            "child_count": sum(1 for item in items if item.where == "delegations"),
            "expanded": expanded,
            "truncated": not deeper and bool(items),
            "cycle": cycle,
            "missing": missing,
            "has_more": rest is not None,
            "next_cursor": None if rest is None else str(rest),
        }
        totals = totals_of(inside)
        if missing or not expanded:
            totals.complete = False
        found["totals"] = self._totals(inside, nested, totals)
        return found

    def _fill(
        self,
        found: dict[str, Any],
        items: Sequence[Item],
        offset: int,
        left: int,
        deep: int,
        above: tuple[str, ...],
        level: int,
    ) -> tuple[int, int | None]:
        """Put items into their lists. Returns how many, and where to go on."""
        for name in ("events", "delegations", "approvals", "mode_changes", "workflows"):
            found[name] = []
        at = offset
        while at < len(items) and at - offset < left and (at == offset or not self.budget.spent):
            item = items[at]
            value = item.value
            shown: dict[str, Any]
            if isinstance(value, Delegation):
                shown = self._delegation(value, deep, above, level)
            elif isinstance(value, Workflow):
                shown = self._workflow(value, deep, above, level)
            else:
                shown = self._event(value)
                self.budget.spend(shown)
            found[item.where].append(shown)
            at += 1
        return at - offset, at if at < len(items) else None

    def _event(self, row: Row) -> dict[str, Any]:
        return event_json(row.event, row.ordinal, full=self.options.full)

    def _totals(self, rows: Iterable[Row], nodes: Iterable[Node], totals: Totals | None = None) -> dict[str, Any]:
        """The sums of rows; they are incomplete where a sub-agent has a session of its own that is not in them."""
        found = totals or totals_of(rows)
        found.complete = found.complete and not any(_has_child(node) for node in nodes)
        return found.as_json()

    def _whole(self, tree: Tree) -> dict[str, Any]:
        """The sums of a session, once for as long as it stays the same."""
        found = self.source.sums.get(tree)
        if found is None:
            found = self.source.sums[tree] = self._totals(rows_of(tree), nodes_of(tree))
        return found

    def _fill_counts(self, answer: dict[str, Any]) -> None:
        """How many events closed nodes hold, in one question."""
        closed: list[dict[str, Any]] = []
        stack: list[Any] = [answer]
        while stack:
            value = stack.pop()
            if value.get("expanded") is False and value.get("child_id"):
                closed.append(value)
            for name in ("turns", "delegations", "workflows", "stages"):
                stack.extend(value.get(name) or ())
        if closed:
            counts = self.source.counts(sorted({node["child_id"] for node in closed}))
            for node in closed:
                node["event_count"] = counts.get(node["child_id"])


def _has_child(node: Node) -> bool:
    if isinstance(node, Delegation):
        return node.child_session_id is not None
    return isinstance(node, Workflow) and any(word(row.event.payload, "child_session_id") for row in node.stages)


def items_of(node: Node) -> list[Item]:
    """What stands directly in a node, in write order."""
    found = [Item(row.ordinal, "events", row) for row in node.events]
    found += [Item(row.ordinal, "approvals", row) for row in node.approvals]
    found += [Item(row.ordinal, "mode_changes", row) for row in node.mode_changes]
    found += [Item(one.spawn.ordinal, "delegations", one) for one in node.delegations]
    found += [Item(one.events[0].ordinal, "workflows", one) for one in node.workflows]
    found.sort(key=lambda item: item.ordinal)
    return found


def flattened(tree: Tree) -> list[Item]:
    """Everything of a session in one list, as its delegation holds it: its turns are told by asking for it."""
    found = [Item(row.ordinal, "mode_changes", row) for row in tree.mode_changes]
    found += [Item(one.events[0].ordinal, "workflows", one) for one in tree.workflows]
    found += [Item(row.ordinal, "events", row) for row in tree.diagnostics.unplaced]
    for turn in tree.turns:
        found += items_of(turn)
    found.sort(key=lambda item: item.ordinal)
    return found


def nodes_of(tree: Tree) -> Iterator[Node]:
    return walk(*tree.turns, *tree.workflows)


def rows_of(tree: Tree) -> list[Row]:
    found = [*tree.mode_changes, *tree.diagnostics.unplaced]
    for node in nodes_of(tree):
        found.extend(node.own())
    return found


def rows_in(node: Node) -> list[Row]:
    """The rows in a node and in everything inside it, its own spawn and return left out."""
    found = [*Node.own(node)]
    for inner in walk(*node.delegations, *node.workflows):
        found.extend(inner.own())
    return found


def word(payload: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return None
