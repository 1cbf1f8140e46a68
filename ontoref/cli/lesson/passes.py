"""`ontoref lesson passes`."""

from __future__ import annotations

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format, emit


def passes(form: Form = Format.table) -> None:
    """List the passes that `ontoref lesson run` knows, in the order in which they run.

    \b
    Example:
      ontoref lesson passes
    """
    from ontoref.lesson.passes import all_passes

    names = ("id", "stage", "priority", "scope", "cost_class")
    rows = []
    for one in all_passes().in_order():
        what = (one.run.__doc__ or "").partition("\n")[0]
        rows.append({**{name: getattr(one, name) for name in names}, "what": what})
    emit(rows, form, columns=(*names, "what"))
