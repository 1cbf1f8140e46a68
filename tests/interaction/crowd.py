"""Many writers on one log, some of which die: started as processes, and what they left checked afterwards.

The tests run it small, `benchmarks/soak.py` at length. Every record tells who wrote it, so that each line of the log can
be held against what its writer meant.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PATH = "2026/11/crowd.jsonl"
# Whoever reads a log; each prints JSON.
READERS = ("validate", "records", "decisions", "events", "actions", "insights", "files", "tensions", "stats")


class Report(NamedTuple):
    """What a crowd left. Shape: told are the records whose place was printed after they were on disk."""

    told: int
    lines: int
    torn: int


# A writer's own program ----------------------------------------------------------------------------------------


def write(folder: str, file: str, count: int, name: str) -> None:
    """Add records and tell each one's name and place once it is on disk."""
    from ontoref.interaction.log import append

    for number in range(count):
        (place,) = append(folder, file, [line_of(name, number)])
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
    from ontoref.identifiers import ulid

    key = f"{name}-{number}"
    identity = ulid(1_793_880_000_000 + number, int.from_bytes(sha256(key.encode()).digest()[:10], "big"))
    prose = "x" * random.Random(key).randrange(3000)
    return json.dumps({"id": identity, **_fields(), "summary": f"{key} {prose}"}).encode()


@cache
def _fields() -> dict[str, Any]:
    """What every record has, with something for each query to find."""
    from ontoref.vocabulary import load

    vocabulary = load()

    def word(enum: str) -> str:
        return vocabulary.enum(enum).names[0]

    return {
        "schema_version": 1,
        "session_id": "crowd",
        "recorded_at": "2026-11-05T12:00:00Z",
        "actor": word("ActorKind"),
        "kind": word("Kind"),
        "domain": word("Domain"),
        "outcome": word("Outcome"),
        "events": [{"kind": word("EventKind")}],
        "decisions": [{"id": "crowd", "reversible": True, "adr_candidate": True}],
        "actions": [{"kind": word("ActionKind")}],
        "insights": [{"kind": word("InsightKind"), "subject": "crowd"}],
        "files_touched": ["crowd.py"],
        "tensions_engaged": [word("Tension")],
    }


PROGRAMS = {"locked": write, "slow": write_slowly, "unlocked": write_without_lock}


def start(program: str, folder: Path, file: str, count: int, name: str) -> subprocess.Popen[bytes]:
    """One writer as a process of its own."""
    words = [sys.executable, "-m", "tests.interaction.crowd", program, str(folder), file, str(count), name]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "ontoref", "interaction", *words]


