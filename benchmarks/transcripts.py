"""Speed and memory of the readers on a made file with the line mix of real sessions.

    python benchmarks/transcripts.py --size 1000M --long 10
    python benchmarks/transcripts.py --size 100M --long 0 --runs 3

Prints the time of `orjson.loads` over the same lines, the time of all events, and the ratio of the two; then the
peak memory of a process that does nothing but read the events.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

WORDS = [
    "the",
    "of",
    "a",
    "to",
    "file",
    "value",
    "test",
    "is",
    "in",
    "it",
    "return",
    "line",
    "for",
    "with",
    "that",
    "when",
    "error",
    "def",
    "self",
    "not",
    "and",
    "none",
    "path",
]
LONG_BYTES = 22_000_000
# Share of each sort of line and its median of text bytes, as counted over real sessions of three years.
MIX = (
    ("result", 29, 600),
    ("use", 29, 250),
    ("text", 11, 350),
    ("progress", 8, 900),
    ("thinking", 6, 400),
    ("prompt", 6, 300),
    ("attachment", 4, 300),
    ("system", 2, 60),
    ("snapshot", 2, 40),
    ("queue", 3, 40),
)


class Maker:
    """Lines of one session, always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.number = 0
        self.open: list[str] = []
        self.message = "msg_0"
        self.pool = [self.prose(200) for _ in range(400)]

    def prose(self, words: int) -> str:
        found = (self.rng.choice(WORDS) for _ in range(words))
        return "".join(
            w + ("\n    " if self.rng.random() < 0.08 else ' "' if self.rng.random() < 0.02 else " ") for w in found
        )

    def text(self, median: int) -> str:
        size = int(median * self.rng.lognormvariate(0, 1.1))
        return (self.rng.choice(self.pool) * (size // 800 + 1))[:size]

    def id(self) -> str:
        value = f"{self.rng.getrandbits(128):032x}"
        return "-".join((value[:8], value[8:12], value[12:16], value[16:20], value[20:]))

    def line(self, sort: str, text: str) -> dict[str, Any]:
        self.number += 1
        minute, second = divmod(self.number // 3, 60)
        base: dict[str, Any] = {
            "parentUuid": self.id(),
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/project",
            "sessionId": "00000000-0000-4000-8000-000000000001",
            "version": "2.1.0",
            "gitBranch": "main",
        }
        ends = {
            "uuid": self.id(),
            "timestamp": f"2026-01-01T{minute // 60 % 24:02}:{minute % 60:02}:{second:02}.123Z",
        }
        if sort in ("use", "text", "thinking"):
            if self.rng.random() < 0.6:
                self.message = f"msg_{self.id()}"
            return base | {"message": self.answer(sort, text), "requestId": "req_1", "type": "assistant"} | ends
        if sort == "result":
            native = self.open.pop() if self.open else f"toolu_{self.id()}"
            block = {"tool_use_id": native, "type": "tool_result", "content": text, "is_error": False}
            message = {"role": "user", "content": [block]}
            details = {"stdout": text, "stderr": "", "interrupted": False}
            return base | {"type": "user", "message": message} | ends | {"toolUseResult": details}
        if sort == "prompt":
            return base | {"type": "user", "message": {"role": "user", "content": text}} | ends
        if sort == "progress":
            return base | {"type": "progress", "data": {"type": "hook_progress", "output": text}} | ends
        if sort == "attachment":
            return base | {"type": "attachment", "attachment": {"type": "hook_success", "stdout": text}} | ends
        if sort == "system":
            return base | {"type": "system", "subtype": "turn_duration", "durationMs": 5} | ends
        if sort == "snapshot":
            return {"type": "file-history-snapshot", "messageId": self.id(), "snapshot": {"trackedFileBackups": {}}}
        return {"type": "queue-operation", "operation": "enqueue", "content": text, "sessionId": base["sessionId"]}

    def answer(self, sort: str, text: str) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "text", "text": text}
        if sort == "thinking":
            block = {"type": "thinking", "thinking": text, "signature": text[:300]}
        elif sort == "use":
            native = f"toolu_{self.id()}"
            self.open.append(native)
            given = {"command": text[:200], "description": text[200:]}
            block = {
                "type": "tool_use",
                "id": native,
                "name": self.rng.choice(["Bash", "Read", "Grep"]),
                "input": given,
            }
        usage = {
            "input_tokens": 9,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 18135,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 8,
            "service_tier": "standard",
        }
        return {
            "model": "claude-sonnet",
            "id": self.message,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }


def write(path: Path, size: int, long: int) -> int:
    """Make the file; gives the number of its lines."""
    maker = Maker(1)
    sorts = [sort for sort, share, _ in MIX for _ in range(share)]
    medians = {sort: median for sort, _, median in MIX}
    count = written = 0
    rest = max(0, size - long * LONG_BYTES)
    next_long = rest // (long + 1) if long else size + 1
    with path.open("wb") as file:
        while written < rest or next_long <= rest:
            if written >= next_long:
                record = maker.line("result", "")
                record["message"]["content"][0]["content"] = (maker.pool[0] * (LONG_BYTES // 700))[:LONG_BYTES]
                next_long += rest // (long + 1)
                if next_long > rest:
                    next_long = size + 1
                file.write(orjson.dumps(record) + b"\n")
            else:
                sort = maker.rng.choice(sorts)
                raw = orjson.dumps(maker.line(sort, maker.text(medians[sort]))) + b"\n"
                file.write(raw)
                written += len(raw)
            count += 1
    return count


def loads(path: str) -> float:
    start = time.process_time()
    with open(path, "rb", buffering=1 << 20) as file:
        for raw in file:
            orjson.loads(raw)
    return time.process_time() - start


def events(path: str) -> tuple[float, int]:
    from ontoref.transcript import read

    start = time.process_time()
    count = sum(1 for _ in read(path).events)
    return time.process_time() - start, count


def peak_megabytes(path: str) -> float:
    code = (
        "import resource, sys; from ontoref.transcript import read\n"
        "for event in read(sys.argv[1]).events: pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    return int(done.stdout) / (1024 if sys.platform != "darwin" else 1024 * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="100M", help="bytes of the file, with K, M or G")
    parser.add_argument("--long", type=int, default=2, help="how many lines of 22 MB are among them")
    parser.add_argument("--runs", type=int, default=3, help="the best of so many counts")
    parser.add_argument("--file", help="read this file instead of a made one")
    given = parser.parse_args()
    size = int(float(given.size.rstrip("KMGB")) * {"K": 1e3, "M": 1e6, "G": 1e9}.get(given.size.rstrip("B")[-1], 1))
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or os.path.join(folder, "session.jsonl")
        if not given.file:
            lines = write(Path(path), size, given.long)
            print(f"{os.path.getsize(path) / 1e6:.0f} MB, {lines} lines, {given.long} of 22 MB")
        # In turns, so that a busy machine troubles both alike.
        rounds = [(loads(path), *events(path)) for _ in range(given.runs)]
        base, took, count = min(r[0] for r in rounds), min(r[1] for r in rounds), rounds[0][2]
        print(f"orjson.loads {base:.2f} s")
        print(f"events       {took:.2f} s, {count} events")
        print(f"ratio        {base / took:.2f} (at least 0.5)")
        print(f"peak memory  {peak_megabytes(path):.0f} MB (under 300)")


if __name__ == "__main__":
    main()
