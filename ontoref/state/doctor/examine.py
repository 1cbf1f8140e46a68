"""Looks at local state and at transcripts in danger. Reads only; creates nothing."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ontoref.errors import OntorefError
from ontoref.state import leases, ledger, registry, sources, upkeep
from ontoref.state.doctor.finding import Finding, Severity
from ontoref.state.errors import DatabaseRefused
from ontoref.state.importer import RUN_SCOPE
from ontoref.state.opening import open_reader
from ontoref.state.store import State
from ontoref.state.workshop import is_leftover
from ontoref.text import counted
from ontoref.transcript.find import LAYOUTS, roots
from ontoref.transcript.tree import files_like

__all__ = ["examine", "leftovers"]

_LARGE_WAL_BYTES = 64 << 20
# Which runtime deletes its transcripts, after how many days unless a setting says otherwise.
_DELETES: dict[str, tuple[int, str]] = {"claude-code": (30, "cleanupPeriodDays")}
_WARN_DAYS = 7
_DAY_S = 86_400


def examine(state: State, environ: Mapping[str, str], home: str, now_s: float) -> list[Finding]:
    """Every fault of local state, worst first. state is opened for reading."""
    found = list(_databases(state))
    if not any(finding.rule == "database" and finding.place == state.layout.global_database for finding in found):
        found += _registry(state)
        found += _imports(state)
        found += _leases(state)
        found += _in_danger(state, environ, home, now_s)
    found += _unread(environ, home)
    found += _files(state)
    order = list(Severity)
    return sorted(found, key=lambda finding: order.index(finding.severity))


def leftovers(root: str) -> list[str]:
    """Temporary files and folders below the state directory whose process is gone."""
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            if is_leftover(name):
                found.append(os.path.join(folder, name))
        folders[:] = [name for name in folders if not name.endswith(".tmp")]
    return sorted(found)


def _databases(state: State) -> Iterator[Finding]:
    for checked in upkeep.check(state):
        for problem in checked.problems[:3]:
            yield Finding(
                "database",
                Severity.error,
                checked.path,
                problem,
                _way_out(checked.agent_id, checked.hint),
            )
    for path in _paths(state):
        wal_bytes = upkeep.wal_bytes(path)
        if wal_bytes > _LARGE_WAL_BYTES:
            yield Finding(
                "wal",
                Severity.note,
                path,
                f"its WAL has {wal_bytes >> 20} MiB",
                "end readers that stay open for long, then ontoref doctor --fix",
                fixable=True,
            )


def _way_out(agent_id: str | None, hint: str | None) -> str:
    """What to do about a database that cannot be used; hint is given where its file is sound."""
    restore = "ontoref backup restore ARCHIVE --yes; the damaged file is kept beside it"
    if agent_id is None:
        return hint or restore
    away = "move it away: `ontoref transcript import --all` archives again what its agent still has"
    if hint is None:
        return f"{restore}. Without a backup {away}"
    return f"{'update ontoref' if hint.startswith('update') else 'put back what belongs there'}, or {away}"


def _paths(state: State) -> list[str]:
    try:
        return [place.path for place in upkeep.databases(state)]
    except OntorefError:
        return []


def _registry(state: State) -> Iterator[Finding]:
    control = state.control()
    if control is None:
        return
    for row in registry.registered(control, state.layout):
        if not row.exists:
            yield Finding(
                "registry",
                Severity.warning,
                row.path,
                f"the database of {row.agent_id} is not where it was",
                "put it back, or let ontoref doctor --fix forget the place",
                fixable=True,
            )
    for agent_id, path in upkeep.strays(state):
        try:
            if (opened := open_reader(path, "agent", agent_id)) is not None:
                opened.close()
        except OntorefError as error:
            hint = error.hint if isinstance(error, DatabaseRefused) else None
            yield Finding("database", Severity.error, path, error.message, _way_out(agent_id, hint))
            continue
        yield Finding(
            "stray-database",
            Severity.warning,
            path,
            f"a database of {agent_id} that the registry does not know",
            "ontoref doctor --fix registers it",
            fixable=True,
        )


def _imports(state: State) -> Iterator[Finding]:
    control = state.control()
    if control is None:
        return
    alive = {(lease.scope, lease.key) for lease in leases.held(control)}
    rows = [row for row in ledger.unfinished(control) if ("import", row.source_path) not in alive]
    if rows:
        yield Finding(
            "killed-import",
            Severity.warning,
            state.layout.global_database,
            f"the import of {counted(len(rows), 'source')} did not come to its end",
            "ontoref doctor --fix completes it",
            fixable=True,
            items=tuple(row.source_path for row in rows),
        )
    refused = [(path, why) for path, why in ledger.failures(control) if sources.exists(path)]
    if refused:
        yield Finding(
            "failed-import",
            Severity.warning,
            state.layout.global_database,
            f"{counted(len(refused), 'source')} could not be archived; nothing was changed",
            "ontoref transcript import FILE tries again",
            items=tuple(f"{path}: {why}" for path, why in refused),
        )
    runs = [run_id for run_id, _, _ in ledger.unfinished_runs(control) if (RUN_SCOPE, run_id) not in alive]
    if runs:
        yield Finding(
            "killed-run",
            Severity.note,
            state.layout.global_database,
            f"{len(runs)} runs never ended",
            "ontoref doctor --fix closes them",
            fixable=True,
            items=tuple(runs),
        )


def _leases(state: State) -> Iterator[Finding]:
    control = state.control()
    if control is None:
        return
    dead = leases.dead(control)
    if dead:
        yield Finding(
            "dead-lease",
            Severity.note,
            state.layout.global_database,
            f"{len(dead)} leases whose process is gone; they bind nobody",
            "ontoref doctor --fix removes them",
            fixable=True,
        )


def _files(state: State) -> Iterator[Finding]:
    root = state.layout.root
    loose = [root] if os.path.isdir(root) and os.name != "nt" and os.stat(root).st_mode & 0o077 else []
    with contextlib.suppress(OntorefError):
        loose = upkeep.loose_files(state)
    if loose and os.path.isdir(root):
        yield Finding(
            "permissions",
            Severity.warning,
            root,
            f"other users may read {len(loose)} of our files and folders",
            "ontoref doctor --fix closes them",
            fixable=True,
            items=tuple(loose),
        )
    left = leftovers(root)
    if left:
        yield Finding(
            "leftovers",
            Severity.note,
            root,
            f"{len(left)} temporary files of processes that were killed",
            "ontoref doctor --fix removes them",
            fixable=True,
            items=tuple(left),
        )
    damaged = sorted(str(path) for path in Path(root).rglob("*.damaged-*")) if os.path.isdir(root) else []
    if damaged:
        yield Finding(
            "damaged-kept",
            Severity.note,
            root,
            f"{len(damaged)} damaged databases that a restore moved aside",
            "delete them when nothing in them is missed",
            items=tuple(damaged),
        )


def _in_danger(state: State, environ: Mapping[str, str], home: str, now_s: float) -> Iterator[Finding]:
    """Transcripts that their agent will delete within a week and that are not archived as they are now."""
    control = state.control()
    for runtime, (days, setting) in _DELETES.items():
        layout = LAYOUTS[runtime]
        for base in roots(runtime, environ, home):
            period = _setting(os.path.join(base, "settings.json"), setting, days)
            patterns = (*layout.sessions, *layout.children)
            paths = {path for pattern in patterns for path in files_like(base, pattern)}
            lost = []
            for path in sorted(paths):
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                if status.st_size == 0 or now_s - status.st_mtime < max(0, period - _WARN_DAYS) * _DAY_S:
                    continue
                row = ledger.get(control, os.path.realpath(path), "transcript_events") if control else None
                if row is None or row.status not in ("completed", "deleted") or row.size_bytes != status.st_size:
                    lost.append(path)
            if lost:
                yield Finding(
                    "about-to-be-deleted",
                    Severity.warning,
                    base,
                    f"{runtime} deletes {counted(len(lost), 'transcript')} within {_WARN_DAYS} days that no archive has",
                    "ontoref transcript import --all",
                    items=tuple(lost),
                )


def _unread(environ: Mapping[str, str], home: str) -> Iterator[Finding]:
    """Folders of the runtimes that this user cannot look into."""
    for runtime, layout in LAYOUTS.items():
        for base in roots(runtime, environ, home):
            found: dict[str, str] = {}
            for pattern in (*layout.sessions, *layout.children, *layout.stores):
                for _ in files_like(base, pattern, found.setdefault):
                    pass
            if found:
                yield Finding(
                    "unreadable-folder",
                    Severity.warning,
                    base,
                    f"{runtime} has folders that cannot be listed, so what is in them is not archived",
                    "let this user read them: chmod u+rx FOLDER, or sudo chown",
                    items=tuple(f"{path}: {why}" for path, why in found.items()),
                )


def _setting(path: str, name: str, default: int) -> int:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file).get(name)
    except (OSError, ValueError, AttributeError, RecursionError):
        return default
    return found if type(found) is int else default
