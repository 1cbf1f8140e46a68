"""`ontoref transcript export`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from ontoref.cli.output import note


class Form(StrEnum):
    """What an archived session can be given back as."""

    jsonl = "jsonl"


def export(
    session: Annotated[str, typer.Argument(help="Archive id, native id or a unique beginning.")],
    form: Annotated[Form, typer.Option("--format", help="jsonl is the original file.")] = Form.jsonl,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write to this new file.")] = None,
) -> None:
    """Give back an archived transcript, byte for byte as its source was.

    \b
    Example:
      ontoref transcript export claude-code:01a2be2d | sha256sum
    """
    import hashlib
    import os

    from ontoref.cli.state.shared import opened
    from ontoref.errors import UsageError
    from ontoref.state import archive
    from ontoref.state.errors import DatabaseUnusable

    with opened(read_only=True) as state:
        found = archive.resolve(state, session)
        digest = hashlib.sha256()
        if output in (None, "-"):
            for line in archive.lines(state, found):
                digest.update(line)
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        else:
            assert output is not None
            try:
                descriptor = os.open(output, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            except FileExistsError:
                raise UsageError("the file exists; an export overwrites nothing", location=output) from None
            with open(descriptor, "wb") as file:
                for line in archive.lines(state, found):
                    digest.update(line)
                    file.write(line)
    if digest.hexdigest() != found.content_sha256:
        raise DatabaseUnusable(
            f"the lines of {found.session_id} are not those that were archived",
            hint="see `ontoref state check`; an import may be running, then export again",
        )
    if output not in (None, "-"):
        note(f"{found.line_count} lines, {found.size_bytes} bytes, sha256 {found.content_sha256}")
