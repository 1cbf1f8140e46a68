"""`ontoref transcript trace`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.output import TextFormat, emit_json, note
from ontoref.errors import OntorefError, UsageError

if TYPE_CHECKING:
    from ontoref.cli.transcript.session import Session


class NoSessions(OntorefError):
    """There is no folder of sessions to look for new ones."""

    kind = "not-found"
    exit_code = 1


@dataclass(frozen=True, slots=True)
class Made:
    """Shape: trace is None where no user said anything; bad are numbers of lines that are no JSON object."""

    name: str
    trace: dict[str, Any] | None
    bad: list[int]


def trace(
    session: Annotated[list[str] | None, typer.Argument(metavar="ID|FILE", help="Sessions; - is stdin.")] = None,
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote them.")] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Only sessions that are not in the log of processed ones.")
    ] = False,
    processed: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --new: the log of processed ones, which it needs.")
    ] = None,
    reprocess: Annotated[
        bool, typer.Option("--reprocess", help="With --new: take all, whatever the log says.")
    ] = False,
    agent: Annotated[str | None, typer.Option(help="With --new: only this agent of OpenClaw.")] = None,
    root: Annotated[str | None, typer.Option(help="With --new: search this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --new: say what would be done.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Name the lines that were skipped.")] = False,
    form: Annotated[TextFormat, typer.Option("--format", help="How to print.")] = TextFormat.text,
) -> int:
    """Make the trace of a session: its first question, everything that was said and done, its last answer.

    One session prints as one object in json; several, and --new, as a list of {session, trace}.

    \b
    Example:
      ontoref transcript trace rollout.jsonl --format json | jq -r .reasoning
      ontoref transcript trace --new --processed done.txt --runtime openclaw --format jsonl >> traces.jsonl
    """
    if new:
        if processed is None:
            # Nothing is written but what a person names; local state lies in databases.
            raise UsageError(
                "--new needs the log of processed sessions", hint="--processed FILE; it is made if it is not there"
            )
        return _new(session or [], runtime, processed, reprocess, agent, root, dry_run, verbose, form)
    if not session:
        raise UsageError("name a session or a file, or use --new", hint="list them: ontoref transcript find")
    if processed or reprocess or dry_run:
        raise UsageError("--processed, --reprocess and --dry-run go with --new")
    if len(session) == 1:
        made = _make(session[0], runtime)
        _tell(made, verbose)
        if form is TextFormat.text:
            _print_text(made)
        else:
            _emit(made.trace)
        return 0
    missed = 0
    found = []
    for given in session:
        try:
            found.append(_make(given, runtime))
        except OntorefError as error:
            note(f"warning: {error}")
            missed += 1
    _print_several(found, form, verbose)
    return 1 if missed else 0


def _new(
    given: list[str],
    runtime: str | None,
    log: str,
    reprocess: bool,
    agent: str | None,
    root: str | None,
    dry_run: bool,
    verbose: bool,
    form: TextFormat,
) -> int:
    from ontoref.transcript.processed import add_processed, read_processed

    known = set() if reprocess else read_processed(log)
    paths = [path for path in _discovered(given, runtime, agent, root) if os.path.basename(path) not in known]
    if dry_run:
        for path in paths:
            note(f"would make a trace of {path}")
        note(f"{len(paths)} new; nothing was written")
        return 0
    made: list[Made] = []
    skipped = 0
    for path in paths:
        try:
            one = _make(path, runtime)
        except OntorefError as error:
            note(f"warning: {error}")
            skipped += 1
            continue
        if one.trace is None:
            skipped += 1
        else:
            made.append(one)
    _print_several(made, form, verbose)
    sys.stdout.flush()
    if made:
        add_processed(log, [os.path.basename(one.name) for one in made])
    note(f"{len(made)} new, {skipped} without a trace" if paths else "nothing new")
    return 0


def _discovered(given: list[str], runtime: str | None, agent: str | None, root: str | None) -> list[str]:
    """Session files: those given that are there, else those that the runtimes keep, sorted by name."""
    from ontoref.cli.transcript.session import find_sessions
    from ontoref.transcript.find import LAYOUTS, roots

    if given:
        for path in given:
            if not os.path.isfile(path):
                note(f"warning: {path}: there is no such file")
        return [path for path in given if os.path.isfile(path)]
    if runtime is not None and runtime not in LAYOUTS:
        raise UsageError(f"no runtime is named {runtime!r}", hint=f"known: {', '.join(LAYOUTS)}")
    kinds = [runtime] if runtime else list(LAYOUTS)
    if root is None and not any(roots(kind, os.environ, os.path.expanduser("~")) for kind in kinds):
        raise NoSessions(
            f"no folder of sessions of {', '.join(kinds)} on this machine", hint="name one: --root DIR, or files"
        )
    if root is not None and not os.path.isdir(root):
        raise NoSessions("there is no such folder", location=root)
    found = find_sessions(kinds, root)
    paths = {
        s.path for s in found if not s.store and (agent is None or f"/agents/{agent}/" in s.path.replace(os.sep, "/"))
    }
    return sorted(paths, key=lambda path: (os.path.basename(path), path))


def _make(given: str, runtime: str | None) -> Made:
    from ontoref.cli.transcript.session import open_session
    from ontoref.transcript.trace import events_trace

    session = open_session(given, runtime)
    known = session.runtime or (session.found.runtime if session.found else None)
    raw = _raw(session, known)
    if raw is not None:
        return Made(given, *raw)
    transcript = session.read()
    made = events_trace(transcript.events)
    return Made(given, made, [place.line_number for place in transcript.report.bad.kept])


def _raw(session: Session, runtime: str | None) -> tuple[dict[str, Any] | None, list[int]] | None:
    """The trace and the bad lines of OpenClaw's raw events, None for a session of another runtime.

    A file that no reader claims may still hold such events: lines of a few fields, or none that is whole.
    """
    from ontoref.transcript.steps import load_lines
    from ontoref.transcript.trace import openclaw_trace

    if runtime not in (None, "openclaw"):
        return None
    loaded = load_lines(session.raw())
    if runtime is None and loaded.events and not any(_is_raw(event) for event in loaded.events):
        return None
    return openclaw_trace(loaded.events), loaded.bad


def _is_raw(event: dict[str, Any]) -> bool:
    return event.get("type") in ("session", "message") and ("version" in event or "message" in event)


def _tell(made: Made, verbose: bool) -> None:
    if made.trace is None:
        note(f"{made.name}: no trace: no user said anything")
    if made.bad:
        lines = ", ".join(map(str, made.bad)) if verbose else ""
        note(f"{made.name}: {len(made.bad)} line{'s' * (len(made.bad) > 1)} skipped{': ' * verbose}{lines}")


def _print_several(found: list[Made], form: TextFormat, verbose: bool) -> None:
    for made in found:
        _tell(made, verbose)
    rows = [{"session": made.name, "trace": made.trace} for made in found if made.trace is not None]
    if form is TextFormat.json:
        _emit(rows)
    elif form is TextFormat.jsonl:
        for row in rows:
            _emit(row)
    else:
        for made in found:
            _print_text(made)


def _emit(value: Any) -> None:
    """JSON on stdout. Texts of a session may hold halves of characters, which only escapes can carry."""
    try:
        emit_json(value)
    except TypeError:
        import json

        sys.stdout.write(json.dumps(value) + "\n")


def _print_text(made: Made) -> None:
    from ontoref.text import printable

    if made.trace is not None:
        sys.stdout.writelines(printable(line, keep="\n\t") + "\n" for line in _sections(made))


def _sections(made: Made) -> Iterator[str]:
    trace = made.trace or {}
    yield f"session   {made.name}"
    yield f"feedback  {trace['feedback']}"
    for title in ("question", "reasoning", "answer"):
        yield f"\n== {title} ==\n{trace[title]}"
