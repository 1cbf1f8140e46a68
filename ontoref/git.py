"""What git knows of the folder we stand in, asked in as few processes as possible."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from ontoref.errors import OntorefError

__all__ = ["GitError", "Place", "git_folder", "locate", "run", "try_run"]


class GitError(OntorefError):
    """git is missing, or refused what a command cannot do without."""

    kind = "git"


class Place(NamedTuple):
    """Where a folder stands. Shape: top is the work tree's top; head a commit id, None before the first commit;
    branch the full name of the ref (`refs/heads/main`), None where HEAD is detached."""

    top: str
    head: str | None
    branch: str | None


def locate(folder: str) -> Place | None:
    """The repository around a folder, worktrees and submodules included; None outside one or without git."""
    # One process: --verify would fail before the first commit, so a missing HEAD is told by its own name.
    words = ["rev-parse", "--show-toplevel", "--revs-only", "HEAD", "--symbolic-full-name", "HEAD"]
    answer = try_run(words, folder)
    if answer is None:
        return None
    lines = answer.decode("utf-8", "surrogateescape").splitlines()
    top, *rest = lines
    head = next((line for line in rest if _is_object(line)), None)
    branch = next((line for line in rest if line.startswith("refs/")), None)
    if branch is None and head is None:
        named = try_run(["symbolic-ref", "--quiet", "HEAD"], folder)
        branch = named.decode().strip() if named else None
    return Place(top, head, branch)


def git_folder(folder: str) -> str | None:
    """The folder of git's own that a folder is or lies in: a bare repository, or the `.git` of another one.

    Shape: told by what git itself looks for; no process is started, and git need not be there.
    """
    current = os.path.realpath(folder)
    while True:
        if os.path.isfile(os.path.join(current, "HEAD")) and all(
            os.path.isdir(os.path.join(current, name)) for name in ("objects", "refs")
        ):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent


def run(words: Sequence[str], folder: str, stdin: bytes | None = None) -> bytes:
    """What `git WORDS` prints. Errors: GitError with git's own first line."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, input=stdin, capture_output=True, check=False)
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}", location=folder) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(f"git {words[0]}: {said[0] if said else f'exit {done.returncode}'}", location=folder)
    return done.stdout


def try_run(words: Sequence[str], folder: str) -> bytes | None:
    """What `git WORDS` prints, None if it fails or there is no git."""
    try:
        return run(words, folder)
    except GitError:
        return None


def _is_object(line: str) -> bool:
    return len(line) in (40, 64) and all(character in "0123456789abcdef" for character in line)
