"""What the vocabulary commands share: the vocabulary in force and everything that it defines, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ontoref.errors import OntorefError

if TYPE_CHECKING:
    from ontoref.vocabulary import Facet, Member, Vocabulary

__all__ = ["Definition", "UnknownName", "definitions", "folder_of", "in_force"]


class UnknownName(OntorefError):
    """The vocabulary defines nothing of that name."""

    kind = "unknown-name"
    exit_code = 1


class Definition(NamedTuple):
    """An enum or a shape. Shape: members or fields is empty."""

    name: str
    document: str
    line: int
    description: str
    members: tuple[Member, ...]
    fields: tuple[Facet, ...]
    shape: Mapping[str, Any]


def in_force(schemas: str | None) -> Vocabulary:
    """The vocabulary of `--schemas`, of the project around this folder, or ours."""
    from ontoref.interaction.project import find_project
    from ontoref.vocabulary import load

    return load(schemas, find_project(os.getcwd()).root)


def folder_of(name: str) -> str:
    """A folder of vocabulary files: `package` is ours, `project` this project's, anything else a path."""
    from ontoref import resources
    from ontoref.interaction.project import find_project
    from ontoref.vocabulary import VocabularyError

    if name == "package":
        return resources.folder("schemas")
    if name == "project":
        path = os.path.join(find_project(os.getcwd()).root, ".ontoref", "schemas")
        if not os.path.isdir(path):
            raise VocabularyError(path, None, "the project has no schemas of its own", hint="ontoref init")
        return path
    return name


def definitions(vocabulary: Vocabulary) -> dict[str, Definition]:
    """Everything that the files define, in their order."""
    found: dict[str, Definition] = {}
    for document, content in vocabulary.documents.items():
        for name, shape in content.get("$defs", {}).items():
            line = vocabulary.lines[document].get(f"/$defs/{name}", 1)
            enum = vocabulary.enums.get(name)
            members = enum.members if enum is not None and enum.document == document else ()
            is_object = shape.get("type") == "object"
            fields = tuple(f for f in vocabulary.noun(name).values() if "." not in f.path) if is_object else ()
            definition = Definition(name, document, line, shape.get("description", ""), members, fields, shape)
            found.setdefault(name, definition)
    return found
