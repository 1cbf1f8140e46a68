"""`ontoref lesson run`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format, emit
from ontoref.text import counted


def run(
    ids: Annotated[list[str] | None, typer.Argument(help="Passes; default: all of them.", metavar="PASS...")] = None,
    at: Annotated[str | None, typer.Option("--now", help="As of this time; default: now.")] = None,
    decaying_days: Annotated[int, typer.Option(min=0, help="How long decaying lessons hold unchanged.")] = 90,
    ephemeral_days: Annotated[int, typer.Option(min=0, help="How long ephemeral lessons hold unchanged.")] = 14,
    form: Form = Format.table,
) -> int:
    """Run passes: `promote` makes proposals of candidates, `decay` ends what aged or did harm.

    Insights of the project's interaction records are captured first, unless capture is off. No pass makes a
    lesson: that is for `ontoref lesson accept`. Exit 1 if a pass failed.

    \b
    Examples:
      ontoref lesson run
      ontoref lesson run promote
    """
    from ontoref.cli.lesson.capturing import capture_insights
    from ontoref.cli.lesson.shared import capture_mode, now, opened
    from ontoref.cli.output import note
    from ontoref.lesson.capture import OFF
    from ontoref.lesson.lifecycle import instant_us
    from ontoref.lesson.passes import all_passes

    moment = at or now()
    instant_us(moment, "--now")
    known = all_passes()
    known.in_order(ids or ())
    config = {"decaying_days": decaying_days, "ephemeral_days": ephemeral_days}
    with opened(read_only=False) as store:
        if capture_mode() != OFF and (not ids or "promote" in ids):
            captured = capture_insights(store, moment)
            if captured:
                note(f"{captured} insights captured")
        results = known.run(store, config, moment, ids or ())
        waiting = len(store.list_proposals("pending"))
    rows = [{"pass": one.id, **one.counts, "error": one.error} for one in results]
    if form in (Format.json, Format.jsonl):
        emit(rows, form, columns=("pass",))
    else:
        for one in results:
            counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in one.counts.items())
            print(f"{one.id}: {one.error or counts}")
    if waiting:
        note(f"{counted(waiting, 'proposal')} {'waits' if waiting == 1 else 'wait'}: `ontoref lesson proposals`")
    return 1 if any(one.error for one in results) else 0
