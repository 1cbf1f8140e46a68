"""`interaction schema --bundle` is plain JSON Schema that other validators take as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App
from tests.vocabulary.cases import change, copy_schemas

ULID = "01JE4Q8ZT3W6M1K9V2C5N7X0RB"
RECORD: dict[str, Any] = {
    "schema_version": 1,
    "id": ULID,
    "session_id": "s-1",
    "recorded_at": "2026-11-30T18:04:05.123Z",
    "actor": "Human",
    "kind": "Fix",
    "domain": "Cli",
    "outcome": "Completed",
    "summary": "",
}
GOOD: dict[str, dict[str, Any]] = {
    "least": {},
    "prose": {"summary": "Two words, and a stop.\n\u2028 ‮ 😀"},
    "event": {"events": [{"kind": "Finding", "note": "n", "at": "2026-11-30T18:04:05Z", "op_ref": "op:1"}]},
    "decision": {
        "decisions": [
            {"id": "a-b.c", "reversible": True, "adr_candidate": False, "alternatives_rejected": ["Ein Weg — 道"]}
        ]
    },
    "paths": {"files_touched": ["a/b.py", "ü/a b.md", ".github/x"]},
    "open word": {"tensions_engaged": ["nobody-listed-it"]},
    "witness": {"witness": {"op_id": "o", "state_root": "a" * 40, "signature": "QUJD"}},
}
BAD: dict[str, dict[str, Any]] = {
    "unknown member": {"kind": "Fxi"},
    "tick": {"actor": "'Human"},
    "null": {"witness": None},
    "unknown field": {"sumary": "s"},
    "version": {"schema_version": 2},
    "version true": {"schema_version": True},
    "id": {"id": ULID.lower()},
    "id with newline": {"id": ULID + "\n"},
    "no time": {"recorded_at": "2026-02-30T00:00:00Z"},
    "local time": {"recorded_at": "2026-11-30T18:04:05+01:00"},
    "unicode digits": {"decisions": [{"id": "a", "reversible": True, "adr_candidate": True, "adr": "ADR-٠٠٠١"}]},
    "parent": {"files_touched": ["../a"]},
    "absolute": {"files_touched": ["/a"]},
    "two lines": {"model": "a\nb"},
    "long label": {"model": "m" * 121},
    "partial witness": {"witness": {"op_id": "o"}},
    "no reversible": {"decisions": [{"id": "a", "adr_candidate": True}]},
    "not a list": {"events": {"kind": "Finding"}},
    "prose number": {"summary": 1},
}


@pytest.fixture
def files(app: App, tmp_path: Path) -> tuple[Path, Path, list[bool]]:
    """The bundle, a file of records, and the verdict that each deserves."""
    told = app("interaction", "schema", "--bundle")
    assert told.code == 0
    schema = tmp_path / "record.schema.json"
    schema.write_text(told.out, encoding="utf-8")
    cases = [(RECORD | fields, True) for fields in GOOD.values()] + [
        (RECORD | fields, False) for fields in BAD.values()
    ]
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps(record) + "\n" for record, _ in cases), encoding="utf-8")
    return schema, records, [verdict for _, verdict in cases]


def test_the_bundle_is_one_plain_document(app: App) -> None:
    bundle = json.loads(app("interaction", "schema", "--bundle").out)
    text = json.dumps(bundle)
    assert bundle["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"x-' not in text
    assert ".yaml" not in text
    references = {node["$ref"] for node in _nodes(bundle) if "$ref" in node}
    assert {reference.removeprefix("#/$defs/") for reference in references} == set(bundle["$defs"])


def _nodes(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if isinstance(value, dict) else []), *(node for item in inner for node in _nodes(item))]


def test_without_bundle_it_is_the_record_s_own_file(app: App) -> None:
    own = json.loads(app("interaction", "schema").out)
    assert own["$id"].endswith("interaction.yaml")
    assert '"x-' not in json.dumps(own)
    assert own["$defs"]["InteractionRecord"]["properties"]["kind"]["$ref"] == "coder.yaml#/$defs/Kind"


def test_the_bundle_holds_what_a_project_added(app: App) -> None:
    folder = copy_schemas(app.folder / ".ontoref" / "schemas")
    change(folder, "coder.yaml", "      - {const: Fix,", "      - {const: Spike, description: d}\n      - {const: Fix,")
    bundle = json.loads(app("interaction", "schema", "--bundle").out)
    assert "Spike" in bundle["$defs"]["Kind"]["enum"]


def test_check_jsonschema_takes_it_as_it_is(files: tuple[Path, Path, list[bool]], tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    schema, records, verdicts = files
    command = [sys.executable, "-m", "check_jsonschema"]
    metaschema = subprocess.run([*command, "--check-metaschema", schema], capture_output=True, text=True, check=False)
    assert metaschema.returncode == 0, metaschema.stdout + metaschema.stderr
    names = []
    for number, line in enumerate(records.read_text(encoding="utf-8").splitlines()):
        path = tmp_path / f"{number}.json"
        path.write_text(line, encoding="utf-8")
        names.append(path)
    done = subprocess.run(
        [*command, "-o", "json", "--schemafile", schema, *names], capture_output=True, text=True, check=False
    )
    refused = {os.path.basename(error["filename"]) for error in json.loads(done.stdout)["errors"]}
    assert refused == {path.name for path, verdict in zip(names, verdicts, strict=True) if not verdict}


@pytest.fixture(scope="session")
def ajv(npm: Callable[..., Path]) -> Path:
    """A folder with ajv."""
    return npm("ajv@8", "ajv-formats@3")


def test_ajv_takes_it_in_strict_mode(files: tuple[Path, Path, list[bool]], ajv: Path) -> None:
    schema, records, verdicts = files
    script = Path(__file__).parent / "ajv.mjs"
    done = subprocess.run(
        ["node", script, ajv, schema, records], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line == "true" for line in done.stdout.split()] == verdicts
