"""`ontoref transcript show`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import TextFormat

if TYPE_CHECKING:
    from ontoref.transcript import Report
    from ontoref.transcript.turns import Block


_COLOURS = {
    "prompt": "1;36",
    "note": "2",
    "thinking": "2;3",
    "call": "33",
    "result": "2",
    "error": "31",
    "mode": "35",
}
_MARKS = {"prompt": "❯", "note": "·", "thinking": "·", "call": "▸", "result": " ", "error": "✗", "mode": "·"}


def show(
    session: Annotated[str, typer.Argument(metavar="ID|FILE", help="A session or a file; - is stdin.")],
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Unfold thinking, arguments and results.")] = False,
    pager: Annotated[bool, typer.Option("--pager/--no-pager", help="Page on a terminal.")] = True,
    form: Annotated[TextFormat, typer.Option("--format", help="How to print.")] = TextFormat.text,
) -> None:
    """Read a session: prompts, answers, and each tool call on a line.

    \b
    Example:
      ontoref transcript show 7acd37a8
      ontoref transcript show rollout.jsonl --full --no-pager
    """
    from ontoref.cli.transcript.session import open_session
    from ontoref.transcript.turns import blocks

    transcript = open_session(session, runtime).read()
    shown = blocks(transcript.events, full=full)
    if form is not TextFormat.text:
        _emit(shown, form)
        return
    terminal = sys.stdout.isatty()
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = _lines(shown, transcript.report, colour)
    if terminal and pager:
        import click

        click.echo_via_pager(lines, color=colour)
    else:
        sys.stdout.writelines(lines)


def _emit(shown: Iterable[Block], form: TextFormat) -> None:
    from ontoref.cli.output import Format, emit
    from ontoref.transcript.draft import timestamp

    rows = (block._asdict() | {"at": timestamp(block.ts)} for block in shown)
    emit(rows, Format(form.value), columns=("style", "head", "text"))


def _lines(shown: Iterable[Block], report: Report, colour: bool) -> Iterator[str]:
    """Lines to print. The head comes first, with what is known before the session is read."""
    import time

    from ontoref.text import printable

    def paint(style: str, text: str) -> str:
        code = _COLOURS.get(style)
        return f"\x1b[{code}m{text}\x1b[0m" if colour and code and text else text

    opened = False
    for block in shown:
        if not opened:
            yield _title(report) + "\n"
            opened = True
        indent = "    " * block.depth
        text = printable(block.text, keep="\n\t").rstrip()
        if block.style == "text":
            yield "\n" + _indented(text, indent) + "\n"
            continue
        mark = _MARKS[block.style]
        head = printable(block.head)
        if block.style == "prompt":
            clock = time.strftime("%Y-%m-%d %H:%M", time.gmtime(block.ts)) if 0 < block.ts < 1e11 else ""
            yield "\n" + paint("prompt", f"{indent}{mark} {clock or head}") + "\n"
            yield _indented(text, indent + "  ") + "\n"
            continue
        first, _, rest = text.partition("\n")
        yield indent + paint(block.style, f"  {mark} {head}{'  ' if first else ''}{first}".rstrip()) + "\n"
        if rest:
            yield paint(block.style, _indented(rest, indent + "      ")) + "\n"
    if not opened:
        yield _title(report) + "\n(nothing was said)\n"
    yield "\n" + printable(_ending(report)) + "\n"


def _title(report: Report) -> str:
    from ontoref.text import printable
    from ontoref.transcript.draft import timestamp

    info = report.session
    parts = [
        info.runtime,
        info.session_id,
        info.cwd,
        (timestamp(info.started) or "")[:16].replace("T", " "),
        info.title,
    ]
    return printable("  ".join(part for part in parts if part))


def _ending(report: Report) -> str:
    said = [f"{report.lines} lines"]
    if report.bad.count:
        places = ", ".join(str(place.line_number) for place in report.bad.kept[:5])
        said.append(f"{report.bad.count} bad (line {places}{' …' if report.bad.count > 5 else ''})")
    if report.unknown.count:
        said.append(f"{report.unknown.count} of unknown types")
    if report.pending:
        said.append("the last line is still being written")
    return ", ".join(said)


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in text.split("\n")) if indent else text
