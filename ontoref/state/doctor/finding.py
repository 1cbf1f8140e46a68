"""One thing that a doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Severity"]


class Severity(StrEnum):
    """How bad it is: an error keeps something from working, a warning may cost data, a note is for knowing."""

    error = "error"
    warning = "warning"
    note = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault and what to do about it.

    Shape: rule is kebab-case and stable; fixable says that `doctor --fix` mends it; items are what it is
           about, where it is about several things.
    """

    rule: str
    severity: Severity
    place: str
    message: str
    remedy: str
    fixable: bool = False
    items: tuple[str, ...] = ()
