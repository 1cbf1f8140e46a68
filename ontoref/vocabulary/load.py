"""Finds the vocabulary in force and reads it, from its compiled form where one is at hand."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from typing import Any

from ontoref import places, resources
from ontoref.vocabulary.model import ROOT_DOCUMENT, Vocabulary, VocabularyError

__all__ = [
    "compiled_name",
    "load",
    "load_files",
    "load_folder",
    "load_table",
    "read_files",
    "require",
    "schemas_folder",
]

REQUIRED = ("coder.yaml", "core.yaml", ROOT_DOCUMENT)
# Part of every cache key: a compiled form is read only by the code that would write the same.
_FORM = b"ontoref-compiled-4"


def schemas_folder(given: str | None = None, project: str | None = None) -> str:
    """The folder that words come from; first hit wins.

    Shape: given (`--schemas DIR`), then project's `.ontoref/schemas` (project is its top folder), then ours.
    Errors: VocabularyError if the given folder is none.
    """
    if given is not None:
        if not os.path.isdir(given):
            raise VocabularyError(given, None, "there is no such folder", hint="name a folder of vocabulary files")
        return given
    if project is not None:
        own = os.path.join(project, ".ontoref", "schemas")
        if os.path.isdir(own):
            return own
    return resources.folder("schemas")


def load(given: str | None = None, project: str | None = None) -> Vocabulary:
    """The vocabulary in force, its rules checked.

    Errors: VocabularyError with file, line and what to do; a broken vocabulary never accepts anything.
    """
    return load_folder(schemas_folder(given, project))


def load_folder(folder: str) -> Vocabulary:
    """The vocabulary of one folder. Errors: as `load`."""
    return load_files(folder, read_files(folder))


def load_files(folder: str, files: dict[str, bytes]) -> Vocabulary:
    """The vocabulary of files that were read elsewhere; folder is what errors call their place."""
    compiled = _cached(files)
    if not isinstance(compiled, dict) or "strict" not in compiled:
        from ontoref.vocabulary.compile import compile_files

        compiled = compile_files(folder, files)
        _keep(compiled_name(files), compiled)
    return Vocabulary(folder=folder, **compiled)


def load_table(name: str, given: str | None = None, project: str | None = None) -> dict[str, Any]:
    """A data table (`schemas/tables/NAME.yaml`): the project's if it has one, else ours.

    Errors: VocabularyError if it is unreadable.
    """
    own = os.path.join(schemas_folder(given, project), "tables", f"{name}.yaml")
    path = own if os.path.isfile(own) else os.path.join(resources.folder("schemas"), "tables", f"{name}.yaml")
    files = {os.path.basename(path): _read(path)}
    compiled = _cached(files)
    if not isinstance(compiled, dict) or "table" not in compiled:
        from ontoref.vocabulary.yaml_file import parse

        compiled = {"table": parse(f"{name}.yaml", path, files[f"{name}.yaml"]).value}
        _keep(compiled_name(files), compiled)
    table = compiled["table"]
    if not isinstance(table, dict):
        raise VocabularyError(path, 1, "a table is a mapping")
    return table


def read_files(folder: str) -> dict[str, bytes]:
    """Bytes of every vocabulary file of a folder by name, sorted.

    Errors: VocabularyError for a required file that is missing or any that cannot be read.
    """
    try:
        names = sorted(n for n in os.listdir(folder) if n.endswith(".yaml") and not n.startswith("."))
    except OSError as error:
        raise VocabularyError(folder, None, f"the folder cannot be read: {error.strerror}") from None
    require(folder, names)
    return {name: _read(os.path.join(folder, name)) for name in names}


def require(folder: str, names: Collection[str]) -> None:
    """Errors: VocabularyError if a file without which there is no vocabulary is not among the names."""
    for name in REQUIRED:
        if name not in names:
            raise VocabularyError(
                os.path.join(folder, name),
                None,
                "the vocabulary file is missing",
                hint="restore it from version control, or copy ours: ontoref init",
            )


def compiled_name(files: dict[str, bytes]) -> str:
    """File name of the compiled form: it changes with any byte of any file."""
    digest = hashlib.sha256(_FORM)
    for name, content in files.items():
        digest.update(b"%d:%s%d:" % (len(name), name.encode(), len(content)))
        digest.update(content)
    return digest.hexdigest() + ".json"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise VocabularyError(path, None, f"the file cannot be read: {error.strerror}") from None


def _cached(files: dict[str, bytes]) -> Any:
    import orjson

    name = compiled_name(files)
    for folder in (os.path.join(resources.folder("schemas"), "compiled"), _cache()):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                return orjson.loads(file.read())
        except (OSError, ValueError):
            continue
    return None


def _keep(name: str, compiled: Any) -> None:
    """Write a compiled form for the next start. It is a convenience: a failure is no failure."""
    import orjson

    from ontoref.replacing import replacing

    folder = _cache()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with replacing(os.path.join(folder, name)) as aside, open(aside, "wb") as file:
            file.write(orjson.dumps(compiled))
    except OSError:
        return


def _cache() -> str:
    return os.path.join(places.cache_dir(), "vocabulary")
