"""`ontoref transcript import`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import Format, note
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.state import State
    from ontoref.state.importer import Importer, Outcome

# What may hold a correction that was not seen before.
_CHANGED = frozenset({"imported", "grown", "rewritten"})
# A followed session that has been quiet for so long is worth to be indexed.
_QUIET_SECONDS = 30.0
COLUMNS = ("status", "id", "lines", "bad_lines", "path", "note")


def import_(
    sources: Annotated[list[str] | None, typer.Argument(help="Files, folders or ids of sessions.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every session of every runtime on this machine.")] = False,
    runtime: Annotated[str | None, typer.Option(help="Whose format it is, where the lines do not tell.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out a project: its folder or its name.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on while the sources grow, until interrupted.")] = False,
    idle: Annotated[float | None, typer.Option(min=0.1, help="With --follow: end after so many quiet seconds.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Bring back what was deleted from the archive.")] = False,
    no_capture: Annotated[
        bool, typer.Option("--no-capture", help="Do not look for corrections that could become lessons.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print what was done.")] = Format.table,
) -> int:
    """Archive transcripts byte for byte, bad lines too, before their agents delete them.

    Safe to run again at any time: what is archived is skipped, what grew is continued, an import that was
    killed goes on where it stopped. Sources are only read. What a person corrected or refused in them becomes a
    candidate for a lesson (docs/lessons.md); --no-capture, or ONTOREF_CAPTURE=off, leaves that out.

    \b
    Examples:
      ontoref transcript import --all
      ontoref transcript import ~/.claude/projects/-home-me-app --exclude secret
      ontoref transcript import 01a2be2d --follow
    """
    from ontoref.cli.output import emit
    from ontoref.cli.state.shared import duration, opened
    from ontoref.errors import UsageError
    from ontoref.state.importer import Importer

    if not sources and not all_:
        raise UsageError("say what to import", hint="files, folders, ids of sessions, or --all")
    paths = _searched(sources or [], all_, runtime)
    paths()
    with opened(read_only=False) as state:
        progress = _Progress([] if follow else paths())
        importer = Importer(
            state,
            runtime=runtime,
            again=again,
            kind="follow" if follow else "import",
            exclude=tuple(exclude or ()),
            on_bytes=progress.bytes_done if progress.shown else None,
        )
        import time

        started = time.monotonic()
        done = []
        # Sessions that changed, and those of them that are not indexed yet, each with its last change.
        changed: dict[str, None] = {}
        waiting: dict[str, float] = {}
        unchanged: list[str] = []

        def rest() -> None:
            quiet = [name for name, at in waiting.items() if time.monotonic() - at >= _QUIET_SECONDS]
            _index(state, quiet)
            for name in quiet:
                del waiting[name]

        outcomes = importer.follow(paths, _pause(idle, rest)) if follow else importer.run(paths())
        try:
            for outcome in outcomes:
                progress.source_done()
                if outcome.session_id and outcome.status in _CHANGED:
                    changed[outcome.session_id] = None
                    waiting[outcome.session_id] = time.monotonic()
                elif outcome.session_id and outcome.status == "unchanged":
                    unchanged.append(outcome.session_id)
                if form is Format.jsonl:
                    emit([_row(outcome)], form, columns=COLUMNS)
                elif follow and form is Format.table:
                    note(f"{outcome.status}  {outcome.session_id or outcome.path}  +{outcome.lines}")
                else:
                    done.append(outcome)
        finally:
            progress.clear()
            importer.finish()
            _index(state, list(waiting))
            _index(state, _due(state, unchanged))
            if changed and not no_capture:
                _capture(state, list(changed))
        _print(done, form)
        note(_summary(importer, duration(time.monotonic() - started)))
        return 1 if importer.counts["failed"] or state.left_out else 0


def _index(state: State, session_ids: list[str]) -> None:
    """Index the events of what came, and keep its numbers. An index can be made again at any time, so what goes wrong is only told."""
    import time

    from ontoref.errors import OntorefError
    from ontoref.replay.archive_index import index

    for session_id in session_ids:
        try:
            with state.sparing():
                index(state, session_id, int(time.time() * 1000))
        except (OntorefError, OSError) as error:
            note(f"{session_id}: its events are not indexed: {error}")


def _due(state: State, session_ids: list[str]) -> list[str]:
    """Those of the sessions that did not change whose index has to be made all the same."""
    from ontoref.errors import OntorefError
    from ontoref.replay.statistics import due

    try:
        return due(state, session_ids)
    except OntorefError:
        return []


def _capture(state: State, session_ids: list[str]) -> None:
    """Look for corrections in what came. The archive has it in any case, so what goes wrong is only told."""
    from ontoref.cli.lesson.capturing import capture_sessions
    from ontoref.cli.lesson.shared import capture_mode, now, opened
    from ontoref.errors import OntorefError
    from ontoref.lesson.capture import OFF

    try:
        mode = capture_mode()
        if mode == OFF:
            return
        with opened(read_only=False) as store:
            count = capture_sessions(state, session_ids, store, mode, now())
    except (OntorefError, OSError) as error:
        note(f"no lessons were captured: {error}")
        return
    if count:
        note(f"{counted(count, 'candidate')} for lessons: `ontoref lesson candidates`")


def _searched(sources: list[str], all_: bool, runtime: str | None) -> Callable[[], list[str]]:
    """What to import, searched anew when the last search is half a minute old."""
    import time

    last = -1e9
    found: list[str] = []

    def paths() -> list[str]:
        nonlocal last
        if time.monotonic() - last > 30:
            found[:] = _paths(sources, all_, runtime)
            last = time.monotonic()
        return found

    return paths


def _paths(sources: list[str], all_: bool, runtime: str | None) -> Iterator[str]:
    """Files and folders as they are given; ids by where the session's file is."""
    import os

    from ontoref.errors import UsageError

    for source in sources:
        if os.path.exists(source) or os.path.isfile(source.rpartition("#")[0]):
            yield source
        elif os.sep in source or "/" in source or source.endswith(".jsonl"):
            raise UsageError("there is no such file or folder", location=source)
        else:
            yield from _found(source, runtime)
    if all_:
        yield from _found(None, runtime)


