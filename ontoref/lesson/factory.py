"""A placement into a store, with the fallback that its backend needs."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, cast

from ontoref.errors import OntorefError
from ontoref.lesson.backends.fallback import FirstFailureFallbackLessonStore
from ontoref.lesson.contract import LessonStore, Table
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout, default_layout
from ontoref.state.placement import BackendKind, DomainStoragePlacement, JsonlPlacement

__all__ = ["BACKENDS", "DOMAIN", "OpenStore", "every_table", "fallback_folder", "open_store"]

DOMAIN = "lessons"
_log = logging.getLogger("ontoref.lesson")

# What every store of ours can do beyond the contract: `records`, `load`, `close`.
OpenStore = TableLessonStore


def fallback_folder(layout: Layout) -> str:
    """Where lessons go while their backend fails."""
    return os.path.join(layout.root, "lessons-fallback")


def open_store(
    placement: DomainStoragePlacement,
    layout: Layout | None = None,
    *,
    read_only: bool = False,
    fallback: bool = True,
) -> OpenStore:
    """The store at a placement.

    Shape:  SQLite is opened now and gives way to the file store at once; PostgreSQL connects later and gives way
            at its first failure. read_only creates nothing. Without fallback failures are raised.
    Errors: LessonValidationError for the name of a PostgreSQL schema.
    """
    return BACKENDS[placement.backend](placement, layout or default_layout(), read_only, fallback)


def every_table(
    placement: DomainStoragePlacement, layout: Layout | None = None, *, read_only: bool = False
) -> Iterator[Table]:
    """The table at a placement and that of the fallback, each if it holds anything: nothing is made, nothing gives way.

    Errors: as open_store without fallback.
    """
    layout = layout or default_layout()
    for place in dict.fromkeys((placement, JsonlPlacement(fallback_folder(layout)))):
        table = BACKENDS[place.backend](place, layout, True, False).table
        counts = table.counts()
        if counts is not None and not any(counts.values()):
            table.close()
            continue
        if not read_only:
            table.close()
            table = BACKENDS[place.backend](place, layout, False, False).table
        yield table


def _file_store(layout: Layout) -> TableLessonStore:
    from ontoref.lesson.backends.jsonl import JsonlTable

    return TableLessonStore(JsonlTable(fallback_folder(layout)))


def _jsonl(placement: Any, layout: Layout, read_only: bool, fallback: bool) -> OpenStore:
    from ontoref.lesson.backends.jsonl import JsonlTable

    return TableLessonStore(JsonlTable(placement.dir))


def _sqlite(placement: Any, layout: Layout, read_only: bool, fallback: bool) -> OpenStore:
    from ontoref.lesson.backends.sqlite import SqliteTable

    try:
        return TableLessonStore(SqliteTable(placement.path, layout, read_only=read_only))
    except (OntorefError, OSError, sqlite3.Error) as error:
        if not fallback:
            raise
        _log.warning("lessons are kept in the fallback: %s", error)
        return _Degraded(_file_store(layout), str(error))


def _postgres(placement: Any, layout: Layout, read_only: bool, fallback: bool) -> OpenStore:
    from ontoref.lesson.backends.postgres import PostgresLessonStore

    store = PostgresLessonStore(placement.database_url, placement.schema)
    if not fallback:
        return store
    wrapper = FirstFailureFallbackLessonStore(cast(LessonStore, store), lambda: _file_store(layout))
    return cast(OpenStore, wrapper)


class _Degraded(TableLessonStore):
    """The file store in the place of a database that could not be opened."""

    def __init__(self, store: TableLessonStore, reason: str) -> None:
        super().__init__(store.table)
        self._reason = reason

    def describe_backend(self) -> dict[str, Any]:
        return {**super().describe_backend(), "degraded": True, "fallback_reason": self._reason}


BACKENDS: dict[BackendKind, Callable[[Any, Layout, bool, bool], OpenStore]] = {
    "postgres": _postgres,
    "sqlite": _sqlite,
    "fs-jsonl": _jsonl,
}
