"""What the vocabulary commands share: the vocabulary in force and everything that it defines, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ontoref.errors import OntorefError

if TYPE_CHECKING:
    from ontoref.vocabulary import Facet, Member, Vocabulary

__all__ = ["Definition", "UnknownName", "definitions", "in_force", "named"]


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


def named(name: str) -> Vocabulary:
    """`package` is ours, `project` this project's, `REV:` the project's at a git revision (`REV:FOLDER` another
    folder's), anything else a folder.

    Errors: VocabularyError, GitError.
    """
    from ontoref import resources
    from ontoref.interaction.project import find_project
    from ontoref.vocabulary import VocabularyError
    from ontoref.vocabulary.load import load_folder

    if name == "package":
        return load_folder(resources.folder("schemas"))
    if name == "project":
        path = os.path.join(find_project(os.getcwd()).root, ".ontoref", "schemas")
        if not os.path.isdir(path):
            raise VocabularyError(path, None, "the project has no schemas of its own", hint="ontoref init")
        return load_folder(path)
    revision, colon, folder = name.partition(":")
    if colon and len(revision) > 1 and not os.path.isdir(name):
        return _at_revision(revision, folder.strip("/"))
    return load_folder(name)


def _at_revision(revision: str, folder: str) -> Vocabulary:
    from ontoref import git
    from ontoref.interaction.project import find_project
    from ontoref.vocabulary.load import load_files, require

    root = find_project(os.getcwd()).root
    # Paths after `./` are relative to the folder that git runs in.
    folder = folder or ".ontoref/schemas"
    listed = git.run(["ls-tree", "-z", "--name-only", "--end-of-options", f"{revision}:./{folder}"], root)
    names = sorted(name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name.endswith(".yaml"))
    require(f"{revision}:{folder}", names)
    files = {name: git.run(["cat-file", "blob", f"{revision}:./{folder}/{name}"], root) for name in names}
    return load_files(f"{revision}:{folder}", files)


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
    for enum in vocabulary.enums.values():
        found.setdefault(
            enum.name, Definition(enum.name, enum.document, enum.line, enum.description, enum.members, (), {})
        )
    return found
