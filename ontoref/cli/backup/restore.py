"""`ontoref backup restore`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import note
from ontoref.text import counted


def restore(
    archive: Annotated[str, typer.Argument(help="A backup.")],
    yes: Annotated[bool, typer.Option("--yes", help="Really replace local state.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the archive and say what would happen.")] = False,
    target_dir: Annotated[str | None, typer.Option(help="Restore below this folder instead.")] = None,
) -> int:
    """Replace local state by a backup. Needs --yes; without it the plan is printed and the exit code is 1.

    The archive is checked first. What is there now goes into a rollback archive before anything is written;
    readers may stay open; while another process imports, nothing happens.

    \b
    Examples:
      ontoref backup restore ontoref-backup-20261130T180400Z.tar.gz --dry-run
      ontoref backup restore ontoref-backup-20261130T180400Z.tar.gz --yes
    """
    import os
    from datetime import UTC, datetime

    from ontoref.cli.backup.skipped import tell_skipped
    from ontoref.state import Layout, backup, default_layout

    layout = Layout(os.path.abspath(os.path.expanduser(target_dir))) if target_dir else default_layout()
    if dry_run or not yes:
        manifest = backup.verify(archive)
        for asset in manifest.assets:
            target = os.path.join(layout.root, *asset.restore_path.split("/"))
            does = "replace" if os.path.exists(target) else "make"
            typer.echo(f"{does} {target}  ({asset.size_bytes} bytes, from {manifest.created_at})")
        tell_skipped(manifest)
        note("nothing was written" + ("" if dry_run else "; add --yes"))
        return 0 if dry_run else 1
    done = backup.restore(archive, layout, datetime.now(UTC))
    for path in done.aside:
        note(f"could not be opened, now called {path}")
    note(f"{counted(len(done.manifest.assets), 'database')} restored below {layout.root}")
    tell_skipped(done.manifest)
    from ontoref.cli.lesson.saving import beside

    if os.path.exists(lessons := beside(os.path.abspath(archive))):
        note(f"lessons were kept elsewhere: ontoref lesson import {lessons}")
    if done.rollback is not None:
        note(f"what was there before: {done.rollback}")
    return 0
