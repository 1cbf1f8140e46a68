"""Where a protocol may be cut: tests kill the process at a named step and look whether a rerun converges."""

from __future__ import annotations

import os

__all__ = ["step"]

_VARIABLE = "ONTOREF_TEST_KILL_AT"
_seen: dict[str, int] = {}


def step(name: str) -> None:
    """Nothing, unless ONTOREF_TEST_KILL_AT is `name` or `name@3` (the third time): then SIGKILL, as a power
    cut would."""
    wanted = os.environ.get(_VARIABLE)
    if not wanted:
        return
    _seen[name] = _seen.get(name, 0) + 1
    place, _, count = wanted.partition("@")
    if place == name and _seen[name] == int(count or 1):
        import signal

        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
