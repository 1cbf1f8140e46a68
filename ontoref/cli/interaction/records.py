"""`ontoref interaction records`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["records"]


@query_command
def records(options: QueryOptions) -> int:
    """Records, one for each segment of a session.

    \b
    Example:
      ontoref interaction records --domain Storage --since 30d
      ontoref interaction records --where decisions.reversible=false
    """
    from ontoref.cli.interaction._query import run_query

    return run_query(options, "records")
