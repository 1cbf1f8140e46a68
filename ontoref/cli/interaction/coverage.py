"""`ontoref interaction coverage`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ontoref.cli.output import Format, emit, note


def coverage(
    since: Annotated[str | None, typer.Option(help="Only commits that this revision lacks.", metavar="REV")] = None,
    minimum: Annotated[
        float | None, typer.Option("--fail-under", min=0, max=100, help="Exit 1 below this.", metavar="PERCENT")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the gaps.")] = Format.table,
) -> int:
    """List commits without a record, sessions without an outcome, and actors that never record.

    A commit counts as covered if it brings a record, if a record made on it or on its parent touched one of its
    files, or if records touched all of its files.

    \b
    Example:
      ontoref interaction coverage --since origin/main
    """
    import os

    import orjson

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.cli.interaction.validate import in_git
    from ontoref.interaction.coverage import commits_since
    from ontoref.interaction.coverage import coverage as gaps_in
    from ontoref.interaction.project import find_project

    project = find_project(os.getcwd())
    top, log = in_git(project)
    paths, vocabulary = logs_and_words(None, None)
    records = []
    for path in paths:
        with open(path, "rb") as file:
            for line in file:
                try:
                    record = orjson.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    records.append(record)
    found = gaps_in(commits_since(top, since), records, vocabulary.enum("ActorKind").names, log)
    rows: list[dict[str, Any]] = [
        {"gap": "commit", "what": c.id[:12], "when": c.date[:10], "who": c.author, "more": c.subject}
        for c in found.uncovered
    ]
    rows += [{"gap": "session", "what": session, "more": "no record says how it ended"} for session in found.sessions]
    if form not in (Format.table, Format.markdown):
        rows += [{"gap": "actor", "what": actor, "more": "never recorded"} for actor in found.silent]
    emit(rows, form, columns=("gap", "what", "when", "who", "more"))
    covered = found.commits - len(found.uncovered)
    note(f"{covered} of {found.commits} commits have a record ({found.share:.0%})")
    if found.silent:
        note(f"never recorded: {' '.join(found.silent)}")
    return 1 if minimum is not None and found.share * 100 < minimum else 0
