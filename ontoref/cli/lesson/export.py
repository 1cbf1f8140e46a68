"""`ontoref lesson export`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ontoref.text import counted


class ExportFormat(StrEnum):
    """The forms of an export."""

    jsonl = "jsonl"
    json = "json"
    skillbook = "skillbook"


def export(
    output: Annotated[str | None, typer.Option("--output", "-o", help="A new file; default: stdout.")] = None,
    form: Annotated[ExportFormat, typer.Option("--format", help="jsonl can be imported again.")] = ExportFormat.jsonl,
) -> None:
    """Write out everything: lessons, proposals, candidates and the audit trail.

    The same content gives the same bytes, also after an import into an empty store. skillbook holds skills alone.

    \b
    Examples:
      ontoref lesson export -o lessons.jsonl
      ontoref lesson export --format skillbook -o ace_skillbook.json
    """
    import sys

    import orjson

    from ontoref.cli.lesson.shared import opened
    from ontoref.cli.output import note
    from ontoref.lesson.skillbook import skillbook_of
    from ontoref.lesson.transfer import exported

    with opened(read_only=True, fallback=False) as store:
        if form is ExportFormat.skillbook:
            books = [one for one in store.list_audit("skillbook") if one.get("action") == "skillbook"]
            rest = books[-1].get("details") if books else None
            book = skillbook_of(store.list_lessons(record_kind="skill"), rest)
            lines = [orjson.dumps(book, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)]
        elif form is ExportFormat.json:
            parts = b",\n".join(line.rstrip(b"\n") for line in exported(store.records()))
            lines = [b"[" + parts + b"]\n"]
        else:
            lines = list(exported(store.records()))
    if output is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    with open(output, "xb") as file:
        file.writelines(lines)
    note(f"{output}: {counted(len(lines), 'record')}" if form is ExportFormat.jsonl else output)
