"""What can be asked of a log."""

from __future__ import annotations

from typing import NamedTuple

from ontoref.interaction.rows import Row
from ontoref.interaction.where import Condition

__all__ = ["Question"]


class Question(NamedTuple):
    """What is asked.

    Shape: a row is kept if every condition holds; since and until are `order_key`s of the record's time, since
           included, until not; history keeps superseded records and every entry of a decision; standing keeps
           decisions whose latest entry is flagged, has no ADR and is not closed.
    """

    row: Row
    conditions: tuple[Condition, ...] = ()
    since: str = ""
    until: str = ""
    history: bool = False
    standing: bool = False
    sort: tuple[str, ...] = ()
    reverse: bool = False
    limit: int | None = None
