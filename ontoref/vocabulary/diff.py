"""What changed between two vocabularies, and whether old records still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.vocabulary.bundle import reachable
from ontoref.vocabulary.model import Enum, Vocabulary, members_of

__all__ = ["Change", "diff"]


class Change(NamedTuple):
    """One difference. Shape: sign is `+`, `-` or `~`; name is dotted (`Kind.Spike`, `Event.severity`); breaks says
    whether a record that was valid may be invalid now."""

    sign: str
    name: str
    what: str
    breaks: bool


def diff(old: Vocabulary, new: Vocabulary) -> list[Change]:
    """Every difference that a record can feel, and changed descriptions; words first, then fields."""
    return [*_enums(_felt(old), _felt(new)), *_shapes(old.documents, new.documents)]


def _felt(vocabulary: Vocabulary) -> dict[str, Enum]:
    """Enums that a record can reach; the words of transcripts are none of them."""
    names = {(document, name) for document, name in reachable(vocabulary.documents)}
    return {name: enum for name, enum in vocabulary.enums.items() if (enum.document, name) in names}


def _enums(old: Mapping[str, Enum], new: Mapping[str, Enum]) -> Iterator[Change]:
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            yield Change("-", name, "enum removed", True)
        elif name not in old:
            yield Change("+", name, f"enum added: {' '.join(new[name])}", False)
        else:
            yield from _members(name, old[name], new[name])


def _members(name: str, old: Enum, new: Enum) -> Iterator[Change]:
    before, after = ({member.name: member for member in enum.members} for enum in (old, new))
    for word in [*before, *(word for word in after if word not in before)]:
        if word not in after:
            yield Change("-", f"{name}.{word}", "member removed", True)
        elif word not in before:
            yield Change("+", f"{name}.{word}", "member added", False)
        else:
            was, now = before[word], after[word]
            if was.deprecated != now.deprecated:
                instead = f", replaced by {now.replaced_by}" if now.deprecated and now.replaced_by else ""
                yield Change(
                    "~", f"{name}.{word}", f"{'deprecated' if now.deprecated else 'in use again'}{instead}", False
                )
            if was.description != now.description:
                yield Change("~", f"{name}.{word}", "description changed", False)


def _shapes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = _named(old), _named(new)
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            yield Change("-", name, "shape removed", True)
        elif name not in before:
            yield Change("+", name, "shape added", False)
        else:
            yield from _fields(name, before[name], after[name])
            yield from _keywords(name, before[name], after[name])


def _named(documents: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes that a record reaches, enums aside, by name."""
    pairs = ((name, documents[document]["$defs"][name]) for document, name in reachable(documents))
    return {name: shape for name, shape in pairs if not members_of(shape)}


def _fields(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = old.get("properties", {}), new.get("properties", {})
    was, now = set(old.get("required", ())), set(new.get("required", ()))
    for field in [*before, *(field for field in after if field not in before)]:
        place = f"{name}.{field}"
        if field not in after:
            yield Change("-", place, "field removed", True)
        elif field not in before:
            needed = field in now
            yield Change("+", place, "required field added" if needed else "field added", needed)
        else:
            if (field in was) != (field in now):
                yield Change("~", place, "now required" if field in now else "no longer required", field in now)
            yield from _keywords(place, before[field], after[field])


def _keywords(place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    apart = {"properties", "required"}
    for key in [*old, *(key for key in new if key not in old)]:
        if key in apart or old.get(key) == new.get(key):
            continue
        if key == "description":
            yield Change("~", place, "description changed", False)
        elif key == "deprecated":
            yield Change("~", place, "deprecated" if new.get(key) else "in use again", False)
        elif key not in new and key not in ("additionalProperties",):
            # A keyword less asks less, an annotation nothing at all.
            yield Change("~", place, f"{key} removed", key in ("$ref", "type") and not key.startswith("x-"))
        else:
            yield Change("~", place, f"{key} changed" if key in old else f"{key} added", not key.startswith("x-"))
