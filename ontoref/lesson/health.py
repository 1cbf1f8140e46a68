"""What is wrong with the lesson store. Reads only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

from ontoref.errors import OntorefError
from ontoref.lesson.backends.jsonl import FILE_NAME, JsonlTable
from ontoref.lesson.backends.sqlite import SqliteTable
from ontoref.lesson.factory import fallback_folder, open_store
from ontoref.lesson.store import TableLessonStore
from ontoref.state.doctor.finding import Finding, Severity
from ontoref.state.layout import Layout
from ontoref.state.placement import DomainStoragePlacement
from ontoref.text import counted

__all__ = ["examine_lessons"]


def examine_lessons(placement: DomainStoragePlacement, layout: Layout) -> list[Finding]:
    """Faults of the store at a placement, and what waits in the fallback. No password stands in them."""
    shown = str(placement)
    try:
        with open_store(placement, layout, read_only=True, fallback=False) as store:
            return [*_table(store, shown, layout), *_waiting(store, layout)]
    except (OntorefError, OSError, sqlite3.Error) as error:
        message = error.message if isinstance(error, OntorefError) else str(error)
        found = Finding(
            "lesson-store",
            Severity.error,
            shown,
            f"lessons cannot be read there: {message}",
            "mend it, or set ONTOREF_LESSONS to another place; until then lessons are kept in the fallback",
        )
        return [found, *_waiting(None, layout)]


def _table(store: TableLessonStore, shown: str, layout: Layout) -> Iterator[Finding]:
    with store.table.reading():
        broken = sum(
            1
            for one in store.list_lessons()
            for link in ("supersedes", "superseded_by")
            if one.get(link) and store.table.get("lesson", one[link]) is None
        )
    if broken:
        yield Finding(
            "lesson-chain",
            Severity.warning,
            shown,
            f"{broken} links of lessons lead to lessons that are not there",
            "ontoref lesson import an export or a backup that has them",
        )
    if isinstance(store.table, JsonlTable) and store.table.bad_lines:
        yield Finding(
            "lesson-lines",
            Severity.warning,
            store.table.path,
            f"{store.table.bad_lines} lines are no records; they are left out",
            "a writer died there, or somebody edited the file; look at them and delete them",
        )
    if isinstance(store.table, SqliteTable) and store.table.location != layout.global_database:
        for problem in store.table.problems()[:3]:
            yield Finding(
                "lesson-store", Severity.error, shown, problem, "move the file away, and ontoref lesson import a backup"
            )


def _waiting(store: TableLessonStore | None, layout: Layout) -> Iterator[Finding]:
    """Records that were kept in the fallback and that the store does not have."""
    folder = fallback_folder(layout)
    if not os.path.exists(os.path.join(folder, FILE_NAME)):
        return
    table = JsonlTable(folder)
    with table.reading():
        rows = list(table.rows())
    if store is not None:
        if store.table.location == folder:
            return
        with store.table.reading():
            rows = [row for row in rows if not _has(store, row.record_type, row.id, row.updated_at)]
    if rows:
        yield Finding(
            "lesson-fallback",
            Severity.warning,
            folder,
            f"{counted(len(rows), 'record')} {'was' if len(rows) == 1 else 'were'} kept there while the lesson store failed",
            f"ontoref lesson import {folder}",
        )


def _has(store: TableLessonStore, record_type: str, id: str, updated_at: int) -> bool:
    there = store.table.get(record_type, id)
    return there is not None and there.updated_at >= updated_at
