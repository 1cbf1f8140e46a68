"""`ontoref replay tree`"""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.output import TextFormat, emit_json

__all__ = ["tree"]


def tree(
    session: Annotated[str, typer.Argument(metavar="ID|FILE", help="A session or a file; - is stdin.")],
    depth: Annotated[int, typer.Option(help="Open so many levels of sub-agents' own sessions.")] = 0,
    expand: Annotated[list[str] | None, typer.Option(help="Open the sub-agent of this span; may be repeated.")] = None,
    turn: Annotated[str | None, typer.Option(help="Only this turn.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many events a page and a node.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Go on where an answer's next_cursor says.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Whole payloads instead of previews.")] = False,
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote it.")] = None,
    store: Annotated[str | None, typer.Option(metavar="FILE", help="Read a DuckDB export instead.")] = None,
    form: Annotated[TextFormat, typer.Option("--format", help="How to print.")] = TextFormat.text,
) -> int:
    """Print who delegated what: turns, sub-agents, workflows, approvals and modes.

    A sub-agent's own session is opened only where --depth or --expand says so. docs/replay.md describes the JSON.

    \b
    Example:
      ontoref replay tree 7acd37a8
      ontoref replay tree rollout.jsonl --depth 1 --format json | jq '.turns[].delegations[].label'
    """
    from ontoref.cli.replay.opened import open_replay
    from ontoref.replay.answers import Options, tree_answer

    options = Options(depth, frozenset(expand or ()), turn, limit, cursor, full)
    source, name = open_replay(session, runtime, store)
    if form is TextFormat.text:
        from ontoref.cli.replay.show import print_lines
        from ontoref.replay.terminal import Outline

        outline = Outline(source, depth=depth, events=False, roll=False)
        return print_lines(outline.lines(name, source.rows(name) or ()), pager=False)
    emit_json(tree_answer(source, name, options))
    return 0
