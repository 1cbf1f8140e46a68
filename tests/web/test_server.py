"""The server as a process of its own: crowds, a session that grows, and that it goes when told to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ontoref.web.run import PortTaken, bound
from tests.replay.test_sources import PARENT, line, write_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "claude" / "projects" / "-home-ada-shop"
    folder.mkdir(parents=True)
    return write_session(folder, children=2)


@pytest.fixture
def served(session: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """`ontoref serve` as a user starts it: its address and its token."""
    environment = os.environ | {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "ontoref", "serve"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    base, _, token = process.stdout.readline().strip().partition("/?token=")
    assert token
    yield base, token
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in complaints


@pytest.fixture
def url(served: tuple[str, str]) -> str:
    return served[0]


@pytest.fixture
def headers(served: tuple[str, str]) -> dict[str, str]:
    return {"authorization": f"Bearer {served[1]}"}


def test_a_browsers_way_in(url: str, served: tuple[str, str]) -> None:
    with httpx.Client(base_url=url, follow_redirects=True) as client:
        assert client.get("/").status_code == 401
        page = client.get(f"/?token={served[1]}")
        assert (page.status_code, page.url.query) == (200, b"")
        assert len(client.get(f"/api/replay-tree/{PARENT}").json()["turns"][0]["delegations"]) == 2
        assert [row["id"] for row in client.get("/api/sessions").json()["rows"]] == [PARENT]
        assert client.get("/api/records").json()["rows"] == []
        assert "server" not in page.headers


def test_two_hundred_clients_at_once(url: str, headers: dict[str, str]) -> None:
    """Must hold 4: no request fails."""

    async def crowd() -> list[int]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as client:

            async def one(number: int) -> list[int]:
                paths = ("/", f"/api/replay-tree/{PARENT}?depth=1", f"/api/transcript/{PARENT}")
                return [(await client.get(path)).status_code for path in paths]

            return [status for many in await asyncio.gather(*map(one, range(200))) for status in many]

    statuses = asyncio.run(crowd())
    assert statuses == [200] * 600


def test_a_session_that_grows_is_complete_for_all_who_watch(url: str, headers: dict[str, str], session: Path) -> None:
    """Must hold 4: appended every 10 ms, nothing is missing, nothing comes twice."""
    number = 150

    def write() -> None:
        with session.open("a", encoding="utf-8") as file:
            for at in range(number):
                text = json.dumps(line(8, "user", f"Prompt {at}") | {"uuid": f"grown{at}"}) + "\n"
                # Torn on purpose: half a line is there for a while.
                file.write(text[:20])
                file.flush()
                time.sleep(0.005)
                file.write(text[20:])
                file.flush()
                time.sleep(0.005)

    async def watch(client: Any) -> dict[int, str]:
        seen: dict[int, str] = {}
        async with client.stream("GET", f"/api/stream/{PARENT}?after=0", timeout=30) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for text in answer.aiter_lines():
                if text.startswith("data: "):
                    for event in json.loads(text[6:]).get("events", ()):
                        seen[event["ordinal"]] = event["span_id"]
                    if any(f"grown{number - 1}" in span for span in seen.values()):
                        return seen
        return seen

    async def everybody() -> list[dict[int, str]]:
        async with httpx.AsyncClient(base_url=url, headers=headers) as client:
            thread = threading.Thread(target=write)
            thread.start()
            watching = [asyncio.create_task(watch(client)) for _ in range(5)]
            while thread.is_alive():
                answer = await client.get(f"/api/replay-tree/{PARENT}?limit=5")
                assert answer.status_code == 200
                await asyncio.sleep(0.1)
            return await asyncio.gather(*watching)

    for seen in asyncio.run(everybody()):
        assert sorted(seen) == list(range(len(seen)))
        assert sum("grown" in span for span in seen.values()) == number
        assert len(set(seen.values())) == len(seen)


def test_a_port_that_is_taken(url: str) -> None:
    with pytest.raises(PortTaken):
        bound(int(url.rpartition(":")[2]))
