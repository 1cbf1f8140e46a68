"""`ontoref session show`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ontoref.cli.listing import Column, Field, Listing, ListOptions, list_command
from ontoref.cli.output import Format, emit


def _fields() -> Sequence[Field]:
    from ontoref.transcript import READERS

    texts = ("agent_id", "native_id", "project", "model", "parent", "session_key", "status", "sha256")
    return (
        Field("id"),
        Field("runtime", words=tuple(READERS)),
        *map(Field, texts),
        *(Field(name, "integer") for name in ("lines", "bad_lines", "size_bytes")),
        *(Field(name, "time") for name in ("started_at", "ended_at", "archived_at")),
        Field("title", "prose"),
    )


def _size(row: Any) -> str:
    from ontoref.cli.state.shared import size

    return size(row["size_bytes"])


SESSIONS = Listing(
    "session",
    "sessions",
    (*map(Column, ("id", "project", "title", "ended_at", "lines")), Column("size_bytes", "size", _size)),
    _fields,
    time="ended_at",
)


@list_command(SESSIONS)
def show(
    options: ListOptions,
    session: Annotated[str | None, typer.Argument(help="Archive id, native id or a unique beginning.")] = None,
    project: Annotated[str | None, typer.Option(help="Only sessions of this folder.")] = None,
) -> int:
    """Show what the archive knows of a session; without one, list all, the one that ended last first.

    Options but --format are about the list; --since and --until ask when a session ended. Exit 1 if a database
    cannot be read; its agent is left out of the list.

    \b
    Examples:
      ontoref session show
      ontoref session show --where runtime=codex --since 7d --sort size --reverse --limit 5
      ontoref session show claude-code:01a2be2d
    """
    from ontoref.cli.listed import Narrowing
    from ontoref.cli.output import emit_json
    from ontoref.cli.state.shared import opened, session_row
    from ontoref.errors import UsageError
    from ontoref.state import archive
    from ontoref.state.overview import overview

    form = options.form
    if session is None:
        wanted = Narrowing(options, SESSIONS)
        with opened(read_only=True) as state:
            found = archive.listing(state, project=project, limit=wanted.first)
            rows = ({**session_row(row), "size": _size({"size_bytes": row.size_bytes})} for row in found)
            nothing = "nothing is archived yet; `ontoref transcript import --all` begins"
            wanted.emit(rows, empty=lambda: "" if state.left_out else nothing)
        return 1 if state.left_out else 0
    if project is not None or options != ListOptions(form=form):
        raise UsageError(f"SESSION names one session: {session}", hint="options for the list go without SESSION")
    with opened(read_only=True) as state:
        one = archive.resolve(state, session)
        more = overview(state, one)
    row = {**session_row(one), **more}
    if form in (Format.json, Format.jsonl):
        emit_json([row] if form is Format.json else row)
        return 0
    pairs = [{"what": name, "value": value} for name, value in row.items() if value not in (None, [], {})]
    emit(pairs, form, columns=("what", "value"), whole=True)
    return 0
