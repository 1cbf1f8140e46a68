"""`ontoref lesson candidates`."""

from __future__ import annotations

from ontoref.cli.lesson._options import Form, Limit, Scope
from ontoref.cli.output import Format, emit


def candidates(scope: Scope = None, limit: Limit = None, form: Form = Format.table) -> None:
    """List what was captured from sessions and waits for `ontoref lesson run`, oldest first.

    \b
    Example:
      ontoref lesson candidates --scope agent_id=claude-code
    """
    from ontoref.cli.lesson.shared import opened, scope_of
    from ontoref.cli.output import note

    with opened(read_only=True) as store:
        rows = store.list_pending_candidates(scope_of(scope), limit)
    emit(rows, form, columns=("id", "excerpt", "signals", "session_id", "created_at", "status"))
    if not rows and form is Format.table:
        note("none waits; `ontoref transcript import` captures them, unless capture is off")
