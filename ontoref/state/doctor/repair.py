"""Mends what ontoref owns: plan, verified backup, repairs. Killed at any point it can be run again."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime

from ontoref.errors import OntorefError
from ontoref.identifiers import new_ulid
from ontoref.state import leases, ledger, registry, sessions, sources, upkeep
from ontoref.state.backup.create import create
from ontoref.state.doctor.examine import leftovers
from ontoref.state.doctor.finding import Finding
from ontoref.state.faults import step
from ontoref.state.identify import Candidate
from ontoref.state.importer import RUN_SCOPE, Importer
from ontoref.state.opening import make_private_dirs, open_reader
from ontoref.state.store import State
from ontoref.text import counted

__all__ = ["Repaired", "repair"]

_KINDS = {"transcript_events": "transcript", "trajectory_runtime_events": "trajectory", "session_routes": "routes"}


class Repaired(list[str]):
    """What was done, a sentence each; backup is the archive made before."""

    backup: str = ""


def repair(state: State, findings: list[Finding], now: datetime) -> Repaired:
    """Mend the fixable ones among the findings.

    Errors: if the backup cannot be made and verified, its error, and nothing is mended; LeaseHeld while
            another doctor works.
    """
    done = Repaired()
    plan = [finding for finding in findings if finding.fixable]
    if not plan:
        return done
    control = state.writable()
    owner = leases.this_process()
    with leases.acquire(control, "doctor", owner=owner, attempts=3) as lease:
        done.backup = _backup(state, now)
        step("doctor:backup")
        run_id = new_ulid()
        with leases.acquire(control, RUN_SCOPE, run_id, owner=owner, attempts=1):
            ledger.begin_run(control, run_id, "doctor")
            step("doctor:begun")
            problems = []
            for finding in plan:
                lease.beat(always=True)
                try:
                    done += _REPAIRS[finding.rule](state, finding, run_id)
                except (OntorefError, OSError) as error:
                    problems.append(f"{finding.rule}: {error}")
                step("doctor:repaired")
            report = {"backup": done.backup, "changes": list(done), "problems": problems}
            ledger.finish_run(control, run_id, "warning" if problems else "completed", report)
            step("doctor:finished")
    done += [f"not mended: {problem}" for problem in problems]
    return done


def _backup(state: State, now: datetime) -> str:
    make_private_dirs(state.layout.safety_archives)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = f"{stamp}-{new_ulid()[-6:].lower()}-before-doctor.tar.gz"
    return create(state, os.path.join(state.layout.safety_archives, name), now, safety=True).path


def _permissions(state: State, finding: Finding, run_id: str) -> list[str]:
    closed = 0
    for path in finding.items:
        with contextlib.suppress(FileNotFoundError):
            os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)
            closed += 1
    return [f"{counted(closed, 'file or folder', 'files and folders')} closed to other users"]


def _registry(state: State, finding: Finding, run_id: str) -> list[str]:
    if os.path.exists(finding.place):
        return []
    registry.forget(state.writable(), state.layout, finding.place)
    return [f"forgot {finding.place}"]


def _stray(state: State, finding: Finding, run_id: str) -> list[str]:
    found = []
    for agent_id, path in upkeep.strays(state):
        database = open_reader(path, "agent", agent_id)
        if path == finding.place and database is not None:
            with database:
                registry.note_seen(state.writable(), state.layout, agent_id, path)
            found.append(f"registered {path}")
    return found


def _imports(state: State, finding: Finding, run_id: str) -> list[str]:
    control = state.writable()
    importer = Importer(state, run_id=run_id)
    found = []
    for row in ledger.unfinished(control):
        if row.source_path not in finding.items:
            continue
        kind = _KINDS.get(row.target_table)
        if kind is not None and sources.exists(row.source_path):
            outcome = importer.one(Candidate(row.source_path, kind))
            found.append(f"{outcome.status} {outcome.session_id or row.source_path}")
        if not sources.exists(row.source_path):
            _settle(state, row)
            found.append(f"kept what there is of {row.session_id}, whose source is gone")
        step("doctor:import")
    return found


def _settle(state: State, row: ledger.Row) -> None:
    """The source is gone: what is stored is all there will ever be."""
    from dataclasses import replace

    database = state.writable_agent(row.agent_id)
    stored = sessions.stored(database, row.session_id or "")
    if stored is None:
        ledger.put(state.writable(), replace(row, status="warning"))
        return
    with database.transaction():
        sessions.describe(database, row.session_id or "")
    ledger.put(
        state.writable(),
        replace(
            row,
            status="completed",
            sha256=stored.content_sha256,
            offset_bytes=stored.size_bytes,
            record_count=stored.line_count,
        ),
    )


def _runs(state: State, finding: Finding, run_id: str) -> list[str]:
    for name in finding.items:
        ledger.finish_run(state.writable(), name, "failed", {"error": "the process was killed"})
    return [f"{len(finding.items)} runs closed"]


def _leases(state: State, finding: Finding, run_id: str) -> list[str]:
    return [f"{leases.remove_dead(state.writable())} leases removed"]


def _leftovers(state: State, finding: Finding, run_id: str) -> list[str]:
    left = leftovers(state.layout.root)
    for path in left:
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    return [f"{len(left)} temporary files removed"]


def _wal(state: State, finding: Finding, run_id: str) -> list[str]:
    found = []
    for place in upkeep.databases(state):
        if place.path == finding.place:
            database = state.writable() if place.agent_id is None else state.writable_agent(place.agent_id)
            database.checkpoint("TRUNCATE")
            found.append(f"emptied the WAL of {place.path}")
    return found


_REPAIRS: dict[str, Callable[[State, Finding, str], list[str]]] = {
    "permissions": _permissions,
    "registry": _registry,
    "stray-database": _stray,
    "killed-import": _imports,
    "killed-run": _runs,
    "dead-lease": _leases,
    "leftovers": _leftovers,
    "wal": _wal,
}
