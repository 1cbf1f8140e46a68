"""`ontoref interaction redact`."""

from __future__ import annotations

from typing import Annotated

import typer


def redact(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The record's id.")],
    field: Annotated[
        list[str],
        typer.Option("--field", help="JSON pointer of the text: /summary, /events/0/note.", metavar="POINTER"),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the line and write nothing.")] = False,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Withhold a text of a record: the text goes, a signature stays valid and says that text was withheld.

    This is the one command that rewrites a line of the log. Git's history still has the text.

    \b
    Example:
      ontoref interaction redact 01JE4Q8ZT3W6M1K9V2C5N7X0RB --field /summary
    """
    import os
    import sys

    import orjson

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.cli.output import note
    from ontoref.errors import OntorefError, UsageError
    from ontoref.interaction.log import find
    from ontoref.interaction.rewrite import replace_line
    from ontoref.interaction.witness import Prose, withhold

    logs, vocabulary = logs_and_words(None, schemas)
    prose = Prose(vocabulary)
    found = next(find(logs, identity), None)
    if found is None:
        error = OntorefError(f"no record {identity} is in the log", hint="ontoref interaction records lists them")
        error.exit_code = 1
        raise error
    place, record = found
    changed = record
    for pointer in field:
        try:
            changed = withhold(changed, prose, pointer)
        except ValueError:
            places = " ".join(p for p, _ in prose.places(record)) or "none"
            raise UsageError(f"{pointer} is no place of prose", hint=f"texts of this record: {places}") from None
        except KeyError:
            places = " ".join(p for p, _ in prose.places(record)) or "none"
            raise UsageError(f"no text stands at {pointer}", hint=f"texts of this record: {places}") from None
    with open(place.path, "rb") as file:
        old = file.read().split(b"\n")[place.line - 1]
    if dry_run:
        sys.stdout.buffer.write(orjson.dumps(changed, option=orjson.OPT_APPEND_NEWLINE))
        note("dry run: nothing was written")
        return 0
    replace_line(place.path, place.line, old, orjson.dumps(changed))
    print(f"{identity}  {os.path.relpath(place.path)}:{place.line}  withheld {' '.join(field)}")
    note("the line was rewritten; git's history still has the text")
    return 0
