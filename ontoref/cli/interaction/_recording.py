"""The edge of `record`: what the options, the environment and git say, and how the answer is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ontoref.errors import UsageError
from ontoref.identifiers import new_ulid
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.interaction.check import Checker
    from ontoref.interaction.project import Project, Settings
    from ontoref.interaction.record import Item
    from ontoref.interaction.store import Kept
    from ontoref.vocabulary import Vocabulary

__all__ = [
    "Fields",
    "Talk",
    "built",
    "changed_files",
    "known",
    "new_ulid",
    "now",
    "put_aside",
    "read",
    "repository_path",
    "signed",
]

_LARGEST_INPUT_BYTES = 128 << 20


class Fields:
    """What can be filled into a record. Shape: origins says where a value came from, for the person it surprises."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}

    def add(self, name: str, value: Any, origin: str) -> None:
        self.values[name] = value
        self.origins[name] = origin


def now() -> str:
    """This moment, UTC, in milliseconds."""
    from datetime import UTC, datetime

    moment = datetime.now(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def read(source: str) -> tuple[str, bytes]:
    """What the input is called, and its bytes. Errors: UsageError if it is too large or the record itself; OSError."""
    if source == "-":
        content = sys.stdin.buffer.read(_LARGEST_INPUT_BYTES + 1)
    else:
        if source.lstrip().startswith(("{", "[")) and not os.path.exists(source):
            raise UsageError(
                "a record comes from a file or from stdin, not as an argument",
                hint="echo '{…}' | ontoref interaction record -, or the options: --summary, --decision, …",
            )
        with open(source, "rb") as stream:
            content = stream.read(_LARGEST_INPUT_BYTES + 1)
    if len(content) > _LARGEST_INPUT_BYTES:
        raise UsageError(
            f"the input is larger than {_LARGEST_INPUT_BYTES >> 20} MiB", location=source, hint="record it in parts"
        )
    return source, content


def built(plain: Mapping[str, Any], texts: Mapping[str, Any], op_ref: str | None) -> dict[str, Any]:
    """A record made of options, {} if there are none.

    Shape:  texts are JSON objects as typed: a list of them, or one.
    Errors: UsageError for what is no JSON object or no UTF-8.
    """
    record = {name: list(v) if isinstance(v, (list, tuple)) else v for name, v in plain.items() if v}
    if plain["summary"] is not None:
        record["summary"] = plain["summary"]
    for name, given in texts.items():
        option = f"--{name.removesuffix('s') if isinstance(given, list) else name}"
        if given:
            record[name] = (
                [_object(option, text) for text in given] if isinstance(given, list) else _object(option, given)
            )
    try:
        str(record).encode()
    except UnicodeEncodeError:
        raise UsageError("an option holds bytes that are not UTF-8", hint="put the record into a file") from None
    for noun in ("events", "actions") if op_ref is not None else ():
        for item in record.get(noun, ()):
            item.setdefault("op_ref", op_ref)
    return record


def _object(option: str, text: str) -> dict[str, Any]:
    import orjson

    hint = f'{option} \'{{"kind": "…"}}\''
    try:
        value = orjson.loads(text)
    except ValueError:
        from ontoref.interaction.json_text import examine

        flaw = examine(text).flaw
        problem = f"column {flaw.column}: {flaw.message}" if flaw else "it is not JSON"
        raise UsageError(f"{option}: {problem}", hint=hint) from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} takes a JSON object", hint=hint)
    return value


def repository_path(given: str, project: Project) -> str:
    """A path as typed, relative to the top of the repository. Errors: UsageError if it lies outside."""
    top = os.path.realpath(project.place.top if project.place else project.root)
    path = os.path.abspath(given)
    # The folder's own place counts; a file that is a link is named as such.
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    relative = os.path.relpath(path, top)
    if relative == os.pardir or relative.startswith(os.pardir + os.sep) or os.path.isabs(relative):
        raise UsageError(f"--file: {given} lies outside {top}", hint="files_touched are files of the repository")
    return relative.replace(os.sep, "/")


