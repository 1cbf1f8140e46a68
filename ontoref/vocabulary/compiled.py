"""Compiled forms of a whole schemas folder, as the wheel carries them."""

from __future__ import annotations

import os
from typing import Any

from ontoref.vocabulary.compile import compile_files
from ontoref.vocabulary.load import compiled_name, read_files
from ontoref.vocabulary.yaml_file import parse

__all__ = ["compiled_forms"]


def compiled_forms(folder: str) -> dict[str, Any]:
    """File name -> content, for the vocabulary and for each data table. Errors: VocabularyError."""
    files = read_files(folder)
    forms: dict[str, Any] = {compiled_name(files): compile_files(folder, files)}
    tables = os.path.join(folder, "tables")
    for name in sorted(os.listdir(tables)) if os.path.isdir(tables) else ():
        path = os.path.join(tables, name)
        with open(path, "rb") as file:
            content = file.read()
        forms[compiled_name({name: content})] = {"table": parse(name, path, content).value}
    return forms
