"""Events into a tree: pure, without recursion, the same for any order of its input.

Source: docs/replay.md tells the rules that this follows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any

from ontoref.replay.tree import TURN_0, Delegation, Diagnostics, ModeMark, Node, Row, Tree, Turn, Workflow
from ontoref.transcript import event as e
from ontoref.transcript.event import Mode, ReplayEvent

__all__ = ["build_tree"]

_APPROVALS = (e.APPROVAL_REQUESTED, e.APPROVAL_DECIDED)
_STEPS = (e.WORKFLOW_STAGE, e.WORKFLOW_END)
_SCOPES = (e.AGENT_SPAWN, e.WORKFLOW_START, *_STEPS)
# Before the first prompt these alone make no turn.
_NO_TURN = (e.MODE_CHANGED, e.WORKFLOW_START, *_STEPS)
_CALLS = (e.TOOL_CALL, e.AGENT_SPAWN, e.WORKFLOW_START)
_JOINS = ("tool_use_id", "run_id", "child_session_id")


def build_tree(pairs: Iterable[tuple[int, ReplayEvent]]) -> Tree:
    """The tree of one session's events, each given with its place in the transcript.

    Shape: O(n log n). The order of places decides, times only break ties. Every event is placed once; a missing
           parent, a cycle and an answer without a question are told in diagnostics.
    """
    rows = [Row(ordinal, event) for ordinal, event in pairs]
    rows.sort(key=lambda row: (row.ordinal, row.event.ts, row.event.span_id))
    return _Builder(rows).build()


class _Builder:
    """One building. Places in lists are indices of rows; parents point to the first row of a span."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.first: dict[str, int] = {}
        for index, row in enumerate(rows):
            self.first.setdefault(row.event.span_id, index)
        self.diagnostics = Diagnostics()
        self.parents = self._parents()
        # The node that rows below a row stand in; None is the session itself.
        self.inner: list[Node | None] = [None] * len(rows)
        self.returns = self._returns()
        self.orphaned: dict[tuple[int, str], Workflow] = {}
        self.turns: list[Turn] = []
        self.turn_at: list[Turn | None] = []
        self.mode_changes: list[Row] = []
        self.workflows: list[Workflow] = []

    def build(self) -> Tree:
        self._scopes()
        self._open_turns()
        self._place()
        rows = self.rows
        mode, history = self._modes()
        return Tree(
            session_id=next((row.event.session_id for row in rows if row.event.session_id), None),
            runtime=next((row.event.runtime for row in reversed(rows) if row.event.runtime), None),
            mode=mode,
            row_count=len(rows),
            turns=self.turns,
            workflows=self.workflows,
            mode_changes=self.mode_changes,
            mode_history=history,
            diagnostics=self.diagnostics,
        )

    def _parents(self) -> list[int]:
        """The index of every row's parent, -1 without one; the earliest row of a cycle has none."""
        parents = []
        for row in self.rows:
            name = row.event.parent_span_id
            found = self.first.get(name, -1) if name else -1
            if name and found < 0:
                self.diagnostics.orphans.append(row.event.span_id)
            parents.append(found)
        done = bytearray(len(parents))
        for start in range(len(parents)):
            path: list[int] = []
            at = start
            while at >= 0 and not done[at]:
                done[at] = 1
                path.append(at)
                at = parents[at]
            if at >= 0 and done[at] == 1:
                ring = sorted(path[path.index(at) :])
                parents[ring[0]] = -1
                self.diagnostics.cycles.append([self.rows[index].event.span_id for index in ring])
            for index in path:
                done[index] = 2
        self.diagnostics.cycles.sort()
        return parents

    def _returns(self) -> dict[int, int]:
        """Which spawn every return ends: {return: spawn}. A second return of a spawn keeps it, negative - 1."""
        waiting: dict[tuple[str, str], deque[int]] = {}
        last: dict[tuple[str, str], int] = {}
        for index, row in enumerate(self.rows):
            if row.event.kind == e.AGENT_SPAWN:
                for key in self._keys(row, own=True):
                    waiting.setdefault(key, deque()).append(index)
        ended: set[int] = set()
        found: dict[int, int] = {}
        for index, row in enumerate(self.rows):
            if row.event.kind != e.AGENT_RETURN:
                continue
            keys = self._keys(row)
            for key in keys:
                queue = waiting.get(key)
                while queue and queue[0] in ended:
                    last[key] = queue.popleft()
                if queue:
                    found[index] = queue[0]
                    ended.add(queue[0])
                    break
            else:
                again = next((last[key] for key in keys if key in last), None)
                if again is not None:
                    found[index] = -again - 1
        return found

    def _keys(self, row: Row, *, own: bool = False) -> list[tuple[str, str]]:
        """By what a spawn (own) is found, or a return finds one, the surest first."""
        event = row.event
        if own:
            keys: list[tuple[str, Any]] = [("span", event.span_id)]
        else:
            keys = [("span", event.parent_span_id), ("span", event.payload.get("spawn_span_id"))]
        keys += [(name, event.payload.get(name)) for name in _JOINS]
        return [(name, value) for name, value in keys if isinstance(value, str) and value]

    def _scopes(self) -> None:
        """Make the nodes, parents before children, and say for every row which node is inside of it."""
        answers = {spawn: self.rows[index] for index, spawn in self.returns.items() if spawn >= 0}
        for index in self._parents_first():
            row, parent = self.rows[index], self.parents[index]
            around = self.inner[parent] if parent >= 0 else None
            kind, span = row.event.kind, row.event.span_id
            if kind not in _SCOPES:
                self.inner[index] = around
            elif kind == e.AGENT_SPAWN:
                self.inner[index] = Delegation(span, spawn=row, returned=answers.get(index))
            elif kind == e.WORKFLOW_START:
                self.inner[index] = Workflow(span)
            elif isinstance(around, Workflow):
                self.inner[index] = around
            else:
                key = (id(around), row.event.parent_span_id or span)
                node = self.orphaned.get(key)
                if node is None:
                    node = self.orphaned[key] = Workflow(key[1], orphan=True)
                self.inner[index] = node

    def _parents_first(self) -> list[int]:
        """Indices so that no row comes before its parent."""
        order: list[int] = []
        done = bytearray(len(self.rows))
        for start in range(len(self.rows)):
            path = []
            at = start
            while at >= 0 and not done[at]:
                done[at] = 1
                path.append(at)
                at = self.parents[at]
            order.extend(reversed(path))
        return order

    def _around(self, index: int) -> Node | None:
        parent = self.parents[index]
        return self.inner[parent] if parent >= 0 else None

    def _open_turns(self) -> None:
        """The turn that is open at every row."""
        turn: Turn | None = None
        # Before the first prompt: is there anything that needs a turn?
        for index, row in enumerate(self.rows):
            kind = row.event.kind
            if kind == e.LLM_CALL and self._around(index) is None:
                turn = Turn(row.event.span_id)
                self.turns.append(turn)
            elif turn is None and kind not in (*_NO_TURN, *_APPROVALS, e.AGENT_RETURN) and self._around(index) is None:
                turn = self._turn_0()
            self.turn_at.append(turn)

    def _turn_0(self) -> Turn:
        if not self.turns or self.turns[0].span_id != TURN_0:
            self.turns.insert(0, Turn(TURN_0))
        return self.turns[0]

    def _place(self) -> None:
        """Put every row and every node where it belongs."""
        homes = _Approvals(self).homes()
        placed: set[int] = set()
        for index, row in enumerate(self.rows):
            kind = row.event.kind
            around = self._around(index)
            inner = self.inner[index]
            home: Node | None = around or self.turn_at[index]
            if kind in _APPROVALS:
                (homes[index] or self._turn_0()).approvals.append(row)
            elif kind == e.AGENT_SPAWN:
                assert isinstance(inner, Delegation)
                (home or self._turn_0()).delegations.append(inner)
            elif kind == e.AGENT_RETURN:
                self._place_return(index, row)
            elif kind == e.WORKFLOW_START or kind in _STEPS:
                assert isinstance(inner, Workflow)
                if id(inner) not in placed and inner is not around:
                    placed.add(id(inner))
                    self._place_workflow(inner, around, self.turn_at[index])
                inner.events.append(row)
            elif kind == e.MODE_CHANGED:
                (self.mode_changes if home is None else home.mode_changes).append(row)
            else:
                (home or self._turn_0()).events.append(row)

    def _place_return(self, index: int, row: Row) -> None:
        spawn = self.returns.get(index)
        if spawn is None:
            self.diagnostics.unplaced.append(row)
        elif spawn < 0:
            node = self.inner[-spawn - 1]
            assert node is not None
            node.events.append(row)

    def _place_workflow(self, node: Workflow, around: Node | None, turn: Turn | None) -> None:
        if around is not None:
            around.workflows.append(node)
            return
        if turn is not None:
            node.turn_id = turn.span_id
        self.workflows.append(node)

    def _modes(self) -> tuple[Mode | None, list[ModeMark]]:
        """The mode at the end, and after every event of the session itself that changed it."""
        now: Mode | None = None
        history = []
        for index, row in enumerate(self.rows):
            given = row.event.mode
            if not isinstance(given, dict) or self._around(index) is not None:
                continue
            before: Mode = now or {"permission": None, "sandbox": None, "collaboration": None}
            now = {
                "permission": given.get("permission") or before["permission"],
                "sandbox": given.get("sandbox") or before["sandbox"],
                "collaboration": given.get("collaboration") or before["collaboration"],
            }
            turn = self.turn_at[index]
            history.append(ModeMark(row, turn.span_id if turn else None, now))
        return now, history


