"""The endpoints described for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ontoref import __version__
from ontoref.transcript.event import KINDS
from ontoref.web.api import Endpoint

__all__ = ["describe"]

_ABOUT = {
    "depth": ("integer", "Levels of sub-agents' own sessions to open, 0 to 10."),
    "expand": ("array", "Spans of sub-agents to open; may be repeated."),
    "turn": ("string", "Only this turn."),
    "limit": ("integer", "At most so many, 1 to 10000."),
    "cursor": ("string", "The next_cursor of a former answer."),
    "where": ("array", "PATH=VALUE or PATH!=VALUE; may be repeated."),
    "history": ("boolean", "Superseded records too."),
    "open": ("boolean", "Only decisions that wait for an ADR."),
    "adr_candidates": ("boolean", "Only decisions that were ever flagged."),
    "reversible": ("boolean", "Only decisions that are cheap, or costly, to undo."),
    "reverse": ("boolean", "Newest first."),
    "children": ("boolean", "Sub-agents' sessions too."),
    "span": ("string", "By the event's own span."),
    "op_ref": ("string", "By a reference of the runtime's own, say the id of a tool call."),
    "at": ("string", "The last event by this time (RFC 3339)."),
    "q": ("string", "The text, whatever its case."),
    "after": ("integer", "How many events the client has; default: all there are."),
}
_MANY = ("expand", "where", "runtime", "actor", "kind", "domain", "category", "outcome", "session", "file", "tension")
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "location": {"type": ["string", "null"]},
            },
        }
    },
}
_EVENT = {
    "type": "object",
    "required": ["ordinal", "ts", "kind", "span_id", "session_id", "runtime", "payload", "bytes", "truncated"],
    "properties": {
        "ordinal": {"type": "integer"},
        "ts": {"type": "number"},
        "kind": {"enum": list(KINDS)},
        "span_id": {"type": "string"},
        "parent_span_id": {"type": ["string", "null"]},
        "session_id": {"type": "string"},
        "runtime": {"type": "string"},
        "payload": {"type": "object"},
        "mode": {"type": ["object", "null"]},
        "approval": {"type": ["object", "null"]},
        "bytes": {"type": "integer"},
        "truncated": {"type": "boolean"},
    },
}


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """An OpenAPI 3.1 document of the endpoints and of the stream."""
    paths = {_path(endpoint.segments): {"get": _operation(endpoint)} for endpoint in endpoints}
    stream = Endpoint(("stream", "{session}"), ("after",), "What comes while a session is written.", dict)
    operation = _operation(stream)
    operation["responses"]["200"]["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    paths[_path(stream.segments)] = {"get": operation}
    return {
        "openapi": "3.1.0",
        "info": {"title": "ontoref", "version": __version__, "summary": "Sessions as trees, records, decisions."},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR, "Event": _EVENT},
        },
    }


def _path(segments: Sequence[str]) -> str:
    return "/api/" + "/".join(segments)


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    fixed = [
        {"name": name[1:-1], "in": "path", "required": True, "schema": {"type": "string"}}
        for name in endpoint.segments
        if name.startswith("{")
    ]
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    return {
        "operationId": "_".join(name.strip("{}").replace("-", "_") for name in endpoint.segments),
        "summary": endpoint.summary,
        "parameters": fixed + [_parameter(name) for name in endpoint.parameters],
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
            "400": {"description": "A parameter is wrong.", **error},
            "401": {"description": "The token is missing or wrong.", **error},
            "404": {"description": "There is no such thing.", **error},
        },
    }


def _parameter(name: str) -> dict[str, Any]:
    kind, about = _ABOUT.get(name, ("array" if name in _MANY else "string", "As the command's option of that name."))
    schema: dict[str, Any] = {"type": kind}
    if kind == "array":
        schema["items"] = {"type": "string"}
    return {"name": name, "in": "query", "description": about, "schema": schema}
