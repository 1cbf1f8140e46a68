"""Backups of local state: one archive of verified snapshots, and the way back."""

from __future__ import annotations

from ontoref.state.backup.create import create, plan
from ontoref.state.backup.manifest import Asset, Manifest
from ontoref.state.backup.restore import restore
from ontoref.state.backup.verify import verify

__all__ = ["Asset", "Manifest", "create", "plan", "restore", "verify"]
