"""The review of lessons in the browser: what is shown, and who may decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")

from ontoref.lesson.factory import open_store  # noqa: E402
from ontoref.lesson.store import TableLessonStore  # noqa: E402
from ontoref.state.layout import Layout  # noqa: E402
from ontoref.state.placement import SqlitePlacement  # noqa: E402
from ontoref.web.app import create_app  # noqa: E402
from ontoref.web.data import Data  # noqa: E402
from ontoref.web.lessons import Review  # noqa: E402
from tests.lesson.samples import NOW, lesson, proposal  # noqa: E402
from tests.web.conftest import BASE, PORT, TOKEN  # noqa: E402

ACCEPT, REJECT = "/api/lessons/proposals/p/accept", "/api/lessons/proposals/p/reject"
COOKIE = {"cookie": f"ontoref_{PORT}={TOKEN}", "origin": BASE}
Send = Callable[..., Any]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path / "state"))


@pytest.fixture
def store(layout: Layout) -> Iterator[TableLessonStore]:
    with open_store(SqlitePlacement(layout.global_database), layout) as opened:
        yield opened


@pytest.fixture
def send(data: Data, layout: Layout) -> Send:
    @contextmanager
    def opened(read_only: bool) -> Iterator[TableLessonStore]:
        with open_store(SqlitePlacement(layout.global_database), layout, read_only=read_only) as one:
            yield one

    app = create_app(replace(data, review=Review(opened, lambda: NOW, "ana")), token=TOKEN, port=PORT)

    def request(method: str, path: str, **more: Any) -> Any:
        async def asked() -> Any:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=BASE) as client:
                return await client.request(method, path, **more)

        return asyncio.run(asked())

    return request


def test_what_waits_is_shown_with_what_it_is_about(send: Send, store: TableLessonStore) -> None:
    store.upsert_lesson(lesson("a"))
    store.insert_proposal_if_absent(proposal("p", action="merge", target_lesson_id="a"))
    found = send("GET", "/api/lessons/proposals", headers=COOKIE).json()
    assert [(one["id"], one["target"]["id"]) for one in found["rows"]] == [("p", "a")]
    assert [one["id"] for one in send("GET", "/api/lessons", headers=COOKIE).json()["rows"]] == ["a"]
    assert send("GET", "/api/lessons/other", headers=COOKIE).status_code == 404
    for file in ("lessons.html", "lessons.js", "lessons.css"):
        assert send("GET", f"/{file}", headers=COOKIE).status_code == 200
    for path in ("/api/lessons", "/api/lessons/proposals", "/lessons.html"):
        assert send("GET", path).status_code == 401


def test_a_reviewer_accepts_and_rejects(send: Send, store: TableLessonStore) -> None:
    store.insert_proposal_if_absent(proposal("p"))
    store.insert_proposal_if_absent(proposal("q/1", draft={"statement": "Never."}))
    done = send("POST", ACCEPT, headers=COOKIE, json={"statement": "Say it better.", "reason": "true"})
    assert (done.status_code, done.json()["lesson"]["statement"]) == (200, "Say it better.")
    again = send("POST", REJECT, headers=COOKIE, json={})
    assert (again.status_code, again.json()["error"]["kind"]) == (409, "conflict")
    # A program needs no origin, only the token in its header.
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert send("POST", "/api/lessons/proposals/q%2F1/reject", headers=bearer, json={"reason": "no"}).status_code == 200
    assert store.list_proposals("pending") == []
    assert {one["actor"] for one in store.list_audit()} == {"ana"}
    assert send("POST", "/api/lessons/proposals/zzz/accept", headers=COOKIE, json={}).status_code == 404
    for wrong in ({"statement": 1}, {"other": "x"}, [], {"reason": "x" * 70_000}):
        assert send("POST", ACCEPT, headers=COOKIE, json=wrong).status_code == 400


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 405),
        ({"cookie": COOKIE["cookie"]}, 405),
        ({"origin": BASE}, 401),
        ({**COOKIE, "origin": "https://evil.example"}, 403),
        ({**COOKIE, "origin": "null"}, 403),
        ({**COOKIE, "host": "evil.example"}, 421),
        ({**COOKIE, "content-type": "text/plain"}, 405),
        ({**COOKIE, "sec-fetch-site": "cross-site"}, 405),
        ({"authorization": "Bearer wrong"}, 401),
    ],
)
def test_nobody_else_decides(send: Send, store: TableLessonStore, headers: dict[str, str], status: int) -> None:
    """Another site, another user and a form get nothing written."""
    store.insert_proposal_if_absent(proposal("p"))
    content_type = {"content-type": "application/json"}
    for path in (ACCEPT, REJECT):
        assert send("POST", path, headers={**content_type, **headers}, content=b"{}").status_code == status
    assert [one["id"] for one in store.list_proposals("pending")] == ["p"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_else_is_written(send: Send, method: str) -> None:
    paths = ["/api/lessons", "/api/lessons/proposals", "/api/lessons/proposals/p", "/api/sessions", "/"]
    paths += [] if method == "POST" else [ACCEPT]
    for path in paths:
        assert send(method, path, headers=COOKIE, json={}).status_code == 405
