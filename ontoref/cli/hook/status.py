"""`ontoref hook status`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def status(
    form: Annotated[Format, typer.Option("--format", help="How to print the hooks.")] = Format.table,
) -> int:
    """Say whether the pre-commit hook checks staged records. Exit 1 if it does not.

    \b
    Example:
      ontoref hook status
    """
    import os

    from ontoref.interaction.adoption import git_hook

    place = git_hook.find(os.getcwd())
    emit(
        [{"hook": "git pre-commit", "state": place.state, "path": place.path}], form, columns=("hook", "state", "path")
    )
    return 0 if place.state == "installed" else 1
