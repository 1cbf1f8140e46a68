"""A session's tree as lines for a person."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ontoref.replay.answers import Item, child_id, flattened, items_of, nodes_of, rows_in, rows_of, word
from ontoref.replay.build import build_tree
from ontoref.replay.source import Source
from ontoref.replay.totals import Totals, totals_of
from ontoref.replay.tree import Delegation, Node, Row, Tree, Workflow, walk
from ontoref.text import counted
from ontoref.transcript import event as e
from ontoref.transcript.turns import blocks

__all__ = ["Line", "Outline", "duration", "figures"]

_MOST_SESSIONS_DEEP = 10
_FOLDED_AT = 40


class Line(NamedTuple):
    """One line to print. Shape: the text is as it was and must be made safe; style names a colour."""

    level: int
    style: str
    text: str


@dataclass(slots=True)
class Outline:
    """How to show trees of a source.

    Shape: depth is how many levels of sub-agents are unfolded; events shows what stands in a node, not only its
           shape; full leaves texts whole. roll counts sub-agents' sessions into the figures of who called them.
    """

    source: Source
    depth: int = 1
    events: bool = True
    full: bool = False
    roll: bool = True

    def lines(self, session_id: str, rows: Sequence[Row]) -> Iterator[Line]:
        """The whole tree, line by line."""
        tree = build_tree(rows)
        above = (session_id,)
        totals = self._rolled(rows_of(tree), list(nodes_of(tree)), above)
        yield Line(0, "head", "  ".join(part for part in (tree.runtime, tree.session_id, _mode(tree)) if part))
        counts = [counted(len(tree.turns), "turn"), counted(tree.row_count, "event")]
        agents = sum(isinstance(node, Delegation) for node in nodes_of(tree))
        if agents:
            counts.append(counted(agents, "sub-agent"))
        if tree.workflows:
            counts.append(counted(len(tree.workflows), "workflow"))
        yield Line(0, "dim", ", ".join([*counts, *figures(totals, events=False)]))
        for row in tree.mode_changes:
            yield from self._row(row, 0)
        for number, turn in enumerate(tree.turns, 1):
            yield Line(0, "", "")
            first = turn.events[0] if turn.events and turn.span_id != "turn-0" else None
            totals = self._rolled(rows_in(turn), list(walk(turn)), above)
            head = _prompt(first) if first is not None else "before the first prompt"
            yield Line(0, "turn", f"{number}  {_clock(first)}{head}")
            yield Line(1, "dim", ", ".join(figures(totals)))
            items = items_of(turn)
            if first is not None:
                items = [item for item in items if item.value is not first]
                if self.events:
                    yield from _rest_of_prompt(first, full=self.full)
            yield from self._items(items, 1, self.depth, above)
        for node in tree.workflows:
            yield Line(0, "", "")
            yield from self._workflow(node, 0, self.depth, above)
        yield from _faults(tree)

    def _items(self, items: Sequence[Item], level: int, left: int, above: tuple[str, ...]) -> Iterator[Line]:
        for item in items:
            value = item.value
            if isinstance(value, Delegation):
                yield from self._delegation(value, level, left, above)
            elif isinstance(value, Workflow):
                yield from self._workflow(value, level, left, above)
            elif self.events or item.where != "events":
                yield from self._row(value, level)

    def _delegation(self, node: Delegation, level: int, left: int, above: tuple[str, ...]) -> Iterator[Line]:
        payload = node.spawn.event.payload
        child = child_id(node.spawn.event.runtime, node.child_session_id)
        label = word(payload, "label", "description", "name") or "sub-agent"
        agent = word(payload, "agent_type", "agent_id")
        title = f"sub-agent  {_first(label)}{f' ({agent})' if agent else ''}"
        yield from self._opened(node, title, node.status, child, level, left, above)
        if self.events and node.returned is not None and left > 0:
            yield from self._row(node.returned, level + 1)

    def _workflow(self, node: Workflow, level: int, left: int, above: tuple[str, ...]) -> Iterator[Line]:
        title = f"workflow  {_first(node.name or 'unnamed')}{'  (its start is missing)' if node.orphan else ''}"
        yield from self._opened(node, title, node.status, None, level, left, above)
        for row in node.stages:
            child = child_id(row.event.runtime, word(row.event.payload, "child_session_id"))
            if child is not None and left > 0:
                name = word(row.event.payload, "label", "name") or "stage"
                status = word(row.event.payload, "status") or ""
                yield from self._opened(Node(row.event.span_id), f"stage  {_first(name)}", status, child, level + 1,
                                        left, above)  # fmt: skip

    def _opened(
        self, node: Node, title: str, status: str, child: str | None, level: int, left: int, above: tuple[str, ...]
    ) -> Iterator[Line]:
        """A node's line, and what is in it while there are levels left."""
        items = items_of(node)
        marks = [status] if status else []
        totals = totals_of(rows_in(node))
        if child is not None and child in above:
            marks.append("calls a session that called it")
        elif child is not None and (left > 0 or self.roll):
            rows = self.source.rows(child) if len(above) <= _MOST_SESSIONS_DEEP else None
            if rows is None:
                marks.append("its session is not here")
            else:
                tree = build_tree(rows)
                items = items + flattened(tree)
                totals = totals_of([*rows_in(node), *rows_of(tree)])
                above = (*above, child)
                if self.roll:
                    nodes = [*walk(*node.delegations, *node.workflows), *nodes_of(tree)]
                    totals = self._rolled([*rows_in(node), *rows_of(tree)], nodes, above)
        elif child is not None:
            marks.append("not opened")
        said = ", ".join([*marks, *(figures(totals) if items else [])])
        yield Line(level, "agent", f"{'▾' if left > 0 and items else '▸'} {title}  {said}".rstrip())
        if left > 0:
            yield from self._items(items, level + 1, left - 1, above)

    def _row(self, row: Row, level: int) -> Iterator[Line]:
        event = row.event
        if event.kind in (e.APPROVAL_REQUESTED, e.APPROVAL_DECIDED):
            yield Line(level, "approval", _approval(row))
            return
        for block in blocks([event], full=self.full):
            text = block.text.rstrip()
            first, _, rest = text.partition("\n")
            if block.style == "text":
                yield Line(level, "", first)
            else:
                mark = {"call": "▸", "error": "✗", "result": " "}.get(block.style, "·")
                yield Line(level, block.style, f"{mark} {block.head}{'  ' if first else ''}{first}".rstrip())
            yield from _more(rest, level + 1, block.style, full=self.full or block.style == "text")

    def _rolled(self, rows: Sequence[Row], nodes: Sequence[Node], above: tuple[str, ...]) -> Totals:
        """The sums of rows and of every session below them; each session counts once."""
        found = totals_of(rows)
        if not self.roll:
            found.complete = not _children(nodes)
            return found
        seen = set(above)
        waiting = _children(nodes)
        while waiting:
            child = waiting.pop()
            if child in seen:
                continue
            seen.add(child)
            inside = self.source.rows(child)
            if inside is None:
                found.complete = False
                continue
            found.add(totals_of(inside))
            waiting += _children(list(nodes_of(build_tree(inside))))
        return found


