"""`ontoref hook status`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def status(
    form: Annotated[Format, typer.Option("--format", help="How to print the hooks.")] = Format.table,
) -> int:
    """Say what is wired, and prove it with a dry run. Exit 1 if something that is wired does not work, or nothing is.

    \b
    Example:
      ontoref hook status
    """
    import os

    from ontoref.errors import OntorefError
    from ontoref.interaction.adoption import git_hook
    from ontoref.interaction.adoption.agents import AGENTS, SHARED
    from ontoref.interaction.project import find_project

    rows = []
    try:
        place = git_hook.find(os.getcwd())
        problem = git_hook.prove(place) if place.state == "installed" else None
        rows.append(
            {"hook": "git", "state": place.state, "works": problem is None, "problem": problem, "path": place.path}
        )
    except OntorefError as error:
        rows.append({"hook": "git", "state": "absent", "works": None, "problem": error.message, "path": None})
    root = find_project(os.getcwd()).root
    for name, agent in AGENTS.items():
        try:
            wanted = agent.wire(root)
            present = agent.unwire(root)
            # Instructions that several agents read are there without any one of them being wired.
            own = [change for change in present if change.path != SHARED]
            state = (
                "installed"
                if not any(c.writes for c in wanted)
                else "outdated"
                if any(c.writes for c in own)
                else "absent"
            )
            problem = agent.prove(root) if state != "absent" else None
        except OntorefError as error:
            state, problem = "unreadable", f"{error.location}: {error.message}"
        rows.append({"hook": name, "state": state, "works": problem is None, "problem": problem, "path": None})
    for row in rows:
        if row["state"] in ("absent", "foreign"):
            row["works"] = None
    emit(rows, form, columns=("hook", "state", "works", "problem"))
    wired = [row for row in rows if row["works"] is not None]
    return 0 if wired and all(row["works"] for row in wired) else 1
