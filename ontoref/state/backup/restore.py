"""The way back: a verified archive into the databases of a state directory.

Each database is loaded through SQLite into the file that is there, so that open readers go on and see the
restored rows. The agents come first, the global database last; its snapshot carries our lease, so that others
stay out until the end. Killed at any point, the same command run again completes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from ontoref.errors import UsageError
from ontoref.identifiers import new_ulid
from ontoref.state import leases, registry, snapshot, upkeep
from ontoref.state.backup.create import create
from ontoref.state.backup.manifest import Asset, Manifest
from ontoref.state.backup.verify import extract
from ontoref.state.database import companions
from ontoref.state.errors import DatabaseUnreadable
from ontoref.state.faults import step
from ontoref.state.layout import Layout
from ontoref.state.opening import make_private_dirs, open_writer
from ontoref.state.store import State
from ontoref.state.workshop import sweep, workshop

__all__ = ["Restored", "restore"]


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored. rollback is the archive of what was there before, None if nothing was; aside are
    files that SQLite could not open, under the names they have now."""

    manifest: Manifest
    rollback: str | None
    aside: tuple[str, ...]


def restore(archive: str, layout: Layout, now: datetime) -> Restored:
    """Replace the databases below a state directory by those of an archive.

    Shape:  agents that the archive does not know stay as they are, damaged ones too.
    Errors: BadArchive before anything is written; LeaseHeld while another process works; what fails later is
            rolled back from the rollback archive and raised.
    """
    archive = os.path.realpath(archive)
    for folder in ("state", "agents"):
        if archive.startswith(os.path.join(os.path.realpath(layout.root), folder) + os.sep):
            raise UsageError("the archive lies in what it would replace", location=archive, hint="move it out first")
    make_private_dirs(layout.root)
    sweep(layout.root)
    with workshop(layout.root, "restore") as staged:
        manifest = extract(archive, staged)
        step("restore:staged")
        control_first = [asset for asset in manifest.assets if asset.agent_id is None]
        agents = [asset for asset in manifest.assets if asset.agent_id is not None]
        # Without a global database that can be opened there are no leases, and so nobody to wait for.
        aside = tuple(_move_unusable_aside(control_first, layout))
        is_new = not os.path.exists(layout.global_database)
        with State(layout, read_only=False) as state:
            control = state.writable()
            owner = leases.this_process()
            with leases.acquire(control, leases.EXCLUSIVE_SCOPE, owner=owner, attempts=3) as lease:
                aside += tuple(_move_unusable_aside(agents, layout))
                step("restore:aside")
                if is_new:
                    _register_strays(state)
                rollback = None if is_new and not state.agent_ids() else _rollback(state, now)
                step("restore:rollback")
                try:
                    _load(state, manifest, staged, lease)
                except BaseException:
                    if rollback is not None:
                        _roll_back(state, rollback, lease)
                    raise
        return Restored(manifest, rollback, aside)


def _load(state: State, manifest: Manifest, staged: str, lease: leases.Lease) -> None:
    layout = state.layout
    known = {row.agent_id: (row.path, row.size_bytes) for row in registry.registered(state.writable(), layout)}
    for asset in manifest.assets:
        if asset.agent_id is not None:
            place = layout.agent_database(asset.agent_id)
            with open_writer(place, "agent", asset.agent_id) as database:
                snapshot.load(os.path.join(staged, asset.agent_id), database)
            known[asset.agent_id] = (place, os.path.getsize(place))
            step("restore:agent")
            lease.beat()
    places = [(agent, layout.stored(path), size) for agent, (path, size) in known.items() if os.path.exists(path)]
    snapshot.prepare_global(os.path.join(staged, "global"), sorted(places), lease)
    snapshot.load(os.path.join(staged, "global"), state.writable())
    step("restore:global")


def _roll_back(state: State, rollback: str, lease: leases.Lease) -> None:
    with workshop(state.layout.root, "restore") as staged:
        _load(state, extract(rollback, staged), staged, lease)


def _register_strays(state: State) -> None:
    """Let a new global database know the agents' databases that are there: the rollback archive is to hold them, and
    one that cannot be opened is not to be forgotten; if the archive replaces it, it was moved aside."""
    for agent_id, path in upkeep.strays(state):
        registry.note_seen(state.writable(), state.layout, agent_id, path)


def _rollback(state: State, now: datetime) -> str:
    """An archive of what is there."""
    make_private_dirs(state.layout.safety_archives)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    path = os.path.join(state.layout.safety_archives, f"{stamp}-{new_ulid()[-6:].lower()}-before-restore.tar.gz")
    return create(state, path, now, safety=True).path


def _move_unusable_aside(assets: list[Asset], layout: Layout) -> Iterator[str]:
    """Files that SQLite cannot open get another name; nothing is deleted.

    Errors: DatabaseRefused for a file that is sound and not ours to replace.
    """
    for asset in assets:
        path = _target(layout, asset)
        if not os.path.exists(path):
            continue
        try:
            with open_writer(path, "agent" if asset.agent_id else "global", asset.agent_id) as database:
                if not database.integrity():
                    continue
        except DatabaseUnreadable:
            pass
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        for file in (path, *companions(path)):
            if os.path.exists(file):
                name = f"{file}.damaged-{stamp}"
                os.rename(file, name)
                yield name


def _target(layout: Layout, asset: Asset) -> str:
    return layout.agent_database(asset.agent_id) if asset.agent_id else layout.global_database
