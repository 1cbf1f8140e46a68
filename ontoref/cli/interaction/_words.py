"""Words of the vocabulary in force, offered by the shell."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["words_of"]


def words_of(field: str) -> Callable[[str], list[tuple[str, str]]]:
    """What the shell offers for a field of a record: members that begin so, each with its description."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        import os

        from ontoref.errors import OntorefError
        from ontoref.interaction.project import find_project
        from ontoref.vocabulary import load

        try:
            vocabulary = load(None, find_project(os.getcwd()).root)
            enum = vocabulary.noun()[field].enum
            members = vocabulary.enum(enum).members if enum else ()
        except (OntorefError, KeyError, OSError):
            return []
        start = incomplete.casefold()
        return [(m.name, m.description) for m in members if not m.deprecated and m.name.casefold().startswith(start)]

    return complete
