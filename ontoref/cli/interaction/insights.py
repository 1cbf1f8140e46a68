"""`ontoref interaction insights`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["insights"]


@query_command
def insights(options: QueryOptions) -> int:
    """What was learnt.

    \b
    Example:
      ontoref interaction insights --where kind=Pitfall --domain Query
    """
    from ontoref.cli.interaction._query import run_query

    return run_query(options, "insights")
