"""The words and shapes of records, read from YAML files that a project owns."""

from __future__ import annotations

from ontoref.vocabulary.load import load, load_table, schemas_folder
from ontoref.vocabulary.model import Enum, Facet, Member, Vocabulary, VocabularyError

__all__ = [
    "Enum",
    "Facet",
    "Member",
    "Vocabulary",
    "VocabularyError",
    "load",
    "load_table",
    "schemas_folder",
]
