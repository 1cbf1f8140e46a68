"""`ontoref doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import Format, emit, note

if TYPE_CHECKING:
    from ontoref.state.doctor import Finding


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what ontoref owns, after a verified backup.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the findings.")] = Format.table,
) -> int:
    """Look for everything that is wrong: databases, rights, killed imports, the log, the words, the hooks.

    Without --fix nothing is written. Exit 1 if there are errors or warnings; notes alone are fine.

    \b
    Example:
      ontoref doctor
      ontoref doctor --fix
    """
    from datetime import UTC, datetime

    from ontoref.cli.state.shared import opened
    from ontoref.state.doctor import Severity, repair

    found = _examine()
    if fix and any(finding.fixable for finding in found):
        with opened(read_only=False) as state:
            done = repair(state, found, datetime.now(UTC))
        for line in done:
            note(line)
        note(f"backup made before: {done.backup}")
        found = _examine()
    rows = [
        {
            "severity": finding.severity.value,
            "rule": finding.rule,
            "place": finding.place,
            "message": finding.message,
            "remedy": finding.remedy,
            "fixable": finding.fixable,
            "items": list(finding.items),
        }
        for finding in found
    ]
    if form is Format.table:
        _print(found)
    else:
        emit(rows, form, columns=("severity", "rule", "place", "message", "remedy"))
    grave = sum(finding.severity is not Severity.note for finding in found)
    if not found:
        note("nothing is wrong")
    return 1 if grave else 0


def _examine() -> list[Finding]:
    import os
    import time

    from ontoref.cli.lesson.shared import placement
    from ontoref.cli.state.shared import opened
    from ontoref.interaction.health import examine_project
    from ontoref.interaction.project import find_project
    from ontoref.lesson.health import examine_lessons
    from ontoref.state.doctor import examine
    from ontoref.state.placement import SqlitePlacement

    with opened(read_only=True) as state:
        found = examine(state, os.environ, os.path.expanduser("~"), time.time())
        place = placement()
        # The database of all state is examined already.
        whole = place != SqlitePlacement(state.layout.global_database)
        if whole or not any(one.rule == "database" and one.place == state.layout.global_database for one in found):
            found += examine_lessons(place, state.layout)
    return found + examine_project(find_project(os.getcwd()))


def _print(found: list[Finding]) -> None:
    from ontoref.text import printable

    for finding in found:
        typer.echo(f"{finding.severity.value}: {printable(finding.place)}: {printable(finding.message)}")
        for item in finding.items[:5]:
            typer.echo(f"    {printable(item)}")
        if len(finding.items) > 5:
            typer.echo(f"    and {len(finding.items) - 5} more")
        typer.echo(f"    -> {finding.remedy}")
