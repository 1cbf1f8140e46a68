"""The log under a crowd and kill -9, at length: python benchmarks/soak.py [--writers 16 --each 1000 --rounds 500].

Prints a row for each trial. Exits 1 with the first record that was told and is not in the log.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.interaction.crowd import Report, check, crowd, kill_rounds  # noqa: E402


def main() -> int:
    """0 if nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="a folder on the disk to try; default: the system's temporary one")
    given = parser.parse_args()
    writers, each, rounds = given.writers, given.each, given.rounds

    def crowded(folder: Path, *, many_files: bool, unlocked: int = 0) -> Report:
        return check(folder, crowd(folder, writers, each, many_files=many_files, unlocked=unlocked))

    trials: dict[str, Callable[[Path], Report]] = {
        f"{writers} writers x {each}, one file": lambda f: crowded(f, many_files=False),
        f"{writers} writers x {each}, many files": lambda f: crowded(f, many_files=True),
        f"{writers} writers x {each} and 2 without a lock": lambda f: crowded(f, many_files=False, unlocked=2),
        f"{writers} writers x {each} and readers": lambda f: beside_readers(f, lambda: crowded(f, many_files=False)),
        f"kill -9, {rounds} rounds, writes in two": lambda f: kill_rounds(f, rounds, given.seed, "slow"),
        f"kill -9, {rounds} rounds": lambda f: kill_rounds(f, rounds, given.seed, "locked"),
    }
    print(f"{'trial':<48} {'told':>7} {'lines':>7} {'torn':>5} {'seconds':>8}")
    for name, trial in trials.items():
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            begun = time.perf_counter()
            try:
                report = trial(Path(folder))
            except AssertionError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
            took = time.perf_counter() - begun
            print(f"{name:<48} {report.told:>7} {report.lines:>7} {report.torn:>5} {took:>8.1f}", flush=True)
    return 0


def beside_readers(folder: Path, trial: Callable[[], Report]) -> Report:
    """The trial while validate and a query read the same log; each has to end with an answer."""
    over = threading.Event()
    failures: list[str] = []

    def read() -> None:
        while not over.is_set():
            for words in (["validate", "--max-findings", "0"], ["stats"]):
                command = [sys.executable, "-m", "ontoref", "interaction", *words, str(folder)]
                done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
                if done.returncode not in (0, 1) or "Traceback" in done.stderr:
                    failures.append(done.stderr)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        report = trial()
    finally:
        over.set()
        reader.join()
    assert not failures, failures[0]
    return report


if __name__ == "__main__":
    sys.exit(main())
