"""Where each event of a tree stands: its turn, the nodes around it, and in which list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ontoref.replay.tree import Delegation, Node, Tree, Turn, Workflow

__all__ = ["Place", "place_json", "places_of"]

_MOST_NODES = 80


@dataclass(frozen=True, slots=True)
class Place:
    """Shape: node is what holds the event, None for what stands before any turn; above leads outwards.

    where is the list it stands in (events, approvals, mode_changes), or spawn, return, unplaced.
    """

    where: str
    node: Node | None
    above: Place | None
    turn_id: str | None

    def path(self) -> list[str]:
        """Spans of the delegations and workflows around it, the outermost first, as many as are ever shown."""
        found: list[str] = []
        place: Place | None = self
        while place is not None and len(found) < _MOST_NODES:
            if place.node is not None and not isinstance(place.node, Turn):
                found.append(place.node.span_id)
            place = place.above
        return found[::-1]


def places_of(tree: Tree) -> dict[int, Place]:
    """Every event's place, by its ordinal."""
    found = {row.ordinal: Place("mode_changes", None, None, None) for row in tree.mode_changes}
    found.update((row.ordinal, Place("unplaced", None, None, None)) for row in tree.diagnostics.unplaced)
    stack: list[tuple[Node, Place | None, str | None]] = [(turn, None, turn.span_id) for turn in tree.turns]
    stack += [(node, None, node.turn_id) for node in tree.workflows]
    while stack:
        node, above, turn_id = stack.pop()
        for where, rows in (
            ("events", node.events),
            ("approvals", node.approvals),
            ("mode_changes", node.mode_changes),
        ):
            place = Place(where, node, above, turn_id)
            for row in rows:
                found[row.ordinal] = place
        inside = Place("", node, above, turn_id)
        for child in node.delegations:
            found[child.spawn.ordinal] = Place("spawn", node, above, turn_id)
            if child.returned is not None:
                found[child.returned.ordinal] = Place("return", child, inside, turn_id)
            stack.append((child, inside, turn_id))
        stack += [(child, inside, turn_id) for child in node.workflows]
    return found


def place_json(place: Place) -> dict[str, Any]:
    """A place as answers hold it. Shape: node is the span of the delegation or workflow, None in a turn."""
    node = place.node
    return {
        "turn_id": place.turn_id,
        "path": place.path(),
        "where": place.where,
        "node": node.span_id if isinstance(node, Delegation | Workflow) else None,
    }
