"""A backup: each database snapshotted while others write, all in one archive, verified before it gets its name."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import platform
import sqlite3
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from ontoref import __version__
from ontoref.errors import OntorefError, UsageError
from ontoref.identifiers import new_ulid
from ontoref.state import runs, snapshot
from ontoref.state.backup.manifest import MANIFEST_NAME, MANIFEST_VERSION, Asset, Manifest, archive_place
from ontoref.state.backup.verify import verify
from ontoref.state.database import SCHEMA_VERSION, Database
from ontoref.state.errors import StateError
from ontoref.state.faults import step
from ontoref.state.store import State
from ontoref.state.upkeep import Place, databases
from ontoref.state.workshop import sweep, workshop

__all__ = ["Created", "create", "default_output", "plan"]


@dataclass(frozen=True, slots=True)
class Created:
    """A finished backup. verified is false only if that was asked for."""

    path: str
    size_bytes: int
    manifest: Manifest
    verified: bool


def plan(state: State) -> list[Place]:
    """The databases that a backup would hold; one that cannot be opened is left out."""
    readable = {agent.agent_id for agent in state.agents()}
    return [place for place in _current(databases(state)) if place.agent_id is None or place.agent_id in readable]


def default_output(state: State, folder: str, home: str, now: datetime) -> str:
    """`ontoref-backup-<time>.tar.gz` in the folder, in the home folder if that lies in the state directory."""
    name = f"ontoref-backup-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}.tar.gz"
    return os.path.join(home if _inside(folder, state.layout.root) else folder, name)


def create(state: State, output: str, now: datetime, *, check: bool = True, safety: bool = False) -> Created:
    """Write a backup to a new file of mode 0600.

    Shape:  check reads the written archive back; the integrity of each snapshot is checked in any case. An agent's
            database that cannot be read stands among the skipped ones, and in state.left_out.
            safety is for archives that a repair makes: they may lie in the state directory and are not listed.
    Errors: UsageError for an output that exists or lies in the state directory, DatabaseUnusable for a damaged
            global database or where no agent's can be read; nothing is left behind. A failed run is written down.
    """
    output = os.path.abspath(output)
    if not safety and _inside(output, state.layout.root):
        raise UsageError("a backup does not lie in what it backs up", location=output, hint="choose another folder")
    if os.path.lexists(output):
        raise UsageError("the file exists; a backup overwrites nothing", location=output)
    run_id = new_ulid()
    try:
        manifest, size = _write(state, output, now, check, safety)
    except BaseException as error:
        if not safety and isinstance(error, OntorefError | OSError | sqlite3.Error):
            with contextlib.suppress(OntorefError, sqlite3.Error):
                runs.add(state.writable(), run_id, output, "failed", 0, None)
        raise
    if not safety:
        step("backup:published")
        runs.add(state.writable(), run_id, output, "completed", size, manifest.to_json().decode())
        step("backup:recorded")
    return Created(output, size, manifest, check)


def _write(state: State, output: str, now: datetime, check: bool, safety: bool) -> tuple[Manifest, int]:
    folder = os.path.dirname(output)
    root = os.path.basename(output).removesuffix(".tar.gz").removesuffix(".tgz")
    root = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in root).lstrip("._-") or "backup"
    sweep(folder)
    with workshop(folder, "backup") as aside:
        assets = []
        for place in _snapshots(state, aside):
            step("backup:snapshot")
            role = "global" if place.agent_id is None else "agent"
            file = _file_in(aside, place)
            assets.append(
                Asset(
                    kind="database",
                    role=role,
                    agent_id=place.agent_id,
                    schema_version=SCHEMA_VERSION,
                    source_path=place.path,
                    restore_path=archive_place(role, place.agent_id),
                    archive_path=f"{root[:100]}/payload/{archive_place(role, place.agent_id)}",
                    size_bytes=os.path.getsize(file),
                    sha256=_sha256(file),
                    integrity="ok",
                )
            )
        if state.left_out and len(assets) == 1 and not safety:
            # Without any session it would be a backup in name only.
            raise next(iter(state.left_out.values()))
        manifest = Manifest(
            schema_version=MANIFEST_VERSION,
            created_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            archive_root=root[:100],
            app_version=__version__,
            sqlite_version=sqlite3.sqlite_version,
            platform=platform.platform(),
            state_dir=state.layout.root,
            assets=tuple(assets),
            skipped=tuple(_skipped(state, aside, {asset.agent_id for asset in assets})),
        )
        written = os.path.join(aside, "archive.tar.gz")
        _pack(written, manifest, aside)
        step("backup:packed")
        if check:
            verify(written)
            step("backup:verified")
        try:
            os.link(written, output)
        except FileExistsError:
            raise UsageError("the file exists; a backup overwrites nothing", location=output) from None
        except OSError:
            # No hard links on this file system.
            if os.path.lexists(output):
                raise UsageError("the file exists; a backup overwrites nothing", location=output) from None
            os.rename(written, output)
        return manifest, os.path.getsize(output)


def _snapshots(state: State, aside: str) -> Iterator[Place]:
    """Snapshot the global database, then those of the agents that it knows.

    This order keeps a restored ledger from claiming lines that a restored archive has not: an import that goes
    on trusts the archive, and finds there at least what the ledger says.
    """
    control = state.control()
    if control is None:
        raise StateError("there is no local state yet", hint="`ontoref transcript import --all` begins")
    control.checkpoint() if not control.read_only else None
    first = Place(None, state.layout.global_database)
    snapshot.take(control, _file_in(aside, first))
    yield first
    there = set(state.agent_ids())
    for agent_id in snapshot.agents_in(_file_in(aside, first)):
        if agent_id in there:
            yield from state.ask_one(agent_id, partial(_taken, aside))


def _taken(aside: str, database: Database) -> Iterator[Place]:
    place = Place(database.agent_id, database.path)
    snapshot.take(database, _file_in(aside, place))
    yield place


def _skipped(state: State, aside: str, taken: set[str | None]) -> Iterator[dict[str, str]]:
    """Agents that the snapshot of the global database knows and whose database is gone or cannot be read."""
    for agent_id in snapshot.agents_in(_file_in(aside, Place(None, state.layout.global_database))):
        if agent_id not in taken:
            fault = state.left_out.get(agent_id)
            gone = "its database is not where it was"
            yield {"agent_id": agent_id, "reason": f"its database cannot be read: {fault.message}" if fault else gone}


def _current(places: list[Place]) -> list[Place]:
    """One place for each agent: the one in use."""
    found: dict[str | None, Place] = {}
    for place in places:
        found.setdefault(place.agent_id, place)
    return list(found.values())


def _file_in(aside: str, place: Place) -> str:
    return os.path.join(aside, f"{place.agent_id or ''}.snapshot")


def _pack(path: str, manifest: Manifest, aside: str) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with (
        open(descriptor, "wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        content = manifest.to_json()
        tar.addfile(_entry(f"{manifest.archive_root}/{MANIFEST_NAME}", len(content)), io.BytesIO(content))
        for asset in manifest.assets:
            file = _file_in(aside, Place(asset.agent_id, asset.source_path))
            with open(file, "rb") as source:
                tar.addfile(_entry(asset.archive_path, asset.size_bytes), source)
    with open(path, "rb") as finished:
        os.fsync(finished.fileno())


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _inside(path: str, folder: str) -> bool:
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)
