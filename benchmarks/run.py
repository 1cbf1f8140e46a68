#!/usr/bin/env python3
"""Measure ontoref beside what it is compared with, and print the table of goals.

python benchmarks/run.py                        # the goals, over a log of 200 MB
python benchmarks/run.py --records 10000        # quickly
python benchmarks/run.py --engines              # the engines that were weighed
python benchmarks/run.py --large 1400000        # also: memory and growth over a log of 2 GB
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import corpus, growth, querying, starting, validating, validators
from benchmarks.table import Place, measure, render
from ontoref.vocabulary import load

# A module here has CONTENDERS (name -> seconds of one run) and ROWS (what is divided by what, and the goals).
MODULES = [validating, querying, starting, validators]
LEFT_OUT = [*querying.LEFT_OUT, *validators.LEFT_OUT]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=140_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[""], help="rows whose text has one of these in it")
    parser.add_argument("--engines", action="store_true", help="compare the engines instead")
    parser.add_argument("--large", type=int, metavar="RECORDS", help="measure memory and growth up to so many")
    given = parser.parse_args()
    rows = validating.engines() if given.engines else [row for module in MODULES for row in module.ROWS]

    def wanted(text: str) -> bool:
        return any(part in text for part in given.only)

    rows = [row for row in rows if wanted(row.what)]
    contenders = {name: run for module in MODULES for name, run in module.CONTENDERS.items()}
    with tempfile.TemporaryDirectory(prefix="ontoref-bench-") as name:
        folder = Path(name)
        # As after an ordinary install: bytecode is there (the first round, not counted, writes it), output is buffered.
        for variable in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
            os.environ.pop(variable, None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        _say("writing the corpus")
        vocabulary = load()
        made = corpus.write(folder / "log.jsonl", given.records, vocabulary)
        corpus.write(folder / "broken.jsonl", given.records, vocabulary, invalid_rate=0.01)
        lines = (folder / "log.jsonl").read_bytes().split(b"\n")[:-1]
        place = Place(folder, folder / "log.jsonl", folder / "broken.jsonl", made.records, lines)
        load_average = " ".join(f"{x:.2f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
        print(
            f"{made.records:,} records, {made.size_bytes / 1e6:.1f} MB; {given.rounds} rounds; "
            f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load_average}\n"
        )
        measured = measure(contenders, rows, place, given.rounds, _say)
        _say("")
        print(render(rows, measured))
        if any(row in rows for row in validators.ROWS):
            print(f"\n{validators.verdicts(place, measured)}")
        for line in () if given.engines else LEFT_OUT:
            if wanted(line):
                print(f"\n{line}")
        if given.large:
            print()
            print(growth.table(folder, given.large, _say))
            _say("")


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
