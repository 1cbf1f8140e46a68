"""`ontoref transcript events`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.output import Format, emit
from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.transcript import ReplayEvent, Transcript

# Deeper than any JSON that a reader lets through.
_DEPTH = 20_000


def events(
    session: Annotated[str, typer.Argument(metavar="ID|FILE", help="A session; - is stdin.")],
    kind: Annotated[list[str] | None, typer.Option(help="Only events of this kind; may be repeated.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on while the session is written.")] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many.")] = None,
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote it.")] = None,
    root: Annotated[str | None, typer.Option(help="Look for the id in this folder.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.jsonl,
) -> int:
    """Print the neutral events of a session, in the order they were written.

    Each event has nine fields (schemas/replay.yaml); docs/transcripts.md lists what the payload of each kind
    holds. Lines that are no event are named on stderr.

    \b
    Example:
      ontoref transcript events rollout.jsonl | jq -r 'select(.kind == "llm.call").payload.text'
      ontoref transcript events 7acd37a8 --kind tool.call --follow
    """
    from itertools import islice

    from ontoref.cli.transcript.stats import tell
    from ontoref.transcript import KINDS

    for name in kind or ():
        if name not in KINDS:
            raise UsageError(f"no event kind is named {name!r}", hint=f"known: {', '.join(KINDS)}")
    if follow and form is not Format.jsonl:
        raise UsageError("--follow goes with --format jsonl alone")
    transcript = _open(session, runtime, root, follow)
    wanted: Iterator[ReplayEvent] = (e for e in transcript.events if not kind or e.kind in kind)
    if limit is not None:
        wanted = islice(wanted, limit)
    if form in (Format.json, Format.jsonl):
        _write(wanted, form, flush=follow)
    else:
        emit([_row(event) for event in wanted], form, columns=("line", "time", "kind", "name", "text"))
    tell(transcript.report)
    return 0


def _open(given: str, runtime: str | None, root: str | None, live: bool) -> Transcript:
    from ontoref.cli.transcript.session import open_session

    session = open_session(given, runtime, root)
    if not live:
        return session.read()
    if session.path is None:
        raise UsageError("standard input cannot be followed", hint="name the file")
    if session.found is not None and session.found.store:
        from ontoref.transcript.find import read_stored

        if session.runtime != "openclaw":
            raise UsageError("a session in this database cannot be followed", location=session.path)
        return read_stored(session.found, live=True)
    from ontoref.transcript import read

    return read(session.path, session.runtime, live=True)


def _write(events: Iterable[ReplayEvent], form: Format, *, flush: bool) -> None:
    write = sys.stdout.buffer.write
    if form is Format.jsonl:
        for event in events:
            write(_packed(event._asdict()) + b"\n")
            if flush:
                sys.stdout.buffer.flush()
    else:
        lead = b"["
        for event in events:
            write(lead + _packed(event._asdict()))
            lead = b",\n"
        write(b"]\n" if lead != b"[" else b"[]\n")
    sys.stdout.buffer.flush()


def _packed(event: dict[str, Any]) -> bytes:
    import orjson

    try:
        return orjson.dumps(event)
    except TypeError:
        # Nested more deeply than orjson writes, though it reads it; or a number beyond 64 bits.
        import json

        before = sys.getrecursionlimit()
        sys.setrecursionlimit(_DEPTH)
        try:
            return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        finally:
            sys.setrecursionlimit(before)


def _row(event: ReplayEvent) -> dict[str, Any]:
    from datetime import UTC, datetime

    payload = event.payload
    text = payload.get("text") or payload.get("output") or payload.get("summary") or payload.get("prompt") or ""
    if event.mode is not None:
        text = "/".join(str(value) for value in event.mode.values() if value is not None)
    elif event.approval is not None:
        text = event.approval["status"]
    time = datetime.fromtimestamp(event.ts, UTC).strftime("%Y-%m-%d %H:%M:%S") if event.ts else ""
    return {
        "line": payload.get("line"),
        "time": time,
        "kind": event.kind,
        "name": payload.get("name"),
        "text": " ".join(str(text)[:400].split()),
    }
