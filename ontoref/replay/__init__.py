"""A session's events as a tree, and where a tree's events come from."""

from __future__ import annotations

from ontoref.replay.build import build_tree
from ontoref.replay.tree import Delegation, Diagnostics, Node, Row, Tree, Turn, Workflow, events_of, walk

__all__ = [
    "Delegation",
    "Diagnostics",
    "Node",
    "Row",
    "Tree",
    "Turn",
    "Workflow",
    "build_tree",
    "events_of",
    "walk",
]
