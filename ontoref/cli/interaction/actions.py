"""`ontoref interaction actions`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["actions"]


@query_command
def actions(options: QueryOptions) -> int:
    """What was done to the world.

    \b
    Example:
      ontoref interaction actions --where kind=Deploy --where result=Failed
    """
    from ontoref.cli.interaction._query import run_query

    return run_query(options, "actions")
