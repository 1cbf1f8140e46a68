"""`ontoref transcript draft`"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.cli.output import TextFormat, emit_json, note
from ontoref.errors import OntorefError, UsageError

if TYPE_CHECKING:
    from ontoref.cli.transcript.session import Session
    from ontoref.interaction.check import Checker
    from ontoref.interaction.finding import Finding
    from ontoref.transcript.draft import Words
    from ontoref.transcript.report import Report


class RefusedDraft(OntorefError):
    """A draft breaks the vocabulary, so nothing was written."""

    kind = "violations"
    exit_code = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person asked for."""

    given: dict[str, Any]
    children: bool
    with_prompt: bool
    redact: bool


@dataclass(frozen=True, slots=True)
class _Target:
    """The log to record in. Shape: branch as git names it in full; origin is the word of drafts."""

    log: str
    branch: str | None
    origin: str


@dataclass(frozen=True, slots=True)
class Drafted:
    """One drafted record. Shape: session is the id that its file of drafts is named by."""

    runtime: str
    session: str
    record: dict[str, Any]


def draft(
    session: Annotated[str, typer.Argument(metavar="ID|FILE", help="A session or a file; - is stdin.")],
    runtime: Annotated[str | None, typer.Option(help="The runtime that wrote it.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Write to the log instead of the drafts.")] = False,
    children: Annotated[bool, typer.Option("--children", help="Sub-agents' sessions too, as child records.")] = False,
    with_prompt: Annotated[
        bool, typer.Option("--with-prompt", help="Put the first prompt into the summary, its secrets replaced.")
    ] = False,
    redact: Annotated[bool, typer.Option("--redact", help="Replace secrets in the rest as well.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Open it in $EDITOR first.")] = False,
    kind: Annotated[str | None, typer.Option(help="The kind of work, instead of a guess.")] = None,
    domain: Annotated[str | None, typer.Option(help="The domain, instead of a guess.")] = None,
    outcome: Annotated[str | None, typer.Option(help="How it ended, instead of a guess.")] = None,
    category: Annotated[str | None, typer.Option(help="What the record is kept for.")] = None,
    summary: Annotated[str | None, typer.Option(help="What happened, instead of counts.")] = None,
    schemas: Annotated[str | None, typer.Option(metavar="DIR", help="Folder of vocabulary files.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the record and write nothing.")] = False,
    form: Annotated[TextFormat, typer.Option("--format", help="How to print the answer.")] = TextFormat.text,
) -> int:
    """Draft the record of a session from its transcript.

    The draft holds no text of the session. It goes to .ontoref/drafts/, which git does not see; an unchanged
    session drafts nothing new, a changed one supersedes its last draft.

    \b
    Example:
      ontoref transcript draft 7acd37a8 --kind Fix --edit
      ontoref transcript draft rollout.jsonl --dry-run | jq .actions
    """
    from ontoref.cli.transcript.session import open_session
    from ontoref.interaction.check import Checker
    from ontoref.interaction.project import own_project
    from ontoref.vocabulary import load

    project = own_project(os.getcwd())
    settings = project.settings
    vocabulary = load(schemas, project.root if project.exists else None)
    words = _words(vocabulary, schemas, project.root if project.exists else None)
    overrides = {"kind": kind, "domain": domain, "outcome": outcome, "category": category, "summary": summary}
    given = {name: value for name, value in overrides.items() if value is not None}
    wanted = Wanted(given, children, with_prompt, redact or settings.redact)
    if edit and children:
        raise UsageError("--edit takes one record; leave --children out")
    log = project.log_folder(settings)
    drafted = list(_draft(open_session(session, runtime), words, wanted, lambda name: _own(log, name, words.origin)))
    checker = Checker(vocabulary)
    for one in drafted:
        _demand(checker, one.record)
        _warn_of_secrets(one.record)
    if dry_run:
        _print_records(drafted, form)
        return 0
    target = _Target(log, project.place.branch if project.place else None, words.origin) if record else None
    rows = list(_keep(drafted, project.root, checker, target, edit=edit))
    if form is TextFormat.json:
        emit_json(rows)
    else:
        for row in rows:
            if form is TextFormat.jsonl:
                emit_json(row)
            else:
                print(f"{row['id']}  {row['path']}:{row['line']}")
                note(_told(row, bool(given)))
    return 0


