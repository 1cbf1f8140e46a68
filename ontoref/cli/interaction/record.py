"""`ontoref interaction record`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.interaction.check import Checker
    from ontoref.interaction.finding import Finding
    from ontoref.interaction.project import Project, Settings
    from ontoref.interaction.record import Given


class PlaceForm(StrEnum):
    """The forms in which places of records are told."""

    text = "text"
    json = "json"


class Item(NamedTuple):
    """A record on its way into the log: what was given, what became of it, and what is wrong with it."""

    given: Given
    record: Any
    findings: list[Finding]


def record(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A JSON object, an array, or one object a line; - is stdin.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="What sort of work it was.", metavar="KIND")] = None,
    domain: Annotated[str | None, typer.Option(help="Which part of the system.", metavar="DOMAIN")] = None,
    outcome: Annotated[str | None, typer.Option(help="How it ended.", metavar="OUTCOME")] = None,
    summary: Annotated[str | None, typer.Option(help="What happened, in your own words.", metavar="TEXT")] = None,
    category: Annotated[str | None, typer.Option(help="What the record is kept for.", metavar="CATEGORY")] = None,
    actor: Annotated[
        str | None, typer.Option(help="Who did it; else told from the environment.", metavar="ACTOR")
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
    tension: Annotated[list[str] | None, typer.Option(help="A tension. May be repeated.", metavar="ID")] = None,
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
        str | None, typer.Option(help="With --keep-going: where refused ones go.", metavar="FILE")
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
    from ontoref.interaction.check import Checker
    from ontoref.interaction.project import find_project
    from ontoref.interaction.record import parse
    from ontoref.vocabulary import load

    options = {
        "kind": kind,
        "domain": domain,
        "outcome": outcome,
        "summary": summary,
        "category": category,
        "model": model,
        "started_at": started,
        "ended_at": ended,
        "events": _objects("--event", event),
        "decisions": _objects("--decision", decision),
        "actions": _objects("--action", action),
        "insights": _objects("--insight", insight),
        "files_touched": list(file) if file else None,
        "tensions_engaged": list(tension) if tension else None,
        "parent_record": parent,
        "supersedes": list(supersedes) if supersedes else None,
        "witness": _object("--witness", witness) if witness is not None else None,
    }
    built = {name: value for name, value in options.items() if value is not None}
    if source is None and not built:
        raise UsageError("there is no record", hint="name a FILE, - for stdin, or give it as options: --kind …")
    if source is not None and built:
        given_options = ", ".join(sorted(built))
        raise UsageError(f"a FILE and options for {given_options} do not go together", hint="put them into the file")
    if rejects is not None and not keep_going:
        raise UsageError("--rejects needs --keep-going")
    project = find_project(os.getcwd())
    settings = project.settings
    checker = Checker(load(schemas, project.root))
    path, content = ("options", b"") if source is None else _read(source)
    if source is None:
        _refer(built, op_ref)
        givens = [_built(built)]
    else:
        givens = parse(content, path, checker)
    fields = _known(checker, project, settings, session, actor)
    if files_from_git is not None:
        fields["files_touched"] = _changed_files(project, files_from_git or "HEAD")
    if not validate:
        items = [Item(g, g.value, _raw_findings(g, path)) for g in givens]
    else:
        items = _checked(givens, fields, path, content.decode("utf-8", "replace"), checker)
    if redact if redact is not None else settings.redact:
        items = [_redacted(item) for item in items]
    else:
        _warn_of_secrets(items)
    if sign if sign is not None else settings.sign:
        items = _signed(items, checker, project, key or settings.key, op_id, state_root)
    return _store(items, project, settings, log, lock_timeout, form, keep_going, rejects, path, dry_run=dry_run)


def _read(source: str) -> tuple[str, bytes]:
    if source == "-":
        return "-", sys.stdin.buffer.read()
    with open(source, "rb") as stream:
        return source, stream.read()


def _object(option: str, text: str) -> dict[str, Any]:
    import orjson

    try:
        value = orjson.loads(text)
    except ValueError:
        from ontoref.interaction.json_text import examine

        flaw = examine(text).flaw
        problem = f"column {flaw.column}: {flaw.message}" if flaw else "it is not JSON"
        raise UsageError(f"{option}: {problem}", hint=f'{option} \'{{"kind": "…"}}\'') from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} takes a JSON object", hint=f'{option} \'{{"kind": "…"}}\'')
    return value


def _objects(option: str, texts: list[str] | None) -> list[dict[str, Any]] | None:
    return [_object(option, text) for text in texts] if texts else None


def _refer(built: dict[str, Any], op_ref: str | None) -> None:
    """Give events and actions that name no operation the one that was named for all."""
    if op_ref is not None:
        for noun in ("events", "actions"):
            for item in built.get(noun, ()):
                item.setdefault("op_ref", op_ref)


def _built(record: dict[str, Any]) -> Given:
    import orjson

    from ontoref.interaction.record import Given

    return Given(record, 0, orjson.dumps(record), None)


def _known(
    checker: Checker, project: Project, settings: Settings, session: str | None, actor: str | None
) -> dict[str, Any]:
    """What the edge can tell of any record. Shape: None where it cannot."""
    vocabulary = checker.vocabulary
    table = None
    if session is None or actor is None:
        from ontoref.vocabulary import load_table

        table = load_table("actors", project=project.root)
    if session is None and table is not None:
        session = next((os.environ[name] for name in table["sessions"] if os.environ.get(name)), None)
    if session is None:
        from ontoref.identifiers import new_ulid

        session = new_ulid()
    if actor is None and table is not None:
        actor = os.environ.get("ONTOREF_ACTOR") or settings.actor
        actor = actor or next((word for name, word in table["variables"].items() if os.environ.get(name)), None)
        if actor is None and sys.stdin.isatty() and sys.stderr.isatty():
            actor = table["terminal"]
    return {
        "session_id": session,
        "actor": actor,
        "revision": project.place.head if project.place else None,
        "vocabulary": vocabulary.digest,
        "origin": vocabulary.enum("RecordOrigin").by_role("emitted"),
    }


def _changed_files(project: Project, revision: str) -> list[str]:
    """Paths that differ from a revision, untracked ones too, ours left out. Errors: GitError, UsageError."""
    from ontoref import git

    if project.place is None:
        raise UsageError("--files-from-git needs a git work tree", location=os.getcwd())
    top = project.place.top
    words = ["diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--"]
    known = git.run(words, top) if project.place.head else b""
    new = git.run(["ls-files", "--others", "--exclude-standard", "-z"], top)
    names = {os.fsdecode(name) for name in (known + new).split(b"\0") if name}
    return sorted(name for name in names if not name.startswith(".ontoref/interactions/"))


def _checked(givens: list[Given], fields: dict[str, Any], path: str, text: str, checker: Checker) -> list[Item]:
    from datetime import UTC, datetime

    from ontoref.identifiers import new_ulid
    from ontoref.interaction.record import Context, check, complete

    moment = datetime.now(UTC)
    now = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
    context = Context(checker.vocabulary, now, new_ulid, fields)
    items = []
    for given in givens:
        record = complete(given.value, context) if isinstance(given.value, dict) else given.value
        items.append(Item(given, record, check(record, given, path, text, checker)))
    return items


def _raw_findings(given: Given, path: str) -> list[Finding]:
    """What even --no-validate refuses: a line that is not one JSON object would break the log for everybody."""
    from ontoref.interaction.finding import Finding

    if given.value is None and given.findings:
        return [finding for finding in given.findings if finding.rule != "duplicate-key"]
    if not isinstance(given.value, dict):
        return [Finding("not-object", path, given.line, 1, "a record is one JSON object")]
    return []


def _redacted(item: Item) -> Item:
    from ontoref.interaction.record import without_secrets

    return item._replace(record=without_secrets(item.record)) if isinstance(item.record, dict) else item


def _warn_of_secrets(items: list[Item]) -> None:
    from ontoref.cli.output import note
    from ontoref.interaction.record import secrets_in

    for item in items:
        if isinstance(item.record, dict):
            for pointer, secret in secrets_in(item.record):
                note(f"warning: {pointer} looks as if it held a secret ({secret.kind}); --redact replaces it")


def _signed(
    items: list[Item], checker: Checker, project: Project, key: str | None, op_id: str | None, state_root: str | None
) -> list[Item]:
    from ontoref import git
    from ontoref.identifiers import new_ulid
    from ontoref.interaction.keys import load_signer
    from ontoref.interaction.witness import Prose, seal
    from ontoref.places import config_dir

    if key is None:
        raise UsageError("there is no key to sign with", hint="--key ID, or key: ID in .ontoref/config.yaml")
    if state_root is None:
        tree = git.try_run(["rev-parse", "HEAD^{tree}"], project.root)
        if tree is None:
            raise UsageError("there is no tree to sign for", hint="commit first, or give --state-root")
        state_root = tree.decode().strip()
    signer = load_signer(os.path.join(config_dir(), "keys"), key, os.environ.get("ONTOREF_KEY_PASSPHRASE"))
    prose = Prose(checker.vocabulary)
    algorithm = checker.vocabulary.enum("SignatureAlgorithm").by_role("ed25519")
    sealed = []
    for item in items:
        if item.findings or not isinstance(item.record, dict) or "witness" in item.record:
            sealed.append(item)
            continue
        record = seal(
            item.record,
            prose,
            signer.sign,
            op_id=op_id or new_ulid(),
            state_root=state_root,
            key_id=signer.key_id,
            algorithm=algorithm,
            new_salt=lambda: os.urandom(16),
        )
        sealed.append(item._replace(record=record, findings=checker.check_value(record, "witness")))
    return sealed


def _store(
    items: list[Item],
    project: Project,
    settings: Settings,
    log: str | None,
    lock_timeout: float,
    form: PlaceForm,
    keep_going: bool,
    rejects: str | None,
    path: str,
    *,
    dry_run: bool,
) -> int:
    import orjson

    from ontoref.cli.output import note

    folder = os.path.abspath(log) if log is not None else project.log_folder(settings)
    refused = [item for item in items if any(finding.is_error for finding in item.findings)]
    good = [item for item in items if item not in refused] if refused else items
    places: dict[int, dict[str, Any]] = {}
    for item in [] if refused and not keep_going else good:
        places[id(item)] = _present(item, path, folder) or {}
    clashing = [item for item in good if "clash" in places.get(id(item), {})]
    for item in clashing:
        refused.append(item._replace(findings=[places[id(item)]["clash"]]))
    good = [item for item in good if item not in clashing]
    _complain(refused, good, form, keep_going=keep_going)
    if refused and not keep_going:
        return 1
    new = [item for item in good if not places[id(item)]]
    if dry_run:
        for item in new:
            sys.stdout.buffer.write(orjson.dumps(item.record, option=orjson.OPT_APPEND_NEWLINE))
        note("dry run: nothing was written")
        return 1 if refused else 0
    if new and not project.exists and log is None and settings.log is None:
        note(f"{project.root}{os.sep}.ontoref is new: it holds this project's records")
    _append(new, folder, project, lock_timeout, places)
    if refused and rejects is not None:
        from ontoref.interaction.adoption.change import replace

        replace(os.path.abspath(rejects), b"".join(item.given.text + b"\n" for item in refused))
    rows = [places[id(item)] for item in good]
    if form is PlaceForm.json:
        sys.stdout.buffer.write(orjson.dumps(rows, option=orjson.OPT_APPEND_NEWLINE))
    else:
        for row in rows:
            again = "  already recorded" if row.get("already_recorded") else ""
            print(f"{row['id'] or '—'}  {row['path']}:{row['line']}{again}")
    return 1 if refused else 0


def _present(item: Item, path: str, folder: str) -> dict[str, Any] | None:
    """The place of a record that is in the log already, or the clash with another of its id."""
    given = item.given.value
    identity = given.get("id") if isinstance(given, dict) else None
    if not isinstance(identity, str) or not os.path.isdir(folder):
        return None
    from ontoref.interaction.finding import Finding
    from ontoref.interaction.log import find
    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.record import same

    for place, present in find(log_paths([folder]), identity):
        if same(given, present):
            return {"id": identity, "path": _label(place.path), "line": place.line, "already_recorded": True}
        message = f'id: another record "{identity}" stands at {_label(place.path)}:{place.line}'
        hint = "leave the id out; a correction is a new record that names this one in supersedes"
        return {"clash": Finding("duplicate-id", path, item.given.line, 0, message, "/id", identity, hint=hint)}
    return None


def _append(
    new: list[Item], folder: str, project: Project, lock_timeout: float, places: dict[int, dict[str, Any]]
) -> None:
    import orjson

    from ontoref.interaction.log import append, relative_path

    files: dict[str, list[Item]] = {}
    branch = project.place.branch if project.place else None
    for item in new:
        name = relative_path(item.record.get("session_id"), item.record.get("recorded_at"), branch)
        files.setdefault(name, []).append(item)
    for name, group in files.items():
        lines = [orjson.dumps(item.record) for item in group]
        for item, written in zip(group, append(folder, name, lines, lock_timeout_s=lock_timeout), strict=True):
            places[id(item)] = {"id": item.record.get("id"), "path": _label(written.path), "line": written.line}


def _label(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative.replace(os.sep, "/")


def _complain(refused: list[Item], good: list[Item], form: PlaceForm, *, keep_going: bool) -> None:
    """Say on stderr what is wrong, and what was done about it."""
    from ontoref.cli.output import note
    from ontoref.interaction.report import as_text

    warnings = [finding for item in good for finding in item.findings]
    findings = [finding for item in refused for finding in item.findings]
    if form is PlaceForm.json and findings:
        import orjson

        count = f"{len(refused)} of {len(refused) + len(good)} not recorded"
        error = {"kind": "refused", "message": count, "findings": [finding.as_json() for finding in findings]}
        sys.stderr.write(orjson.dumps({"error": error}).decode() + "\n")
        return
    for finding in [*findings, *warnings]:
        sys.stderr.write(as_text(finding) + "\n")
    if findings:
        count = f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}"
        if keep_going and good:
            note(f"{len(refused)} of {len(refused) + len(good)} not recorded: {count}")
        else:
            note(f"not recorded: {count} (nothing was written)")