def _found(session: str | None, runtime: str | None) -> Iterator[str]:
    """Files of the sessions on this machine, and what lies beside them; of one if it is named."""
    import os

    from ontoref.transcript.find import find, resolve

    unread: dict[str, str] = {}
    home, runtimes = os.path.expanduser("~"), [runtime] if runtime else []
    everything = find(os.environ, home, runtimes=runtimes, children=True, unread=unread.setdefault)
    if session is not None:
        everything = [resolve(session, everything)]
    beside = set()
    for one in everything:
        yield f"{one.path}#{one.session_id}" if one.store else one.path
        trace = one.path.partition(".jsonl")[0] + ".trajectory.jsonl"
        index = os.path.join(os.path.dirname(one.path), "sessions.json")
        beside |= {path for path in (trace, index) if os.path.exists(path)}
    yield from sorted(beside)
    if session is None:
        # The importer tells why it cannot look into them.
        yield from unread


def _pause(idle: float | None, rest: Callable[[], None]) -> Callable[[bool], bool]:
    """Waits between two rounds of a follower; rest is what it does meanwhile."""
    import time

    last = time.monotonic()

    def pause(news: bool) -> bool:
        nonlocal last
        now = time.monotonic()
        if news:
            last = now
        if idle is not None and now - last >= idle:
            return False
        rest()
        time.sleep(min(0.5, idle or 0.5))
        return True

    return pause


def _row(outcome: Outcome) -> dict[str, object]:
    return {
        "status": outcome.status,
        "id": outcome.session_id,
        "lines": outcome.lines,
        "bad_lines": outcome.bad_lines,
        "path": outcome.path,
        "note": outcome.note,
    }


def _print(done: list[Outcome], form: Format) -> None:
    from ontoref.cli.output import emit

    if form is Format.jsonl:
        return
    rows = [_row(outcome) for outcome in done]
    if form is Format.table:
        rows = [row for row in rows if row["status"] not in ("unchanged", "unknown", "excluded", "deleted")]
    emit(rows, form, columns=COLUMNS)


def _summary(importer: Importer, took: str) -> str:
    counts = importer.counts
    words = {"unknown": "no transcript", "deleted": "deleted earlier", "busy": "busy elsewhere"}
    told = ", ".join(f"{count} {words.get(status, status)}" for status, count in counts.most_common() if count)
    hint = "; `--again` brings back what was deleted" if counts["deleted"] else ""
    return f"{told or 'nothing to import'} ({took}){hint}"


class _Progress:
    """One line on stderr while it is a terminal."""

    def __init__(self, paths: list[str]) -> None:
        from ontoref.state.identify import candidates

        self.shown = sys.stderr.isatty()
        self.total = sum(1 for path in paths for _ in candidates(path)) if self.shown else 0
        self.sources = 0
        self.size = 0

    def bytes_done(self, size: int) -> None:
        self.size += size
        self._show()

    def source_done(self) -> None:
        self.sources += 1
        if self.shown and self.sources % 20 == 0:
            self._show()

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _show(self) -> None:
        bar = ""
        if self.total:
            done = 30 * min(self.sources, self.total) // self.total
            bar = f"[{'#' * done}{'.' * (30 - done)}] "
        of = f" of {self.total}" if self.total else ""
        sys.stderr.write(f"\r{bar}{self.sources}{of} sources, {self.size / 1e6:.0f} MB\x1b[K")
        sys.stderr.flush()
