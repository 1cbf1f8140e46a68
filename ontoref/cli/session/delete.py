"""`ontoref session delete`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import note
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.state import State

_KEPT_PAGES = "a reader keeps old pages alive; run `ontoref state vacuum` when it has ended"


def delete(
    sessions: Annotated[list[str] | None, typer.Argument(help="Archive ids, native ids or unique beginnings.")] = None,
    older_than: Annotated[str | None, typer.Option(help="All that ended before: a date or an age (90d).")] = None,
    project: Annotated[str | None, typer.Option(help="All of this folder.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would go.")] = False,
) -> int:
    """Delete archived sessions with all that is derived from them; their sub-agents go along.

    The bytes are zeroed. Candidates for lessons and proposals that rest on nothing else go as well; lessons stay,
    without the excerpts. A tombstone is kept, so that an import does not bring the session back while its source
    is there. Sources are never touched, and nothing is ever deleted unless you say so. Exit 1 if a database in which
    there may be more to delete cannot be read.

    \b
    Examples:
      ontoref session delete claude-code:01a2be2d --yes
      ontoref session delete --older-than 180d --project /home/me/secret --dry-run
    """
    import os

    from ontoref.cli.state.shared import moment, moment_ms, opened
    from ontoref.errors import UsageError
    from ontoref.state import archive, deletion, upkeep

    if not sessions and older_than is None and project is None:
        raise UsageError("say which sessions", hint="ids, --older-than or --project")
    before = moment_ms(older_than, "--older-than") if older_than else None
    with opened(read_only=True) as state:
        gone = [name for name in sessions or () if _is_gone(state, name)]
        chosen = [archive.resolve(state, name) for name in sessions or () if name not in gone]
        unfinished = bool(gone) or (not sessions and bool(deletion.gone(state)))
        if older_than is not None or project is not None:
            matching = {row.session_id: row for row in deletion.older_than(state, before, project)}
            chosen = [row for row in chosen if row.session_id in matching] if sessions else list(matching.values())
        whole = {row.session_id: row for one in chosen for row in deletion.family(state, one)}
    rows, code = list(whole.values()), 1 if state.left_out else 0
    if not rows:
        if unfinished and not dry_run:
            # A deletion that was killed after its rows were gone may have left their bytes, and what quotes them.
            with opened(read_only=False) as state:
                deletion.finish(state)
                code = 1 if state.left_out else code
                before_now = deletion.gone(state)
            note("deleted before" if gone else "no session is meant; nothing was deleted")
            return code if _forget(before_now) else 1
        note("deleted before" if gone else "no session is meant; nothing was deleted")
        return code
    if dry_run or not yes:
        for row in rows:
            typer.echo(f"{row.session_id}  {moment(row.ended_at)}  {row.line_count} lines")
    if dry_run:
        note(f"{counted(len(rows), 'session')} would be deleted")
        return code if _forget({row.session_id for row in rows}, dry_run=True) else 1
    if not yes:
        import sys

        if not sys.stdin.isatty():
            raise UsageError(f"{counted(len(rows), 'session')} would be deleted for good", hint="add --yes")
        typer.confirm(f"Delete {counted(len(rows), 'session')} for good?", abort=True, err=True)
    with opened(read_only=False) as state:
        done = deletion.delete(state, rows)
        code = 1 if state.left_out else code
        everything = deletion.gone(state) | set(done.session_ids)
        archives = upkeep.old_archives(state.layout, 0)
    note(f"{counted(len(done.session_ids), 'session')} deleted")
    if not done.wiped:
        note(_KEPT_PAGES)
    if archives:
        many = counted(len(archives), "safety archive")
        note(f"what they were stands in {many} still: {os.path.dirname(archives[0])}")
    return code if _forget(everything) else 1


def _is_gone(state: State, name: str) -> bool:
    """Whether a name is the whole id of a session that was deleted. A later version's id may begin with it."""
    from ontoref.state import archive, deletion

    there = any(name in (one.session_id, one.native_id) for one in archive.find(state, name))
    return not there and bool(deletion.gone(state, name))


def _forget(session_ids: set[str], *, dry_run: bool = False) -> bool:
    """Take what quotes the sessions out of the lessons, and tell it. False if they cannot be reached."""
    from ontoref.cli.lesson.shared import now, placement
    from ontoref.errors import OntorefError
    from ontoref.lesson.factory import every_table
    from ontoref.lesson.forget import forget_sessions, quoting

    whole = True
    try:
        for table in every_table(placement(), read_only=dry_run):
            with closing(table):
                done = quoting(table, session_ids) if dry_run else forget_sessions(table, session_ids, now())
                if done.candidates or done.proposals:
                    went = counted(done.candidates, "candidate") + " for lessons"
                    went += f" and {counted(done.proposals, 'proposal')}" if done.proposals else ""
                    note(f"{went} {'would go along' if dry_run else 'that quoted them went along'}")
                if done.quotes:
                    kept = counted(done.quotes, "lesson or proposal", "lessons and proposals")
                    note(f"{kept} {'would stay' if dry_run else 'stayed'}, without the excerpts")
                if not done.wiped:
                    note(_KEPT_PAGES)
    except OntorefError as error:
        whole = False
        note(f"warning: what quotes them in the lessons stays: {error.message} ({error.location or 'lessons'})")
        note("run this again when they can be reached; it is safe")
    return whole
