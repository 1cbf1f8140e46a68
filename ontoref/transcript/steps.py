"""Pipeline steps that turn a session file into a trace, for any pipeline whose context can replace fields.

They know nothing of a pipeline library: a context has `.sample`, `.trace` and `.replace(**fields)`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ontoref.transcript.trace import openclaw_trace

__all__ = ["LoadTracesStep", "LoadedEvents", "OpenClawToTraceStep", "load_events", "load_lines"]

_log = logging.getLogger("ontoref.transcript")
_BLANK = b" \t\r\n\x0b\x0c"
_BOM = b"\xef\xbb\xbf"


class Context(Protocol):
    """What a step needs of a pipeline's context."""

    @property
    def sample(self) -> Any: ...

    @property
    def trace(self) -> Any: ...

    def replace(self, **fields: Any) -> Any: ...


C = TypeVar("C", bound=Context)


@dataclass(frozen=True, slots=True)
class LoadedEvents:
    """Shape: events in file order; bad holds the numbers of lines that are no JSON object; problem says why
    the file could not be read, if so. Units: line numbers are 1-based."""

    events: list[dict[str, Any]]
    bad: list[int] = field(default_factory=list)
    problem: str | None = None


def load_events(path: str | os.PathLike[str]) -> LoadedEvents:
    """Read a file of JSON objects, one a line, each whole.

    Shape:  a line ends at a newline byte and nowhere else; blank lines count for nothing; bytes that are no
            UTF-8 are replaced; of a key that stands twice the last counts; values are never cut.
    Errors: none: a file that cannot be read gives no events and a problem.
    """
    try:
        with open(path, "rb") as file:
            return load_lines(file)
    except (OSError, ValueError) as error:
        # ValueError: a path with a NUL in it.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return LoadedEvents([], [], reason)


def load_lines(lines: Iterable[bytes]) -> LoadedEvents:
    """The JSON objects among lines that are already cut. Shape: as `load_events`."""
    events: list[dict[str, Any]] = []
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(_BOM)
        line = line.strip(_BLANK)
        if not line:
            continue
        try:
            event = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            events.append(event)
        else:
            bad.append(number)
    return LoadedEvents(events, bad)


class LoadTracesStep:
    """Reads the file named by the context's sample; its trace becomes the list of the file's objects.

    Errors: none: a file that cannot be read gives an empty list, told through logging.
    """

    requires = frozenset({"sample"})
    provides = frozenset({"trace"})

    def __call__(self, ctx: C) -> C:
        sample = ctx.sample
        if not isinstance(sample, (str, os.PathLike)):
            _log.warning("no session file: the sample is %s, not a path", type(sample).__name__)
            return self._with(ctx, [])
        loaded = load_events(sample)
        if loaded.problem:
            _log.warning("%s: not read: %s", os.fspath(sample), loaded.problem)
        elif loaded.bad:
            lines = ", ".join(map(str, loaded.bad[:10])) + (" …" if len(loaded.bad) > 10 else "")
            _log.info("%s: %d lines skipped: %s", os.fspath(sample), len(loaded.bad), lines)
        return self._with(ctx, loaded.events)

    @staticmethod
    def _with(ctx: C, events: list[dict[str, Any]]) -> C:
        result: C = ctx.replace(trace=events)
        return result


class OpenClawToTraceStep:
    """Turns a list of raw OpenClaw events into a trace, None if no user said anything.

    Shape: an empty list, None and whatever is no list pass unchanged; the input is not touched.
    """

    requires = frozenset({"trace"})
    provides = frozenset({"trace"})

    def __call__(self, ctx: C) -> C:
        trace = ctx.trace
        if not trace or not isinstance(trace, (list, tuple)):
            return ctx
        result: C = ctx.replace(trace=openclaw_trace(trace))
        return result
