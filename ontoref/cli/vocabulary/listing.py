"""`ontoref vocabulary list`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import Format, emit


def listing(
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.table,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """List every enum and every shape that the vocabulary in force defines.

    \b
    Example:
      ontoref vocabulary list
    """
    from ontoref.cli.output import note
    from ontoref.cli.vocabulary.shared import definitions, in_force

    vocabulary = in_force(schemas)
    rows = [
        {
            "name": item.name,
            "is": "words" if item.members else "shape",
            "size": len(item.members) or len(item.fields),
            "at": f"{item.document}:{item.line}",
            "description": item.description,
        }
        for item in definitions(vocabulary).values()
    ]
    emit(rows, form, columns=("name", "is", "size", "at", "description"))
    if form is Format.table:
        note(f"{vocabulary.folder}  {vocabulary.digest}")
    return 0