def _told(row: dict[str, Any], said: bool) -> str:
    """What happened to a draft, and where nobody has said it, what was guessed."""
    if row["status"] != "drafted" or said:
        return str(row["status"])
    return f"drafted as {row['kind']} in {row['domain']}, {row['outcome']}; mend a guess with --kind … or --edit"


def _words(vocabulary: Any, schemas: str | None, root: str | None) -> Words:
    from ontoref.transcript.draft import Words
    from ontoref.transcript.tooling import Tooling
    from ontoref.vocabulary import load_table

    return Words(
        Tooling.of(load_table("tools", schemas, root)),
        load_table("runtimes", schemas, root),
        load_table("drafting", schemas, root),
        vocabulary.enum("RecordOrigin").by_role("drafted"),
        vocabulary.digest,
    )


def _draft(
    session: Session, words: Words, wanted: Wanted, own_of: Callable[[str], list[dict[str, Any]]]
) -> Iterator[Drafted]:
    """The draft of a session and, if wanted, of every session below it; a parent before its children."""
    from datetime import UTC, datetime

    from ontoref import secrets
    from ontoref.interaction.record import without_secrets
    from ontoref.transcript.draft import draft as draft_of
    from ontoref.transcript.draft import session_id, timestamp

    now = timestamp(datetime.now(UTC).timestamp()) or ""
    redact = secrets.redact if wanted.with_prompt else None
    # A session may be joined from two sides, and a damaged index may join it to itself.
    seen: set[str] = set()
    waiting: list[tuple[Session, str | None]] = [(session, None)]
    while waiting:
        current, parent = waiting.pop(0)
        transcript = current.read()
        if not seen:
            given = wanted.given
        made = draft_of(
            transcript.events,
            transcript.report,
            words,
            recorded_at=now,
            top_of=_top_of,
            given=given,
            own_of=own_of,
            parent_record=parent,
            redact=redact,
            clean=without_secrets if wanted.redact else dict,
        )
        info = transcript.report.session
        name = f"{info.runtime}:{info.session_id}"
        if name in seen:
            continue
        seen.add(name)
        if transcript.report.apart:
            raise UsageError(f"this is no transcript but {transcript.report.apart}", location=current.path)
        yield Drafted(info.runtime, session_id(info), made.record)
        # What was given is about the session itself; its children are guessed.
        given = {}
        if wanted.children:
            waiting += [(child, made.record["id"]) for child in _children(current, transcript.report)]


def _children(session: Session, report: Report) -> Iterator[Session]:
    """Sessions that a session delegated to and whose transcript is there."""
    from dataclasses import replace

    from ontoref.cli.transcript.session import Session, open_session
    from ontoref.transcript.find import UnknownSession, stored

    for child in report.session.children:
        if session.archived is not None:
            if child.session_id is not None:
                try:
                    yield open_session(f"{report.session.runtime}:{child.session_id}")
                except UnknownSession:
                    continue
        elif session.found is not None and session.found.store and child.session_id:
            rows = stored(session.found.runtime, session.found.path)
            found = next((row for row in rows if row.session_id == child.session_id), None)
            if found is not None:
                yield replace(session, found=found)
        elif session.path is not None and child.path:
            folder = os.path.realpath(os.path.dirname(session.path))
            path = os.path.realpath(os.path.join(folder, *child.path.split("/")))
            # The name comes from a transcript or an index, so it may point anywhere.
            if os.path.isfile(path) and path.startswith(folder + os.sep):
                yield Session(path, report.session.runtime)


def _top_of(cwd: str) -> str:
    """The top of the repository around a session's folder, the folder itself where that cannot be seen."""
    folder = cwd
    while os.path.isabs(folder) and os.path.isdir(folder):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return cwd


def _warn_of_secrets(record: dict[str, Any]) -> None:
    from ontoref.interaction.record import secrets_in

    for pointer, secret in secrets_in(record):
        note(f"warning: {pointer} looks as if it held a secret ({secret.kind}); --redact replaces it")


def _demand(checker: Checker, record: dict[str, Any]) -> None:
    """Errors: RefusedDraft naming what the vocabulary does not allow."""
    findings = [finding for finding in checker.check_value(record, "draft") if finding.is_error]
    if findings:
        raise RefusedDraft(
            f"the draft breaks the vocabulary:\n{_said(findings)}",
            hint="mend the options, or schemas/tables/ if the project has its own words",
        )


def _said(findings: list[Finding]) -> str:
    from ontoref.interaction.report import as_text

    return "\n".join(as_text(finding) for finding in findings)


