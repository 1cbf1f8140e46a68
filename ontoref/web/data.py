"""What the server shows, given to it by whoever starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ontoref.replay.source import Source

if TYPE_CHECKING:
    from ontoref.web.lessons import Review

__all__ = ["Data", "Parameters", "Sessions"]

# Parameters of a question as the address has them: each name with all its values.
Parameters = Mapping[str, Sequence[str]]


class Sessions(Protocol):
    """The sessions that can be shown."""

    def rows(self, parameters: Parameters) -> dict[str, Any]:
        """A listing with the filters of `ontoref transcript find`. Errors: BadParameter, UsageError."""

    def resolve(self, given: str) -> str:
        """The archive id that an archive id or a native id means; given itself if nobody knows it."""


class Query(Protocol):
    def __call__(self, parameters: Parameters) -> dict[str, Any]:
        """Rows with the filters of the command of the same name. Errors: UsageError, BadParameter."""


@dataclass(frozen=True, slots=True)
class Data:
    """Everything behind the endpoints."""

    source: Source
    sessions: Sessions
    records: Query
    decisions: Query
    review: Review | None = None
    # What a transcript tells of itself beside its events; None where nothing is known.
    about: Callable[[str], dict[str, Any] | None] = lambda session_id: None
    # The figures of a session where they are known without reading it; None where it has to be read.
    figures: Callable[[str], dict[str, Any] | None] = lambda session_id: None
