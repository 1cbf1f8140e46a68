"""`ontoref backup verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit, note
from ontoref.text import counted


def verify(
    archive: Annotated[str, typer.Argument(help="A backup.")],
    form: Annotated[Format, typer.Option("--format", help="How to print its assets.")] = Format.table,
) -> None:
    """Check a backup: its paths, digests and every database in it. Exit 1 if it cannot be trusted.

    \b
    Example:
      ontoref backup verify ontoref-backup-20261130T180400Z.tar.gz
    """
    from ontoref.cli.backup.skipped import tell_skipped
    from ontoref.state import backup

    manifest = backup.verify(archive)
    rows = [
        {
            "database": asset.agent_id or "global",
            "integrity": asset.integrity,
            "schema_version": asset.schema_version,
            "size_bytes": asset.size_bytes,
            "sha256": asset.sha256,
            "source_path": asset.source_path,
        }
        for asset in manifest.assets
    ]
    emit(rows, form, columns=("database", "integrity", "size_bytes", "sha256"))
    tell_skipped(manifest)
    note(f"sound: {counted(len(rows), 'database')} of {manifest.created_at}, ontoref {manifest.app_version}")
