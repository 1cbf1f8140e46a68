"""What an engine answers: whether a value has its shape, and each keyword that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["Engine", "Problem"]


class Problem(NamedTuple):
    """One keyword that a value breaks. Shape: path and evaluation_path are steps from the root, the latter
    through `$ref`, ending in the keyword."""

    path: tuple[str | int, ...]
    evaluation_path: tuple[str | int, ...]

    @property
    def keyword(self) -> str:
        return str(self.evaluation_path[-1])


class Engine(NamedTuple):
    """A compiled schema. Shape: accepts(value) -> bool; problems(value) -> each broken keyword."""

    accepts: Callable[[Any], bool]
    problems: Callable[[Any], Iterator[Problem]]
