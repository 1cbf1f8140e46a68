"""`ontoref backup create`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit, note


def create(
    output: Annotated[str | None, typer.Option("--output", "-o", help="A new file, or a folder for one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be in it.")] = False,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Do not read the written archive back.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print its assets.")] = Format.table,
) -> int:
    """Write all local state into one verified archive, while others go on working.

    The archive holds transcripts in full and has mode 0600. Lessons are in it too; where they are kept outside
    of local state they are written to a file beside it. Private keys and the repository's records are not
    in it. An agent whose database cannot be read is not in it either: that is told, and the exit code is 1.

    \b
    Examples:
      ontoref backup create
      ontoref backup create --output /mnt/usb --dry-run
    """
    import os
    from datetime import UTC, datetime

    from ontoref.cli.backup.skipped import tell_skipped
    from ontoref.cli.lesson.saving import save_lessons
    from ontoref.cli.state.shared import opened, size
    from ontoref.errors import OntorefError
    from ontoref.state import backup
    from ontoref.state.backup.create import default_output

    now = datetime.now(UTC)
    with opened(read_only=True) as state:
        if not os.path.exists(state.layout.global_database):
            raise OntorefError(
                "there is no local state yet", hint="`ontoref transcript import --all` begins", location=None
            )
        folder = output if output and os.path.isdir(output) else os.getcwd()
        if output is None or os.path.isdir(output):
            output = default_output(state, folder, os.path.expanduser("~"), now)
        if dry_run:
            rows = [
                {"database": place.agent_id or "global", "size_bytes": os.path.getsize(place.path), "path": place.path}
                for place in backup.plan(state)
            ]
            emit(rows, form, columns=("database", "size_bytes", "path"))
            note(f"would write {output}; nothing was written")
            if beside := save_lessons(output, dry_run=True):
                note(f"would write the lessons, which are kept elsewhere, to {beside[0]}")
            return 1 if state.left_out else 0
    with opened(read_only=False) as state:
        made = backup.create(state, output, now, check=not no_verify)
    emit(
        [
            {"database": asset.agent_id or "global", "size_bytes": asset.size_bytes, "sha256": asset.sha256}
            for asset in made.manifest.assets
        ],
        form,
        columns=("database", "size_bytes", "sha256"),
    )
    tell_skipped(made.manifest)
    if saved := save_lessons(output):
        note(f"{saved[0]}  {saved[1]} records of lessons, which are kept elsewhere")
    without = f", without {', '.join(sorted(state.left_out))}" if state.left_out else ""
    note(f"{made.path}  {size(made.size_bytes)}  {'verified' if made.verified else 'not verified'}{without}")
    return 1 if state.left_out else 0
