"""A session in a row of a list: how much of what it holds, and how that went on over time."""

from __future__ import annotations

from typing import Any

from ontoref.replay.answers import nodes_of
from ontoref.replay.totals import totals_of
from ontoref.replay.tree import Delegation
from ontoref.replay.trees import Trees

__all__ = ["figures_of"]

_BUCKETS = 24


def figures_of(trees: Trees, session_id: str) -> dict[str, Any]:
    """Sums over a session's own events, its sub-agents, and how many events fell into each 24th of its time."""
    tree = trees.tree(session_id)
    rows = trees.rows(session_id) or ()
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
    }
