"""Several documents as one plain JSON Schema that any validator takes as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ontoref.vocabulary.model import ROOT_DOCUMENT, members_of

__all__ = ["bundle", "plain", "reachable", "references", "split"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def references(shape: Any) -> Iterator[str]:
    """Every `$ref` in a shape, in order."""
    stack = [shape]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            stack.extend(reversed(node.values()))
        elif isinstance(node, list):
            stack.extend(reversed(node))


def reachable(documents: Mapping[str, Any], root: str = ROOT_DOCUMENT) -> list[tuple[str, str]]:
    """(document, definition) pairs that the root document's own `$ref` reaches, in order of discovery."""
    found: dict[tuple[str, str], None] = {}
    waiting = [(root, reference) for reference in references({"$ref": documents[root].get("$ref", "")})]
    while waiting:
        document, reference = waiting.pop(0)
        target = split(document, reference)
        if target in found:
            continue
        found[target] = None
        shape = documents[target[0]]["$defs"][target[1]]
        waiting.extend((target[0], inner) for inner in references(shape))
    return list(found)


def split(document: str, reference: str) -> tuple[str, str]:
    """Document and definition that a reference names: `coder.yaml#/$defs/Kind` -> (coder.yaml, Kind)."""
    target, _, fragment = reference.partition("#")
    return target.rpartition("/")[2] or document, fragment.removeprefix("/$defs/")


def bundle(documents: Mapping[str, Any], *, strict: bool = False, root: str = ROOT_DOCUMENT) -> dict[str, Any]:
    """One document with everything that the root reaches.

    Shape: `oneOf` of constants is lowered to `enum`, `const` likewise, every `x-*` is gone. strict also closes
           open words and leaves out what is deprecated, so that it accepts just what earns no warning.
    """
    pairs = reachable(documents, root)
    names: dict[tuple[str, str], str] = {}
    for document, name in pairs:
        taken = any(other == name for key, other in names.items() if key != (document, name))
        names[document, name] = f"{document.removesuffix('.yaml')}.{name}" if taken else name
    top = documents[root]
    result: dict[str, Any] = {"$schema": _DRAFT, "$id": top["$id"].removesuffix(".yaml") + ".json"}
    result.update({key: top[key] for key in ("title", "description") if key in top})
    result["$ref"] = f"#/$defs/{names[split(root, top['$ref'])]}"
    result["$defs"] = {
        names[document, name]: _lower(documents[document]["$defs"][name], document, names, strict)
        for document, name in pairs
    }
    return result


def plain(document: Any) -> Any:
    """One document without our annotations; its references to other files stay."""
    if isinstance(document, list):
        return [plain(item) for item in document]
    if isinstance(document, dict):
        return {key: plain(value) for key, value in document.items() if not key.startswith("x-")}
    return document


def _lower(shape: Any, document: str, names: Mapping[tuple[str, str], str], strict: bool) -> Any:
    if isinstance(shape, list):
        return [_lower(item, document, names, strict) for item in shape]
    if not isinstance(shape, dict):
        return shape
    members = members_of(shape)
    if members:
        words = [m.name for m in members if not (strict and m.deprecated)]
        kept = {key: value for key, value in shape.items() if key in ("description", "deprecated")}
        return {**kept, "type": "string", "enum": words}
    if strict and shape.get("x-open") and "anyOf" in shape:
        closed = next((branch for branch in shape["anyOf"] if isinstance(branch, dict) and "$ref" in branch), None)
        if closed is not None:
            return _lower(closed, document, names, strict)
    lowered: dict[str, Any] = {}
    for key, value in shape.items():
        if key.startswith("x-"):
            continue
        if key == "$ref":
            lowered[key] = f"#/$defs/{names[split(document, value)]}"
        elif key == "const":
            lowered["enum"] = [value]
        elif key == "properties":
            lowered[key] = {
                name: _lower(inner, document, names, strict)
                for name, inner in value.items()
                if not (strict and isinstance(inner, dict) and inner.get("deprecated"))
            }
        elif key in ("required", "enum", "default", "examples"):
            lowered[key] = value
        else:
            lowered[key] = _lower(value, document, names, strict)
    return lowered