class _Approvals:
    """Where approvals belong: by the call they gate, by what they answer, by their time."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder
        self.rows = builder.rows
        self.indices = [index for index, row in enumerate(self.rows) if row.event.kind in _APPROVALS]
        self.calls: dict[str, int] = {}
        self.asked: dict[str, int] = {}
        for index, row in enumerate(self.rows):
            payload = row.event.payload
            if row.event.kind in _CALLS and isinstance(call := payload.get("tool_use_id"), str):
                self.calls.setdefault(call, index)
            elif row.event.kind == e.APPROVAL_REQUESTED and isinstance(name := payload.get("approval_id"), str):
                self.asked.setdefault(name, index)

    def homes(self) -> dict[int, Node | None]:
        """{row: its node}; None stands for turn-0."""
        by_time = self._by_time()
        found: dict[int, Node | None] = {}
        for start in self.indices:
            path: list[int] = []
            seen: set[int] = set()
            at = start
            while True:
                path.append(at)
                seen.add(at)
                following = self._follows(at)
                if at in found:
                    home = found[at]
                elif following is None or following in seen:
                    home = by_time[at]
                elif self.rows[following].event.kind in _APPROVALS:
                    at = following
                    continue
                else:
                    home = self._container(following)
                break
            for index in path:
                found[index] = home
        return found

    def _follows(self, index: int) -> int | None:
        """The row beside which an approval stands."""
        parent = self.builder.parents[index]
        if parent >= 0:
            return parent
        payload = self.rows[index].event.payload
        for name in ("tool_call_id", "tool_use_id"):
            call = payload.get(name)
            if isinstance(call, str) and call in self.calls:
                return self.calls[call]
        if self.rows[index].event.kind == e.APPROVAL_DECIDED:
            asked = payload.get("approval_id")
            return self.asked.get(asked) if isinstance(asked, str) else None
        return None

    def _container(self, index: int) -> Node | None:
        """The node that a row stands in: of a spawn the one around it, for the approval was given there."""
        builder = self.builder
        kind = self.rows[index].event.kind
        inner = builder.inner[index]
        if isinstance(inner, Workflow) and kind in _SCOPES:
            return inner
        if kind == e.AGENT_RETURN and (spawn := builder.returns.get(index)) is not None:
            return builder.inner[spawn if spawn >= 0 else -spawn - 1]
        return builder._around(index) or builder.turn_at[index]

    def _by_time(self) -> dict[int, Node | None]:
        """The last turn that was open at an approval's place and had begun at its time."""
        found: dict[int, Node | None] = {}
        starts: list[float] = []
        turns: list[Turn] = []
        for index, row in enumerate(self.rows):
            turn = self.builder.turn_at[index]
            ts = row.event.ts
            if turn is not None and (not turns or turns[-1] is not turn):
                while starts and starts[-1] >= ts:
                    starts.pop()
                    turns.pop()
                starts.append(ts)
                turns.append(turn)
            if row.event.kind in _APPROVALS:
                # A time that nobody knew is 0: then the place alone counts.
                at = bisect_right(starts, ts) if ts > 0 else len(starts)
                found[index] = turns[at - 1] if at else None
        return found
