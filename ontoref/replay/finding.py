"""Where things are in a session: its turns in lines, the place of an event, the events that hold a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from ontoref.replay.answers import BadParameter
from ontoref.replay.places import Place, place_json, places_of
from ontoref.replay.titles import turn_line
from ontoref.replay.tree import Row, Tree
from ontoref.replay.trees import Trees

__all__ = ["MOST_HITS", "Finding", "located"]

MOST_HITS = 200
_AROUND = 60
# Who refers to an event by the runtime's own ids.
_REFERENCES = ("tool_use_id", "message_id", "approval_id", "run_id")
_UNSAID = frozenset(("usage", "tokens", "message_id"))


class Finding:
    """Questions to sessions that were read. Errors: LookupError for what a session does not have."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees
        self._places: WeakKeyDictionary[Tree, Mapping[int, Place]] = WeakKeyDictionary()

    def outline(self, session_id: str) -> dict[str, Any]:
        """A line for each turn."""
        tree = self.trees.tree(session_id)
        return {
            "id": session_id,
            "known": tree is not None,
            "row_count": tree.row_count if tree is not None else 0,
            "turns": [turn_line(turn) for turn in tree.turns] if tree is not None else [],
        }

    def locate(self, session_id: str, span: str | None, op_ref: str | None, at: str | None) -> dict[str, Any]:
        """The place of one event: by its span, else by a reference of the runtime's own, else by time."""
        rows = self.trees.rows(session_id) or ()
        moment = _seconds(at) if at else None
        row = next((row for row in rows if row.event.span_id == span), None) if span else None
        if row is None and op_ref:
            row = next((row for row in rows if _refers(row, op_ref)), None)
        if row is None and moment is not None:
            row = _last_before(rows, moment)
        if row is None:
            raise LookupError
        return {"id": session_id, "span_id": row.event.span_id, "ts": row.event.ts, **self._place(session_id, row)}

    def search(self, session_id: str, text: str, limit: int = MOST_HITS) -> dict[str, Any]:
        """Events that hold a text, whatever its case: the session's own, not those of sub-agents' sessions."""
        wanted = text.casefold()
        hits: list[dict[str, Any]] = []
        more = False
        for row in (self.trees.rows(session_id) or ()) if wanted else ():
            found = next((one for one in _texts(row.event.payload) if wanted in one.casefold()), None)
            if found is None:
                continue
            if len(hits) == limit:
                more = True
                break
            event = row.event
            hits.append(
                {
                    "span_id": event.span_id,
                    "kind": event.kind,
                    "ts": event.ts,
                    "snippet": _snippet(found, wanted),
                    **self._place(session_id, row),
                }
            )
        return {"id": session_id, "q": text, "hits": hits, "more": more}

    def _place(self, session_id: str, row: Row) -> dict[str, Any]:
        tree = self.trees.tree(session_id)
        if tree is None:
            return located(None)
        known = self._places.get(tree)
        if known is None:
            known = self._places[tree] = places_of(tree)
        return located(known.get(row.ordinal))


def located(place: Place | None) -> dict[str, Any]:
    """A place as answers hold it; of an event that has none yet, that it is nowhere."""
    return place_json(place) if place is not None else {"turn_id": None, "path": [], "where": "unplaced", "node": None}


def _refers(row: Row, reference: str) -> bool:
    event = row.event
    return event.span_id == reference or any(event.payload.get(name) == reference for name in _REFERENCES)


def _last_before(rows: Any, moment: float) -> Row | None:
    """The last event that had happened by then; the first one if none had."""
    found: Row | None = None
    for row in rows:
        if row.event.ts and row.event.ts <= moment:
            found = row
    return found or (rows[0] if rows else None)


def _seconds(text: str) -> float:
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BadParameter(f"at is a time as in RFC 3339, not {text[:40]!r}") from None


def _texts(payload: dict[str, Any]) -> Iterator[str]:
    """Every text in a payload, in its order."""
    stack: list[Any] = [value for key, value in payload.items() if key not in _UNSAID]
    stack.reverse()
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            stack.extend(reversed(value))


def _snippet(text: str, wanted: str) -> str:
    at = max(0, text.casefold().find(wanted))
    start = max(0, at - _AROUND)
    return ("…" if start else "") + " ".join(text[start : at + len(wanted) + _AROUND].split())
