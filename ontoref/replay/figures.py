"""A session in a row of a list: how much of what it holds, and how that went on over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ontoref.replay.answers import nodes_of
from ontoref.replay.titles import title_of
from ontoref.replay.totals import totals_of
from ontoref.replay.tree import Delegation, Row, Tree
from ontoref.replay.trees import Trees
from ontoref.transcript.event import LLM_CALL

__all__ = ["figures", "figures_of"]

_BUCKETS = 24
_TITLE = 140


def figures_of(trees: Trees, session_id: str) -> dict[str, Any]:
    """The figures of a session of a source."""
    return figures(session_id, trees.rows(session_id) or (), trees.tree(session_id))


def figures(session_id: str, rows: Sequence[Row], tree: Tree | None) -> dict[str, Any]:
    """Sums over a session's own events, its sub-agents, how many events fell into each 24th of its time, its prompt."""
    totals = totals_of(rows)
    activity = [0] * _BUCKETS
    if totals.first is not None and totals.last is not None:
        span = (totals.last - totals.first) or 1.0
        for row in rows:
            if row.event.ts > 0:
                activity[min(_BUCKETS - 1, int((row.event.ts - totals.first) / span * _BUCKETS))] += 1
    agents = sum(isinstance(node, Delegation) for node in nodes_of(tree)) if tree is not None else 0
    return {
        "id": session_id,
        "known": tree is not None,
        "turns": len(tree.turns) if tree is not None else 0,
        "agents": agents,
        "first": totals.first,
        "last": totals.last,
        **totals.as_json(),
        "complete": agents == 0,
        "activity": activity,
        "prompt": _prompt(rows),
    }


def _prompt(rows: Iterable[Row]) -> str | None:
    """The beginning of the first prompt that a person typed, else of the first one at all."""
    prompts = [row.event.payload for row in rows if row.event.kind == LLM_CALL]
    chosen = next((one for one in prompts if one.get("human") is not False), prompts[0] if prompts else {})
    text = chosen.get("text")
    return title_of(text, _TITLE) if isinstance(text, str) else None
