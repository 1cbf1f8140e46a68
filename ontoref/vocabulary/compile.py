"""Vocabulary files made into what a start-up can read in a millisecond."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from ontoref.vocabulary.bundle import bundle, reachable, references, split
from ontoref.vocabulary.model import RECORD, ROOT_DOCUMENT, VocabularyError
from ontoref.vocabulary.yaml_file import YamlFile, parse

__all__ = ["compile_files", "parse_files"]

_ID_PREFIX = "https://ontoref.invalid/schemas/"


def compile_files(folder: str, files: dict[str, bytes]) -> dict[str, Any]:
    """Fields of a Vocabulary, folder aside, as JSON values.

    Errors: VocabularyError for the first thing that makes the files unusable.
    """
    parsed = parse_files(folder, files)
    _refuse_breaches(folder, parsed)
    documents = {name: file.value for name, file in parsed.items()}
    used = sorted({document for document, _ in reachable(documents)})
    digest = hashlib.sha256()
    for name in used:
        digest.update(b"%d:%s%d:" % (len(name), name.encode(), len(files[name])))
        digest.update(files[name])
    schema, strict = bundle(documents), bundle(documents, strict=True)
    _prove(folder, schema, strict)
    return {
        "digest": f"sha256:{digest.hexdigest()}",
        "documents": documents,
        "lines": {name: file.lines for name, file in parsed.items()},
        "schema": schema,
        "strict": strict,
    }


def _prove(folder: str, schema: dict[str, Any], strict: dict[str, Any]) -> None:
    """Compile once what every later start compiles unseen. Errors: VocabularyError if the engine will not."""
    from ontoref.vocabulary.engine import compile_schema

    try:
        compile_schema(schema)
        compile_schema(strict, often=True)
    except VocabularyError as error:
        raise VocabularyError(
            os.path.join(folder, ROOT_DOCUMENT), 1, f"the files make no schema: {error.message}"
        ) from None


def _refuse_breaches(folder: str, parsed: dict[str, YamlFile]) -> None:
    """A vocabulary that breaks its own rules judges nothing. Errors: VocabularyError for the first breach."""
    from ontoref.vocabulary.check import check

    for breach in check(parsed):
        if breach.is_error:
            hint = breach.hint or "ontoref vocabulary check lists every breach"
            raise VocabularyError(os.path.join(folder, breach.document), breach.line, breach.message, hint=hint)


def parse_files(folder: str, files: dict[str, bytes]) -> dict[str, YamlFile]:
    """Every file parsed, and each reference between them found. Errors: VocabularyError."""
    parsed = {name: parse(name, os.path.join(folder, name), content) for name, content in files.items()}
    for name, file in parsed.items():
        path = os.path.join(folder, name)
        if not isinstance(file.value, dict) or not isinstance(file.value.get("$defs", {}), dict):
            raise VocabularyError(path, 1, "a vocabulary file is a mapping with $defs")
        if file.value.get("$id") != _ID_PREFIX + name:
            line = file.lines.get("/$id", 1)
            raise VocabularyError(path, line, f"$id is not {_ID_PREFIX}{name}", hint="a file's $id ends in its name")
    for name, file in parsed.items():
        _check_references(folder, name, file, parsed)
    root = parsed[ROOT_DOCUMENT]
    if root.value.get("$ref") != f"#/$defs/{RECORD}":
        raise VocabularyError(
            os.path.join(folder, ROOT_DOCUMENT), root.lines.get("/$ref", 1), f"$ref is not #/$defs/{RECORD}"
        )
    return parsed


def _check_references(folder: str, name: str, file: YamlFile, parsed: dict[str, YamlFile]) -> None:
    for reference in references(file.value):
        document, definition = split(name, reference)
        place = reference.partition("#")[0].removeprefix(_ID_PREFIX)
        if (
            place not in ("", document)
            or document not in parsed
            or definition not in parsed[document].value.get("$defs", {})
        ):
            line = next((file.lines.get(p, 1) for p in _places(file, reference)), 1)
            raise VocabularyError(
                os.path.join(folder, name),
                line,
                f"$ref {reference} points to nothing",
                hint=_reference_hint(definition, parsed),
            )


def _reference_hint(definition: str, parsed: dict[str, YamlFile]) -> str:
    import difflib

    known = {name: document for document, file in parsed.items() for name in file.value.get("$defs", {})}
    near = difflib.get_close_matches(definition, known, n=1)
    if near:
        return f"did you mean {known[near[0]]}#/$defs/{near[0]}?"
    return "a reference is FILE.yaml#/$defs/NAME or #/$defs/NAME"


def _places(file: YamlFile, reference: str) -> list[str]:
    """Pointers at which a reference stands."""
    found = []
    stack: list[tuple[str, Any]] = [("", file.value)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            if node.get("$ref") == reference:
                found.append(f"{pointer}/$ref")
            stack.extend((f"{pointer}/{k.replace('~', '~0').replace('/', '~1')}", v) for k, v in node.items())
        elif isinstance(node, list):
            stack.extend((f"{pointer}/{i}", v) for i, v in enumerate(node))
    return found
