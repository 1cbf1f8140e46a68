"""`ontoref hook uninstall`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.hook.shared import Target


def uninstall(
    target: Annotated[Target, typer.Argument(help="git, or the agent to take out.")] = Target.git,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")] = False,
) -> int:
    """Take our part out again and leave the rest as it is.

    \b
    Example:
      ontoref hook uninstall
      ontoref hook uninstall claude-code
    """
    import os

    from ontoref.cli.hook.shared import offer
    from ontoref.interaction.adoption import git_hook
    from ontoref.interaction.adoption.agents import AGENTS
    from ontoref.interaction.project import find_project

    if target is Target.git:
        place = git_hook.find(os.getcwd())
        if place.state in ("absent", "foreign"):
            print(f"not installed  {place.path}")
        elif dry_run:
            print(f"would remove  {place.path}")
        else:
            git_hook.uninstall(place)
            print(f"removed  {place.path}")
        return 0
    agent = AGENTS[target.value]
    root = find_project(os.getcwd()).root
    changes = agent.unwire(root)
    return offer(root, changes, agent.title, done="taken out", nothing="not wired", yes=yes, dry_run=dry_run)
