"""How fast a store of 100 000 lessons answers: `python benchmarks/lessons.py [--count N] [--check]`.

Prints one line for each question: the best of several runs, on a warm file, start-up not counted. --check ends
with 1 if a question takes longer than the limit. Same seed, same lessons.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from ontoref.lesson import with_lesson_defaults
from ontoref.lesson.factory import open_store
from ontoref.lesson.lifecycle import moment_text
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout
from ontoref.state.placement import JsonlPlacement, SqlitePlacement

LIMIT_MS = 50
_START_US = 1_780_000_000_000_000
_WORDS = 4000


def lessons(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lessons of three agents in fifty workspaces; a tenth has ended."""
    random.seed(7)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(3, 10))) for _ in range(_WORDS)]
    for number in range(count):
        now = moment_text(_START_US + number * 1_000_000)
        lesson = with_lesson_defaults(
            {
                "id": f"l-{number:06d}",
                "title": " ".join(random.choices(words, k=6)),
                "statement": " ".join(random.choices(words, k=25)),
                "tags": random.choices(words, k=2),
                "scope": {"agent_id": f"agent-{number % 3}", "workspace": f"/home/me/project-{number % 50}"},
                "evidence": [{"session_id": f"s-{number % 900}", "event_id": f"e-{number}", "observed_at": now}],
                "helpful": number % 7,
                "invalid_at": moment_text(_START_US + number * 1_000_000 + 1) if number % 10 == 0 else None,
            },
            now,
        )
        yield "lesson", lesson


def best_ms(ask: Callable[[], Any], runs: int) -> tuple[float, int]:
    """The shortest run in milliseconds, and how many answers came."""
    shortest, count = float("inf"), 0
    for _ in range(runs):
        begun = time.perf_counter()
        count = len(ask())
        shortest = min(shortest, (time.perf_counter() - begun) * 1000)
    return shortest, count


def measure(name: str, store: TableLessonStore, count: int, runs: int) -> float:
    """Fill a store and ask it. Returns the slowest of the questions that have a limit."""
    begun = time.perf_counter()
    store.load(lessons(count))
    print(f"{name:9} load {count} lessons: {time.perf_counter() - begun:.1f} s")
    everything = store.list_lessons(limit=1)[0]
    now = moment_text(_START_US + count * 1_000_000)
    word, other = everything["title"].split()[:2]
    scope = {"agent_id": "agent-1", "workspace": "/home/me/project-7"}
    questions: list[tuple[str, Callable[[], Any], bool]] = [
        ("search, one word", lambda: store.search_lessons(word), True),
        ("search, two words", lambda: store.search_lessons(f"{word} {other}"), True),
        ("search, part of a word, active", lambda: store.search_lessons(word[:3], now=now), True),
        ("search, one letter", lambda: store.search_lessons("e"), False),
        ("search, no hit", lambda: store.search_lessons("no-such-word"), True),
        ("search in a scope", lambda: store.search_lessons(word, now=now, scope=scope), True),
        ("list_active, 100", lambda: store.list_active_lessons(now, limit=100), True),
        ("list_active, 1000", lambda: store.list_active_lessons(now, limit=1000), True),
        ("list_active of a scope", lambda: store.list_active_lessons(now, scope=scope), True),
        ("list_active of a scope, 100", lambda: store.list_active_lessons(now, scope=scope, limit=100), True),
        ("list_active, all", lambda: store.list_active_lessons(now), False),
    ]
    slowest = 0.0
    for question, ask, limited in questions:
        took, found = best_ms(ask, runs)
        print(f"{name:9} {question:32} {took:8.1f} ms {found:7} found")
        slowest = max(slowest, took if limited else 0)
    return slowest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--backends", default="sqlite,fs-jsonl")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ontoref-lessons-") as folder:
        layout = Layout(folder)
        places: dict[str, Any] = {
            "sqlite": SqlitePlacement(layout.global_database),
            "fs-jsonl": JsonlPlacement(os.path.join(folder, "lessons")),
        }
        slow = False
        for name in given.backends.split(","):
            with open_store(places[name], layout, fallback=False) as store:
                slowest = measure(name, store, given.count, given.runs)
            slow |= name == "sqlite" and slowest > LIMIT_MS
    return 1 if given.check and slow else 0


if __name__ == "__main__":
    sys.exit(main())
