"""A log as git knows it: what is staged, what a base revision holds, and what became of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from ontoref import git
from ontoref.interaction.check import Checker
from ontoref.interaction.finding import Finding
from ontoref.interaction.witness import Prose
from ontoref.vocabulary import Vocabulary

__all__ = [
    "Base",
    "Blob",
    "compare",
    "index",
    "line_is_in",
    "merge_base",
    "read_base",
    "staged",
    "unstaged",
    "work_tree",
]


class Blob(NamedTuple):
    """A file of a revision or of the index. Shape: path is relative to the top of the work tree, with `/`."""

    path: str
    content: bytes


class _Kept(NamedTuple):
    """What a base revision holds of one record. Units: line is 1-based; digests are 16 bytes."""

    path: str
    line: int
    whole: bytes
    without_prose: bytes


class Base(NamedTuple):
    """The records of a base revision. Shape: records by id; lines are digests of every line."""

    revision: str
    records: dict[str, _Kept]
    lines: frozenset[bytes]


def staged(top: str, log: str) -> list[Blob]:
    """Every log file in the index that differs from HEAD, as the index holds it. Errors: git.GitError."""
    words = ["diff", "--cached", "--name-only", "--no-renames", "--diff-filter=ACMRT", "-z", "--", _below(log)]
    paths = [path for path in _split(git.run(words, top)) if path.endswith(".jsonl")]
    return list(_contents(top, [f":{path}" for path in paths], paths))


def index(top: str, log: str) -> Iterator[Blob]:
    """Every log file of the index, staged anew or not. Errors: git.GitError."""
    paths = [path for path in _split(git.run(["ls-files", "-z", "--", _below(log)], top)) if path.endswith(".jsonl")]
    return _contents(top, [f":{path}" for path in paths], paths)


def unstaged(top: str, log: str, staged_paths: Collection[str]) -> tuple[list[str], list[Blob]]:
    """The other log files of the index: paths of those that the work tree holds unchanged, contents of the rest.

    Shape: so a large log is not read through git. Errors: git.GitError.
    """
    names = [name for name in _split(git.run(["ls-files", "-z", "--", _below(log)], top)) if name.endswith(".jsonl")]
    changed = set(_split(git.run(["diff-files", "--name-only", "-z", "--", _below(log)], top)))
    others = [name for name in names if name not in staged_paths]
    dirty = [name for name in others if name in changed]
    return [name for name in others if name not in changed], list(_contents(top, [f":{name}" for name in dirty], dirty))


def merge_base(top: str, revision: str) -> str:
    """The commit at which HEAD and a revision parted. Errors: git.GitError that names the fetch depth."""
    commit = git.try_run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], top)
    if commit is None:
        error = git.GitError(f"git knows no revision {revision}", location=top)
        error.hint = "fetch it: git fetch origin; in CI set fetch-depth: 0"
        raise error
    found = git.try_run(["merge-base", commit.decode().strip(), "HEAD"], top)
    if found is None:
        shallow = (git.try_run(["rev-parse", "--is-shallow-repository"], top) or b"").strip() == b"true"
        error = git.GitError(f"{revision} and HEAD have no commit in common here", location=top)
        error.hint = (
            "the clone is shallow: fetch the whole history (fetch-depth: 0, or git fetch --unshallow)"
            if shallow
            else "name a revision that HEAD grew from"
        )
        raise error
    return found.decode().strip()


def read_base(top: str, log: str, revision: str, checker: Checker) -> Base:
    """The records of a log at a revision; lines that are no valid record are not among them. Errors: git.GitError."""
    names = _split(git.run(["ls-tree", "-r", "--name-only", "-z", revision, "--", _below(log)], top))
    paths = [path for path in names if path.endswith(".jsonl")]
    prose = Prose(checker.vocabulary)
    records: dict[str, _Kept] = {}
    lines: set[bytes] = set()
    for blob in _contents(top, [f"{revision}:{path}" for path in paths], paths):
        for number, line in enumerate(blob.content.split(b"\n"), 1):
            if not line.strip():
                continue
            lines.add(_digest(line.rstrip(b"\r")))
            record = _parsed(line)
            if record is not None and checker.full.accepts(record):
                kept = _Kept(blob.path, number, _digest(_sorted(record)), _digest(_sorted(_bare(record, prose))))
                records.setdefault(record["id"], kept)
    return Base(revision, records, frozenset(lines))


def compare(base: Base, blobs: Iterable[Blob], vocabulary: Vocabulary) -> Iterator[Finding]:
    """What became of the base's records: changed, gone, or with text withheld. Unchanged ones are not mentioned."""
    prose = Prose(vocabulary)
    waiting = dict(base.records)
    changed: dict[str, Finding] = {}
    for blob in blobs:
        for number, line in enumerate(blob.content.split(b"\n"), 1):
            record = _parsed(line)
            identity = record.get("id") if record is not None else None
            kept = base.records.get(identity) if isinstance(identity, str) else None
            if record is None or kept is None or not isinstance(identity, str):
                continue
            waiting.pop(identity, None)
            if _digest(_sorted(record)) == kept.whole:
                changed[identity] = Finding("withheld-text", "", 0, 0, "")
                continue
            rule, what = "changed-record", "has been changed"
            if _digest(_sorted(_bare(record, prose))) == kept.without_prose:
                rule, what = "withheld-text", "has other text"
            message = f"the record {identity} {what} since {base.revision[:12]}"
            hint = None if rule == "withheld-text" else "restore it; a correction is a new record with supersedes"
            present = changed.get(identity)
            # The same id may stand in several files; one that is as it was is enough.
            if present is None or (present.rule == "changed-record" and rule == "withheld-text"):
                changed[identity] = Finding(rule, blob.path, number, 1, message, hint=hint, record=identity)
    for finding in changed.values():
        if finding.message:
            yield finding
    for identity, kept in waiting.items():
        message = f"the record {identity} of {base.revision[:12]} is gone"
        hint = f"git show {base.revision[:12]}:{kept.path} has it; a log is only appended to"
        yield Finding("removed-record", kept.path, kept.line, 0, message, hint=hint, record=identity)


