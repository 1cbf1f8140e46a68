"""Contenders that are timed in turn, and the table of their ratios."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Contender", "Measured", "Place", "Row", "command", "measure", "peak_bytes", "processor_seconds", "render"]


@dataclass(frozen=True, slots=True)
class Place:
    """What a contender is given. Shape: log is clean, broken is the same with some bad lines; folder is free for use.

    Shape: lines are those of log, read once; python starts this interpreter.
    """

    folder: Path
    log: Path
    broken: Path
    records: int
    lines: Sequence[bytes] = field(repr=False)
    python: str = sys.executable


# Seconds of one run. What it prepares is not counted, so it does the timing itself.
Contender = Callable[[Place], float]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a contender, what it is divided by, and the goals for the ratio."""

    what: str
    contender: str
    beside: str
    must: float | None = None
    aim: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of every round by contender, in the order of the rounds."""

    seconds: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratios(self, row: Row) -> list[float]:
        """One ratio a round: what slows the machine for a while slows both."""
        pairs = zip(self.seconds[row.contender], self.seconds[row.beside], strict=True)
        return [a / b for a, b in pairs]


def measure(
    contenders: Mapping[str, Contender], rows: Iterable[Row], place: Place, rounds: int, said: Callable[[str], None]
) -> Measured:
    """Every contender that a row names, once a round, in turn. A first round warms up and is not counted."""
    names = list(dict.fromkeys(name for row in rows for name in (row.beside, row.contender)))
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names:
            said(f"round {number} of {rounds}: {name}")
            took = contenders[name](place)
            if number:
                seconds[name].append(took)
    return Measured(seconds)


def command(words: Sequence[str], *, env: Mapping[str, str] | None = None, codes: Sequence[int] = (0,)) -> float:
    """Seconds that a whole command takes, start-up included. Errors: RuntimeError for an unexpected exit code."""
    began = time.perf_counter()
    done = subprocess.run(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, check=False
    )
    took = time.perf_counter() - began
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.decode()[-400:]}")
    return took


def processor_seconds(words: Sequence[str]) -> float:
    """Seconds that all cores spend on a command and its processes. Not on Windows."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command(words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def peak_bytes(words: Sequence[str]) -> int:
    """The most memory that a command and its processes held at once: shared pages count once. Linux only."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, sum(_proportional_bytes(pid) for pid in _family(process.pid)))
        time.sleep(0.02)
    return most


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        try:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        except OSError:
            continue
        found += map(int, children)
    return found


def _proportional_bytes(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)


def render(rows: Sequence[Row], measured: Measured) -> str:
    """The table in Markdown: median seconds, median ratio with its range, goals, and whether they are met."""
    lines = ["| what | seconds | ratio (range) | must | aim | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        ratios = measured.ratios(row)
        middle = statistics.median(ratios)
        if row.must is None:
            verdict = ""
        elif middle <= (row.aim or 0):
            verdict = "aim"
        else:
            verdict = "must" if middle <= row.must else "MISSED"
        goals = f"{row.must or '':} | {row.aim or '':}"
        span = f"{middle:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        lines.append(
            f"| {row.what} / {row.beside} | {measured.median(row.contender):.3f} | {span} | {goals} | {verdict} |"
        )
    return "\n".join(lines)
