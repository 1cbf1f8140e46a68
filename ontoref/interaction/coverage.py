"""What left no record: commits, sessions that never ended, actors that never record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ontoref import git

__all__ = ["Commit", "Coverage", "commits_since", "coverage"]


class Commit(NamedTuple):
    """Shape: files are relative to the top of the work tree."""

    id: str
    author: str
    date: str
    subject: str
    files: frozenset[str]


class Coverage(NamedTuple):
    """Shape: uncovered are commits that no record stands for; sessions have no record with an outcome; silent are
    actors of the vocabulary without a record."""

    commits: int
    uncovered: tuple[Commit, ...]
    sessions: tuple[str, ...]
    silent: tuple[str, ...]

    @property
    def share(self) -> float:
        """Part of the commits that a record stands for, 0 to 1; 1 without commits."""
        return 1 - len(self.uncovered) / self.commits if self.commits else 1.0


def commits_since(top: str, since: str | None) -> list[Commit]:
    """Commits of HEAD that a revision lacks, newest first, merges left out. Errors: git.GitError."""
    span = f"{since}..HEAD" if since else "HEAD"
    form = "--format=%x1e%H%x1f%an%x1f%cI%x1f%s%x1f"
    words = ["log", "--no-merges", "--no-renames", "--name-only", "-z", form, "--end-of-options", span, "--"]
    output = git.run(words, top)
    found = []
    for block in output.split(b"\x1e")[1:]:
        identity, author, date, subject, rest = (os.fsdecode(part) for part in block.split(b"\x1f", 4))
        files = frozenset(name.strip("\n") for name in rest.split("\0") if name.strip("\n"))
        found.append(Commit(identity, author, date, subject, files))
    return found


def coverage(
    commits: Sequence[Commit], records: Iterable[Mapping[str, Any]], actors: Sequence[str], log: str
) -> Coverage:
    """What the records do not cover.

    Shape:  a commit is covered if it brings a record itself, if a record names it or its parent as revision and
            touches one of its files, or if a record's files hold all of its own; a commit of records alone is none.
    """
    by_file: dict[str, set[str]] = {}
    revisions: dict[str, set[str]] = {}
    ended: set[str] = set()
    seen: dict[str, None] = {}
    active: set[str] = set()
    for record in records:
        files = {path for path in record.get("files_touched", ()) if isinstance(path, str)}
        identity = str(record.get("id"))
        for path in files:
            by_file.setdefault(path, set()).add(identity)
        if isinstance(record.get("revision"), str):
            revisions.setdefault(record["revision"], set()).update(files)
        session = record.get("session_id")
        if isinstance(session, str):
            seen[session] = None
            if isinstance(record.get("outcome"), str):
                ended.add(session)
        active.add(str(record.get("actor")))
    uncovered = []
    counted = 0
    for commit, parent in zip(commits, [*(c.id for c in commits[1:]), ""], strict=True):
        own = frozenset(path for path in commit.files if not path.startswith(f"{log}/"))
        if not own:
            continue
        counted += 1
        brings = own != commit.files
        named = revisions.get(commit.id, set()) | revisions.get(parent, set())
        if not (brings or own & named or all(path in by_file for path in own)):
            uncovered.append(commit)
    silent = tuple(actor for actor in actors if actor not in active)
    return Coverage(counted, tuple(uncovered), tuple(s for s in seen if s not in ended), silent)
