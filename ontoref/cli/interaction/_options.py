"""The options that all queries share, stated once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from ontoref.cli.complete import columns, where_terms, words_of
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
    where: Annotated[
        list[str] | None,
        _any("--where -w", "PATH=VALUE[,VALUE] or PATH!=VALUE. May be repeated: all must hold.", "TERM", where_terms),
    ] = None
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
    since: Annotated[str | None, typer.Option(help="From this time on: a date, a time or an age (7d).")] = None
    until: Annotated[str | None, typer.Option(help="Before this time: a date, a time or an age (2w).")] = None
    history: Annotated[
        bool, typer.Option("--history", help="Superseded records too, and every entry of a decision.")
    ] = False
    sort: Annotated[
        str | None,
        typer.Option(help="Columns to sort by, in place of the time.", metavar="COLUMN,…", autocompletion=columns),
    ] = None
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round: newest first.")] = False
    limit: Annotated[int | None, typer.Option(min=0, help="At most this many rows.", metavar="N")] = None
    columns: Annotated[
        str | None, typer.Option(help="Show just these.", metavar="COLUMN,…", autocompletion=columns)
    ] = None
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.table
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes to use; default: all cores.", metavar="N")] = None


def query_command(function: Callable[..., int]) -> Callable[..., int]:
    """The function as a command: QueryOptions, its first argument, come as options beside its own."""
    shared = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=QueryOptions._field_defaults[name], annotation=hint
        )
        for name, hint in get_type_hints(QueryOptions, include_extras=True).items()
    ]
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

    @functools.wraps(function)
    def command(**given: Any) -> int:
        options = QueryOptions(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        return function(options, **given)

    everything = [*shared, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own)]
    del command.__dict__["__wrapped__"]
    command.__dict__["__signature__"] = inspect.Signature(everything, return_annotation=int)
    command.__annotations__ = {p.name: p.annotation for p in everything} | {"return": int}
    return command
