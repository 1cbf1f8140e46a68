"""Who may ask, and what every answer carries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import BASE, PORT, TOKEN, Ask

PATHS = ["/", "/index.html", "/openapi.json", "/api/sessions", "/api/replay-tree/s", "/api/stream/s", "/api/nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1]])
def test_nothing_is_answered_without_the_token(ask: Ask, path: str, token: str | None) -> None:
    """S2-55: another user of the machine gets nothing."""
    answer = ask(path, token=token)
    assert answer.status_code == 401
    assert "script>alert" not in answer.text
    if path.startswith("/api/"):
        assert answer.json()["error"]["kind"] == "token"


def test_the_token_in_a_pages_address_becomes_a_cookie(ask: Ask) -> None:
    answer = ask(f"/?token={TOKEN}&a=b", token=None)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?a=b"
    cookie = answer.headers["set-cookie"]
    assert cookie == f"ontoref_{PORT}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    for path in ("/", "/api/sessions"):
        assert ask(path, token=None, headers={"cookie": f"other=1; ontoref_{PORT}={TOKEN}"}).status_code == 200
        assert ask(path, token=None, headers={"cookie": f"ontoref_{PORT + 1}={TOKEN}"}).status_code == 401


@pytest.mark.parametrize("path", [f"/api/sessions?token={TOKEN}", "/?token=wrong", "/?token=%FF"])
def test_a_token_in_an_address_is_worth_nothing_elsewhere(ask: Ask, path: str) -> None:
    assert ask(path, token=None).status_code == 401


def test_the_exchange_leads_to_no_other_host(ask: Ask) -> None:
    answer = ask(f"{BASE}//evil.example/?token={TOKEN}", token=None)
    assert answer.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", f"127.0.0.1:{PORT + 1}", "127.0.0.1", ""])
def test_another_name_of_this_host_is_refused(ask: Ask, host: str) -> None:
    """A page that lets its own name point here is not answered."""
    answer = ask("/api/sessions", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_the_names_of_this_machine_are_answered(ask: Ask, host: str) -> None:
    assert ask("/api/sessions", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [(BASE, 200), (f"http://localhost:{PORT}", 200), ("null", 403), ("https://evil.example", 403), (f"{BASE}0", 403)],
)
def test_other_sites_are_refused(ask: Ask, origin: str, status: int) -> None:
    assert ask("/api/sessions", headers={"origin": origin}).status_code == status


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/api/sessions", "/api/records"])
def test_nothing_can_be_written(ask: Ask, method: str, path: str) -> None:
    answer = ask(path, method=method)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [*PATHS[:-3], "/api/nothing", "/nothing.js"])
def test_every_answer_carries_the_rules_for_the_browser(ask: Ask, path: str) -> None:
    headers: Any = ask(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
