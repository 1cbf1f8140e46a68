"""`ontoref replay export`"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import note
from ontoref.errors import UsageError
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.replay.source import Source
    from ontoref.replay.tree import Row
    from ontoref.state import State

__all__ = ["export"]


def export(
    sessions: Annotated[list[str] | None, typer.Argument(metavar="[ID|FILE]...", help="Which sessions.")] = None,
    duckdb: Annotated[str | None, typer.Option(metavar="FILE", help="Write events into this DuckDB file.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every session, archived and sub-agents' too.")] = False,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write one session as a page.")] = None,
    redact: Annotated[bool, typer.Option("--redact/--no-redact", help="Take secrets out of the page.")] = True,
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote them.")] = None,
) -> int:
    """Write sessions into a file: for questions to many (--duckdb), or one of them to read in a browser (--html).

    A session that the DuckDB file already has is replaced. The page needs no server and no network; what looks
    like a secret is replaced in it.

    \b
    Example:
      ontoref replay export 7acd37a8 --html session.html
      ontoref replay export --duckdb replay.duckdb --all
      ontoref replay query --store replay.duckdb "SELECT runtime, count(*) FROM replay_events GROUP BY runtime"
    """
    import time

    if (duckdb is None) == (html is None):
        raise UsageError("say where to: --html FILE or --duckdb FILE")
    if html is not None:
        if everything or len(sessions or ()) != 1:
            raise UsageError("a page holds one session", hint="name it: ontoref replay export ID --html FILE")
        return _page((sessions or [])[0], html, runtime, redact=redact)
    assert duckdb is not None
    from ontoref.replay.duckdb_store import DuckWriter

    if bool(sessions) == everything:
        raise UsageError("name sessions, or say --all")
    from ontoref.cli.state.shared import opened

    names: set[str] = set()
    with opened(read_only=True) as state:
        found = _everything(state, runtime) if everything else _named(sessions or [], runtime)
        with DuckWriter(duckdb) as writer:
            events = writer.write(_told(found, names), int(time.time() * 1000))
    note(f"{counted(events, 'event')} of {counted(len(names), 'session')} in {duckdb}")
    return 1 if state.left_out else 0


def _page(given: str, path: str, runtime: str | None, *, redact: bool) -> int:
    """One session as a page, written whole or not at all; 1 if it has no events."""

    from ontoref.cli.replay.opened import open_replay
    from ontoref.replacing import replacing
    from ontoref.web.export import export_html

    source, name = open_replay(given, runtime)
    if not source.rows(name):
        note(f"{name} has no events: nothing was written")
        return 1
    made = export_html(source, name, redact=redact)
    if path == "-":
        sys.stdout.buffer.write(made.html)
        sys.stdout.buffer.flush()
        return 0
    with replacing(path) as aside, open(aside, "wb") as file:
        file.write(made.html)
    secrets = f", {counted(made.redacted, 'secret')} redacted" if redact else ""
    note(f"{path}: {len(made.html) / 1000:,.0f} KB{secrets}")
    return 0


def _named(given: Sequence[str], runtime: str | None) -> Iterator[tuple[str, Sequence[Row]]]:
    from ontoref.cli.replay.opened import open_replay

    for one in given:
        source, name = open_replay(one, runtime)
        yield name, source.rows(name) or ()


def _everything(state: State, runtime: str | None) -> Iterator[tuple[str, Sequence[Row]]]:
    from ontoref.cli.replay.opened import archived, live_files
    from ontoref.cli.transcript.archived import with_archive
    from ontoref.replay.files import Files
    from ontoref.replay.source import Sources

    files = Files(list)
    runtimes = [runtime] if runtime else None
    names = []
    for found, _ in with_archive(state, live_files(), runtimes, alone=True, children=True):
        if runtimes and found.runtime not in runtimes:
            continue
        if found.path:
            files.add(found)
        names.append(found.id)
    source: Source = Sources(files, archived())
    for name in dict.fromkeys(names):
        rows = None
        with state.sparing():
            rows = source.rows(name)
        if rows is not None:
            yield name, rows


def _told(sessions: Iterator[tuple[str, Sequence[Row]]], names: set[str]) -> Iterator[tuple[str, Sequence[Row]]]:
    """The same, each named once, with progress on a terminal."""
    terminal = sys.stderr.isatty()
    for name, rows in sessions:
        if name in names:
            continue
        names.add(name)
        if terminal:
            sys.stderr.write(f"\r{counted(len(names), 'session')}")
            sys.stderr.flush()
        yield name, rows
    if terminal and names:
        sys.stderr.write("\r" + " " * 30 + "\r")
