"""Records as Agent Trace 0.1 records: who contributed to which files, in which session."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from ontoref import __version__

__all__ = ["agent_trace"]

# Any fixed namespace will do; it has to stay the same, so that a record keeps its id.
_NAMESPACE = uuid.UUID("6f6e746f-7265-5666-8d61-67656e742d74")


def agent_trace(record: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any] | None:
    """One trace record; None for a record without files, which that format has no place for.

    Shape:  a record knows files and no lines, so ranges are empty; table is `schemas/tables/interchange.yaml`.
    Source: the schema of Agent Trace 0.1, whose version pattern takes two numbers.
    """
    files = record.get("files_touched")
    if not files:
        return None
    kind = table["contributors"].get(record.get("actor"), table["otherwise"])
    contributor = {"type": kind}
    if "model" in record:
        contributor["model_id"] = record["model"]
    conversation: dict[str, Any] = {"contributor": contributor, "ranges": []}
    trace: dict[str, Any] = {
        "version": "0.1",
        "id": str(uuid.uuid5(_NAMESPACE, record["id"])),
        "timestamp": record["recorded_at"],
        "tool": {"name": "ontoref", "version": __version__},
        "files": [{"path": path, "conversations": [conversation]} for path in files],
        "metadata": {
            "invalid.ontoref": {
                key: record[key]
                for key in ("id", "session_id", "actor", "kind", "domain", "category", "outcome")
                if key in record
            }
        },
    }
    if "revision" in record:
        trace["vcs"] = {"type": "git", "revision": record["revision"]}
    return trace
