"""`ontoref interaction tensions`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["tensions"]


@query_command
def tensions(options: QueryOptions) -> int:
    """Tensions, how often and by whom they were engaged.

    \b
    Example:
      ontoref interaction tensions --since 2mo --reverse
    """
    from ontoref.cli.interaction._query import run_query

    return run_query(options, "tensions")
