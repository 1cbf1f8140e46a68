"""`ontoref lesson import`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Scope
from ontoref.cli.output import Format


def import_(
    source: Annotated[str, typer.Argument(help="A Skillbook, an export, a folder of the file store, or -.")],
    scope: Scope = None,
    form: Form = Format.table,
) -> None:
    """Take lessons in; running it again changes nothing.

    A folder that took the place of a failing database is merged so: of two versions the newer one stays. What is
    read is taken whole or not at all.

    \b
    Examples:
      ontoref lesson import ace_skillbook.json
      ontoref lesson import ~/.local/share/ontoref/lessons-fallback
    """
    import os
    import sys

    from ontoref.cli.lesson.shared import now, opened, scope_of
    from ontoref.cli.output import emit_json, note
    from ontoref.lesson.transfer import read_records

    content = None
    if source == "-":
        content = sys.stdin.buffer.read()
    elif not os.path.isdir(source):
        with open(source, "rb") as file:
            content = file.read()
    records = read_records(source, content, now(), scope_of(scope))
    with opened(read_only=False, fallback=False) as store:
        done = store.load(records)
    counts = {name: getattr(done, name) for name in ("added", "updated", "unchanged", "older")}
    if form in (Format.json, Format.jsonl):
        emit_json([counts] if form is Format.json else counts)
        return
    note(", ".join(f"{count} {name}" for name, count in counts.items()))
