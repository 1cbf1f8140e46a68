"""The pre-commit hook of a repository, with our part in it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

from ontoref import resources
from ontoref.errors import OntorefError
from ontoref.interaction.adoption.block import put, take_out
from ontoref.interaction.adoption.change import replace

__all__ = ["BEGIN", "END", "HookError", "Place", "find", "install", "prove", "uninstall"]

BEGIN, END = "# ontoref:begin", "# ontoref:end"


class HookError(OntorefError):
    """The hook cannot be put where git would run it."""

    kind = "hook"


@dataclass(frozen=True, slots=True)
class Place:
    """Shape: state is `absent`, `installed`, `outdated` or `foreign` (another hook stands there, ours does not)."""

    path: str
    state: str


def find(folder: str) -> Place:
    """Where git looks for the hook of the repository around a folder, and what stands there. Errors: HookError."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--is-bare-repository", "--path-format=absolute", "--git-path", "hooks/pre-commit"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise HookError("git is not installed", hint="install git, or run the check in CI") from None
    if done.returncode != 0:
        raise HookError("this is not a git repository", location=folder, hint="git init")
    bare, path = done.stdout.rstrip("\n").split("\n", 1)
    if bare == "true":
        raise HookError("nobody commits in a bare repository", location=folder, hint="install it in a clone")
    text = _read(path)
    if text is None:
        return Place(path, "absent")
    if BEGIN not in text:
        return Place(path, "foreign")
    return Place(path, "installed" if _with_block(text, path) == text else "outdated")


def install(place: Place) -> None:
    """Put our part into the hook, after whatever stands there. Errors: HookError, BrokenBlock, OSError."""
    text = _read(place.path)
    if text is not None and not text.startswith(
        ("#!/bin/sh", "#!/usr/bin/env sh", "#!/bin/bash", "#!/usr/bin/env bash")
    ):
        first = text.split("\n", 1)[0][:60]
        raise HookError(
            f"the hook that stands there is no shell script ({first})",
            location=place.path,
            hint="call `ontoref interaction validate --staged` from it by hand",
        )
    replace(place.path, _with_block(text or "#!/bin/sh\n", place.path).encode(), executable=True)


def uninstall(place: Place) -> None:
    """Take our part out; a hook that holds nothing else goes. Errors: BrokenBlock, OSError."""
    text = _read(place.path)
    if text is None:
        return
    rest = take_out(text, BEGIN, END, path=place.path)
    if rest.strip() in ("", "#!/bin/sh"):
        os.unlink(place.path)
    elif rest != text:
        replace(place.path, rest.encode(), executable=True)


def prove(place: Place) -> str | None:
    """Run the hook as git would, with what is staged now; what it said if it could not check, None if it could."""
    top = os.path.dirname(place.path)
    while top != os.path.dirname(top) and not os.path.exists(os.path.join(top, ".git")):
        top = os.path.dirname(top)
    import shutil

    if shutil.which("ontoref") is None:
        return "ontoref is not on the PATH, so the hook would only say so"
    done = subprocess.run([place.path], cwd=top, capture_output=True, text=True, check=False)
    return (
        None if done.returncode in (0, 1) else (done.stderr.strip() or f"the hook ended with {done.returncode}")[-200:]
    )


def _with_block(text: str, path: str) -> str:
    body = resources.text("hooks", "pre-commit").split("\n", 1)[1]
    return put(text, BEGIN, END, body, path=path)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
