"""`ontoref interaction schema`."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    bundle: Annotated[
        bool, typer.Option("--bundle", help="With what the project's other files define: one document.")
    ] = False,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Print the shape of a record as plain JSON Schema 2020-12, for editors and other validators.

    Without --bundle it is the record's own file with references to the others; with it, one document that any
    validator takes as it is.

    \b
    Example:
      ontoref interaction schema --bundle > record.schema.json
    """
    import sys

    import orjson

    from ontoref.cli.vocabulary.shared import in_force
    from ontoref.vocabulary.bundle import plain
    from ontoref.vocabulary.model import ROOT_DOCUMENT

    vocabulary = in_force(schemas)
    document = vocabulary.schema if bundle else plain(vocabulary.documents[ROOT_DOCUMENT])
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return 0
