"""A server's data that is held in memory, and the application over it without a socket."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from ontoref.replay.source import Memory
from ontoref.web.data import Data, Parameters
from tests.replay.events import event

# Without the extra there is no server to test.
missing = [name for name in ("starlette", "uvicorn", "httpx") if find_spec(name) is None]
collect_ignore_glob = ["test_*.py"] if missing else []

TOKEN = "right-token"
PORT = 7777
BASE = f"http://127.0.0.1:{PORT}"


class Listed:
    """Sessions by name."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def rows(self, parameters: Parameters) -> dict[str, Any]:
        return {"rows": [{"id": name} for name in self.names], "found": len(self.names)}

    def resolve(self, given: str) -> str:
        return next((name for name in self.names if given == name.partition(":")[2]), given)


def data_of(source: Any, names: list[str]) -> Data:
    return Data(source, Listed(names), lambda given: {"rows": [dict(given)]}, lambda given: {"rows": []})


@pytest.fixture
def data() -> Data:
    source = Memory({
        "codex:s": [event("u1", text="<script>alert(1)</script>"), event("t1", tool_use_id="c", output="x" * 5000),
                    event("s1", child_session_id="kid")],
        "codex:kid": [event("u1"), event("a1")],
        "codex:a/b?#%": [event("u1")],
    })  # fmt: skip
    return data_of(source, list(source.sessions))


Ask = Callable[..., Any]


@pytest.fixture
def ask(data: Data) -> Ask:
    """GET a path as the user of the run would; keyword arguments go to httpx."""
    import asyncio

    import httpx

    from ontoref.web.app import create_app

    def get(path: str, *, token: str | None = TOKEN, method: str = "GET", base: str = BASE, **more: Any) -> Any:
        async def asked() -> Any:
            transport = httpx.ASGITransport(app=create_app(data, token=TOKEN, port=PORT))
            async with httpx.AsyncClient(transport=transport, base_url=base) as client:
                headers = dict(more.pop("headers", {}))
                if token is not None:
                    headers.setdefault("authorization", f"Bearer {token}")
                return await client.request(method, path, headers=headers, **more)

        return asyncio.run(asked())

    return get
