"""The report of a bug of ours: what a person needs to tell us about it."""

from __future__ import annotations

import platform
import sys
import traceback
from collections.abc import Sequence

from ontoref import __version__

__all__ = ["report"]


def report(error: BaseException, arguments: Sequence[str]) -> None:
    """Print a report of an unexpected exception to stderr, ready to be pasted into an issue."""
    command = arguments[0] if arguments else ""
    lines = [
        "ontoref has met a bug of its own. Nothing you did caused it. Please report what follows:",
        "",
        f"ontoref {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: ontoref {command} … ({len(arguments)} words)",
        "",
        "".join(traceback.format_exception(error)).rstrip(),
    ]
    print("\n".join(lines), file=sys.stderr)
