"""`ontoref vocabulary diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit
from ontoref.text import counted


def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="A folder, `package` (ours), `project`, or a revision: `main:`.")
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="A folder, `package` (ours), `project`, or a revision: `main:`.")
    ],
    form: Annotated[Format, typer.Option("--format", help="How to print the changes.")] = Format.table,
) -> int:
    """Say what changed between two vocabularies, and which change may make old records invalid.

    \b
    Example:
      ontoref vocabulary diff package project
      ontoref vocabulary diff origin/main: project
    """
    from ontoref.cli.output import note
    from ontoref.cli.vocabulary.shared import named
    from ontoref.text import printable
    from ontoref.vocabulary.diff import diff as changes_between

    changes = changes_between(named(old), named(new))
    if form is not Format.table:
        rows = [
            {"sign": c.sign, "name": c.name, "change": c.what, "invalidates_old_records": c.breaks} for c in changes
        ]
        emit(rows, form, columns=("sign", "name", "change", "invalidates_old_records"))
        return 0
    width = max((len(change.name) for change in changes), default=0)
    for change in changes:
        verdict = "may invalidate old records" if change.breaks else "old records stay valid"
        print(printable(f"{change.sign} {change.name:<{width}}  {change.what}; {verdict}"))
    breaking = sum(change.breaks for change in changes)
    note(f"{counted(len(changes), 'change')}, {breaking} of them may invalidate old records")
    return 0
