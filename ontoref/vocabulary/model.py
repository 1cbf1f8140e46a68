"""A vocabulary as values: enums with their members, the nouns of a record with their facets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ontoref.errors import OntorefError

__all__ = ["Enum", "Facet", "Member", "Vocabulary", "VocabularyError"]

ROOT_DOCUMENT = "interaction.yaml"
RECORD = "InteractionRecord"


class VocabularyError(OntorefError):
    """A vocabulary file is missing, unreadable or contradicts itself; nothing can be judged by it."""

    kind = "vocabulary"

    def __init__(self, path: str, line: int | None, problem: str, *, hint: str | None = None) -> None:
        super().__init__(problem, hint=hint, location=f"{path}:{line}" if line else path)
        self.path = path
        self.line = line


# Named tuples where a start meets them: a dataclass is made by running generated code, milliseconds of it.
class Member(NamedTuple):
    """One word of an enum. notes holds its `x-*` annotations without the prefix: closed, role, replaced-by."""

    name: str
    description: str = ""
    deprecated: bool = False
    notes: Mapping[str, Any] = {}

    @property
    def replaced_by(self) -> str | None:
        value = self.notes.get("replaced-by")
        return value if isinstance(value, str) else None


class Enum:
    """A closed set of words. Units: line is 1-based in the file named document."""

    __slots__ = ("description", "document", "line", "members", "name")

    def __init__(self, name: str, document: str, line: int, description: str, members: tuple[Member, ...]) -> None:
        self.name = name
        self.document = document
        self.line = line
        self.description = description
        self.members = members

    def __iter__(self) -> Iterator[str]:
        return (member.name for member in self.members)

    def __contains__(self, name: object) -> bool:
        return any(member.name == name for member in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self)

    def by_role(self, role: str) -> str:
        """The member that plays a part in ontoref itself (`x-role` in the file).

        Errors: VocabularyError if no member does, since a project may have removed it.
        """
        for member in self.members:
            if member.notes.get("role") == role:
                return member.name
        raise VocabularyError(
            self.document, self.line, f"no member of {self.name} has x-role: {role}", hint="restore it"
        )


class Facet(NamedTuple):
    """One field of a noun, as a query, a table or a help text sees it.

    Shape: path is dotted from the noun (`kind`, `witness.key_id`); type is what JSON Schema calls it, for an
           array that of its items; enum names the enum that a value is a member of, if any; many is true for
           arrays; label fields compare by equality only; open ones take words that the enum does not list;
           format is JSON Schema's (`date-time`).
    """

    path: str
    description: str
    type: str
    required: bool = False
    enum: str | None = None
    many: bool = False
    open: bool = False
    label: bool = False
    prose: bool = False
    noun: str | None = None
    format: str | None = None


class Vocabulary:
    """The words and shapes in force.

    Shape:  documents maps file names to JSON Schema documents as written; lines maps file names to
            {JSON pointer: line}; schema is the whole as one document of plain JSON Schema (members as `enum`,
            open words as `anyOf`), strict is the same with nothing that would earn a warning: open words
            closed, deprecated members and fields left out.
    Units:  digest is `sha256:` and hex, over the files that a record's shape reaches.
    Source: folder, the directory that the files came from.
    """

    def __init__(
        self,
        folder: str,
        digest: str,
        documents: Mapping[str, Any],
        lines: Mapping[str, Mapping[str, int]],
        schema: Mapping[str, Any],
        strict: Mapping[str, Any],
    ) -> None:
        self.folder = folder
        self.digest = digest
        self.documents = documents
        self.lines = lines
        self.schema = schema
        self.strict = strict

    @cached_property
    def enums(self) -> dict[str, Enum]:
        """Every enum by name, in the order of the files; one that stands at a field is named `Noun.field`."""
        found: dict[str, Enum] = {}
        for document, content in self.documents.items():
            for name, shape in content.get("$defs", {}).items():
                inline = {f"{name}.{key}": inner for key, inner in shape.get("properties", {}).items()}
                for called, part in {name: shape, **inline}.items():
                    members = members_of(part) or members_of(items_of(part))
                    if members:
                        pointer = f"/$defs/{called.replace('.', '/properties/', 1)}"
                        line = self.lines[document].get(pointer, 1)
                        found.setdefault(called, Enum(called, document, line, part.get("description", ""), members))
        return found

    def enum(self, name: str) -> Enum:
        """One enum. Errors: VocabularyError if the files do not define it."""
        try:
            return self.enums[name]
        except KeyError:
            raise VocabularyError(self.folder, None, f"no enum is named {name}", hint="restore it") from None

    def noun(self, name: str = RECORD) -> dict[str, Facet]:
        """Facets of a noun (`InteractionRecord`, `Event`, `Decision` …) by path, in the order of the file."""
        return dict(self._facets(name, "", frozenset()))

    @cached_property
    def nouns(self) -> dict[str, str]:
        """Which field of a record holds which noun: {"events": "Event", …}, from the file."""
        return {f.path: f.noun for f in self.noun().values() if f.many and f.noun and "." not in f.path}

    def resolve(self, document: str, reference: str) -> tuple[str, str, Any]:
        """Document, name and shape that a `$ref` written in a document points to."""
        target, _, fragment = reference.partition("#")
        target = target.rpartition("/")[2] or document
        name = fragment.removeprefix("/$defs/")
        return target, name, self.documents[target]["$defs"][name]

    def _facets(self, name: str, prefix: str, seen: frozenset[str]) -> Iterator[tuple[str, Facet]]:
        document = next(d for d, c in self.documents.items() if name in c.get("$defs", {}))
        shape = self.documents[document]["$defs"][name]
        required = frozenset(shape.get("required", ()))
        for key, field_shape in shape.get("properties", {}).items():
            facet, inner = self._facet(document, f"{prefix}{key}", field_shape, key in required, f"{name}.{key}")
            yield facet.path, facet
            if inner and not facet.many and inner not in seen:
                yield from self._facets(inner, f"{facet.path}.", seen | {name})

    def _facet(self, document: str, path: str, shape: Any, required: bool, called: str) -> tuple[Facet, str | None]:
        if not isinstance(shape, Mapping):
            shape = {}
        description = shape.get("description", "")
        many = shape.get("type") == "array"
        target = items_of(shape) if many else shape
        label = open_ = False
        via: str | None = None
        enum = called if members_of(target) else None
        noun = None
        prose = bool(shape.get("x-prose"))
        while "$ref" in target:
            document, name, target = self.resolve(document, target["$ref"])
            via = name
            description = description or target.get("description", "")
            label = label or name == "Label"
            if members_of(target):
                enum = name
            if target.get("x-open"):
                open_ = True
                target = next((branch for branch in target["anyOf"] if "$ref" in branch), {})
        if target.get("type") == "object" and via is not None:
            noun = via
        kinds = target.get("type", "integer" if isinstance(target.get("const"), int) else "string")
        kind = kinds if isinstance(kinds, str) else next((k for k in kinds if k != "null"), "null")
        facet = Facet(path, description, kind, required, enum, many, open_, label, prose, noun, target.get("format"))
        return facet, noun


def items_of(shape: Any) -> Mapping[str, Any]:
    """The shape of an array's items; {} if nothing is said of them."""
    items = shape.get("items") if isinstance(shape, Mapping) else None
    return items if isinstance(items, Mapping) else {}


def members_of(shape: Any) -> tuple[Member, ...]:
    """Members of a shape that is an enum: `oneOf` of `const`s, or `enum`; () for any other shape."""
    if not isinstance(shape, Mapping):
        return ()
    branches = shape.get("oneOf")
    if isinstance(branches, list) and all(isinstance(b, Mapping) and isinstance(b.get("const"), str) for b in branches):
        return tuple(
            Member(
                branch["const"],
                branch.get("description", ""),
                bool(branch.get("deprecated")),
                {key[2:]: value for key, value in branch.items() if key.startswith("x-")},
            )
            for branch in branches
        )
    values = shape.get("enum")
    if isinstance(values, list) and values and all(isinstance(value, str) for value in values):
        return tuple(Member(value) for value in values)
    return ()
