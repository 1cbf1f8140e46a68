"""Records in the formats of others, checked by what those others publish."""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT, App


@pytest.fixture
def log(app: App) -> Path:
    shutil.copytree(ROOT / "examples/interactions", app.folder / "log")
    return app.folder / "log"


# The shape that Agent Trace 0.1 publishes, stated in our own words.
TEXT = {"type": "string"}
CONTRIBUTOR = {
    "type": "object",
    "properties": {
        "type": {"enum": ["human", "ai", "mixed", "unknown"]},
        "model_id": {"type": "string", "maxLength": 250},
    },
    "required": ["type"],
    "additionalProperties": False,
}
CONVERSATION = {
    "type": "object",
    "properties": {"url": TEXT, "contributor": CONTRIBUTOR, "ranges": {"type": "array"}, "related": {"type": "array"}},
    "required": ["ranges"],
    "additionalProperties": False,
}
AGENT_TRACE = {
    "type": "object",
    "properties": {
        "version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+$"},
        "id": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
        },
        "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$"},
        "vcs": {
            "type": "object",
            "properties": {"type": {"enum": ["git", "jj", "hg", "svn"]}, "revision": TEXT},
            "required": ["type", "revision"],
            "additionalProperties": False,
        },
        "tool": {
            "type": "object",
            "properties": {"name": TEXT, "version": TEXT},
            "required": ["name", "version"],
            "additionalProperties": False,
        },
        "files": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": TEXT, "conversations": {"type": "array", "items": CONVERSATION}},
                "required": ["path", "conversations"],
                "additionalProperties": False,
            },
        },
        "metadata": {"type": "object"},
    },
    "required": ["version", "id", "timestamp", "files"],
    "additionalProperties": False,
}


def records(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(log.rglob("*.jsonl")) for line in path.read_text().splitlines()]


def test_agent_trace(app: App, log: Path) -> None:
    result = app("interaction", "export", "--format", "agent-trace", log)
    assert result.code == 0, result.err
    traces = [json.loads(line) for line in result.out.splitlines()]
    for trace in traces:
        jsonschema.validate(trace, AGENT_TRACE)
    assert len(traces) == sum(bool(record.get("files_touched")) for record in records(log))
    assert len({trace["id"] for trace in traces}) == len(traces)
    again = app("interaction", "export", "--format", "agent-trace", log)
    assert again.out == result.out, "ids stay the same"


def test_otlp_is_what_the_published_protocol_parses(app: App, log: Path) -> None:
    request = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    from google.protobuf import json_format

    body = json.loads(app("interaction", "export", "--format", "otlp-json", log).out)
    spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert len(spans) == len(records(log))
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans)
    for span in spans:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        if "parentSpanId" in span:
            assert span["parentSpanId"] in by_id
        # OTLP's JSON writes ids in hex where the general mapping has base64.
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    parsed = json_format.ParseDict(body, request.ExportTraceServiceRequest())
    assert len(parsed.resource_spans[0].scope_spans[0].spans) == len(spans)


def test_csv_has_no_prose_unless_asked(app: App, log: Path) -> None:
    plain = list(csv.DictReader(io.StringIO(app("interaction", "export", "--format", "csv", log).out)))
    assert len(plain) == len(records(log))
    assert "summary" not in plain[0]
    asked = list(csv.DictReader(io.StringIO(app("interaction", "export", "--format", "csv", "--prose", log).out)))
    assert asked[0]["summary"]


def test_parquet_reads_back(app: App, log: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    target = app.folder / "records.parquet"
    assert app("interaction", "export", "--format", "parquet", "--output", target, log).code == 0
    rows = duckdb.sql(f"select id, outcome, len(files_touched) from '{target}' order by id").fetchall()
    assert [row[:2] for row in rows] == sorted((record["id"], record["outcome"]) for record in records(log))
    assert "summary" not in duckdb.sql(f"select * from '{target}'").columns
    assert app("interaction", "export", "--format", "parquet", log).code == 2


def test_what_is_not_valid_is_left_out_and_told(app: App, log: Path) -> None:
    (log / "bad.jsonl").write_text('{"torn\n{}\n')
    result = app("interaction", "export", log)
    assert result.code == 1
    assert "bad.jsonl:1" in result.err
    assert result.out
