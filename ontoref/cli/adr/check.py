"""`ontoref adr check`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit
from ontoref.text import counted


def check(
    folder: Annotated[str, typer.Option("--dir", help="Where ADRs lie.", metavar="DIR")] = "docs/adr",
    form: Annotated[Format, typer.Option("--format", help="How to print problems.")] = Format.table,
) -> int:
    """Prove that ADRs and records fit: each named ADR is there, each number stands once on every branch. Exit 1 if not.

    \b
    Example:
      ontoref adr check
    """
    import os

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.cli.output import note
    from ontoref.interaction import adr
    from ontoref.interaction.candidates import entries
    from ontoref.interaction.project import find_project
    from ontoref.text import printable

    root = find_project(os.getcwd()).root
    folder = folder.strip("/")
    logs, _ = logs_and_words(None, None)
    here = adr.files_in(root, folder)
    found = list(adr.problems(here, adr.files_on_branches(root, folder), entries(logs)))
    if form is not Format.table:
        emit([problem._asdict() for problem in found], form, columns=("rule", "place", "message"))
    else:
        for problem in found:
            print(printable(f"{problem.place}: {problem.message}  [{problem.rule}]"))
        problems = counted(len(found), "problem") if found else "no problems"
        note(f"{problems} in {counted(len(here), 'ADR')}")
    return 1 if found else 0
