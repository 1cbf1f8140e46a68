"""`ontoref interaction files`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["files"]


@query_command
def files(options: QueryOptions) -> int:
    """Files that sessions touched: by how many, how often, when last and by whom.

    A PATH that is a .jsonl file, or a folder with .jsonl files in it, is a log to read; any other is a glob of
    the touched files to show. --file is always such a glob. `*` stays within a folder, `**` crosses folders, a
    plain folder means all below it.

    \b
    Example:
      ontoref interaction files 'ontoref/vocabulary/**'
      ontoref interaction files 'docs/*.md' examples/interactions --since 30d
    """
    from ontoref.cli.interaction._query import run_query
    from ontoref.interaction.logs import looks_like_log

    logs = [path for path in options.paths or () if looks_like_log(path)]
    globs = [path for path in options.paths or () if path not in logs]
    return run_query(options, "files", paths=logs, files=globs)
