"""What is told of the agents that a backup lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontoref.cli.output import note

if TYPE_CHECKING:
    from ontoref.state.backup.manifest import Manifest

__all__ = ["tell_skipped"]


def tell_skipped(manifest: Manifest) -> None:
    """Name each agent that is not in the backup, with the reason."""
    for one in manifest.skipped:
        note(f"warning: {one.get('agent_id')} is not in the backup: {one.get('reason')}")
