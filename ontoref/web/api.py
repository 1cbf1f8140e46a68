"""The endpoints: an address into a question to the core, its answer into JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote_to_bytes

from ontoref.errors import OntorefError
from ontoref.replay.answers import LIMIT, MOST_LIMIT, BadParameter, Options, children_answer, tree_answer
from ontoref.replay.figures import figures_of
from ontoref.replay.finding import MOST_HITS, Finding
from ontoref.replay.preview import event_json
from ontoref.replay.trees import Trees
from ontoref.web.data import Data, Parameters

__all__ = ["Api", "Endpoint", "NotFound", "parameters_of", "segments_of"]

_TREE = ("depth", "expand", "turn", "limit", "cursor")


class NotFound(OntorefError):
    """There is nothing at that address."""

    kind = "not-found"
    exit_code = 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address. Shape: segments below /api/, `{name}` standing for any; parameters are those it takes."""

    segments: tuple[str, ...]
    parameters: tuple[str, ...]
    summary: str
    call: Callable[..., dict[str, Any]]


class Api:
    """The answers of all endpoints but the stream's. Everything here may block; nothing here writes."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.trees = Trees(data.source)
        self.finding = Finding(self.trees)
        record = ("where", "actor", "kind", "domain", "category", "outcome", "session", "file", "tension", "since",
                  "until", "history", "sort", "reverse", "limit")  # fmt: skip
        self.endpoints = [
            Endpoint(("sessions",), ("runtime", "children", "limit"), "Sessions, newest first.", self._sessions),
            Endpoint(("figures", "{session}"), (), "What a session holds, in numbers.", self._figures),
            Endpoint(("replay-tree", "{session}"), _TREE, "A session as a tree, a page of it.", self._tree),
            Endpoint(
                ("replay-tree", "{session}", "children", "{span}"),
                ("depth", "expand", "limit", "cursor"),
                "One sub-agent, workflow or stage, opened.",
                self._children,
            ),
            Endpoint(("event", "{session}", "{span}"), (), "One event, whole.", self._event),
            Endpoint(("transcript", "{session}"), ("limit", "cursor"), "A session as a flat list.", self._transcript),
            Endpoint(("outline", "{session}"), (), "A line for each turn of a session.", self._outline),
            Endpoint(("locate", "{session}"), ("span", "op_ref", "at"), "Where an event stands.", self._locate),
            Endpoint(("search", "{session}"), ("q", "limit"), "Events of a session that hold a text.", self._search),
            Endpoint(("records",), record, "Records, as `ontoref interaction records` has them.", self._records),
            Endpoint(
                ("decisions",),
                (*record, "adr_candidates", "open", "reversible"),
                "Decisions, as `ontoref interaction decisions` has them, with facets and reasons for an ADR.",
                self._decisions,
            ),
        ]

    def answer(self, segments: Sequence[str], parameters: Parameters) -> dict[str, Any]:
        """The answer to an address below /api/. Errors: NotFound, BadParameter, whatever the core raises."""
        for endpoint in self.endpoints:
            if len(endpoint.segments) == len(segments) and all(
                shape.startswith("{") or shape == given
                for shape, given in zip(endpoint.segments, segments, strict=True)
            ):
                unknown = [name for name in parameters if name not in endpoint.parameters]
                if unknown:
                    known = ", ".join(endpoint.parameters) or "none"
                    raise BadParameter(f"no parameter is named {unknown[0]!r}", hint=f"known here: {known}")
                names = [g for s, g in zip(endpoint.segments, segments, strict=True) if s.startswith("{")]
                return endpoint.call(parameters, *names)
        raise NotFound("there is nothing at this address", hint="GET /openapi.json lists what there is")

    def _sessions(self, parameters: Parameters) -> dict[str, Any]:
        return self.data.sessions.rows(parameters)

    def _records(self, parameters: Parameters) -> dict[str, Any]:
        return self.data.records(parameters)

    def _decisions(self, parameters: Parameters) -> dict[str, Any]:
        return self.data.decisions(parameters)

    def _figures(self, parameters: Parameters, session: str) -> dict[str, Any]:
        name = self.data.sessions.resolve(session)
        return self.data.figures(name) or figures_of(self.trees, name)

    def _tree(self, parameters: Parameters, session: str) -> dict[str, Any]:
        return tree_answer(self.trees, self.data.sessions.resolve(session), _options(parameters))

    def _children(self, parameters: Parameters, session: str, span: str) -> dict[str, Any]:
        name = self.data.sessions.resolve(session)
        try:
            return children_answer(self.trees, name, span, _options(parameters))
        except LookupError:
            raise NotFound(f"the session has no sub-agent or workflow {span!r}") from None

    def _event(self, parameters: Parameters, session: str, span: str) -> dict[str, Any]:
        for row in self.trees.rows(self.data.sessions.resolve(session)) or ():
            if row.event.span_id == span:
                return event_json(row.event, row.ordinal, full=True)
        raise NotFound(f"the session has no event {span!r}")

    def _outline(self, parameters: Parameters, session: str) -> dict[str, Any]:
        name = self.data.sessions.resolve(session)
        return self.finding.outline(name) | {"about": self.data.about(name)}

    def _locate(self, parameters: Parameters, session: str) -> dict[str, Any]:
        name = self.data.sessions.resolve(session)
        span, op_ref, at = (_one(parameters, key) for key in ("span", "op_ref", "at"))
        try:
            return self.finding.locate(name, span, op_ref, at)
        except LookupError:
            raise NotFound("the session has nothing there") from None

    def _search(self, parameters: Parameters, session: str) -> dict[str, Any]:
        limit = _number(parameters, "limit", MOST_HITS, 1, MOST_LIMIT)
        return self.finding.search(self.data.sessions.resolve(session), _one(parameters, "q") or "", limit)

    def _transcript(self, parameters: Parameters, session: str) -> dict[str, Any]:
        name = self.data.sessions.resolve(session)
        rows = self.trees.rows(name)
        limit = _number(parameters, "limit", LIMIT, 1, MOST_LIMIT)
        start = _number(parameters, "cursor", 0, 0, 1 << 53)
        shown = (rows or ())[start : start + limit]
        following = start + len(shown)
        more = following < len(rows or ())
        return {
            "session_id": shown[0].event.session_id if shown else name.partition(":")[2] or name,
            "id": name,
            "known": rows is not None,
            "events": [event_json(row.event, row.ordinal) for row in shown],
            "row_count": len(rows or ()),
            "has_more": more,
            "next_cursor": str(following) if more else None,
        }


def parameters_of(query: bytes) -> Parameters:
    """The parameters of an address. Errors: BadParameter for what is no UTF-8."""
    try:
        return parse_qs(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError:
        raise BadParameter("the address has parameters that are no UTF-8, or too many") from None


def segments_of(raw_path: bytes) -> list[str]:
    """The parts of a path, each decoded by itself, so that an id may hold a slash. Errors: BadParameter."""
    try:
        return [unquote_to_bytes(part).decode("utf-8") for part in raw_path.strip(b"/").split(b"/")]
    except UnicodeDecodeError:
        raise BadParameter("the address is no UTF-8") from None


def _options(parameters: Parameters) -> Options:
    return Options(
        depth=_number(parameters, "depth", 0, 0, 10),
        expand=frozenset(parameters.get("expand", ())),
        turn=_one(parameters, "turn"),
        limit=_number(parameters, "limit", 0, 1, MOST_LIMIT) or None,
        cursor=_one(parameters, "cursor"),
    )


def _one(parameters: Parameters, name: str) -> str | None:
    values = parameters.get(name, ())
    if len(values) > 1:
        raise BadParameter(f"{name} is given more than once")
    return values[0] if values else None


def _number(parameters: Parameters, name: str, default: int, least: int, most: int) -> int:
    text = _one(parameters, name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise BadParameter(f"{name} is a number between {least} and {most}")
    return int(text)
