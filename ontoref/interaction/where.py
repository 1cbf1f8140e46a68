"""The `--where PATH=VALUE` language: conditions on a row or on the record it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ontoref.errors import UsageError
from ontoref.globs import fixed_start, glob_pattern
from ontoref.interaction.search import Needle
from ontoref.vocabulary import Facet, Vocabulary

__all__ = [
    "Condition",
    "Reach",
    "WhereError",
    "condition",
    "did_you_mean",
    "equality",
    "parse_term",
    "parse_where",
    "paths_of",
    "touching",
    "typed_value",
]

RECORD = "InteractionRecord"
_TERM = re.compile(r"([A-Za-z_][A-Za-z0-9_.\-]*)\s*(!=|=)(.*)", re.DOTALL)
_COMMA = re.compile(r"(?<!\\),")


class WhereError(UsageError):
    """A condition that the vocabulary cannot answer."""

    kind = "where"


class Reach(NamedTuple):
    """Where a condition looks: steps (keys) from the record or from the row's own noun; arrays on the way and at
    the end are looked into."""

    of_record: bool
    steps: tuple[str, ...]

    def values(self, record: Any, element: Any) -> Iterator[Any]:
        """Every value that stands there, none if the path is absent."""
        found = [record if self.of_record else element]
        for step in self.steps:
            reached = []
            for value in found:
                if isinstance(value, dict) and step in value:
                    inner = value[step]
                    reached.extend(inner) if isinstance(inner, list) else reached.append(inner)
            found = reached
        return iter(found)


class Condition(NamedTuple):
    """One thing that a row must be.

    Shape: it holds if any value at any reach is one of values (or matches pattern), negated turns that round;
           needle is what a line must hold for it to hold, None if bytes cannot tell.
    """

    reaches: tuple[Reach, ...]
    values: frozenset[str | int | bool]
    negated: bool = False
    pattern: re.Pattern[str] | None = None
    needle: Needle | None = None

    def holds(self, record: Any, element: Any) -> bool:
        for reach in self.reaches:
            for value in reach.values(record, element):
                if self._accepts(value):
                    return not self.negated
        return self.negated

    def tester(self) -> Callable[[Any, Any], bool]:
        """`holds` as a function, made for the usual condition on one field."""
        if self.pattern is not None or len(self.reaches) != 1 or len(self.reaches[0].steps) != 1:
            return self.holds
        (reach,) = self.reaches
        (step,) = reach.steps
        of_record, values, negated, general = reach.of_record, self.values, self.negated, self.holds
        kinds = frozenset(map(type, values))

        def test(record: Any, element: Any) -> bool:
            source = record if of_record else element
            value = source.get(step) if type(source) is dict else None
            if type(value) is list:
                return general(record, element)
            # In Python 1 == True, in JSON it is not.
            return (type(value) in kinds and value in values) != negated

        return test

    def _accepts(self, value: Any) -> bool:
        if self.pattern is not None:
            return isinstance(value, str) and self.pattern.fullmatch(value) is not None
        return isinstance(value, str | int) and any(
            type(value) is type(wanted) and value == wanted for wanted in self.values
        )

    @property
    def of_record_only(self) -> bool:
        return all(reach.of_record for reach in self.reaches)


def parse_where(text: str, noun: str | None, vocabulary: Vocabulary) -> Condition:
    r"""The condition that `PATH=VALUE[,VALUE…]` or `PATH!=VALUE[,VALUE…]` states.

    Shape:  PATH starts from the noun of the row, or from its record where the noun has no such field;
            `record.` says so outright. A comma within a value is written `\,`.
    Errors: WhereError, with what can be asked instead.
    """
    path, negated, values = parse_term(text)
    reach, facet = resolve(path, noun, vocabulary)
    return condition((reach,), facet, path, values, vocabulary, negated=negated)


def parse_term(text: str) -> tuple[str, bool, list[str]]:
    r"""The path of a term, whether it is negated, and its values, in which a comma is written `\,`.

    Errors: WhereError.
    """
    match = _TERM.fullmatch(text.strip())
    if match is None:
        raise WhereError(
            f'"{text}" is no condition', hint="write PATH=VALUE, PATH=VALUE,VALUE or PATH!=VALUE: kind=Fix,Feature"
        )
    path, sign, rest = match.groups()
    return path, sign == "!=", [value.replace("\\,", ",") for value in _COMMA.split(rest)]


def condition(
    reaches: tuple[Reach, ...],
    facet: Facet,
    name: str,
    values: Iterable[str],
    vocabulary: Vocabulary,
    *,
    negated: bool = False,
) -> Condition:
    """A condition on a facet, each value checked. name is what the person calls the facet.

    Errors: WhereError for a value that the facet can never have.
    """
    wanted = frozenset(_value(facet, name, value, vocabulary) for value in values)
    needle = None if negated else Needle.of_values(facet.path.rpartition(".")[2], wanted, in_array=facet.many)
    return Condition(reaches, wanted, negated, needle=needle)


def equality(steps: tuple[str, ...], value: str | bool, *, of_record: bool = False) -> Condition:
    """A condition that ontoref itself asks, on a field that its code knows."""
    wanted = frozenset((value,))
    return Condition((Reach(of_record, steps),), wanted, needle=Needle.of_values(steps[-1], wanted, in_array=False))


def touching(globs: Sequence[str], field: str, *, own: bool) -> Condition:
    """A record that touched a path of the globs, or (own) the path that a row of files is about.

    Shape: field is the record's array of paths.
    """
    pattern = re.compile("|".join(f"(?:{glob_pattern(glob).pattern})" for glob in globs), re.DOTALL)
    needle = Needle.of_start(field, fixed_start(globs[0])) if len(globs) == 1 else Needle.of_key(field)
    reach = Reach(False, ()) if own else Reach(True, (field,))
    return Condition((reach,), frozenset(), pattern=pattern, needle=needle)


def resolve(path: str, noun: str | None, vocabulary: Vocabulary) -> tuple[Reach, Facet]:
    """Where a path leads and what stands there. Errors: WhereError."""
    steps = path.split(".")
    if steps[0] == "record":
        return Reach(True, tuple(steps[1:])), _facet(path, steps[1:], RECORD, None, vocabulary)
    if noun is not None and noun != RECORD and steps[0] in vocabulary.noun(noun):
        return Reach(False, tuple(steps)), _facet(path, steps, noun, None, vocabulary)
    return Reach(True, tuple(steps)), _facet(path, steps, RECORD, noun, vocabulary)


def _facet(path: str, steps: list[str], start: str, also: str | None, vocabulary: Vocabulary) -> Facet:
    """The facet that steps lead to from a noun, arrays of nouns looked into."""
    noun = start
    facets = vocabulary.noun(noun)
    at = 0
    for end in range(1, len(steps) + 1):
        facet = facets.get(".".join(steps[at:end]))
        if facet is None:
            raise _unknown(path, start, also, vocabulary)
        if end == len(steps):
            _refuse(path, facet, vocabulary)
            return facet
        if facet.many and facet.noun:
            noun, at = facet.noun, end
            facets = vocabulary.noun(noun)
    raise _unknown(path, start, also, vocabulary)


def _refuse(path: str, facet: Facet, vocabulary: Vocabulary) -> None:
    if facet.prose:
        names = [f for f in ("domain", "kind", "files_touched", "tensions_engaged") if f in vocabulary.noun()]
        raise WhereError(
            f"{path} is prose, and prose is never a filter (ADR-0002). Filter by a facet instead: {', '.join(names)} …"
        )
    if facet.noun:
        inner = [p for p, f in vocabulary.noun(facet.noun).items() if not f.prose and not f.noun and "." not in p]
        raise WhereError(
            f"{path} has fields of its own; filter by one of them",
            hint=f"one of: {' '.join(f'{path}.{name}' for name in inner)}",
        )
    if facet.format == "date-time":
        raise WhereError(f"{path} is a time, and times are not compared for equality", hint="use --since and --until")


def _unknown(path: str, start: str, also: str | None, vocabulary: Vocabulary) -> WhereError:
    prefix = "record." if path.startswith("record.") else ""
    known = [prefix + name for name in paths_of(start, vocabulary)]
    if also is not None and also != start:
        known = [*paths_of(also, vocabulary), *known]
    message = f'there is no facet "{path}"'
    return WhereError(message, hint=did_you_mean(path, known))


def paths_of(noun: str, vocabulary: Vocabulary, *, inner: bool = True) -> list[str]:
    """Every path that can be filtered from a noun, those within its arrays after its own."""
    facets = vocabulary.noun(noun)
    own = [path for path, f in facets.items() if not f.prose and not f.noun and f.format != "date-time"]
    if not inner:
        return own
    nested = [f for f in facets.values() if f.many and f.noun]
    return own + [f"{f.path}.{name}" for f in nested if f.noun for name in paths_of(f.noun, vocabulary, inner=False)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest known word, if any is near, and all of them."""
    import difflib

    words = list(dict.fromkeys(known))
    folded = {w.lower(): w for w in reversed(words)}
    near = difflib.get_close_matches(word.lower(), folded, n=1)
    guess = f'did you mean "{folded[near[0]]}"?  ' if near else ""
    return f"{guess}one of: {' '.join(words)}"


def _value(facet: Facet, name: str, text: str, vocabulary: Vocabulary) -> str | int | bool:
    enum = facet.enum if facet.enum and not facet.open else ""
    return typed_value(name, text, facet.type, tuple(vocabulary.enum(enum)) if enum else (), enum)


def typed_value(name: str, text: str, type: str | None, words: Sequence[str], called: str) -> str | int | bool:
    """A value as it stands in JSON, from what was typed.

    Shape:  name is what the person calls the field; words are all that it can be, if any, and called what one is.
    Errors: WhereError for what the field can never be.
    """
    if text == "":
        raise WhereError(f"{name}: the value is missing", hint=f"write {name}=VALUE")
    if type == "boolean":
        if text not in ("true", "false"):
            raise WhereError(f'{name}: "{text}" is neither true nor false')
        return text == "true"
    if type == "integer":
        if not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise WhereError(f'{name}: "{text}" is no whole number')
        return int(text)
    if words and text not in words:
        article = "an" if called[0] in "AEIOUaeiou" else "a"
        raise WhereError(f'{name}: "{text}" is not {article} {called}', hint=did_you_mean(text, words))
    return text
