"""`ontoref session delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ontoref.cli.output import note

if TYPE_CHECKING:
    from ontoref.state import State


def delete(
    sessions: Annotated[list[str] | None, typer.Argument(help="Archive ids, native ids or unique beginnings.")] = None,
    older_than: Annotated[str | None, typer.Option(help="All that ended before: a date or an age (90d).")] = None,
    project: Annotated[str | None, typer.Option(help="All of this folder.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would go.")] = False,
) -> int:
    """Delete archived sessions with all that is derived from them; their sub-agents go along.

    The bytes are zeroed. A tombstone stays, so that an import does not bring the session back while its
    source is there. Sources are never touched, and nothing is ever deleted unless you say so.

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
        unfinished = bool(gone) or (not sessions and deletion.was_deleted(state))
        if older_than is not None or project is not None:
            matching = {row.session_id: row for row in deletion.older_than(state, before, project)}
            chosen = [row for row in chosen if row.session_id in matching] if sessions else list(matching.values())
        whole = {row.session_id: row for one in chosen for row in deletion.family(state, one)}
    rows = list(whole.values())
    if not rows:
        if unfinished and not dry_run:
            # A deletion that was killed after its rows were gone may have left their bytes.
            with opened(read_only=False) as state:
                deletion.finish(state)
        note("deleted before" if gone else "no session is meant; nothing was deleted")
        return 0
    if dry_run or not yes:
        for row in rows:
            typer.echo(f"{row.session_id}  {moment(row.ended_at)}  {row.line_count} lines")
    if dry_run:
        note(f"{len(rows)} sessions would be deleted")
        return 0
    if not yes:
        import sys

        if not sys.stdin.isatty():
            raise UsageError(f"{len(rows)} sessions would be deleted for good", hint="add --yes")
        typer.confirm(f"Delete {len(rows)} sessions for good?", abort=True, err=True)
    with opened(read_only=False) as state:
        done = deletion.delete(state, rows)
        archives = upkeep.old_archives(state.layout, 0)
    note(f"{len(done.session_ids)} sessions deleted")
    if archives:
        note(f"what they were stands in {len(archives)} safety archives still: {os.path.dirname(archives[0])}")
    if quoting := _quoting(set(done.session_ids)):
        note(f"{quoting} candidates for lessons quote them still: `ontoref lesson candidates`")
    if not done.wiped:
        note("a reader keeps old pages alive; run `ontoref state vacuum` when it has ended")
    return 0


def _is_gone(state: State, name: str) -> bool:
    """Whether a name is the whole id of a session that was deleted. A later version's id may begin with it."""
    from ontoref.state import archive, deletion

    there = any(name in (one.session_id, one.native_id) for one in archive.find(state, name))
    return not there and deletion.was_deleted(state, name)


def _quoting(session_ids: set[str]) -> int:
    """How many candidates for lessons that nobody has looked at quote one of the sessions."""
    from ontoref.cli.lesson.shared import opened
    from ontoref.errors import OntorefError

    try:
        with opened(read_only=True) as store:
            return sum(one["session_id"] in session_ids for one in store.list_pending_candidates())
    except OntorefError:
        return 0
