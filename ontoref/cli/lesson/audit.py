"""`ontoref lesson audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Limit
from ontoref.cli.output import Format, emit


def audit(
    record: Annotated[str | None, typer.Argument(help="Only what happened to this lesson or proposal.")] = None,
    after: Annotated[int | None, typer.Option(help="Only entries after this number.", metavar="SEQ")] = None,
    limit: Limit = None,
    form: Form = Format.table,
) -> None:
    """Tell who decided what, in order. The trail only grows.

    \b
    Examples:
      ontoref lesson audit
      ontoref lesson audit l-3f0c
    """
    from ontoref.cli.lesson.shared import opened

    with opened(read_only=True) as store:
        if record is not None and not store.list_audit(record, limit=1):
            known = {str(one.get("record_id")) for one in store.list_audit()}
            from ontoref.lesson.review import full_id

            record = full_id(record, sorted(known), "audited record")
        rows = store.list_audit(record, after, limit)
    emit(rows, form, columns=("seq", "at", "actor", "action", "record_type", "record_id", "details"))
