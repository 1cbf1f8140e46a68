"""How the cost of a record and the memory of a run grow with the log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import corpus
from benchmarks.table import command, peak_bytes
from ontoref.vocabulary import load

__all__ = ["table"]


def table(folder: Path, most: int, said: Callable[[str], None]) -> str:
    """Markdown: seconds, microseconds a record and peak memory of `validate`, from ten thousand records to most."""
    lines = ["| records | MB | validate s | us a record | peak MB |", "| ---: | ---: | ---: | ---: | ---: |"]
    sizes = [size for size in (10_000, 100_000, 1_000_000) if size < most] + [most]
    log = folder / "growing.jsonl"
    (folder / "empty.jsonl").touch()
    start = min(command(_validate(folder / "empty.jsonl")) for _ in range(5))
    for size in sizes:
        said(f"{size:,} records")
        made = corpus.write(log, size, load())
        words = _validate(log)
        seconds = min(command(words) for _ in range(3))
        peak = peak_bytes(words)
        each = (seconds - start) / size * 1e6
        lines.append(f"| {size:,} | {made.size_bytes / 1e6:.0f} | {seconds:.2f} | {each:.2f} | {peak / 1e6:.0f} |")
    log.unlink()
    return "\n".join(lines)


def _validate(path: Path) -> list[str]:
    return [sys.executable, "-m", "ontoref", "interaction", "validate", str(path)]
