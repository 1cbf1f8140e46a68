"""Records as OpenTelemetry spans in OTLP's JSON: a session is a trace, a record a span, an event an event."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ontoref import __version__

__all__ = ["otlp"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def otlp(records: Iterable[Mapping[str, Any]], table: Mapping[str, Any]) -> dict[str, Any]:
    """One ExportTraceServiceRequest.

    Units:  times are nanoseconds since 1970, as text; ids are hex, as OTLP's JSON has them.
    Source: the OTLP specification, its JSON encoding; attribute names of GenAI conventions where they exist.
    """
    spans = [_span(record, table) for record in records]
    resource = {"attributes": [_attribute("service.name", "ontoref")]}
    scope = {"name": "ontoref", "version": __version__}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def _span(record: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    end = _nanoseconds(record.get("ended_at") or record["recorded_at"])
    start = _nanoseconds(record.get("started_at") or record.get("ended_at") or record["recorded_at"])
    span: dict[str, Any] = {
        "traceId": hashlib.sha256(str(record["session_id"]).encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "spanId": _span_id(record["id"]),
        "name": f"{record['kind']} {record['domain']}",
        "kind": 1,
        "startTimeUnixNano": str(min(start, end)),
        "endTimeUnixNano": str(end),
        "attributes": list(_attributes(record)),
        "events": [
            {
                "name": event["kind"],
                "timeUnixNano": str(_nanoseconds(event["at"]) if "at" in event else end),
                "attributes": [_attribute("ontoref.op_ref", event["op_ref"])] if "op_ref" in event else [],
            }
            for event in record.get("events", ())
        ],
        "status": {"code": 2 if record.get("outcome") in table["errors"] else 1},
    }
    if "parent_record" in record:
        span["parentSpanId"] = _span_id(record["parent_record"])
    return span


def _attributes(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield _attribute("gen_ai.conversation.id", record["session_id"])
    if "model" in record:
        yield _attribute("gen_ai.request.model", record["model"])
    for name in ("id", "actor", "category", "outcome", "revision"):
        if name in record:
            yield _attribute(f"ontoref.{name}", record[name])
    for name in ("files_touched", "tensions_engaged", "supersedes"):
        if record.get(name):
            yield _attribute(f"ontoref.{name}", record[name])
    decisions = [decision["id"] for decision in record.get("decisions", ())]
    if decisions:
        yield _attribute("ontoref.decisions", decisions)


def _attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": str(item)} for item in value]}}}
    return {"key": key, "value": {"stringValue": str(value)}}


def _span_id(ulid: str) -> str:
    """The last eight bytes of a ULID's sixteen: its random part."""
    number = 0
    for character in ulid:
        number = number << 5 | _ALPHABET.index(character)
    return f"{number & (1 << 64) - 1:016x}"


def _nanoseconds(moment: str) -> int:
    """Exact to the nanosecond, which a float is not."""
    whole, _, fraction = moment.removesuffix("Z").partition(".")
    seconds = (datetime.fromisoformat(whole + "+00:00") - _EPOCH) // timedelta(seconds=1)
    return seconds * 1_000_000_000 + int(fraction.ljust(9, "0")[:9] or 0)
