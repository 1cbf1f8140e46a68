"""What lies beside transcripts, into the archive: files, the index of session keys, run traces."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

from ontoref.state import companions, ledger, sessions, sources
from ontoref.state.faults import step
from ontoref.state.identify import Identified, agent_of
from ontoref.state.sources import Status
from ontoref.state.store import State
from ontoref.transcript.native import parse
from ontoref.transcript.source import TranscriptError, lines_of
from ontoref.transcript.tree import Unread, files_below, silently

__all__ = ["ARTIFACTS", "ROUTES", "keep_files", "keep_routes", "keep_trajectory"]

ARTIFACTS = "tool_artifacts"
ROUTES = "session_routes"
_LARGEST_BYTES = 900_000_000
# The end of the year 9999.
_LATEST_MS = 253_402_300_800_000
# OpenClaw's settings tell what a session was allowed to do. They also hold tokens, so only what is read is kept.
_SETTINGS = ("../../../exec-approvals.json", "../../../openclaw.json")


def keep_files(
    state: State, path: str, agent_id: str, session_id: str, runtime: str = "", unread: Unread = silently
) -> bool:
    """Keep the files of a session that are new or changed. Whether there were any; unread is told of those that cannot."""
    control, database = state.writable(), state.writable_agent(agent_id)
    folder = os.path.dirname(sources.name_of(path))
    stored = sessions.stored(database, session_id)
    if stored is None:
        return False
    fresh: list[tuple[ledger.Row, str, str, bytes]] = []
    for file, kind in _files(path, unread):
        name = os.path.relpath(file, folder).replace(os.sep, "/")
        try:
            file.encode()
            status = os.stat(file)
            known = ledger.get(control, file, ARTIFACTS)
            if (
                known
                and known.sha256 == companions.artifact_digest(database, stored.session_row, name)
                and (known.size_bytes, known.mtime_ns) == (status.st_size, status.st_mtime_ns)
            ):
                continue
            if status.st_size > _LARGEST_BYTES:
                unread(file, f"it is larger than {_LARGEST_BYTES // 1_000_000} MB")
                continue
            with open(file, "rb") as opened:
                blob = opened.read()
        except UnicodeEncodeError:
            unread(file, "the file's name is no UTF-8")
            continue
        except OSError as error:
            unread(file, error.strerror or str(error))
            continue
        row = ledger.new(
            "artifact",
            file,
            ARTIFACTS,
            "completed",
            status.st_size,
            status.st_mtime_ns,
            agent_id=agent_id,
            session_id=session_id,
            sha256=hashlib.sha256(blob).hexdigest(),
            offset_bytes=len(blob),
            record_count=1,
        )
        fresh.append((row, name, kind, blob))
    settings = list(_settings(folder)) if runtime == "openclaw" else []
    if not (fresh or settings):
        return False
    with database.transaction():
        for row, name, kind, blob in fresh:
            companions.put_artifact(database, stored.session_row, name, kind, blob, row.sha256 or "")
        for name, blob in settings:
            sha256 = hashlib.sha256(blob).hexdigest()
            companions.put_artifact(database, stored.session_row, name, "settings", blob, sha256)
    step("import:artifacts")
    if fresh:
        with control.transaction():
            for row, *_ in fresh:
                ledger.put(control, row)
    return bool(fresh)


def keep_routes(state: State, path: str, status: Status) -> int:
    """Keep an index of session keys: keys merge, the newer entry wins. How many it names, deleted sessions left out.

    Errors: TranscriptError for an index that is no JSON object; what is stored stays.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        entries = parse(content)
    except ValueError as error:
        raise TranscriptError(f"the index cannot be read: {error}", location=path) from None
    if not isinstance(entries, dict):
        raise TranscriptError("the index is no JSON object", location=path)
    parts = os.path.normpath(path).split(os.sep)
    native = parts[-3] if len(parts) >= 3 and parts[-2] == "sessions" else None
    agent_id = agent_of("openclaw", native)
    database = state.writable_agent(agent_id)
    buried = ledger.buried(state.writable(), agent_id)
    routes = [route for route in _routes(entries, status) if route.session_id not in buried]
    with database.transaction():
        for route in routes:
            companions.put_route(database, route)
    step("import:routes")
    _note(state, "routes", path, ROUTES, agent_id, None, content, status, len(routes))
    return len(routes)


