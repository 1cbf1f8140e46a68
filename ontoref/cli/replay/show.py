"""`ontoref replay show`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ontoref.replay.terminal import Line

__all__ = ["print_lines", "show"]

_COLOURS = {
    "head": "1",
    "dim": "2",
    "turn": "1;36",
    "agent": "1;34",
    "approval": "33",
    "thinking": "2;3",
    "call": "33",
    "result": "2",
    "note": "2",
    "error": "31",
    "mode": "35",
}


def show(
    session: Annotated[str, typer.Argument(metavar="ID|FILE", help="A session or a file; - is stdin.")],
    depth: Annotated[int, typer.Option(min=0, max=10, help="Unfold so many levels of sub-agents.")] = 1,
    full: Annotated[bool, typer.Option("--full", help="Unfold thinking, arguments and results.")] = False,
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote it.")] = None,
    store: Annotated[str | None, typer.Option(metavar="FILE", help="Read a DuckDB export instead.")] = None,
    pager: Annotated[bool, typer.Option("--pager/--no-pager", help="Page on a terminal.")] = True,
) -> int:
    """Read a session as the tree it was: what sub-agents did stands indented below who called them.

    Figures of a turn and of a sub-agent count everything below them: time, calls, tokens, and the cost where the
    transcript states one.

    \b
    Example:
      ontoref replay show 7acd37a8
      ontoref replay show 7acd37a8 --depth 0 --no-pager
    """
    from ontoref.cli.replay.opened import open_replay
    from ontoref.replay.terminal import Outline

    source, name = open_replay(session, runtime, store)
    return print_lines(Outline(source, depth=depth, full=full).lines(name, source.rows(name) or ()), pager=pager)


def print_lines(lines: Iterable[Line], *, pager: bool) -> int:
    """Lines to the terminal, indented and coloured; always 0."""
    terminal = sys.stdout.isatty()
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = _text(lines, colour)
    if terminal and pager:
        import click

        click.echo_via_pager(text, color=colour)
    else:
        sys.stdout.writelines(text)
    return 0


def _text(lines: Iterable[Line], colour: bool) -> Iterator[str]:
    from ontoref.text import printable

    for line in lines:
        code = _COLOURS.get(line.style)
        text = printable(line.text, keep="\t")
        if colour and code and text:
            text = f"\x1b[{code}m{text}\x1b[0m"
        yield f"{'   ' * line.level}{text}".rstrip() + "\n"