def figures(totals: Totals, *, events: bool = True) -> list[str]:
    """The sums in words, those that are nothing left out."""
    said = [counted(totals.events, "event")] if events else []
    if totals.calls:
        said.append(counted(totals.calls, "call"))
    if totals.errors:
        said.append(f"{totals.errors} failed")
    tokens = totals.tokens
    whole = tokens.get("total") or sum(tokens.get(name, 0) for name in ("input", "output", "cache_read", "cache_write"))
    if whole:
        said.append(f"{_short(whole)} tokens ({_short(tokens.get('output', 0))} out)")
    if totals.cost_micro:
        said.append(f"${totals.cost_micro / 1_000_000:.4f}")
    if totals.duration_ms:
        said.append(duration(totals.duration_ms))
    if not totals.complete:
        said.append("sub-agents not all counted")
    return said


def duration(milliseconds: int) -> str:
    """A stretch of time as a person says it."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"


def _children(nodes: Sequence[Node]) -> list[str]:
    found = []
    for node in nodes:
        if isinstance(node, Delegation):
            name = child_id(node.spawn.event.runtime, node.child_session_id)
            if name is not None:
                found.append(name)
        elif isinstance(node, Workflow):
            for row in node.stages:
                name = child_id(row.event.runtime, word(row.event.payload, "child_session_id"))
                if name is not None:
                    found.append(name)
    return found


def _approval(row: Row) -> str:
    event = row.event
    given = event.approval or {"status": "", "decision_reason": None, "resolver": None, "edit_diff": None}
    name = word(event.payload, "name") or "a call"
    who = f" by {given['resolver']}" if given.get("resolver") else ""
    why = f": {_first(str(given['decision_reason']))}" if given.get("decision_reason") else ""
    edited = "  (its arguments were edited)" if given.get("edit_diff") else ""
    return f"⚖ {name} {given['status']}{who}{why}{edited}"


def _prompt(row: Row) -> str:
    payload = row.event.payload
    origin = payload.get("origin")
    text = payload.get("text")
    by = "" if payload.get("human") is True or not isinstance(origin, str) else f"[{origin}] "
    return by + (_first(text) if isinstance(text, str) else "")


def _rest_of_prompt(row: Row, *, full: bool) -> Iterator[Line]:
    text = row.event.payload.get("text")
    if isinstance(text, str):
        yield from _more(text.strip().partition("\n")[2], 1, "prompt", full=full)


def _more(text: str, level: int, style: str, *, full: bool) -> Iterator[Line]:
    lines = text.split("\n") if text else []
    shown = lines if full else lines[:_FOLDED_AT]
    for line in shown:
        yield Line(level, style, line)
    if len(lines) > len(shown):
        yield Line(level, "dim", f"… {len(lines) - len(shown)} more lines")


def _faults(tree: Tree) -> Iterator[Line]:
    told = tree.diagnostics
    if told.orphans or told.cycles or told.unplaced:
        yield Line(0, "", "")
    if told.unplaced:
        yield Line(0, "dim", f"{counted(len(told.unplaced), 'answer')} of sub-agents that nothing called")
    if told.orphans:
        yield Line(0, "dim", f"{counted(len(told.orphans), 'event')} whose parent is missing")
    if told.cycles:
        yield Line(0, "dim", f"{counted(len(told.cycles), 'circle')} of parents, cut at the earliest event")


def _mode(tree: Tree) -> str:
    mode = tree.mode
    if mode is None:
        return ""
    words = (mode["permission"], mode["sandbox"], mode["collaboration"])
    return "/".join(part for part in words if part and part != "unknown")


def _clock(row: Row | None) -> str:
    ts = row.event.ts if row is not None else 0
    return time.strftime("%Y-%m-%d %H:%M  ", time.gmtime(ts)) if 0 < ts < 1e11 else ""


def _first(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return first[:119] + "…" if len(first) > 120 else first + (" …" if rest else "")


def _short(number: int) -> str:
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"