def _env() -> dict[str, str]:
    """For a command that runs outside of the checkout, so that only the package's words are in force."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


# From outside --------------------------------------------------------------------------------------------------


def crowd(folder: Path, writers: int, each: int, *, many_files: bool, unlocked: int = 0) -> list[str]:
    """Let writers write at once, so many more without the lock; what they told."""
    files = [PATH.replace("crowd", f"crowd-{n}") if many_files else PATH for n in range(writers)]
    running = [start("locked", folder, file, each, f"w{n}") for n, file in enumerate(files)]
    running += [start("unlocked", folder, files[n % writers], each, f"u{n}") for n in range(unlocked)]
    told = [line for process in running for line in process.communicate()[0].decode().splitlines()]
    assert [process.returncode for process in running] == [0] * len(running)
    return told


def kill_rounds(
    folder: Path,
    rounds: int,
    seed: int = 0,
    program: str = "slow",
    look: Callable[[Sequence[str], int], object] | None = None,
) -> Report:
    """Kill a writer at a random moment, again and again; each time the next append has to work.

    Shape: look is called after each round with what was told so far and with how many crashes there were.
    """

    def one(name: str, moment: float) -> list[str]:
        process = start(program, folder, PATH, 1_000_000, name)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(moment * 0.03)
        process.kill()
        # A line that was cut off while it was printed was not told.
        rest = process.communicate()[0]
        return (first + rest[: rest.rfind(b"\n") + 1]).decode().splitlines()

    return _killed(folder, rounds, seed, PATH, one, look)


def kill_commands(
    folder: Path, rounds: int, seed: int = 0, look: Callable[[Sequence[str], int], object] | None = None
) -> Report:
    """The same with `ontoref interaction record`, killed anywhere between its start and its end."""
    words = _command("record", "-", "--log", str(folder), "--format", "json")

    def one(name: str, moment: float) -> list[str]:
        process = subprocess.Popen(words, cwd=folder, env=_env(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(line_of(name, 0))
        process.stdin.close()
        process.stdin = None  # communicate has nothing to send
        if moment < 1:
            time.sleep(moment * whole_s * 1.2)
            process.kill()
        try:
            (answer,) = json.loads(process.communicate()[0])
        except ValueError:
            return []
        return [f"{name}-0 {answer['line']} {os.path.join(folder, answer['path'])}"]

    whole_s, begun = 0.0, time.perf_counter()
    (told,) = one("first", 1)
    whole_s = time.perf_counter() - begun
    path = os.path.relpath(told.split(" ", 2)[2], folder)
    return _killed(folder, rounds, seed, path, one, look, [told])


def _killed(
    folder: Path,
    rounds: int,
    seed: int,
    path: str,
    one: Callable[[str, float], list[str]],
    look: Callable[[Sequence[str], int], object] | None,
    told: Sequence[str] = (),
) -> Report:
    from ontoref.interaction.log import append

    rng = random.Random(seed)
    told = list(told)
    log = folder / path
    seen = log.stat().st_size if log.exists() else 0
    for number in range(rounds):
        told += one(f"k{number}", rng.random())
        (place,) = append(str(folder), path, [line_of("after", number)])
        told.append(f"after-{number} {place.line} {place.path}")
        with log.open("rb") as file:
            file.seek(seen)
            added = file.read()
        seen += len(added)
        torn = sum(_parsed(row) is None for row in added.split(b"\n")[:-1])
        assert torn <= 1, f"{torn} torn lines after the crash in round {number}"
        if look is not None:
            look(told, number + 1)
    return check(folder, told, most_torn=rounds)


def check(folder: Path, told: Sequence[str], *, most_torn: int = 0) -> Report:
    """Everything told is in the log once, at the place that was told, and every whole line is as its writer meant it."""
    lines = {str(path): path.read_bytes().split(b"\n") for path in folder.rglob("*.jsonl")}
    names: Counter[str] = Counter()
    torn = 0
    for path, rows in lines.items():
        assert rows[-1] == b"", f"{path} does not end with a newline"
        for number, row in enumerate(rows[:-1], 1):
            record = _parsed(row)
            if record is None:
                torn += 1
                continue
            name = _name(record)
            # `record` adds fields, and none is lost.
            writer, _, count = name.rpartition("-")
            assert record | json.loads(line_of(writer, int(count))) == record, f"{path}:{number} is another record"
            names[name] += 1
    assert torn <= most_torn, f"{torn} torn lines"
    for text in told:
        name, line, path = text.split(" ", 2)
        assert names[name] == 1, f"{name} stands {names[name]} times"
        if line != "0":
            assert _name(json.loads(lines[path][int(line) - 1])) == name, f"{name} is not at {path}:{line}"
    return Report(len(told), sum(names.values()), torn)


def _parsed(row: bytes) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = json.loads(row)
    except ValueError:
        return None
    return record


def _name(record: dict[str, Any]) -> str:
    name: str = record["summary"].partition(" ")[0]
    return name


# Readers beside them -------------------------------------------------------------------------------------------


class Reading:
    """Reads the log with one command after the other, and remembers what it saw."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = cycle(READERS)
        self._seen: set[str] = set()
        self.count = 0

    def all(self, told: Sequence[str], crashes: int = 0) -> None:
        """Every reader once, as `one`."""
        for _ in READERS:
            self.one(told, crashes)

    def one(self, told: Sequence[str] = (), crashes: int = 0) -> None:
        """The next reader has to answer with everything that was told, or was ever seen, and with no fault but torn
        lines, at most one a crash."""
        verb = next(self._turn)
        words = _command(verb, str(self._folder), "--format", "json")
        done = subprocess.run(words, cwd=self._folder, env=_env(), capture_output=True, text=True, check=False)
        faults = f"{verb}: exit {done.returncode}: {done.stderr[-2000:]}"
        assert done.returncode == 0 or (done.returncode == 1 and crashes), faults
        answer = json.loads(done.stdout)
        if verb == "validate":
            rules = [finding["rule"] for finding in answer["findings"]]
            assert rules == ["torn"] * len(rules), f"{verb}: {answer['findings'][:3]}"
            assert len(rules) <= crashes, f"{verb}: {len(rules)} torn lines after {crashes} crashes"
            assert answer["summary"]["records"] >= len(told)
        elif verb == "records":
            names = {_name(record) for record in answer}
            assert len(names) == len(answer), f"{verb}: a record stands twice"
            lost = (self._seen | {text.partition(" ")[0] for text in told}) - names
            assert not lost, f"{verb}: {sorted(lost)[:3]} not seen"
            self._seen = names
        self.count += 1


@contextmanager
def readers_beside(folder: Path) -> Iterator[Reading]:
    """Readers one after the other, all the while; at least one reads while others write."""
    reading = Reading(folder)
    over = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not over.is_set():
                if any(folder.rglob("*.jsonl")):
                    reading.one()
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield reading
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]
    assert reading.count, "nobody read while they wrote"


if __name__ == "__main__":
    program, folder, file, count, name = sys.argv[1:]
    PROGRAMS[program](folder, file, int(count), name)
