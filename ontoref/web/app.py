"""The application: endpoints, stream and pages behind the gate."""

from __future__ import annotations

import logging
import os
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ontoref.errors import OntorefError, UsageError
from ontoref.replay.answers import BadParameter
from ontoref.replay.preview import packed
from ontoref.web.api import Api, NotFound, parameters_of, segments_of
from ontoref.web.data import Data
from ontoref.web.gate import Gate
from ontoref.web.lessons import LessonPages, is_decision
from ontoref.web.openapi import describe
from ontoref.web.stream import Streams

__all__ = ["STATIC", "create_app"]

STATIC = os.path.join(os.path.dirname(__file__), "static")
_log = logging.getLogger(__name__)


def create_app(data: Data, *, token: str, port: int, static: str = STATIC) -> Gate:
    """The whole server as one ASGI application. port is the one that it will be asked at."""
    api = Api(data)
    streams = Streams(data.source)

    async def answer(request: Request) -> Response:
        try:
            segments = segments_of(request.scope.get("raw_path", request.url.path.encode()).partition(b"?")[0])[1:]
            parameters = parameters_of(request.scope["query_string"])
            if len(segments) == 2 and segments[0] == "stream":
                after = _after(request, dict(parameters))
                name = await run_in_threadpool(data.sessions.resolve, segments[1])
                return StreamingResponse(streams.messages(name, after), media_type="text/event-stream")
            found = await run_in_threadpool(_packed_answer, api, segments, parameters)
            return Response(found, media_type="application/json")
        except OntorefError as error:
            return _refusal(_status(error), error.kind, error.message, error.hint, error.location)
        except Exception:
            _log.exception("an endpoint failed")
            return _refusal(500, "bug", "the server failed at this", "its terminal shows where", None)

    async def openapi(request: Request) -> Response:
        return Response(packed(describe(api.endpoints)), media_type="application/json")

    async def missing(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _refusal(status, "not-found", "there is nothing at this address", None, None)

    routes: list[Any] = [Route("/openapi.json", openapi), Route("/api/{rest:path}", answer)]
    if os.path.isdir(static):
        routes.append(Mount("/", StaticFiles(directory=static, html=True)))
    inner = Starlette(routes=routes, exception_handlers={404: missing, 405: missing})
    return Gate(LessonPages(inner, data.review), token, port, is_decision if data.review else lambda path: False)


def _packed_answer(api: Api, segments: list[str], parameters: Any) -> bytes:
    return packed(api.answer(segments, parameters))


def _after(request: Request, parameters: dict[str, Any]) -> int | None:
    given = parameters.pop("after", None) or [request.headers.get("last-event-id")]
    if parameters:
        raise BadParameter(f"no parameter is named {next(iter(parameters))!r}", hint="known here: after")
    text = given[-1]
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise BadParameter("after is a number of events")
    return int(text)


def _status(error: OntorefError) -> int:
    if isinstance(error, BadParameter | UsageError):
        return 400
    return 404 if isinstance(error, NotFound) or error.exit_code == 1 else 500


def _refusal(status: int, kind: str, message: str, hint: str | None, location: str | None) -> Response:
    body = packed({"error": {"kind": kind, "message": message, "hint": hint, "location": location}})
    return Response(body, status, media_type="application/json")