def changed_files(project: Project, log: str, revision: str, checker: Checker) -> list[str]:
    """Paths that differ from a revision, untracked ones too, the log left out. Errors: GitError, UsageError."""
    from ontoref import git
    from ontoref.cli.output import note
    from ontoref.vocabulary.engine import compile_schema

    if project.place is None:
        raise UsageError("--files-from-git needs a git work tree", location=os.getcwd())
    top = project.place.top
    words = ["diff", "--name-only", "--no-renames", "--no-relative", "-z", "--end-of-options", revision, "--"]
    listed = git.run(words, top) if project.place.head or revision != "HEAD" else git.run(["ls-files", "-z"], top)
    listed += git.run(["ls-files", "--others", "--exclude-standard", "-z"], top)
    ours = os.path.relpath(log, os.path.realpath(top)).replace(os.sep, "/") + "/"
    names = sorted({os.fsdecode(name) for name in listed.split(b"\0") if name})
    items = "#/$defs/InteractionRecord/properties/files_touched/items"
    accepts = compile_schema({**checker.vocabulary.schema, "$ref": items}).accepts
    kept = []
    for name in names:
        if name.startswith(ours):
            continue
        if name.isprintable() and accepts(name):
            kept.append(name)
        else:
            note(f"left out: {name!r} is a path that a record cannot hold")
    return kept


def known(
    vocabulary: Vocabulary,
    project: Project,
    settings: Settings,
    schemas: str | None,
    *,
    session: str | None,
    actor: str | None,
) -> Fields:
    """What can be told of any record: session, actor, revision, vocabulary, origin."""
    fields = Fields()
    environment = os.environ
    named = environment.get("ONTOREF_ACTOR") or settings.actor
    table: Mapping[str, Any] = {}
    if (actor or named) is None or (session or environment.get("ONTOREF_SESSION_ID")) is None:
        from ontoref.vocabulary import load_table

        table = load_table("actors", schemas, project.root)
    if session is not None:
        fields.add("session_id", session, "--session")
    else:
        sources = ["ONTOREF_SESSION_ID", *table.get("sessions", ())]
        name = next((name for name in sources if environment.get(name)), None)
        fields.add("session_id", environment[name] if name else new_ulid(), name or "")
    if actor is not None:
        fields.add("actor", actor, "--actor")
    elif named is not None:
        where = "ONTOREF_ACTOR" if environment.get("ONTOREF_ACTOR") else "actor: in .ontoref/config.yaml"
        fields.add("actor", named, where)
    else:
        name = next((name for name in table["variables"] if environment.get(name)), None)
        if name is not None:
            fields.add("actor", table["variables"][name], f"{name}, which is set")
        elif sys.stdin.isatty() and sys.stderr.isatty():
            fields.add("actor", table["terminal"], "the terminal")
    fields.values["revision"] = project.place.head if project.place else None
    fields.values["vocabulary"] = vocabulary.digest
    fields.values["origin"] = vocabulary.enum("RecordOrigin").by_role("emitted")
    return fields


def signed(
    items: Sequence[Item],
    checker: Checker,
    project: Project,
    key: str | None,
    op_id: str | None,
    state_root: str | None,
) -> list[Item]:
    """The items with a witness of ours where they have none. Errors: UsageError, KeyError of the key store."""
    import orjson

    from ontoref import git
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
        if item.refused or "witness" in item.record:
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
        broken = [f for f in checker.check_value(record, "witness", 0) if f.pointer.startswith("/witness")]
        sealed.append(item._replace(record=record, line=orjson.dumps(record), findings=(*item.findings, *broken)))
    return sealed


def put_aside(path: str, texts: Sequence[bytes]) -> None:
    """Add refused records to a file, one a line, each as it was given. Errors: OSError."""
    with open(path, "ab") as file:
        for text in texts:
            file.write(text.rstrip(b"\r\n") + b"\n")


