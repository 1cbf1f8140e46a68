"""`ontoref interaction record`."""

# No `annotations` from the future: typer would compile each option's text anew at every start.

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.complete import words_of
from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.interaction.project import Project
    from ontoref.interaction.record import Item


class PlaceForm(StrEnum):
    """The forms in which places of records are told."""

    text = "text"
    json = "json"


def record(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A JSON object, an array, or one object a line; - is stdin.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="What sort of work it was.", metavar="KIND", autocompletion=words_of("kind"))
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Which part of the system.", metavar="DOMAIN", autocompletion=words_of("domain"))
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="How it ended.", metavar="OUTCOME", autocompletion=words_of("outcome"))
    ] = None,
    summary: Annotated[str | None, typer.Option(help="What happened, in your own words.", metavar="TEXT")] = None,
    category: Annotated[
        str | None,
        typer.Option(help="What the record is kept for.", metavar="CATEGORY", autocompletion=words_of("category")),
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(
            help="Who did it; else told from the environment.", metavar="ACTOR", autocompletion=words_of("actor")
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The session's id; else from the environment.", metavar="ID")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that the agent ran on.", metavar="NAME")] = None,
    started: Annotated[str | None, typer.Option(help="When it began, RFC 3339 with Z.", metavar="TIME")] = None,
    ended: Annotated[str | None, typer.Option(help="When it ended, RFC 3339 with Z.", metavar="TIME")] = None,
    event: Annotated[list[str] | None, typer.Option(help="An event. May be repeated.", metavar="JSON")] = None,
    decision: Annotated[list[str] | None, typer.Option(help="A decision. May be repeated.", metavar="JSON")] = None,
    action: Annotated[list[str] | None, typer.Option(help="An action. May be repeated.", metavar="JSON")] = None,
    insight: Annotated[list[str] | None, typer.Option(help="An insight. May be repeated.", metavar="JSON")] = None,
    file: Annotated[
        list[str] | None, typer.Option(help="A file that was touched. May be repeated.", metavar="PATH")
    ] = None,
    tension: Annotated[
        list[str] | None,
        typer.Option(help="A tension. May be repeated.", metavar="ID", autocompletion=words_of("tensions_engaged")),
    ] = None,
    parent: Annotated[str | None, typer.Option(help="The record of who delegated this.", metavar="ID")] = None,
    supersedes: Annotated[list[str] | None, typer.Option(help="A record that this corrects.", metavar="ID")] = None,
    op_ref: Annotated[str | None, typer.Option(help="For events and actions that name none.", metavar="ID")] = None,
    witness: Annotated[str | None, typer.Option(help="Another system's witness.", metavar="JSON")] = None,
    files_from_git: Annotated[
        str | None, typer.Option(help="Touched files: what differs from a revision (HEAD).", metavar="[REV]")
    ] = None,
    validate: Annotated[bool, typer.Option("--validate/--no-validate", help="Check before writing.")] = True,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Write the good ones, refuse the others.")] = False,
    rejects: Annotated[
        str | None, typer.Option(help="With --keep-going: add refused ones to this file.", metavar="FILE")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and show the record, write nothing.")] = False,
    redact: Annotated[
        bool | None, typer.Option("--redact/--no-redact", help="Replace secrets, don't just warn.")
    ] = None,
    sign: Annotated[bool | None, typer.Option("--sign/--no-sign", help="Bind the record with a signature.")] = None,
    key: Annotated[str | None, typer.Option(help="The key to sign with.", metavar="ID")] = None,
    op_id: Annotated[str | None, typer.Option(help="With --sign: the operation it witnesses.", metavar="ID")] = None,
    state_root: Annotated[str | None, typer.Option(help="With --sign: else HEAD's tree.", metavar="HEX")] = None,
    log: Annotated[str | None, typer.Option(help="Another log folder.", metavar="DIR")] = None,
    lock_timeout: Annotated[float, typer.Option(min=0, help="How long to wait for the log.", metavar="SECONDS")] = 30.0,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
    form: Annotated[PlaceForm, typer.Option("--format", help="How to tell where it went.")] = PlaceForm.text,
) -> int:
    """Check a record and add it to the log. Prints its id and place.

    What is left out and can be known is filled in: id, time, session, actor, revision. A refusal (exit 1) names
    every field that is wrong and what would be right; nothing is written then. Recording the same record twice
    records it once.

    \b
    Example:
      ontoref interaction template --minimal > rec.json
      ontoref interaction record rec.json
      ontoref interaction record --kind Fix --domain Cli --outcome Completed --summary "Mended the help."
    """
    from ontoref.cli.interaction import _recording as edge
    from ontoref.interaction.check import Checker
    from ontoref.interaction.given import Given, parse
    from ontoref.interaction.project import find_project, own_project
    from ontoref.interaction.record import Context, prepare, prepare_unchecked
    from ontoref.vocabulary import load

    if rejects is not None and not keep_going:
        raise UsageError("--rejects needs --keep-going")
    project = own_project(os.getcwd()) if log is None else find_project(os.getcwd())
    settings = project.settings
    folder = os.path.abspath(log) if log is not None else project.log_folder(settings)
    built = edge.built(
        {
            "kind": kind,
            "domain": domain,
            "outcome": outcome,
            "summary": summary,
            "category": category,
            "model": model,
            "started_at": started,
            "ended_at": ended,
            "parent_record": parent,
            "files_touched": [edge.repository_path(path, project) for path in file or ()],
            "tensions_engaged": tension,
            "supersedes": supersedes,
        },
        {"events": event, "decisions": decision, "actions": action, "insights": insight, "witness": witness},
        op_ref,
    )
    if source is None and not built:
        raise UsageError("there is no record", hint="name a FILE, - for stdin, or give it as options: --kind …")
    if source is not None and (built or op_ref is not None):
        raise UsageError("a FILE and options for what is in it do not go together", hint="put them into the file")
    checker = Checker(load(schemas, project.root))
    fields = edge.known(checker.vocabulary, project, settings, schemas, session=session, actor=actor)
    if files_from_git is not None:
        fields.add("files_touched", edge.changed_files(project, folder, files_from_git or "HEAD", checker), "git")
    context = Context(
        checker.vocabulary,
        edge.now(),
        edge.new_ulid,
        fields.values,
        fields.origins,
        redact if redact is not None else settings.redact,
    )
    if source is None:
        path, givens = "options", [Given(built, b"")]
    else:
        path, content = edge.read(source)
        givens = parse(content, path)
        if not givens:
            raise UsageError("the input is empty", location=path, hint="a record is one JSON object")
    if validate:
        items = [prepare(given, context, checker, path) for given in givens]
    else:
        items = [prepare_unchecked(given, context, path) for given in givens]
    if sign if sign is not None else settings.sign:
        items = edge.signed(items, checker, project, key or settings.key, op_id, state_root)
    talk = edge.Talk(as_json=form is PlaceForm.json)
    if not context.redact:
        talk.of_secrets(items)
    if log is None and settings.log is None and not project.exists:
        talk.expect_new_project(project)
    if not fields.origins["session_id"]:
        talk.expect_new_session(fields.values["session_id"])
    return _store(items, folder, project, talk, lock_timeout, rejects, keep_going=keep_going, dry_run=dry_run)


def _store(
    items: list["Item"],
    folder: str,
    project: "Project",
    talk: Any,
    lock_timeout: float,
    rejects: str | None,
    *,
    keep_going: bool,
    dry_run: bool,
) -> int:
    from ontoref.cli.interaction import _recording as edge
    from ontoref.interaction.store import Stopped, add, settle

    settled = settle([item for item in items if not item.refused], folder)
    refused = [item for item in items if item.refused] + settled.clashing
    talk.of_findings(items, refused, settled.clashing, keep_going=keep_going)
    if refused and not keep_going:
        return 1
    talk.of_strays(settled.stray)
    if dry_run:
        talk.of_records(settled.new)
        return 1 if refused else 0
    if refused and rejects is not None:
        edge.put_aside(rejects, [item.given.text for item in refused])
    branch = project.place.branch if project.place else None
    try:
        added = add(settled.new, folder, branch, lock_timeout_s=lock_timeout)
    except Stopped as stopped:
        talk.of_beginnings([kept.item for kept in stopped.done if not kept.again])
        talk.of_places(items, stopped.done + settled.present, [])
        sys.stdout.flush()
        raise stopped.cause from None
    talk.of_beginnings([kept.item for kept in added if not kept.again])
    talk.of_places(items, added + settled.present, settled.repeated)
    return 1 if refused else 0
