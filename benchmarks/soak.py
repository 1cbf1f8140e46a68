"""The log under a crowd and kill -9, at length: python benchmarks/soak.py [--writers 16 --each 1000 --rounds 500].

Prints a row for each trial: records that were told, whole and torn lines in the log, commands that read it, seconds. Exits
1 with the first record that was told and is not in the log, a line that is not as its writer meant it, or a reader that
does not answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.interaction.crowd import (  # noqa: E402
    Reading,
    Report,
    check,
    crowd,
    kill_commands,
    kill_rounds,
    readers_beside,
)

_UNLOCKED = 2


class Outcome(NamedTuple):
    """What a trial left, and how many commands read the log meanwhile and after it."""

    report: Report
    reads: int


Trial = Callable[[Path], Outcome]


def main() -> int:
    """0 if nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[""], help="trials whose name has one of these in it")
    parser.add_argument("--folder", help="a folder on the disk to try; default: the system's temporary one")
    given = parser.parse_args()
    trials = {
        name: trial
        for name, trial in all_trials(given.writers, given.each, given.rounds, given.seed).items()
        if any(part in name for part in given.only)
    }
    print(f"{'trial':<52} {'told':>7} {'lines':>7} {'torn':>5} {'reads':>6} {'seconds':>8}")
    for name, trial in trials.items():
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            begun = time.perf_counter()
            try:
                (told, lines, torn), reads = trial(Path(folder))
            except AssertionError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
            took = time.perf_counter() - begun
            print(f"{name:<52} {told:>7} {lines:>7} {torn:>5} {reads:>6} {took:>8.1f}", flush=True)
    return 0


def all_trials(writers: int, each: int, rounds: int, seed: int) -> dict[str, Trial]:
    """Each trial by what it tries."""
    trials: dict[str, Trial] = {}
    for where, many_files in (("one file", False), ("many files", True)):
        name = f"{writers} writers x {each}, {where}"
        trials[name] = _crowded(writers, each, many_files)
        trials[f"{name}, readers beside"] = _beside(writers, each, many_files)
        trials[f"{name}, {_UNLOCKED} more without a lock"] = _crowded(writers, each, many_files, _UNLOCKED)
    trials[f"kill -9 of a writer, {rounds} rounds"] = _killed(rounds, seed, "locked")
    trials[f"kill -9 of a slow writer, {rounds} rounds"] = _killed(rounds, seed, "slow")
    trials[f"kill -9 of the command record, {rounds} rounds"] = _killed(rounds, seed, None)
    return trials


def _crowded(writers: int, each: int, many_files: bool, unlocked: int = 0) -> Trial:
    def run(folder: Path) -> Outcome:
        told = crowd(folder, writers, each, many_files=many_files, unlocked=unlocked)
        return _settled(folder, told, (writers + unlocked) * each)

    return run


def _beside(writers: int, each: int, many_files: bool) -> Trial:
    """While validate and queries read the same log; each has to answer, and to see all that the last one saw."""

    def run(folder: Path) -> Outcome:
        with readers_beside(folder) as reading:
            told = crowd(folder, writers, each, many_files=many_files)
        outcome = _settled(folder, told, writers * each)
        return outcome._replace(reads=outcome.reads + reading.count)

    return run


def _settled(folder: Path, told: list[str], count: int) -> Outcome:
    """Nothing is lost, nothing torn, and every reader sees it all."""
    report = check(folder, told)
    assert report == (count, count, 0), f"{report} where {count} records were written"
    reading = Reading(folder)
    reading.all(told)
    return Outcome(report, reading.count)


def _killed(rounds: int, seed: int, program: str | None) -> Trial:
    """A reader after every crash, each in its turn, and all of them at the end."""

    def run(folder: Path) -> Outcome:
        reading = Reading(folder)
        told: list[str] = []

        def look(so_far: Sequence[str], crashes: int) -> None:
            told[:] = so_far
            reading.one(so_far, crashes)

        if program is None:
            report = kill_commands(folder, rounds, seed, look)
        else:
            report = kill_rounds(folder, rounds, seed, program, look)
        reading.all(told, rounds)
        return Outcome(report, reading.count)

    return run


if __name__ == "__main__":
    sys.exit(main())
