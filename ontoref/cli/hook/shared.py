"""What the hook commands share: the targets that can be wired, and how a change is shown and agreed to."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.interaction.adoption.change import Change

__all__ = ["Target", "offer"]


class Target(StrEnum):
    """What can be wired: the repository's own hook, or an agent."""

    git = "git"
    claude_code = "claude-code"
    codex = "codex"
    openclaw = "openclaw"
    cursor = "cursor"


def offer(
    root: str, changes: Sequence[Change], title: str, *, done: str, nothing: str, yes: bool, dry_run: bool
) -> int:
    """Show the changes, ask, and make them. Returns the exit code: 1 if the person said no."""
    from ontoref.cli.output import note

    if not any(change.writes for change in changes):
        print(f"{nothing}  {title}")
        return 0
    _show(root, changes)
    if dry_run:
        note("dry run: nothing was written")
        return 0
    if not _agree(yes=yes):
        note("nothing was written")
        return 1
    _carry_out(root, changes)
    print(f"{done}  {title}")
    return 0


def _show(root: str, changes: Sequence[Change]) -> None:
    """Print each change as a unified diff."""
    import difflib

    from ontoref.interaction.adoption.change import Verb, read
    from ontoref.text import printable

    for change in changes:
        if not change.writes:
            continue
        before = (read(root, change.path) or b"").decode("utf-8", "replace").splitlines(keepends=True)
        after = (
            []
            if change.verb is Verb.remove
            else (change.content or b"").decode("utf-8", "replace").splitlines(keepends=True)
        )
        lines = difflib.unified_diff(before, after, f"a/{change.path}", f"b/{change.path}")
        for line in lines:
            print(printable(line.rstrip("\n")))


def _agree(*, yes: bool) -> bool:
    """Whether the person wants the changes. Errors: UsageError where nobody can be asked and --yes is not given."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to be asked", hint="--yes makes the changes, --dry-run shows them")
    import click

    return click.confirm("make these changes?", default=False, err=True)


def _carry_out(root: str, changes: Sequence[Change]) -> None:
    """Write the changes; a file that is changed or removed is copied beside itself first, once."""
    import shutil

    from ontoref.interaction.adoption.change import Verb, write

    for change in changes:
        path = os.path.join(root, *change.path.split("/"))
        backup = f"{path}.before-ontoref"
        ours = "ontoref" in os.path.basename(path)
        if change.verb in (Verb.update, Verb.remove) and not ours and not os.path.exists(backup):
            shutil.copy2(path, backup)
    write(root, changes)
