"""The log of sessions that were made into traces: their file names, one a line, sorted."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ontoref.replacing import replacing

__all__ = ["add_processed", "read_processed"]


def read_processed(path: str) -> set[str]:
    """Names in the log; none if there is no log yet. Errors: OSError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            content = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return set()
    return {name.rstrip("\r") for name in content.split("\n") if name.strip()}


def add_processed(path: str, names: Iterable[str]) -> None:
    """Add names to the log. It is read again just before, and replaced in one step: a reader sees the old or
    the new one. Errors: OSError."""
    every = sorted(read_processed(path) | {name for name in names if "\n" not in name})
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with replacing(path) as aside, open(aside, "wb") as file:
        file.write("".join(f"{name}\n" for name in every).encode("utf-8", "surrogateescape"))
