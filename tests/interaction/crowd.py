"""Many writers on one log, some of which die: started as processes, and what they left checked afterwards.

The tests run it small, `benchmarks/soak.py` at length.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PATH = "2026/11/crowd.jsonl"


class Report(NamedTuple):
    """What a crowd left. Shape: told are the ids that were printed after they were on disk."""

    told: int
    lines: int
    torn: int


# A writer's own program ----------------------------------------------------------------------------------------


def write(folder: str, file: str, count: int, name: str) -> None:
    """Add records and tell each one's id and place once it is on disk."""
    from ontoref.interaction.log import append

    for number in range(count):
        line = line_of(name, number)
        (place,) = append(folder, file, [line])
        print(f"{name}-{number} {place.line} {place.path}", flush=True)


def write_slowly(folder: str, file: str, count: int, name: str) -> None:
    """The same with writes that can be interrupted midway, as on a disk that is slow."""
    whole = os.write

    def in_two(descriptor: int, data: bytes) -> int:
        if descriptor <= 2:
            return whole(descriptor, data)
        half = len(data) // 2
        done = whole(descriptor, data[:half])
        time.sleep(0.002)
        return done + whole(descriptor, data[half:])

    os.write = in_two
    write(folder, file, count, name)


def write_without_lock(folder: str, file: str, count: int, name: str) -> None:
    """Add whole lines in one write each, as an agent does that knows only the file."""
    path = os.path.join(folder, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for number in range(count):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(descriptor, line_of(name, number) + b"\n")
        os.close(descriptor)
        print(f"{name}-{number} 0 {path}", flush=True)


def line_of(name: str, number: int) -> bytes:
    """One record's line; its length differs so that lines do not fall on the same places."""
    prose = "x" * random.Random(f"{name}-{number}").randrange(3000)
    return json.dumps({"id": f"{name}-{number}", "summary": prose}).encode()


PROGRAMS = {"locked": write, "slow": write_slowly, "unlocked": write_without_lock}


def start(program: str, folder: Path, file: str, count: int, name: str) -> subprocess.Popen[bytes]:
    """One writer as a process of its own."""
    words = [sys.executable, "-m", "tests.interaction.crowd", program, str(folder), file, str(count), name]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)


# From outside --------------------------------------------------------------------------------------------------


def crowd(folder: Path, writers: int, each: int, *, many_files: bool, unlocked: int = 0) -> list[str]:
    """Let writers write at once; what they told."""
    files = [PATH.replace("crowd", f"crowd-{n}") if many_files else PATH for n in range(writers)]
    running = [start("locked", folder, file, each, f"w{n}") for n, file in enumerate(files)]
    running += [start("unlocked", folder, files[n % writers], each, f"u{n}") for n in range(unlocked)]
    told = [line for process in running for line in process.communicate()[0].decode().splitlines()]
    assert [process.returncode for process in running] == [0] * len(running)
    return told


def kill_rounds(folder: Path, rounds: int, seed: int = 0, program: str = "slow") -> Report:
    """Kill a writer at a random moment, again and again; each time the next append has to work."""
    from ontoref.interaction.log import append

    rng = random.Random(seed)
    told: list[str] = []
    for number in range(rounds):
        process = start(program, folder, PATH, 1_000_000, f"k{number}")
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(rng.random() * 0.03)
        process.kill()
        # A line that was cut off while it was printed was not told.
        rest = process.communicate()[0]
        told += (first + rest[: rest.rfind(b"\n") + 1]).decode().splitlines()
        (place,) = append(str(folder), PATH, [line_of("after", number)])
        told.append(f"after-{number} {place.line} {place.path}")
    return check(folder, told, most_torn=rounds)


def check(folder: Path, told: Sequence[str], *, most_torn: int = 0) -> Report:
    """Everything told is in the log once, whole, at the place that was told."""
    lines = {str(path): path.read_bytes().split(b"\n") for path in folder.rglob("*.jsonl")}
    ids: Counter[str] = Counter()
    torn = 0
    for path, rows in lines.items():
        assert rows[-1] == b"", f"{path} does not end with a newline"
        for row in rows[:-1]:
            try:
                ids[json.loads(row)["id"]] += 1
            except ValueError:
                torn += 1
    assert torn <= most_torn, f"{torn} torn lines"
    for text in told:
        identity, line, path = text.split(" ", 2)
        assert ids[identity] == 1, f"{identity} stands {ids[identity]} times"
        if line != "0":
            assert json.loads(lines[path][int(line) - 1])["id"] == identity, f"{identity} is not at {path}:{line}"
    return Report(len(told), sum(ids.values()), torn)


if __name__ == "__main__":
    program, folder, file, count, name = sys.argv[1:]
    PROGRAMS[program](folder, file, int(count), name)
