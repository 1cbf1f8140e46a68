"""Lessons that are kept outside local state, for backups of it."""

from __future__ import annotations

import os

__all__ = ["beside", "save_lessons"]


def beside(archive: str) -> str:
    """Where the lessons of a backup lie that are not in it."""
    return archive.removesuffix(".tar.gz").removesuffix(".tgz") + ".lessons.jsonl"


def save_lessons(archive: str, *, dry_run: bool = False) -> tuple[str, int] | None:
    """Export lessons beside a backup; (path, records), None if the backup itself holds them.

    Errors: those of the store; FileExistsError. The file is synced, and read back.
    """
    from ontoref.cli.lesson.shared import opened, placement
    from ontoref.errors import OntorefError
    from ontoref.lesson.transfer import exported
    from ontoref.state.layout import default_layout
    from ontoref.state.placement import SqlitePlacement

    if placement() == SqlitePlacement(default_layout().global_database):
        return None
    path = beside(os.path.abspath(archive))
    if dry_run:
        return path, 0
    with opened(read_only=True, fallback=False) as store:
        lines = list(exported(store.records()))
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    with open(path, "rb") as file:
        if file.read() != b"".join(lines):
            raise OntorefError("the lessons that were written read back otherwise", location=path)
    return path, len(lines)
