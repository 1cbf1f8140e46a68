"""`ontoref init`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.adoption import PlanFormat, carry_out, project_folder


def init(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change and write nothing.")] = False,
    agents_file: Annotated[
        str, typer.Option("--agents-file", help="The file in which agents read their instructions.")
    ] = "AGENTS.md",
    agents: Annotated[bool, typer.Option(help="Keep a block for agents in that file.")] = True,
    form: Annotated[PlanFormat, typer.Option("--format", help="How to print the changes.")] = PlanFormat.text,
) -> int:
    """Set a project up: settings, its own schemas, line endings, and a block that tells agents how to record.

    Safe to run again: what is there stays, our block is brought up to date, a shipped schema that you changed is
    merged and never overwritten. Everything else of ontoref works without it.

    \b
    Example:
      ontoref init --dry-run
      ontoref init
    """
    from ontoref.interaction.adoption.setup import plan

    root, now = project_folder()
    return carry_out(root, plan(root, now, agents_file=agents_file, block=agents), form, dry_run=dry_run)