def line_is_in(base: Base, line: bytes) -> bool:
    """Whether a line stood in the base already, in whichever file."""
    return _digest(line.rstrip(b"\r")) in base.lines


def work_tree(top: str, paths: Sequence[str]) -> Iterator[Blob]:
    """The log files of the work tree that can be read; that one cannot be is a finding of its own."""
    for path in paths:
        with suppress(OSError), open(path, "rb") as file:
            yield Blob(os.path.relpath(path, top).replace(os.sep, "/"), file.read())


def _contents(top: str, objects: Sequence[str], paths: Sequence[str]) -> Iterator[Blob]:
    """Contents of objects, by one git process."""
    if not objects:
        return
    output = git.run(["cat-file", "--batch"], top, "\n".join(objects).encode("utf-8", "surrogateescape") + b"\n")
    position = 0
    for path in paths:
        end = output.index(b"\n", position)
        head = output[position:end].split(b" ")
        if head[-1] == b"missing":
            raise git.GitError(f"git has no content for {path}", location=top)
        size = int(head[-1])
        yield Blob(path, output[end + 1 : end + 1 + size])
        position = end + size + 2


def _below(log: str) -> str:
    return f":(top,literal){log}" if log else ":(top)"


def _split(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _bare(record: dict[str, Any], prose: Prose) -> dict[str, Any]:
    """The record without its prose and without the salts that go with it."""
    bare = prose.stripped(record)
    witness = bare.get("witness")
    if isinstance(witness, dict) and isinstance(witness.get("prose"), list):
        bare["witness"] = {**witness, "prose": [_without(entry, "salt") for entry in witness["prose"]]}
    return bare


def _without(item: Any, field: str) -> Any:
    return {name: value for name, value in item.items() if name != field} if isinstance(item, dict) else item


def _sorted(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
