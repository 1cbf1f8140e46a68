"""Trees of large sessions: built, asked for over HTTP, and watched while they grow.

    python benchmarks/replay.py                    # 50,000 events, 40 sub-agents, 200 clients, 20 s of growth
    python benchmarks/replay.py --seconds 60

Prints CPU seconds of this process for the core, wall time for the server, and what each has to stay below.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NATIVE = "00000000-aaaa-4bbb-8ccc-000000000050"
NAME = f"claude-code:{NATIVE}"


def write_session(folder: Path, events: int, agents: int) -> Path:
    """A session of so many events, a prompt every hundred, and sub-agents in files of their own."""
    path = folder / f"{NATIVE}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        number = written = 0
        while written < events:
            if number % 50 == 0:
                file.write(_line(number, "user", f"Prompt {number}: " + "do more of it. " * 20))
                written += 1
            if number % 50 == 1 and number // 50 < agents:
                agent = f"a{number // 50}"
                call = {"type": "tool_use", "id": f"s{agent}", "name": "Task", "input": {"description": agent,
                        "prompt": agent, "subagent_type": "Explore"}}  # fmt: skip
                result = [{"type": "tool_result", "tool_use_id": f"s{agent}", "content": "done"}]
                file.write(_line(number, "assistant", [call]))
                file.write(_line(number, "user", result, uuid=f"b{number}",
                                 toolUseResult={"agentId": agent, "status": "completed"}))  # fmt: skip
                written += 2
                child = folder / NATIVE / "subagents" / f"agent-{agent}.jsonl"
                child.parent.mkdir(parents=True, exist_ok=True)
                side = {"isSidechain": True, "agentId": agent}
                child.write_text("".join(_line(n, "user", f"{agent} {n}", **side) for n in range(2_000)))
            call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": f"make {number}"}}
            result = [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "line of output\n" * 30}]
            file.write(_line(number, "assistant", [call], uuid=f"t{number}"))
            file.write(_line(number, "user", result, uuid=f"r{number}"))
            written += 2
            number += 1
    return path


def _line(number: int, role: str, content: Any, **more: Any) -> str:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"m{number}", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 2}}
    record = {
        "type": role,
        "uuid": f"{role[0]}{number}",
        "timestamp": f"2026-01-01T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "sessionId": NATIVE,
        "cwd": "/home/ada/shop",
        "version": "2.1.0",
        "message": message,
    }
    return json.dumps(record | more) + "\n"


def core(path: Path) -> None:
    from ontoref.replay.answers import children_answer, tree_answer
    from ontoref.replay.files import Files
    from ontoref.replay.preview import packed
    from ontoref.replay.trees import Trees
    from ontoref.transcript.find import look

    read: list[str] = []
    files = Files(list, reading=read.append)
    found = look(str(path))
    assert found is not None
    files.add(found)
    rows = measured("events of the file", lambda: files.rows(NAME), None)
    trees = Trees(files)
    measured(f"tree of {len(rows):,} events", lambda: trees.tree(NAME), 1.0)
    page = measured("first page", lambda: packed(tree_answer(trees, NAME)), 0.5)
    print(f"{'size of the first page':38} {len(page) / 1000:8.1f} KB     below 200 KB")
    print(f"{'files read for it':38} {len(read):8}        1")
    nodes = [node for turn in json.loads(page)["turns"] for node in turn["delegations"]]
    measured("a sub-agent opened", lambda: children_answer(trees, NAME, nodes[0]["span_id"]), None)
    print(f"{'files read then':38} {len(read):8}        2")


def measured(what: str, work: Callable[[], Any], goal: float | None) -> Any:
    begun = time.process_time()
    found = work()
    took = time.process_time() - begun
    print(f"{what:38} {took * 1000:8.0f} ms CPU {f'below {goal * 1000:.0f} ms' if goal else ''}")
    return found


def server(folder: Path, path: Path, clients: int, seconds: float) -> None:
    environment = os.environ | {
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOME": str(folder),
        "ONTOREF_STATE_DIR": str(folder / "state"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "ontoref", "serve"], env=environment, cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        base, _, token = process.stdout.readline().strip().partition("/?token=")
        asyncio.run(_asked(base, {"authorization": f"Bearer {token}"}, path, clients, seconds))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


async def _asked(base: str, headers: dict[str, str], path: Path, clients: int, seconds: float) -> None:
    import httpx

    limits = httpx.Limits(max_connections=clients + 20)
    async with httpx.AsyncClient(base_url=base, headers=headers, limits=limits, timeout=120) as client:
        await client.get(f"/api/replay-tree/{NAME}")
        begun = time.monotonic()
        answers = await asyncio.gather(*(client.get(f"/api/replay-tree/{NAME}?limit=50") for _ in range(clients)))
        took = time.monotonic() - begun
        bad = sum(answer.status_code != 200 for answer in answers)
        print(f"{f'{clients} clients at once':38} {took * 1000:8.0f} ms     {bad} failed")
        small = path.with_name(NATIVE[:-2] + "51.jsonl")
        name = NAME[:-2] + "51"
        small.write_text(_line(0, "user", "Begin.").replace(NATIVE, NATIVE[:-2] + "51"))
        await asyncio.sleep(6)
        written = threading.Event()
        count = [1]

        def write() -> None:
            end = time.monotonic() + seconds
            with small.open("a") as file:
                while time.monotonic() < end:
                    text = _line(count[0], "user", f"More {count[0]}").replace(NATIVE, NATIVE[:-2] + "51")
                    file.write(text)
                    file.flush()
                    count[0] += 1
                    time.sleep(0.01)
            written.set()

        seen: set[int] = set()

        async def watch() -> None:
            async with client.stream("GET", f"/api/stream/{name}?after=0", timeout=60) as answer:
                async for text in answer.aiter_lines():
                    if text.startswith("data: "):
                        seen.update(event["ordinal"] for event in json.loads(text[6:]).get("events", ()))
                        if written.is_set() and len(seen) >= count[0]:
                            return

        threading.Thread(target=write).start()
        watching = asyncio.create_task(watch())
        worst, asked, failed = 0.0, 0, 0
        while not written.is_set():
            begun = time.monotonic()
            answer = await client.get(f"/api/replay-tree/{name}?limit=200")
            worst = max(worst, time.monotonic() - begun)
            asked += 1
            failed += answer.status_code != 200
            await asyncio.sleep(0.2)
        begun = time.monotonic()
        await asyncio.wait_for(watching, 30)
        late = time.monotonic() - begun
        print(
            f"{f'{seconds:.0f} s of a line every 10 ms':38} {len(seen):8} events of {count[0]} seen, last {late:.1f} s late"
        )
        print(f"{'asked meanwhile':38} {asked:8} times, {failed} failed, slowest {worst * 1000:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--agents", type=int, default=40)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ontoref-bench-") as name:
        projects = Path(name) / "claude" / "projects" / "-home-ada-shop"
        projects.mkdir(parents=True)
        path = write_session(projects, given.events, given.agents)
        core(path)
        server(Path(name), path, given.clients, given.seconds)


if __name__ == "__main__":
    main()
