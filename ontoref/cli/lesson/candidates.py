"""`ontoref lesson candidates`."""

from __future__ import annotations

from ontoref.cli.lesson._options import Scope
from ontoref.cli.lesson.fields import CANDIDATES
from ontoref.cli.listing import ListOptions, list_command


@list_command(CANDIDATES)
def candidates(options: ListOptions, scope: Scope = None) -> None:
    """List what was captured from sessions and waits for `ontoref lesson run`, oldest first.

    --since and --until ask when it was captured.

    \b
    Examples:
      ontoref lesson candidates --scope agent_id=claude-code
      ontoref lesson candidates --where signals=correction --since 7d --columns id,session_id
    """
    from ontoref.cli.lesson.shared import opened, scope_of
    from ontoref.cli.listed import Narrowing

    wanted = Narrowing(options, CANDIDATES)
    with opened(read_only=True) as store:
        rows = store.list_pending_candidates(scope_of(scope), wanted.first)
    wanted.emit(rows, empty="none waits; `ontoref transcript import` captures them, unless capture is off")
