"""Copies of our own vocabulary with a change, and the cases of `broken/` that describe such changes.

A case is a text file: a line of why, `shows: RULE` (or `unreadable`), `file:`, the text that stands on the line that
must be named (`at:`), words of the message (`says:`), then `--- was` / `--- is` pairs of text or one `--- whole`. With
neither the file is gone. Drop a case in and it is tested.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ontoref import resources

CASES = sorted((Path(__file__).parent / "broken").glob("*.txt"))


@dataclass(frozen=True, slots=True)
class Case:
    shows: str
    file: str
    at: str | None
    says: str | None
    whole: str | None
    changes: tuple[tuple[str, str], ...]


def read_case(path: Path) -> Case:
    head, *parts = re.split(r"^--- (was|is|whole)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    said = dict(line.split(": ", 1) for line in head.splitlines() if not line.startswith("#"))
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    whole = next((text for name, text in pairs if name == "whole"), None)
    before = [text for name, text in pairs if name == "was"]
    after = [text for name, text in pairs if name == "is"]
    return Case(
        said["shows"], said["file"], said.get("at"), said.get("says"), whole, tuple(zip(before, after, strict=True))
    )


def copy_schemas(to: Path) -> Path:
    """Our own vocabulary, without its tables, in a folder of its own."""
    to.mkdir(parents=True, exist_ok=True)
    for path in Path(resources.folder("schemas")).glob("*.yaml"):
        shutil.copy(path, to)
    return to


def change(folder: Path, file: str, was: str, now: str) -> None:
    """Replace a text that must stand in a file."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert was.strip("\n") in text, f"{file} does not hold {was!r}"
    path.write_text(text.replace(was.strip("\n"), now.strip("\n"), 1), encoding="utf-8")


def broken(path: Path, folder: Path) -> Case:
    """Make the vocabulary of a case in a folder."""
    case = read_case(path)
    copy_schemas(folder)
    if case.whole is not None:
        (folder / case.file).write_text(case.whole, encoding="utf-8")
    elif not case.changes:
        (folder / case.file).unlink()
    for was, now in case.changes:
        change(folder, case.file, was, now)
    return case


def add_after(folder: Path, file: str, line: str, more: str) -> None:
    change(folder, file, line, f"{line}\n{more}")
