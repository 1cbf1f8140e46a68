"""`ontoref vocabulary check`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit
from ontoref.text import counted


def check(
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print breaches.")] = Format.table,
) -> int:
    """Prove that a vocabulary keeps the rules: words are words, prose stays in its places. Exit 1 on a breach.

    Looks at --schemas, else at the project's own vocabulary, else at ours. `record` and `validate` refuse a
    vocabulary that breaks a rule.

    \b
    Example:
      ontoref vocabulary check
      ontoref vocabulary check --schemas .ontoref/schemas
    """
    import os

    from ontoref.cli.output import note
    from ontoref.interaction.project import find_project
    from ontoref.text import printable
    from ontoref.vocabulary import schemas_folder
    from ontoref.vocabulary.check import check as breaches_of
    from ontoref.vocabulary.compile import parse_files
    from ontoref.vocabulary.load import read_files

    folder = schemas_folder(schemas, find_project(os.getcwd()).root)
    breaches = breaches_of(parse_files(folder, read_files(folder)))
    shown = os.path.relpath(folder) if not os.path.relpath(folder).startswith("..") else folder
    if form is Format.table:
        for breach in breaches:
            place = f"{os.path.join(shown, breach.document)}:{breach.line}"
            print(printable(f"{place}: {breach.message}  [{breach.rule}]"))
            if breach.hint:
                print(printable(f"    {breach.hint}"))
        count = counted(len(breaches), "breach", "breaches") if breaches else "no breaches"
        note(f"{count} in {shown}")
    else:
        rows = [{**breach._asdict(), "path": os.path.join(shown, breach.document)} for breach in breaches]
        emit(rows, form, columns=("rule", "path", "line", "message", "hint"))
    return 1 if breaches else 0
