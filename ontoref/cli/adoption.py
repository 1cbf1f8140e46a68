"""What `init` and `migrate` share: the project they work on and how their changes are shown."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.interaction.adoption.change import Change

__all__ = ["PlanFormat", "carry_out", "project_folder"]


class PlanFormat(StrEnum):
    """The forms of a list of changes."""

    text = "text"
    json = "json"


def project_folder() -> tuple[str, str]:
    """The project's top folder (where `.ontoref` is or would be) and this moment, RFC 3339 in UTC."""
    import os
    from datetime import UTC, datetime

    from ontoref.interaction.project import own_project

    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return own_project(os.getcwd()).root, now


def carry_out(root: str, changes: Sequence[Change], form: PlanFormat, *, dry_run: bool) -> int:
    """Write the changes (unless dry_run) and print them. Returns 1 if a conflict is left to the person."""
    import os

    from ontoref.cli.output import emit_json, note
    from ontoref.interaction.adoption.change import Verb, write

    if not dry_run:
        write(root, changes)
    conflicts = [change for change in changes if change.verb is Verb.conflict]
    if form is PlanFormat.json:
        emit_json([{"path": change.path, "change": change.verb.value, "why": change.why} for change in changes])
    else:
        shown = [change for change in changes if change.verb is not Verb.keep]
        width = max((len(change.path) for change in shown), default=0)
        for change in shown:
            print(f"{change.verb.value:<8}  {change.path:<{width}}  {change.why}".rstrip())
        if not shown:
            print("nothing to do: the project is up to date")
    if os.path.realpath(root) != os.path.realpath(os.curdir):
        note(f"in {root}")
    if dry_run:
        note("dry run: nothing was written")
    if conflicts:
        note(f"{counted(len(conflicts), 'file')} left to you")
    return 1 if conflicts else 0
