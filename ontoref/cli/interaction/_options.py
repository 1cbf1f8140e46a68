"""The options that all queries share, stated once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

from ontoref.cli.complete import columns as column_names
from ontoref.cli.complete import where_terms, words_of
from ontoref.cli.listing import Columns, Form, Limit, Since, Sort, Until, Where, with_options
from ontoref.cli.output import Format

__all__ = ["QueryOptions", "query_command"]


def _any(names: str, help_text: str, metavar: str, complete: Callable[..., Any] | None = None) -> Any:
    return typer.Option(*names.split(), help=help_text, metavar=metavar, autocompletion=complete)


class QueryOptions(NamedTuple):
    """What a person may say to any query, as typed."""

    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Logs: files, folders, globs or -. None: the project's own.", metavar="PATH..."),
    ] = None
    where: Where = None
    actor: Annotated[list[str] | None, _any("--actor", "Only records by this actor.", "ACTOR", words_of("actor"))] = (
        None
    )
    kind: Annotated[
        list[str] | None, _any("--kind", "Only records of this kind of work.", "KIND", words_of("kind"))
    ] = None
    domain: Annotated[
        list[str] | None, _any("--domain", "Only records of this domain.", "DOMAIN", words_of("domain"))
    ] = None
    category: Annotated[
        list[str] | None, _any("--category", "Only records of this category.", "CATEGORY", words_of("category"))
    ] = None
    outcome: Annotated[
        list[str] | None, _any("--outcome", "Only records that ended so.", "OUTCOME", words_of("outcome"))
    ] = None
    session: Annotated[list[str] | None, _any("--session", "Only records of this session.", "ID")] = None
    file: Annotated[list[str] | None, _any("--file", "Only records that touched such a path.", "GLOB")] = None
    tension: Annotated[
        list[str] | None, _any("--tension", "Only what engaged this tension.", "ID", words_of("tensions_engaged"))
    ] = None
    since: Since = None
    until: Until = None
    history: Annotated[
        bool, typer.Option("--history", help="Superseded records too, and every entry of a decision.")
    ] = False
    sort: Sort = None
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round: newest first.")] = False
    limit: Limit = None
    columns: Columns = None
    form: Form = Format.table
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes to use; default: all cores.", metavar="N")] = None


def query_command(function: Callable[..., int]) -> Callable[..., int]:
    """The function as a command: QueryOptions, its first argument, come as options beside its own."""
    return with_options(
        QueryOptions, function, completers={"where": where_terms, "sort": column_names, "columns": column_names}
    )
