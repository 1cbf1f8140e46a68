"""Trees of a source, built once for as long as its rows stay the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from ontoref.replay.build import build_tree
from ontoref.replay.source import Source
from ontoref.replay.tree import Row, Tree

__all__ = ["Trees"]

_KEPT = 32
_KEPT_ROWS = 300_000


class Trees:
    """A source that also gives trees. Safe to use from several threads: a tree is built by one of them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._kept: OrderedDict[str, tuple[Sequence[Row], Tree]] = OrderedDict()
        self._lock = threading.Lock()
        # What is dear to sum up, kept as long as its tree is.
        self.sums: WeakKeyDictionary[Tree, dict[str, Any]] = WeakKeyDictionary()
        self._building: dict[str, threading.Lock] = {}

    def rows(self, session_id: str) -> Sequence[Row] | None:
        return self.source.rows(session_id)

    def counts(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        return self.source.counts(session_ids)

    def tree(self, session_id: str) -> Tree | None:
        """The tree of a session; None if it is not here."""
        with self._lock:
            one_at_a_time = self._building.setdefault(session_id, threading.Lock())
        with one_at_a_time:
            rows = self.source.rows(session_id)
            if rows is None:
                with self._lock:
                    self._building.pop(session_id, None)
                return None
            with self._lock:
                kept = self._kept.get(session_id)
                if kept is not None and kept[0] is rows:
                    self._kept.move_to_end(session_id)
                    return kept[1]
            tree = build_tree(rows)
            with self._lock:
                self._kept[session_id] = (rows, tree)
                self._kept.move_to_end(session_id)
                while len(self._kept) > 1 and (
                    len(self._kept) > _KEPT or sum(len(held) for held, _ in self._kept.values()) > _KEPT_ROWS
                ):
                    name, _ = self._kept.popitem(last=False)
                    self._building.pop(name, None)
            return tree
