"""Passes over a lesson store: registered without doing anything, run in one order, each on its own feet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ontoref.lesson.contract import LessonStore
from ontoref.lesson.errors import LessonValidationError

__all__ = ["STAGES", "PassResult", "Passes", "TaskPass"]

STAGES = ("light", "deep")
_log = logging.getLogger("ontoref.lesson")
Run = Callable[[LessonStore, Mapping[str, Any], str], dict[str, int]]


@dataclass(frozen=True, slots=True)
class TaskPass:
    """One pass. Shape: run is given the store, the configuration and now, and tells counts of what it did."""

    id: str
    stage: str
    priority: int
    scope: str
    cost_class: str
    run: Run


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass did, or why it failed."""

    id: str
    counts: dict[str, int] = field(default_factory=dict)
    error: str | None = None


class Passes:
    """The passes that are known. Registering one does no I/O."""

    def __init__(self, passes: Iterable[TaskPass] = ()) -> None:
        self._passes: dict[str, TaskPass] = {}
        for one in passes:
            self.register(one)

    def register(self, one: TaskPass) -> None:
        """Add a pass. Errors: LessonValidationError for an id that is taken or a stage that is none."""
        if one.id in self._passes:
            raise LessonValidationError(f"a pass named {one.id!r} is registered already")
        if one.stage not in STAGES:
            raise LessonValidationError(f"{one.stage!r} is no stage; known: {', '.join(STAGES)}")
        self._passes[one.id] = one

    def in_order(self, ids: Iterable[str] = ()) -> list[TaskPass]:
        """By stage, then the highest priority first, then id. Errors: LessonValidationError for an unknown id."""
        wanted = list(ids)
        for name in wanted:
            if name not in self._passes:
                raise LessonValidationError(f"no pass is named {name!r}", hint=f"known: {', '.join(self._passes)}")
        chosen = [one for one in self._passes.values() if not wanted or one.id in wanted]
        return sorted(chosen, key=lambda one: (STAGES.index(one.stage), -one.priority, one.id))

    def run(self, store: LessonStore, config: Mapping[str, Any], now: str, ids: Iterable[str] = ()) -> list[PassResult]:
        """Run them one after the other; one that fails stops none of the others."""
        results = []
        for one in self.in_order(ids):
            try:
                results.append(PassResult(one.id, one.run(store, config, now)))
            except Exception as error:
                _log.warning("the pass %s failed: %s", one.id, error)
                results.append(PassResult(one.id, error=str(error)))
        return results
