"""How the cost of a record and the memory of a run grow with the log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpus
from benchmarks.table import command, peak_bytes, processor_seconds
from ontoref.vocabulary import load

__all__ = ["table"]

# Each row that can be asked for, and the kinds of question that hold most: names, all of it, sorted.
QUESTIONS: dict[str, list[str]] = {
    "validate": ["validate"],
    "decisions --adr-candidates": ["decisions", "--adr-candidates", "--format", "json"],
    "decisions": ["decisions", "--format", "json"],
    "records --where domain=Storage": ["records", "--where", "domain=Storage", "--format", "json"],
    "records --sort summary": ["records", "--sort", "summary", "--format", "json"],
    "actions": ["actions", "--format", "json"],
    "files": ["files", "--format", "json"],
    "tensions": ["tensions", "--format", "json"],
    "stats": ["stats", "--format", "json"],
}
_FIRST = 1000
# Asked at every size; the others at the largest only, once.
_TIMED = ("validate", "decisions --adr-candidates")


def table(folder: Path, most: int, said: Callable[[str], None]) -> str:
    """Markdown: seconds, microseconds of all cores for a record, and peak memory, from ten thousand records to most."""
    lines = ["| command | records | MB | s | us a record | peak MB |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    sizes = [size for size in (10_000, 100_000, 1_000_000) if size < most] + [most]
    log = folder / "growing.jsonl"
    # What a start costs, and what the first records bring with them, is no cost of a record.
    corpus.write(log, _FIRST, load())
    start = {name: min(processor_seconds(_words(name, log)) for _ in range(9)) for name in _TIMED}
    for size in sizes:
        said(f"{size:,} records")
        made = corpus.write(log, size, load())
        shown = f"{size:,} | {made.size_bytes / 1e6:.0f}"
        for name in QUESTIONS if size == most else _TIMED:
            said(f"{size:,} records: {name}")
            words = _words(name, log)
            cells = " | "
            if name in _TIMED:
                seconds = min(command(words) for _ in range(3))
                spent = min(processor_seconds(words) for _ in range(9 if size < most else 3)) - start[name]
                cells = f"{seconds:.2f} | {spent / (size - _FIRST) * 1e6:.2f}"
            lines.append(f"| {name} | {shown} | {cells} | {peak_bytes(words) / 1e6:.0f} |")
    log.unlink()
    return "\n".join(lines)


def _words(name: str, path: Path) -> list[str]:
    verb, *options = QUESTIONS[name]
    return [sys.executable, "-m", "ontoref", "interaction", verb, str(path), *options]
