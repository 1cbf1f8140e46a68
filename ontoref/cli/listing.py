"""The options that all listings share: which rows, in which order, how many, which columns.

Queries of the interaction log and the other listings state them here, once. This module is imported by every
listing's command before anything is listed, so it imports little.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer

from ontoref.cli.output import Format

__all__ = [
    "Column",
    "Columns",
    "Field",
    "Form",
    "Limit",
    "ListOptions",
    "Listing",
    "Since",
    "Sort",
    "Until",
    "Where",
    "list_command",
    "with_options",
]

Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        "-w",
        help="PATH=VALUE[,VALUE] or PATH!=VALUE. May be repeated: all must hold.",
        metavar="TERM",
    ),
]
Since = Annotated[str | None, typer.Option(help="From this time on: a date, a time or an age (7d).")]
Until = Annotated[str | None, typer.Option(help="Before this time: a date, a time or an age (2w).")]
Sort = Annotated[str | None, typer.Option(help="Columns to sort by, in place of the time.", metavar="COLUMN,…")]
Limit = Annotated[int | None, typer.Option(min=0, help="At most this many rows.", metavar="N")]
Columns = Annotated[str | None, typer.Option(help="Show just these.", metavar="COLUMN,…")]
Form = Annotated[Format, typer.Option("--format", help="How to print it.")]


class Field(NamedTuple):
    """What stands at a dotted path of a row, and what it can be asked for.

    Shape: type is text, integer, boolean, time, prose or object; arrays on the way and at the end are looked
           into; words are all that it can be, where that is known.
    """

    path: str
    type: str = "text"
    words: Sequence[str] = ()


class Column(NamedTuple):
    """A column of the table: the path of its value, its heading, and the cell for people if that is another."""

    path: str
    header: str = ""
    show: Callable[[Mapping[str, Any]], Any] | None = None


class Listing(NamedTuple):
    """What a command lists.

    Shape: fields gives every field of a row, when they are asked for; time is the path that --since and --until
           look at; words_at is the command that finds words in prose, if there is one.
    """

    one: str
    many: str
    columns: tuple[Column, ...]
    fields: Callable[[], Sequence[Field]]
    time: str
    words_at: str = ""

    def paths(self) -> list[str]:
        """Every path that `--where` can name."""
        return [field.path for field in self.fields() if field.type not in ("prose", "object", "time")]

    def names(self) -> list[str]:
        """Every name that `--columns` and `--sort` know: the table's headings, then all paths."""
        headings = (column.header or column.path for column in self.columns)
        paths = (column.path for column in self.columns)
        return list(dict.fromkeys([*headings, *paths, *(field.path for field in self.fields())]))


class ListOptions(NamedTuple):
    """What a person may say to any listing, as typed."""

    where: Where = None
    since: Since = None
    until: Until = None
    sort: Sort = None
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False
    limit: Limit = None
    columns: Columns = None
    form: Form = Format.table


def list_command(listing: Listing) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function as a command: ListOptions, its first argument, come as options after its own."""
    completers = {"where": _terms(listing), "sort": _columns(listing), "columns": _columns(listing)}
    return lambda function: with_options(ListOptions, function, own_first=True, completers=completers)


def with_options(
    shape: Any,
    function: Callable[..., Any],
    *,
    own_first: bool = False,
    completers: Mapping[str, Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """The function as a command: shape (a NamedTuple of options), its first argument, comes as options beside its own.

    Shape: completers are what the shell offers for options of the shape.
    """
    hints = get_type_hints(shape, include_extras=True)
    for name, completer in (completers or {}).items():
        hints[name] = _completed(hints[name], completer)
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, default=shape._field_defaults[name], annotation=hint)
        for name, hint in hints.items()
    ]
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    own = [parameter.replace(kind=keyword) for parameter in own]
    returns = get_type_hints(function).get("return")

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        options = shape(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        return function(options, **given)

    everything = [*own, *shared] if own_first else [*shared, *own]
    del command.__dict__["__wrapped__"]
    command.__dict__["__signature__"] = inspect.Signature(everything, return_annotation=returns)
    command.__annotations__ = {p.name: p.annotation for p in everything} | {"return": returns}
    return command


def _terms(listing: Listing) -> Callable[[Any, str], list[tuple[str, str]]]:
    """For `--where` of a listing: first the paths, then the words of one."""

    from ontoref.cli.complete import listed

    def complete(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
        path, sign, values = incomplete.partition("=")
        if not sign:
            return [(f"{path}=", "") for path in listing.paths() if path.startswith(incomplete)]
        found = next((field for field in listing.fields() if field.path == path.removesuffix("!").strip()), None)
        if found is None:
            return []
        words = ("true", "false") if found.type == "boolean" else found.words
        return [(f"{path}={word}", meaning) for word, meaning in listed(values, ((word, "") for word in words))]

    return complete


def _columns(listing: Listing) -> Callable[[Any, str], list[tuple[str, str]]]:
    """For `--columns` and `--sort` of a listing, also after a comma."""

    from ontoref.cli.complete import listed

    def complete(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
        return listed(incomplete, ((name, "") for name in listing.names()))

    return complete


def _completed(hint: Any, completer: Callable[..., Any]) -> Any:
    """An option's annotation with what the shell offers for it."""
    kind, option = get_args(hint)
    option = copy.copy(option)
    option.autocompletion = completer
    return Annotated[kind, option]
