"""One finding: what is wrong, where, what was expected, what to do. Every format prints these fields."""

from __future__ import annotations

from typing import Any, NamedTuple

from ontoref.interaction.rules import ERROR, RULES

__all__ = ["Finding", "nearest"]


class Finding(NamedTuple):
    """Shape: pointer is a JSON pointer ("" for the line as a whole), field the last name in it; value is what
    stands there (absent: None); allowed are the words that would pass; suggestion is the likely one.
    Units: line and column are 1-based, columns count code points; 0 is "no place in the line".
    """

    rule: str
    path: str
    line: int
    column: int
    message: str
    pointer: str = ""
    value: Any = None
    allowed: tuple[str, ...] = ()
    suggestion: str | None = None
    hint: str | None = None
    record: str | None = None

    @property
    def severity(self) -> str:
        """`error` or `warning`."""
        return RULES[self.rule].severity

    @property
    def is_error(self) -> bool:
        return self.severity == ERROR

    @property
    def meant(self) -> str:
        """What to write instead, for people; "" where nobody can tell."""
        if not self.suggestion:
            return ""
        # What replaces a word is known; anything else is a guess.
        return f'write "{self.suggestion}"' if self.rule == "deprecated" else f'did you mean "{self.suggestion}"?'

    def as_json(self) -> dict[str, Any]:
        """The finding as every JSON format prints it: what does not apply is left out."""
        fields: dict[str, Any] = {"rule": self.rule, "severity": self.severity, "path": self.path}
        if self.line:
            fields["line"] = self.line
        if self.column:
            fields["column"] = self.column
        fields["pointer"] = self.pointer
        fields["message"] = self.message
        for name in ("value", "allowed", "suggestion", "hint", "record"):
            value = getattr(self, name)
            if value is not None and value != ():
                fields[name] = list(value) if name == "allowed" else value
        return fields


def nearest(word: str, known: tuple[str, ...] | list[str]) -> str | None:
    """The known word that was most likely meant: equal but for case, else alike; None if none is."""
    folded = {name.casefold(): name for name in reversed(known)}
    if word.casefold() in folded:
        return folded[word.casefold()]
    import difflib

    near = difflib.get_close_matches(word.casefold(), folded, 1, 0.65)
    return folded[near[0]] if near else None
