"""What the shell offers at TAB: commands, options, and the words of the vocabulary in force.

Nothing here may speak or fail: a person in the middle of a line wants neither a message nor a traceback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ontoref.interaction.rows import Row
    from ontoref.vocabulary import Facet, Vocabulary

__all__ = ["Offer", "columns", "listed", "names", "where_terms", "words_of"]

# typer calls these with the context and with what stands there so far; a pair is a word and what it means.
Offer = list[tuple[str, str]]


def words_of(field: str) -> Callable[[click.Context, str], Offer]:
    """For options about a field of a record: its words, also after a comma where several may stand."""

    def complete(ctx: click.Context, incomplete: str) -> Offer:
        vocabulary = _in_force(ctx)
        return [] if vocabulary is None else listed(incomplete, _words(vocabulary.noun().get(field), vocabulary))

    return complete


def names(ctx: click.Context, incomplete: str) -> Offer:
    """Every enum and shape of the vocabulary in force."""
    vocabulary = _in_force(ctx)
    if vocabulary is None:
        return []
    return [
        (name, shape.get("description", ""))
        for document in vocabulary.documents.values()
        for name, shape in document.get("$defs", {}).items()
        if name.startswith(incomplete)
    ]


def where_terms(ctx: click.Context, incomplete: str) -> Offer:
    """Terms of `--where` for the row that the command asks for: first the paths, then the words of one."""
    from ontoref.interaction.filters import completions
    from ontoref.interaction.where import WhereError, resolve

    vocabulary, row = _in_force(ctx), _row(ctx)
    if vocabulary is None or row is None:
        return []
    path, sign, values = incomplete.partition("=")
    if not sign:
        return [(f"{path}=", "") for path in completions(row, vocabulary) if path.startswith(incomplete)]
    try:
        _, facet = resolve(path.removesuffix("!").strip(), row.noun(vocabulary), vocabulary)
    except WhereError:
        return []
    return [(f"{path}={word}", meaning) for word, meaning in listed(values, _words(facet, vocabulary))]


def columns(ctx: click.Context, incomplete: str) -> Offer:
    """Columns of the row that the command asks for, also after a comma."""
    from ontoref.interaction.filters import known_columns

    vocabulary, row = _in_force(ctx), _row(ctx)
    if vocabulary is None or row is None:
        return []
    return listed(incomplete, ((name, "") for name in known_columns(row, vocabulary)))


def _in_force(ctx: click.Context) -> Vocabulary | None:
    import os

    from ontoref.errors import OntorefError
    from ontoref.interaction.project import find_project
    from ontoref.vocabulary import load

    try:
        return load(ctx.params.get("schemas"), find_project(os.getcwd()).root)
    except (OntorefError, OSError):
        return None


def _row(ctx: click.Context) -> Row | None:
    from ontoref.interaction.rows import ROWS

    return ROWS.get(ctx.info_name or "")


def _words(facet: Facet | None, vocabulary: Vocabulary) -> Offer:
    if facet is None:
        return []
    if facet.enum is not None:
        return [(m.name, m.description) for m in vocabulary.enum(facet.enum).members if not m.deprecated]
    return [("true", ""), ("false", "")] if facet.type == "boolean" else []


def listed(incomplete: str, words: Iterable[tuple[str, str]]) -> Offer:
    """Words that can follow the last comma, each with what stands before it."""
    before, comma, start = incomplete.rpartition(",")
    taken = set(before.split(","))
    return [(f"{before}{comma}{w}", meaning) for w, meaning in words if w.startswith(start) and w not in taken]
