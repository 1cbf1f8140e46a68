"""What changed between two vocabularies, and whether old records still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ontoref.vocabulary.bundle import reachable, references, split
from ontoref.vocabulary.model import Enum, Vocabulary, items_of, members_of

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
    return [*_enums(old, new), *_shapes(old.documents, new.documents)]


def _enums(old: Vocabulary, new: Vocabulary) -> Iterator[Change]:
    before, after = _felt(old), _felt(new)
    closed = _closed(old.documents)
    for name in [*before, *(name for name in after if name not in before)]:
        if "." in name and not (name in before and name in after):
            # It stands at a field, and comes or goes with it.
            continue
        if name not in after:
            yield Change("-", name, "enum removed", name in closed)
        elif name not in before:
            yield Change("+", name, f"enum added: {' '.join(after[name])}", False)
        else:
            yield from _members(name, before[name], after[name], closed=name in closed)


def _felt(vocabulary: Vocabulary) -> dict[str, Enum]:
    """Enums that a record can reach; the words of transcripts are none of them."""
    reached = set(reachable(vocabulary.documents))
    return {n: enum for n, enum in vocabulary.enums.items() if (enum.document, n.partition(".")[0]) in reached}


def _closed(documents: Mapping[str, Any]) -> frozenset[str]:
    """Enums that a record has to keep to: a member of an open word may go, it then only warns."""
    found: set[str] = set()
    for document, name in reachable(documents):
        shape = documents[document]["$defs"][name]
        if not shape.get("x-open"):
            found |= {split(document, reference)[1] for reference in references(shape)}
            found |= {f"{name}.{field}" for field in shape.get("properties", {})}
    return frozenset(found)


def _members(name: str, old: Enum, new: Enum, *, closed: bool) -> Iterator[Change]:
    before, after = ({member.name: member for member in enum.members} for enum in (old, new))
    for word in [*before, *(word for word in after if word not in before)]:
        if word not in after:
            yield Change("-", f"{name}.{word}", "member removed", closed)
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


# Keywords that ask for nothing.
_WORDS = frozenset({"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"})
_UPPER = frozenset({"maxLength", "maxItems", "maxProperties", "maxContains", "maximum", "exclusiveMaximum"})
_LOWER = frozenset({"minLength", "minItems", "minProperties", "minContains", "minimum", "exclusiveMinimum"})


def _keywords(place: str, old: Any, new: Any) -> Iterator[Change]:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        if old != new:
            yield Change("~", place, "changed", True)
        return
    for key in [*old, *(key for key in new if key not in old)]:
        was, now = old.get(key), new.get(key)
        if key in ("properties", "required") or was == now or _are_enums(key, old, new):
            continue
        if key == "deprecated":
            yield Change("~", place, "deprecated" if now else "in use again", False)
        elif key not in new:
            # A keyword less asks less; without minContains one is needed.
            yield Change("~", place, f"{key} removed", key == "minContains")
        else:
            breaks = not (key.startswith("x-") or key in _WORDS or _is_wider(key, was, now))
            yield Change("~", place, f"{key} changed" if key in old else f"{key} added", breaks)


def _are_enums(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a keyword holds members on both sides, which are compared one by one elsewhere."""
    if key == "items":
        return bool(members_of(items_of(old)) and members_of(items_of(new)))
    return key in ("enum", "oneOf") and bool(members_of(old) and members_of(new))


def _is_wider(key: str, was: Any, now: Any) -> bool:
    """Whether a limit moved outward."""
    if was is None:
        return False
    return (key in _UPPER and now > was) or (key in _LOWER and now < was) or (key == "uniqueItems" and not now)