def _keep(
    drafted: list[Drafted], root: str, checker: Checker, target: _Target | None, *, edit: bool
) -> Iterator[dict[str, Any]]:
    """Write what is new; a row for each draft. Shape: status is drafted, unchanged, recorded or already recorded."""
    from ontoref.interaction.drafts import Drafts

    drafts = Drafts(root)
    for one in drafted:
        earlier = drafts.of(one.runtime, one.session)
        current = next((place for place in earlier if place.record.get("id") == one.record["id"]), None)
        body = one.record if current is None else current.record
        if edit:
            body = _edited(body, checker)
        if target is not None:
            yield _recorded(body, one.record, target)
        elif current is not None and body == current.record:
            yield _row(body, os.path.relpath(current.path), current.line_number, "unchanged")
        else:
            if current is not None:
                from ontoref.identifiers import new_ulid

                body = {**body, "id": new_ulid()}
            if earlier and "supersedes" not in one.record:
                body = {**body, "supersedes": [earlier[-1].record["id"]]}
            place = drafts.add(one.runtime, one.session, body)
            yield _row(body, os.path.relpath(place.path), place.line_number, "drafted")


def _recorded(body: dict[str, Any], fresh: dict[str, Any], target: _Target) -> dict[str, Any]:
    """Add a draft to the log, once; it supersedes what was drafted and recorded of its session before.

    Shape: body is what a person may have edited, fresh what the session gives now.
    """
    import orjson

    from ontoref.interaction.drafts import records_of
    from ontoref.interaction.log import append, find, relative_path
    from ontoref.interaction.logs import log_paths

    if os.path.isdir(target.log):
        for place, present in find(log_paths([target.log]), body["id"]):
            return _row(present, os.path.relpath(place.path), place.line, "already recorded")
    body = {**body, "recorded_at": fresh["recorded_at"]}
    earlier = [r for r in records_of(body["session_id"], target.log) if r.get("origin") == target.origin]
    body.pop("supersedes", None)
    if earlier:
        body["supersedes"] = [earlier[-1]["id"]]
    name = relative_path(body["session_id"], body["recorded_at"], target.branch)
    (written,) = append(target.log, name, [orjson.dumps(body)])
    return _row(body, os.path.relpath(written.path), written.line, "recorded")


def _row(record: dict[str, Any], path: str, line: int, status: str) -> dict[str, Any]:
    shown = {name: record[name] for name in ("id", "session_id", "kind", "domain", "outcome")}
    return shown | {"path": path, "line": line, "status": status}


def _edited(record: dict[str, Any], checker: Checker) -> dict[str, Any]:
    """The record as the person leaves it in the editor.

    Errors: UsageError without an editor, RefusedDraft if what comes back is no record; the text is kept then.
    """
    import json
    import shlex
    import subprocess
    import tempfile

    import orjson

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no editor is set", hint="export EDITOR=vi")
    handle, path = tempfile.mkstemp(suffix=".json", prefix="ontoref-draft-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    if subprocess.call([*shlex.split(editor), path]) != 0:
        raise UsageError(f"the editor failed; the draft is in {path}")
    with open(path, "rb") as back:
        text = back.read()
    try:
        changed = orjson.loads(text)
        findings = [finding for finding in checker.check_value(changed, path) if finding.is_error]
        said = _said(findings)
    except ValueError as error:
        changed, said = None, f"no JSON: {error}"
    if said or not isinstance(changed, dict):
        raise RefusedDraft(
            f"what came back is no record:\n{said}", hint=f"nothing was written; your text is kept in {path}"
        )
    os.unlink(path)
    return changed


def _own(log: str, session_id: str, drafted: str) -> list[dict[str, Any]]:
    """Records of the log that the session itself wrote, that is: all of it that are no drafts."""
    from ontoref.interaction.drafts import records_of

    return [record for record in records_of(session_id, log) if record.get("origin") != drafted]


def _print_records(drafted: list[Drafted], form: TextFormat) -> None:
    """The records themselves: one as one object, several as a list."""
    if form is TextFormat.text:
        import json

        for one in drafted:
            sys.stdout.write(json.dumps(one.record, indent=2, ensure_ascii=False) + "\n")
    elif form is TextFormat.jsonl:
        for one in drafted:
            emit_json(one.record)
    else:
        emit_json([one.record for one in drafted] if len(drafted) != 1 else drafted[0].record)
