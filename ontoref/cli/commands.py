"""Every command of ontoref, in the order in which help lists them.

A command is one function in one file and one line here. The line holds what `--help` prints, so that the
help of a group imports none of its commands.
"""

from __future__ import annotations

from ontoref.cli.lazy import Entry

__all__ = ["COMMANDS"]

COMMANDS: dict[str, Entry] = {
    "interaction": Entry(
        "Record, check and query what sessions decided and did.",
        commands={},
    ),
    "vocabulary": Entry(
        "See, check and compare the words that records use.",
        commands={},
    ),
}
