"""`ontoref interaction decisions`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["decisions"]


@query_command
def decisions(
    options: QueryOptions,
    adr_candidates: Annotated[
        bool, typer.Option("--adr-candidates", help="Only decisions that were ever flagged as deserving an ADR.")
    ] = False,
    standing: Annotated[
        bool, typer.Option("--open", help="Only those still to be written: flagged, no ADR yet, not turned down.")
    ] = False,
    reversible: Annotated[
        bool | None, typer.Option("--reversible/--irreversible", help="Only those cheap, or costly, to undo.")
    ] = None,
) -> int:
    """Decisions: one row for each, as its latest entry has it, and how often and where it came up.

    A decision is kept if any of its entries meets the conditions. --history shows the entries themselves.

    \b
    Example:
      ontoref interaction decisions --adr-candidates --open
      ontoref interaction decisions --irreversible --where domain=Storage
      ontoref interaction decisions --adr-candidates --history --format json
    """
    from ontoref.cli.interaction._query import run_query
    from ontoref.interaction.where import equality

    more = []
    if adr_candidates or standing:
        more.append(equality(("adr_candidate",), True))
    if reversible is not None:
        more.append(equality(("reversible",), reversible))
    called = None
    if standing:
        called = ("open candidate", "open candidates")
    elif adr_candidates:
        called = ("candidate", "candidates")
    return run_query(options, "decisions", more=more, standing=standing, called=called)
