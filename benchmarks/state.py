"""Import speed, stored size and listings of the archive: python benchmarks/state.py [--megabytes N] [--real DIR].

Prints what is measured beside what it must reach; exits 1 if it does not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from ontoref.replay import statistics
from ontoref.replay.archive_index import index
from ontoref.state import Layout, State, archive, sessions
from ontoref.state.importer import Importer
from ontoref.transcript.reader import read_source
from ontoref.transcript.stats import count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--real", type=Path, help="a folder of transcripts, for the stored size")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ontoref-bench-") as folder:
        base = Path(folder)
        return max(
            speed(base, options.megabytes),
            numbers(base),
            size(base, options.real),
            listings(base, options.sessions),
        )


def speed(base: Path, megabytes: int) -> int:
    """Import against a bare loop of prepared inserts over the same lines, each the best of five, in turns."""
    tree = base / "home" / ".claude" / "projects" / "-home-me-app"
    tree.mkdir(parents=True)
    total = synthetic(tree, megabytes << 20)
    bare = ours = 1e9
    for number in range(5):
        bare = min(bare, bare_inserts(tree, base / f"bare-{number}.sqlite"))
        with State(Layout(str(base / f"state-{number}")), read_only=False) as state:
            began = time.perf_counter()
            importer = Importer(state)
            for outcome in importer.run([str(tree)]):
                assert outcome.status == "imported", outcome
            importer.finish()
        # Closing counts on both sides: what is in the WAL until then is written to the file.
        ours = min(ours, time.perf_counter() - began)
        if number > 1:
            shutil.rmtree(base / f"state-{number}")
    began = time.perf_counter()
    with State(Layout(str(base / "state-0")), read_only=False) as state:
        list(Importer(state).run([str(tree)]))
    again = time.perf_counter() - began
    stored = sum(path.stat().st_size for path in (base / "state-0").rglob("*") if path.is_file())
    ratio, growth = bare / ours, stored / total
    print(f"bare inserts   {total / bare / 1e6:8.0f} MB/s")
    print(f"import         {total / ours / 1e6:8.0f} MB/s   {ratio:.2f} of bare   (must be 0.5)")
    print(f"import again   {again * 1000:8.0f} ms for {len(list(tree.iterdir()))} sources, nothing new")
    print(f"stored size    {growth:8.2f} of the source   (must be at most 1.6)")
    return int(ratio < 0.5 or growth > 1.6)


def numbers(base: Path) -> int:
    """What it costs to index and count the sessions of an import, and what kept numbers save a reader."""
    with State(Layout(str(base / "state-1")), read_only=False) as state:
        found = list(archive.listing(state))
        total = sum(session.size_bytes for session in found)
        began = time.perf_counter()
        for session in found:
            index(state, session.session_id, 1)
        indexed = time.perf_counter() - began
    with State(Layout(str(base / "state-1")), read_only=True) as state:
        began = time.perf_counter()
        kept = [statistics.kept(state, session) for session in found]
        given = time.perf_counter() - began
        began = time.perf_counter()
        counted = [count(read_source(archive.source(state, session), session.runtime)) for session in found]
        computed = time.perf_counter() - began
    assert [one.stats if one else None for one in kept] == counted
    each = 1000 / len(found)
    print(f"index, numbers {total / indexed / 1e6:8.0f} MB/s   after the lines are stored, in one pass")
    print(f"kept numbers   {given * each:8.1f} ms a session, computed {computed * each:.1f} ms")
    return 0


def size(base: Path, real: Path | None) -> int:
    """Stored size over real transcripts."""
    if real is None:
        return 0
    with State(Layout(str(base / "real")), read_only=False) as state:
        list(Importer(state).run([str(real)]))
        total = sum(sessions.count(database)[2] for database in state.agents())
        beside = sum(
            database.all("SELECT coalesce(sum(length(blob)), 0) FROM tool_artifacts")[0][0]
            for database in state.agents()
        )
        # Nothing is indexed here: of replay_events there are the empty pages of its table and indexes, which do not count.
        derived = sum(
            database.page_bytes
            * database.all("SELECT count(*) FROM sqlite_schema WHERE tbl_name = 'replay_events' AND rootpage > 0")[0][0]
            for database in state.agents()
        )
    stored = sum(path.stat().st_size for path in (base / "real" / "agents").rglob("*.sqlite")) - derived
    growth = stored / (total + beside)
    print(f"stored size    {growth:8.2f} of {total / 1e6:.1f} MB of real transcripts   (must be at most 1.6)")
    return int(growth > 1.6)


def listings(base: Path, number: int) -> int:
    """How long the first page, a lookup and a deletion by age take among many sessions."""
    with State(Layout(str(base / "many")), read_only=False) as state:
        database = state.writable_agent("codex")
        with database.transaction():
            database.connection.executemany(
                "INSERT INTO sessions (session_id, native_id, runtime, format, project, status, ended_at, created_at,"
                " updated_at, content_sha256) VALUES (?, ?, 'codex', 'jsonl', ?, 'archived', ?, 1, 1, '')",
                ((f"codex:{n:08x}", f"{n:08x}", f"/p/{n % 100}", n * 7919 % 10**9) for n in range(number)),
            )
    with State(Layout(str(base / "many")), read_only=True) as state:
        state.agent("codex")
        for name, call in {
            "newest 50": lambda: list(archive.listing(state, limit=50)),
            "of a project": lambda: list(archive.listing(state, project="/p/7", limit=50)),
            "by prefix": lambda: archive.resolve(state, f"{number // 2:08x}"),
            "all": lambda: sum(1 for _ in archive.listing(state)),
        }.items():
            began = time.perf_counter()
            call()
            print(f"{name:<14} {(time.perf_counter() - began) * 1000:8.1f} ms among {number} sessions")
    return 0


def synthetic(tree: Path, wanted: int) -> int:
    """Transcripts of Claude Code with lines as long as real ones: a median of 800 bytes and a long tail."""
    chance, total = random.Random(7), 0
    prose = " ".join(chance.choices(["the", "of", "file", "value", "return", "test", "session"], k=200_000))
    while total < wanted:
        session = f"{chance.getrandbits(32):08x}-0000-4000-8000-{chance.getrandbits(48):012x}"
        lines, parent = [], None
        for number in range(chance.randrange(50, 800)):
            uuid = f"{chance.getrandbits(32):08x}-1111-4000-8000-{chance.getrandbits(48):012x}"
            at = chance.randrange(100_000)
            text = prose[at : at + int(chance.lognormvariate(5.6, 1.5))]
            record = {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/me/app",
                "sessionId": session,
                "version": "2.1.89",
                "gitBranch": "main",
                "type": "assistant" if number % 2 else "user",
                "message": {
                    "id": f"msg_{uuid[:24]}",
                    "model": "claude-opus-5",
                    "role": "assistant" if number % 2 else "user",
                    "content": [{"type": "text", "text": text}],
                    "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 1000},
                },
                "requestId": f"req_{uuid[:24]}",
                "uuid": uuid,
                "timestamp": f"2026-11-30T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            }
            parent = uuid
            lines.append(json.dumps(record))
        content = "\n".join(lines) + "\n"
        (tree / f"{session}.jsonl").write_text(content)
        total += len(content)
    return total


def bare_inserts(tree: Path, path: Path) -> float:
    """Seconds for the lines alone: one table, one prepared statement, a transaction a file."""
    began = time.perf_counter()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE lines (session INTEGER, seq INTEGER, line BLOB, UNIQUE (session, seq)) STRICT")
    for session, name in enumerate(sorted(os.listdir(tree))):
        connection.execute("BEGIN IMMEDIATE")
        with open(tree / name, "rb") as file:
            connection.executemany(
                "INSERT INTO lines VALUES (?, ?, ?)", ((session, seq, line) for seq, line in enumerate(file, 1))
            )
        connection.execute("COMMIT")
    connection.close()
    took = time.perf_counter() - began
    for leftover in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        leftover.unlink(missing_ok=True)
    return took


if __name__ == "__main__":
    sys.exit(main())
