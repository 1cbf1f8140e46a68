"""`ontoref lesson proposals`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Limit, Scope
from ontoref.cli.output import Format, emit


def proposals(
    status: Annotated[str, typer.Option(help="pending, accepted, rejected, expired or all.")] = "pending",
    scope: Scope = None,
    limit: Limit = None,
    form: Form = Format.table,
) -> None:
    """List proposals that wait for your decision, oldest first.

    \b
    Examples:
      ontoref lesson proposals
      ontoref lesson proposals --status all --format json
    """
    from ontoref.cli.lesson.shared import opened, scope_of
    from ontoref.cli.output import note

    wanted = scope_of(scope) or {}
    with opened(read_only=True) as store:
        found = store.list_proposals(None if status == "all" else status)
    rows = [one for one in found if wanted.items() <= (one.get("scope") or {}).items()][:limit]
    emit(
        rows,
        form,
        columns=("id", "action", "draft.statement", "rationale", "status", "created_at"),
        headers={"draft.statement": "statement"},
    )
    if rows and form is Format.table:
        note("ontoref lesson show ID · accept ID [--statement TEXT] · reject ID")
    elif form is Format.table:
        note("none waits; `ontoref lesson run` makes proposals of candidates")
