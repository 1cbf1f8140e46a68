"""`ontoref lesson audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson.fields import AUDIT
from ontoref.cli.listing import ListOptions, list_command


@list_command(AUDIT)
def audit(
    options: ListOptions,
    record: Annotated[str | None, typer.Argument(help="Only what happened to this lesson or proposal.")] = None,
    after: Annotated[int | None, typer.Option(help="Only entries after this number.", metavar="SEQ")] = None,
) -> None:
    """Tell who decided what, in order. The trail only grows.

    \b
    Examples:
      ontoref lesson audit
      ontoref lesson audit l-3f0c
      ontoref lesson audit --where actor=ana --since 7d --reverse
    """
    from ontoref.cli.lesson.shared import opened
    from ontoref.cli.listed import Narrowing

    wanted = Narrowing(options, AUDIT)
    with opened(read_only=True) as store:
        if record is not None and not store.list_audit(record, limit=1):
            known = {str(one.get("record_id")) for one in store.list_audit()}
            from ontoref.lesson.review import full_id

            record = full_id(record, sorted(known), "audited record")
        rows = store.list_audit(record, after, wanted.first)
    wanted.emit(rows, empty="nothing was decided yet")
