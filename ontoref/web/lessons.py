"""Lessons for the browser: what waits for review, and the two calls that decide. Nothing else is written."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import orjson

from ontoref.errors import OntorefError, UsageError

if TYPE_CHECKING:
    from ontoref.lesson.factory import OpenStore

__all__ = ["LessonPages", "Review", "is_decision"]

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
_ROOT = "/api/lessons"
_DECISION = re.compile(r"/api/lessons/proposals/([^/?]{1,1000})/(accept|reject)")
_MOST_BYTES = 64 * 1024
_WORDS = {"accept": ("statement", "title", "reason"), "reject": ("reason",)}


def is_decision(raw_path: str) -> bool:
    """Whether an address is one of the two that may be written to."""
    return _DECISION.fullmatch(raw_path) is not None


@dataclass(frozen=True, slots=True)
class Review:
    """The review of lessons, for one person.

    Shape: opened gives the store, for reading only or not; each call opens its own, since calls come in threads.
    """

    opened: Callable[[bool], AbstractContextManager[OpenStore]]
    now: Callable[[], str]
    by: str

    def proposals(self) -> dict[str, Any]:
        """What waits, oldest first, with the lesson that each is about."""
        with self.opened(True) as store:
            rows = store.list_proposals("pending")
            for row in rows:
                target = row.get("target_lesson_id")
                row["target"] = store.get_lesson(target) if isinstance(target, str) else None
        return {"rows": rows, "found": len(rows)}

    def lessons(self) -> dict[str, Any]:
        """What holds now, the latest 200."""
        with self.opened(True) as store:
            rows = store.list_active_lessons(self.now(), limit=200)
        return {"rows": rows, "found": len(rows)}

    def decide(self, id: str, verb: str, given: Any) -> dict[str, Any]:
        """Accept or reject. Errors: UsageError, and those of ontoref.lesson.review."""
        from ontoref.lesson.passes import title_of
        from ontoref.lesson.review import accept, reject

        known = _WORDS[verb]
        if not isinstance(given, dict) or not all(
            name in known and isinstance(value, str) for name, value in given.items()
        ):
            raise UsageError(f"to {verb} takes an object of texts", hint=f"known: {', '.join(known)}")
        reason = given.get("reason") or None
        with self.opened(False) as store:
            if verb == "reject":
                return {"proposal": reject(store, id, self.by, self.now(), reason)}
            changes = {name: given[name].strip() for name in ("statement", "title") if given.get(name, "").strip()}
            if "statement" in changes:
                changes.setdefault("title", title_of(changes["statement"]))
            return {"lesson": accept(store, id, self.by, self.now(), changes=changes, reason=reason)}


class LessonPages:
    """The application with the addresses of lessons before its own."""

    def __init__(self, app: App, review: Review | None) -> None:
        self.app = app
        self.review = review

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        path = str(scope.get("path", ""))
        if self.review is None or scope["type"] != "http" or not (path == _ROOT or path.startswith(_ROOT + "/")):
            await self.app(scope, receive, send)
            return
        from starlette.concurrency import run_in_threadpool
        from starlette.requests import Request
        from starlette.responses import Response

        raw = scope.get("raw_path", path.encode()).partition(b"?")[0].decode("latin-1")
        match = _DECISION.fullmatch(raw)
        status = 200
        try:
            if scope["method"] == "POST" and match is not None:
                given = await _body(Request(scope, receive))
                found = await run_in_threadpool(self.review.decide, unquote(match[1]), match[2], given)
            elif path == _ROOT:
                found = await run_in_threadpool(self.review.lessons)
            elif path == _ROOT + "/proposals":
                found = await run_in_threadpool(self.review.proposals)
            else:
                await self.app(scope, receive, send)
                return
        except OntorefError as error:
            status = 409 if error.kind == "conflict" else 404 if error.kind == "not-found" else 400
            status = 500 if error.kind == "lesson-store" else status
            told = {"kind": error.kind, "message": error.message, "hint": error.hint, "location": error.location}
            found = {"error": told}
        await Response(orjson.dumps(found), status, media_type="application/json")(scope, receive, send)


async def _body(request: Any) -> Any:
    """The JSON of a request. Errors: UsageError."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > _MOST_BYTES:
            raise UsageError("that is too much for a decision")
    try:
        return orjson.loads(content or b"{}")
    except ValueError:
        raise UsageError("the request holds no JSON") from None
