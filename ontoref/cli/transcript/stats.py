"""`ontoref transcript stats`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.output import Format, emit, note
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.transcript import Report


def stats(
    session: Annotated[list[str], typer.Argument(metavar="ID|FILE", help="Sessions; - is stdin.")],
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote them.")] = None,
    root: Annotated[str | None, typer.Option(help="Look for ids in this folder.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.table,
) -> int:
    """Count what sessions hold: prompts, answers, calls, errors, files.

    user are all texts of that role, human those that a person typed; files are paths that edit tools named,
    files_ok those where the edit succeeded. Bad lines are counted and named on stderr.

    \b
    Example:
      ontoref transcript stats ~/.codex/sessions/2026/05/*/*.jsonl
      ontoref transcript stats 019c8572 --format json
    """
    from ontoref.cli.transcript.session import open_session
    from ontoref.errors import OntorefError
    from ontoref.transcript.stats import COUNTS

    rows: list[dict[str, Any]] = []
    code = 0
    for given in session:
        try:
            counts, report = open_session(given, runtime, root).counted()
            rows.append(counts.as_dict())
        except OntorefError as error:
            if len(session) == 1:
                raise
            note(f"error: {error}")
            code = max(code, error.exit_code)
        else:
            tell(report)
    headers = {"compactions": "compacts", "delegations": "deleg.", "files_ok": "files ok"}
    emit(rows, form, columns=("file", "runtime", "lines", "bad", *COUNTS), headers=headers)
    return code


def tell(report: Report) -> None:
    """Name on stderr the lines of a transcript that are no event: bad, unknown, not yet whole."""
    from ontoref.transcript.stats import TOLD

    for kind, found in (("bad", report.bad), ("unknown", report.unknown)):
        for place in found.kept[:TOLD]:
            note(f"{report.path}:{place.line_number}: {kind}: {place.what}")
        if found.count > TOLD:
            note(f"{report.path}: {counted(found.count - TOLD, f'more {kind} line')}")
    if report.pending is not None:
        note(f"{report.path}:{report.lines}: pending: the last line is not whole yet ({report.pending} bytes)")
