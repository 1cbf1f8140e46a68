"""Most copies of the vocabulary differ from ours in one file; the others need not be parsed again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ontoref.vocabulary import compile as compiling
from ontoref.vocabulary.yaml_file import YamlFile, parse


@pytest.fixture(scope="package", autouse=True)
def parsed_once() -> Iterator[None]:
    known: dict[tuple[str, bytes], YamlFile] = {}

    def remembering(name: str, path: str, content: bytes) -> YamlFile:
        if (name, content) not in known:
            known[name, content] = parse(name, path, content)
        return known[name, content]

    patch = pytest.MonkeyPatch()
    patch.setattr(compiling, "parse", remembering)
    yield
    patch.undo()
