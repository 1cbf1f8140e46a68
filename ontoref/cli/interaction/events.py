"""`ontoref interaction events`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["events"]


@query_command
def events(options: QueryOptions) -> int:
    """What happened at single moments.

    \b
    Example:
      ontoref interaction events --where kind=Correction --since 7d
    """
    from ontoref.cli.interaction._query import run_query

    return run_query(options, "events")