def keep_trajectory(state: State, path: str, status: Status, who: Identified) -> int | None:
    """Keep a run's trace with its session. How many lines; None if that session is not archived."""
    database = state.agent(who.agent_id)
    stored = sessions.stored(database, who.session_id) if database else None
    if database is None or stored is None:
        return None
    rows = []
    for line in lines_of(path):
        try:
            record = parse(line)
        except ValueError:
            record = None
        run_id = record.get("runId") if isinstance(record, dict) else None
        rows.append((run_id if isinstance(run_id, str) else "", line))
    with database.transaction():
        companions.put_trajectory(database, stored.session_row, rows)
    step("import:trajectory")
    content = b"".join(line for _, line in rows)
    table = "trajectory_runtime_events"
    _note(state, "trajectory", path, table, who.agent_id, who.session_id, content, status, len(rows))
    return len(rows)


def _note(
    state: State,
    kind: str,
    path: str,
    table: str,
    agent_id: str,
    session_id: str | None,
    content: bytes,
    status: Status,
    count: int,
) -> None:
    row = ledger.new(
        kind,
        path,
        table,
        "completed",
        status.size_bytes,
        status.mtime_ns,
        agent_id=agent_id,
        session_id=session_id,
        sha256=hashlib.sha256(content).hexdigest(),
        offset_bytes=len(content),
        record_count=count,
    )
    ledger.put(state.writable(), row)


def _files(path: str, unread: Unread) -> Iterator[tuple[str, str]]:
    """Files that belong to a transcript, with their kinds: its sub-agents' own are theirs."""
    stem = path.removesuffix(".jsonl")
    if stem == path:
        return
    described = stem + ".meta.json"
    if os.path.isfile(described):
        yield described, "meta"
    if not os.path.isdir(stem):
        return
    for file in files_below(stem, unread):
        folder, name = os.path.split(file)
        if name.endswith(".meta.json"):
            if not os.path.exists(file.removesuffix(".meta.json") + ".jsonl"):
                yield file, "meta"
        elif name == "journal.jsonl":
            yield file, "journal"
        elif os.path.basename(folder) == "tool-results":
            yield file, "tool-result"
        elif ".jsonl" not in name:
            yield file, "other"


def _settings(folder: str) -> Iterator[tuple[str, bytes]]:
    for name in _SETTINGS:
        try:
            with open(os.path.join(folder, *name.split("/")), "rb") as file:
                found = parse(file.read())
        except (OSError, ValueError):
            continue
        if not isinstance(found, dict):
            continue
        kept: dict[str, Any] = {}
        if isinstance(found.get("agents"), dict) and "list" not in found["agents"]:
            kept["agents"] = {key: _permission(value) for key, value in found["agents"].items()}
        if isinstance(found.get("defaults"), dict):
            kept["defaults"] = _permission(found["defaults"])
        tools = found.get("tools")
        if isinstance(tools, dict) and isinstance(tools.get("exec"), dict):
            kept["tools"] = {"exec": _permission(tools["exec"])}
        yield name, json.dumps(kept, sort_keys=True).encode()


def _permission(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: value[key] for key in ("security", "ask") if isinstance(value.get(key), str)}


def _routes(entries: dict[str, Any], status: Status) -> Iterator[companions.Route]:
    for key, entry in entries.items():
        if not key or not isinstance(entry, dict) or not isinstance(entry.get("sessionId"), str):
            continue
        if not entry["sessionId"]:
            continue
        spawned_by = entry.get("spawnedBy")
        updated = entry.get("updatedAt")
        yield companions.Route(
            session_key=key,
            session_id=f"openclaw:{entry['sessionId']}",
            spawned_by=spawned_by if isinstance(spawned_by, str) else None,
            entry=json.dumps(entry, ensure_ascii=True).encode("ascii"),
            updated_at=updated if type(updated) is int and 0 <= updated < _LATEST_MS else status.mtime_ns // 1_000_000,
        )
