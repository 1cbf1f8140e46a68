"""`ontoref lesson capture`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.errors import UsageError
from ontoref.text import counted


def capture(
    sessions: Annotated[list[str] | None, typer.Argument(help="Archive ids, native ids or unique beginnings.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every archived session.")] = False,
) -> int:
    """Look for corrections and refusals in archived sessions; `ontoref transcript import` does so by itself.

    What was captured before is not captured again. Nothing is kept while capture is off. Exit 1 if a
    database cannot be read; its agent is left out.

    \b
    Examples:
      ontoref lesson capture claude-code:01a2be2d
      ontoref lesson capture --all
    """
    from ontoref.cli.lesson.capturing import capture_sessions
    from ontoref.cli.lesson.shared import capture_mode, now
    from ontoref.cli.lesson.shared import opened as lessons
    from ontoref.cli.output import note
    from ontoref.cli.state.shared import opened
    from ontoref.lesson.capture import OFF
    from ontoref.state import archive

    if not sessions and not all_:
        raise UsageError("say which sessions", hint="ids, or --all")
    mode = capture_mode()
    if mode == OFF:
        note("capture is off; nothing was kept")
        return 0
    with opened(read_only=True) as state, lessons(read_only=False) as store:
        chosen = [archive.resolve(state, name).session_id for name in sessions or ()]
        if all_:
            chosen = [row.session_id for row in archive.listing(state)]
        count = capture_sessions(state, chosen, store, mode, now())
    note(f"{counted(len(chosen), 'session')} read, {counted(count, 'new candidate')}")
    return 1 if state.left_out else 0
