"""Who may ask: this machine, under its own name, with the token of the run."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

__all__ = ["HEADERS", "Gate", "cookie_name"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_STRANGER = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>ontoref</title>
<h1>This page needs the token of the run</h1>
<p>Open the address that <code>ontoref serve</code> printed; it ends in <code>?token=</code> and the token.</p></html>
"""


def cookie_name(port: int) -> str:
    """Cookies do not tell ports apart, so the name does."""
    return f"ontoref_{port}"


class Gate:
    """The application behind a check of every request.

    Shape: a request needs a Host of this server, no Origin but its own, GET or HEAD, and the token as
           `Authorization: Bearer` or cookie. POST is for addresses that are writable, holds JSON, and needs the
           Origin or the token in its header: what another site makes a browser send has neither. A page asked for with `?token=` answers with the cookie and the same
           address without it. Every answer carries HEADERS.
    """

    def __init__(
        self, app: App, token: str, port: int, writable: Callable[[str], bool] = lambda raw_path: False
    ) -> None:
        self.app = app
        self.writable = writable
        self.token = token.encode()
        self.port = port
        self.hosts = {f"{name}:{port}" for name in _NAMES}
        if port == 80:
            self.hosts |= set(_NAMES)
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message.get("headers", ())}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in own]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        headers = _headers(scope)
        if headers.get(b"host", b"").decode("latin-1").lower() not in self.hosts:
            await _refuse(guarded, 421, "host", "this server answers under its own name alone")
        elif headers.get(b"origin") is not None and headers[b"origin"].decode("latin-1") not in self.origins:
            await _refuse(guarded, 403, "origin", "other sites may not ask")
        elif scope["method"] not in ("GET", "HEAD") and not self._may_write(scope, headers):
            await _refuse(guarded, 405, "method", "nothing can be written here", [(b"allow", b"GET, HEAD")])
        elif not await self._exchanged(scope, guarded):
            if self._known(headers):
                await self.app(scope, receive, guarded)
            elif scope["path"].startswith("/api/") or scope["path"] == "/openapi.json":
                hint = "send Authorization: Bearer TOKEN, or open the address that ontoref serve printed"
                await _refuse(
                    guarded, 401, "token", "the token of the run is missing or wrong", [(b"www-authenticate", b"Bearer")],
                    hint,
                )  # fmt: skip
            else:
                await _answer(guarded, 401, _STRANGER, [(b"content-type", b"text/html; charset=utf-8")])

    def _may_write(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        raw_path = scope.get("raw_path", scope["path"].encode()).partition(b"?")[0].decode("latin-1")
        if scope["method"] != "POST" or not self.writable(raw_path):
            return False
        own = headers.get(b"origin") is not None or headers.get(b"authorization") is not None
        site = headers.get(b"sec-fetch-site", b"same-origin")
        json = headers.get(b"content-type", b"").partition(b";")[0].strip().lower() == b"application/json"
        return own and json and site in (b"same-origin", b"none")

    async def _exchanged(self, scope: Scope, send: Send) -> bool:
        """Turn a right token in a page's address into the cookie."""
        path = scope["path"]
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or path.startswith("/api/") or not self._right(given[0].encode("utf-8", "replace")):
            return False
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # The raw path is percent-encoded; two slashes at its start would name another host.
        where = "/" + scope.get("raw_path", path.encode()).partition(b"?")[0].decode("latin-1").lstrip("/\\")
        cookie = f"{cookie_name(self.port)}={self.token.decode()}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(
            send, 303, b"",
            [(b"location", (where + ("?" + rest if rest else "")).encode()), (b"set-cookie", cookie.encode())],
        )  # fmt: skip
        return True

    def _known(self, headers: dict[bytes, bytes]) -> bool:
        kind, _, bearer = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer" and self._right(bearer.strip()):
            return True
        name = cookie_name(self.port).encode()
        for part in headers.get(b"cookie", b"").split(b";"):
            key, _, value = part.strip().partition(b"=")
            if key == name and self._right(value):
                return True
        return False

    def _right(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self.token)


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """Headers by name; of one that is repeated nothing good can come, so it is spoilt."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in found:
            joint = b"; " if name == b"cookie" else b", "
            found[name] += joint + value
        else:
            found[name] = value
    return found


async def _refuse(
    send: Send,
    status: int,
    kind: str,
    message: str,
    headers: Iterable[tuple[bytes, bytes]] = (),
    hint: str | None = None,
) -> None:
    body = orjson.dumps({"error": {"kind": kind, "message": message, "hint": hint, "location": None}})
    await _answer(send, status, body, [(b"content-type", b"application/json"), *headers])


async def _answer(send: Send, status: int, body: bytes, headers: Iterable[tuple[bytes, bytes]]) -> None:
    every = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})
