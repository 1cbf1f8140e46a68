"""`ontoref lesson proposals`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Scope
from ontoref.cli.lesson.fields import PROPOSALS
from ontoref.cli.listing import ListOptions, list_command
from ontoref.cli.output import Format


@list_command(PROPOSALS)
def proposals(
    options: ListOptions,
    status: Annotated[
        str | None, typer.Option(help="pending (as without it), accepted, rejected, expired or all.")
    ] = None,
    scope: Scope = None,
) -> None:
    """List proposals that wait for your decision, oldest first.

    --since and --until ask when they were made. A --where that names status or decision looks at all of them.

    \b
    Examples:
      ontoref lesson proposals
      ontoref lesson proposals --status all --format json
      ontoref lesson proposals --where decision.decided_by=ana --sort action --columns id,action,statement
    """
    from ontoref.cli.lesson.shared import opened, scope_of
    from ontoref.cli.listed import Narrowing
    from ontoref.cli.output import note

    wanted = Narrowing(options, PROPOSALS)
    if status is None:
        decided = any(path.partition(".")[0] in ("status", "decision") for path in wanted.asked)
        status = "all" if decided else "pending"
    within = scope_of(scope) or {}
    with opened(read_only=True) as store:
        found = store.list_proposals(None if status == "all" else status)
    rows = [one for one in found if within.items() <= (one.get("scope") or {}).items()]
    nothing = f"no proposal is {status}" if status != "all" else "no proposals"
    if status == "pending":
        nothing = "none waits; `ontoref lesson run` makes proposals of candidates"
    wanted.emit(rows, whole=True, empty=nothing)
    if rows and options.form is Format.table:
        note("ontoref lesson show ID · accept ID [--statement TEXT] · reject ID")
