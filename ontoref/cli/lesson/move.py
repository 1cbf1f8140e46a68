"""`ontoref lesson move`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format
from ontoref.text import counted


def move(
    to: Annotated[str, typer.Option("--to", help="postgres://…, sqlite:PATH or fs-jsonl:FOLDER.", metavar="URL")],
    form: Form = Format.table,
) -> None:
    """Copy every record to another place, and prove that all of them arrived.

    Nothing is deleted where they were, and nothing is used there before you say so: set ONTOREF_LESSONS, or
    `lessons:` in your config.yaml. Safe to run again.

    \b
    Examples:
      ontoref lesson move --to postgres://me@db.example/lessons?schema=team
      ontoref lesson move --to fs-jsonl:./lessons
    """
    from ontoref.cli.lesson.shared import opened, place_of_url
    from ontoref.cli.output import emit_json, note
    from ontoref.errors import UsageError
    from ontoref.lesson.factory import open_store
    from ontoref.lesson.transfer import move as moved

    target = place_of_url(to)
    with opened(read_only=True, fallback=False) as source:
        with open_store(target, fallback=False) as arrived:
            if arrived.table.location == source.table.location:
                raise UsageError("they are kept there already", hint="ontoref lesson stats")
            done = moved(source, arrived)
            there = arrived.describe_backend()
        here = source.describe_backend()
    found = {
        "from": {"location": here["location"], "counts": here.get("counts")},
        "to": {"location": there["location"], "counts": there.get("counts")},
        "records": done.counts,
        "added": done.loaded.added,
        "sha256": done.digest,
    }
    if form in (Format.json, Format.jsonl):
        emit_json([found] if form is Format.json else found)
        return
    total = sum(done.counts.values())
    print(f"{counted(total, 'record')} verified on both sides, {done.loaded.added} of them new at {there['location']}")
    note("now set ONTOREF_LESSONS to that place, or `lessons:` in your config.yaml; nothing was deleted here")
