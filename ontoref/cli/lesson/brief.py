"""`ontoref lesson brief`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Kind, Scope
from ontoref.cli.output import Format
from ontoref.text import counted


def brief(
    scope: Scope = None,
    kind: Kind = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="At most so many tokens, four bytes each.", metavar="TOKENS")
    ] = None,
    write: Annotated[
        str | None, typer.Option(help="Keep a marked block in this file up to date.", metavar="FILE")
    ] = None,
    form: Form = Format.table,
) -> None:
    """Print the lessons that hold, the most useful first, for an agent to read.

    --write replaces what stands between the markers `ontoref:lessons`, or `ACE:SKILLBOOK` if the file has those,
    and adds the block at the end if there is none. The rest of the file is not touched.

    \b
    Examples:
      ontoref lesson brief --scope workspace=/home/me/app --budget 800
      ontoref lesson brief --write AGENTS.md
    """
    from ontoref.cli.lesson.shared import now, opened, scope_of
    from ontoref.cli.output import emit_json, note
    from ontoref.lesson.brief import brief as brief_of

    with opened(read_only=True) as store:
        found = brief_of(store.list_active_lessons(now(), scope_of(scope), kind), budget)
    if write is not None:
        _write(write, found.text)
    elif form in (Format.json, Format.jsonl):
        value = {"text": found.text, "ids": list(found.ids), "left_out": found.left_out, "tokens": found.tokens}
        emit_json([value] if form is Format.json else value)
    else:
        print(found.text, end="")
    what = f"{counted(len(found.ids), 'lesson')}, about {found.tokens} tokens"
    note(what + (f"; {found.left_out} did not fit" if found.left_out else ""))


def _write(path: str, text: str) -> None:
    import os

    from ontoref.errors import OntorefError
    from ontoref.interaction.adoption.block import put
    from ontoref.interaction.adoption.change import replace
    from ontoref.lesson.brief import markers_in

    before = b""
    if os.path.exists(path):
        with open(path, "rb") as file:
            before = file.read()
    try:
        present = before.decode()
    except UnicodeDecodeError:
        raise OntorefError("the file is no UTF-8 text; it was left as it is", location=path) from None
    begin, end = markers_in(present)
    content = put(present, begin, end, text, path=path).encode()
    if content != before:
        replace(os.path.abspath(path), content)
