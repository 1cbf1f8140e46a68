"""One line of a log replaced by another. Only `redact` does this; everything else appends."""

from __future__ import annotations

from ontoref.errors import OntorefError
from ontoref.replacing import replacing

__all__ = ["replace_line"]


class RewriteError(OntorefError):
    """The line could not be replaced; the file is as it was."""

    kind = "rewrite"


def replace_line(path: str, number: int, old: bytes, new: bytes, *, lock_timeout_s: float = 30.0) -> None:
    """Put new in place of the line old, under the log's lock, through a file moved into place.

    Units:  number is 1-based; both lines come without newline.
    Errors: RewriteError if the line is not old any more; OSError, LogError.
    """
    from ontoref.interaction.log import locked

    with locked(path, lock_timeout_s):
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        if number > len(lines) or lines[number - 1] != old:
            raise RewriteError("the line has changed meanwhile", location=f"{path}:{number}", hint="try again")
        lines[number - 1] = new
        with replacing(path) as aside, open(aside, "wb") as file:
            file.write(b"\n".join(lines))