class Talk:
    """How the command tells what it did: places to stdout, everything else to stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._project = self._session = ""

    def _say(self, text: str, **fields: Any) -> None:
        from ontoref.cli.output import tell

        tell(text, **fields)

    def expect_new_project(self, project: Project) -> None:
        """Note that the first record will make the project's folder."""
        self._project = f"{os.path.join(project.root, '.ontoref')} is new: it holds this project's records"

    def expect_new_session(self, session: str) -> None:
        """Note that a record without a session begins one."""
        self._session = f"session {session} is new; --session ID or ONTOREF_SESSION_ID keeps its records together"

    def of_beginnings(self, new: Sequence[Item]) -> None:
        """What comes into being with these records."""
        if new and self._project:
            self._say(self._project, note=self._project)
        if self._session and any("session_id" not in item.stated for item in new):
            self._say(self._session, note=self._session)

    def of_secrets(self, items: Sequence[Item]) -> None:
        """Warn of what looks like a secret, without showing it."""
        from ontoref.interaction.record import secrets_in

        for item in items:
            for pointer, secret in secrets_in(item.record):
                text = f"{pointer} looks as if it held a secret ({secret.kind}); --redact replaces it"
                self._say(f"warning: {text}", warning={"kind": "secret", "message": text, "location": pointer})

    def of_strays(self, strays: Sequence[tuple[str, str]]) -> None:
        """Warn of references to records that the log lacks. They may stand on another branch, or come later."""
        from ontoref.interaction.record import no_record

        for target, pointer in strays:
            text = f"{no_record(target, pointer)}; validate refuses that as long as it is so"
            self._say(f"warning: {text}", warning={"kind": "unknown-record", "message": text, "location": pointer})

    def of_findings(
        self, items: Sequence[Item], refused: Sequence[Item], clashing: Sequence[Item], *, keep_going: bool
    ) -> None:
        """What is wrong, in the order of the input, and what was done about it."""
        late = {id(item.given): item for item in clashing}
        findings = [finding for item in items for finding in late.get(id(item.given), item).findings]
        if not findings:
            return
        from ontoref.interaction.report import as_text

        errors = [finding for finding in findings if finding.is_error]
        for finding in findings:
            if not self.as_json:
                self._say(as_text(finding))
            elif not finding.is_error:
                self._say("", warning=finding.as_json())
        if not errors:
            return
        count = counted(len(errors), "finding")
        if keep_going:
            message = f"{len(refused)} of {len(items)} not recorded: {count}"
        else:
            message = f"not recorded: {count} (nothing was written)"
        body = {"kind": "refused", "message": message, "hint": None, "location": None}
        self._say(message, error={**body, "findings": [finding.as_json() for finding in errors]})

    def of_records(self, new: Sequence[Item]) -> None:
        """The records that would be written."""
        from ontoref.cli.output import write_json

        if self.as_json:
            write_json((b"[", b",".join(item.line for item in new), b"]\n"))
        else:
            write_json(item.line + b"\n" for item in new)
        sys.stdout.flush()
        self._say("dry run: nothing was written", note="dry run: nothing was written")

    def of_places(self, items: Sequence[Item], kept: Sequence[Kept], repeated: Sequence[Item]) -> None:
        """Where each record is, in the order of the input."""
        from ontoref.cli.output import emit_json, short_path
        from ontoref.text import printable

        order = {id(item.given): number for number, item in enumerate(items)}
        at = {item.identity: place for item, place, _ in kept if isinstance(item.identity, str)}
        rows = [*kept, *((item, at[item.identity], True) for item in repeated)]
        rows.sort(key=lambda row: order[id(row[0].given)])
        lines = []
        for item, place, again in rows:
            row: dict[str, Any] = {"id": item.identity, "path": short_path(place.path), "line": place.line}
            if again:
                row["already_recorded"] = True
            lines.append(row)
        if self.as_json:
            emit_json(lines)
            return
        for row in lines:
            name = row["id"] if isinstance(row["id"], str) else "—"
            tail = "  already recorded" if "already_recorded" in row else ""
            sys.stdout.write(printable(f"{name}  {row['path']}:{row['line']}{tail}") + "\n")
