"""`ontoref hook install`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.hook.shared import Target


def install(
    target: Annotated[Target, typer.Argument(help="git, or the agent to wire.")] = Target.git,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes and write nothing.")] = False,
) -> int:
    """Put a check of staged records into the pre-commit hook, or wire an agent to ontoref.

    An agent's settings are shown as a diff first and copied aside (`NAME.before-ontoref`); only what is ours is
    added. The git hook keeps whatever stands in it.

    \b
    Example:
      ontoref hook install
      ontoref hook install claude-code
    """
    import os

    from ontoref.cli.hook.shared import offer
    from ontoref.interaction.adoption import git_hook
    from ontoref.interaction.adoption.agents import AGENTS
    from ontoref.interaction.project import own_project

    if target is Target.git:
        place = git_hook.find(os.getcwd())
        if place.state == "installed":
            print(f"already installed  {place.path}")
        elif dry_run:
            print(f"would install  {place.path}")
        else:
            git_hook.install(place)
            print(f"installed  {place.path}")
        return 0
    agent = AGENTS[target.value]
    root = own_project(os.getcwd()).root
    changes = agent.wire(root)
    return offer(root, changes, agent.title, done="wired", nothing="already wired", yes=yes, dry_run=dry_run)
