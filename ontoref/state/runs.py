"""The list of backups that were made, or failed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ontoref.state.database import Database, now_ms

__all__ = ["BackupRun", "add", "listing"]


@dataclass(frozen=True, slots=True)
class BackupRun:
    """One backup. status is completed or failed, without names agents that are not in it.

    Units: created_at is milliseconds since 1970.
    """

    id: str
    created_at: int
    archive_path: str
    status: str
    size_bytes: int
    without: tuple[str, ...]


def add(database: Database, run_id: str, path: str, status: str, size: int, manifest: str | None) -> None:
    """Write down a backup."""
    with database.transaction():
        database.execute(
            "INSERT INTO backup_runs (id, created_at, archive_path, status, size_bytes, manifest_json)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (run_id, now_ms(), path, status, size, manifest),
        )


def listing(database: Database) -> list[BackupRun]:
    """Backups, the newest first."""
    found = database.all(
        "SELECT id, created_at, archive_path, status, size_bytes, ifnull(json_extract(manifest_json, '$.skipped'), '[]')"
        " FROM backup_runs ORDER BY created_at DESC, id DESC"
    )
    return [
        BackupRun(run_id, at, path, status, size, tuple(str(one.get("agent_id")) for one in json.loads(skipped)))
        for run_id, at, path, status, size, skipped in found
    ]
