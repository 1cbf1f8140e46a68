"""`ontoref lesson reject`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import By, Form, Reason
from ontoref.cli.output import Format


def reject(
    ids: Annotated[list[str], typer.Argument(help="Proposals' ids, or their beginnings.")],
    by: By = None,
    reason: Reason = None,
    form: Form = Format.table,
) -> None:
    """Reject proposals; the same is not proposed again.

    \b
    Example:
      ontoref lesson reject p-91c0 --reason "said in jest"
    """
    from ontoref.cli.lesson.shared import named, now, opened, reviewer
    from ontoref.cli.output import emit_json, note
    from ontoref.lesson.review import reject as rejected

    at = now()
    with opened(read_only=False) as store:
        whole = [named(store, id, "proposal") for id in ids]
        done = [rejected(store, id, reviewer(by), at, reason) for id in whole]
    if form in (Format.json, Format.jsonl):
        emit_json(done)
        return
    for one in done:
        print(one["id"])
    note("rejected")
