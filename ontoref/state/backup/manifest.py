"""The manifest of a backup: what is in it, and what each file must be."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from ontoref.state.errors import BadAgentId, BadArchive
from ontoref.state.layout import AGENT_DATABASE, GLOBAL_DATABASE, agent_id_of

__all__ = ["MANIFEST_NAME", "Asset", "Manifest", "archive_place", "read_manifest"]

MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1
_ROOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Asset:
    """One database in the archive.

    Shape: restore_path is relative to the state directory, archive_path to the archive's top; source_path is
           where it was and is for people only.
    """

    kind: str
    role: str
    agent_id: str | None
    schema_version: int
    source_path: str
    restore_path: str
    archive_path: str
    size_bytes: int
    sha256: str
    integrity: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. Units: created_at is RFC 3339 in UTC."""

    schema_version: int
    created_at: str
    archive_root: str
    app_version: str
    sqlite_version: str
    platform: str
    state_dir: str
    assets: tuple[Asset, ...]
    skipped: tuple[dict[str, str], ...] = ()

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=2, ensure_ascii=True).encode() + b"\n"


def archive_place(role: str, agent_id: str | None) -> str:
    """Where a database belongs below the state directory. The manifest may name no other place."""
    return f"state/{GLOBAL_DATABASE}" if role == "global" else f"agents/{agent_id}/agent/{AGENT_DATABASE}"


def read_manifest(content: bytes, location: str) -> Manifest:
    """A manifest that keeps every rule. Errors: BadArchive naming the rule."""

    def refuse(why: str) -> BadArchive:
        return BadArchive(f"the manifest {why}", location=location, hint="nothing was extracted")

    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise refuse("is no JSON") from None
    if not isinstance(found, dict):
        raise refuse("is no JSON object")
    if found.get("schema_version") != MANIFEST_VERSION:
        raise refuse(f"has schema_version {found.get('schema_version')!r}, known is {MANIFEST_VERSION}")
    root = found.get("archive_root")
    if not isinstance(root, str) or not _ROOT.fullmatch(root):
        raise refuse("names no archive_root")
    assets = found.get("assets")
    if not isinstance(assets, list) or not assets:
        raise refuse("lists no assets")
    read = tuple(_asset(asset, root, refuse) for asset in assets)
    places = [asset.archive_path for asset in read]
    if len(set(places)) != len(places):
        raise refuse("lists an asset twice")
    if sum(asset.role == "global" for asset in read) != 1:
        raise refuse("lists not exactly one global database")
    names = ("created_at", "app_version", "sqlite_version", "platform", "state_dir")
    texts = {name: found.get(name) for name in names}
    if not all(isinstance(text, str) for text in texts.values()):
        raise refuse(f"lacks one of {', '.join(names)}")
    skipped = found.get("skipped", [])
    return Manifest(
        schema_version=MANIFEST_VERSION,
        archive_root=root,
        assets=read,
        skipped=tuple(item for item in skipped if isinstance(item, dict)) if isinstance(skipped, list) else (),
        **{name: str(text) for name, text in texts.items()},
    )


def _asset(found: Any, root: str, refuse: Any) -> Asset:
    if not isinstance(found, dict) or found.get("kind") != "database":
        raise refuse("lists an asset of unknown kind")
    role, agent_id = found.get("role"), found.get("agent_id")
    if role == "agent":
        try:
            if not isinstance(agent_id, str) or agent_id_of(agent_id) != agent_id:
                raise refuse(f"lists an agent called {agent_id!r}")
        except BadAgentId:
            raise refuse(f"lists an agent called {agent_id!r}") from None
    elif role != "global" or agent_id is not None:
        raise refuse(f"lists a database of role {role!r}")
    place = archive_place(role, agent_id)
    if found.get("restore_path") != place:
        raise refuse(f"wants to restore to {found.get('restore_path')!r}, a place that is not that database's")
    if found.get("archive_path") != f"{root}/payload/{place}":
        raise refuse(f"lists an asset outside its payload: {found.get('archive_path')!r}")
    size, version, sha256 = found.get("size_bytes"), found.get("schema_version"), found.get("sha256")
    if type(size) is not int or size < 0 or type(version) is not int:
        raise refuse("lists an asset without its size or version")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise refuse("lists an asset without its sha256")
    if found.get("integrity") != "ok":
        raise refuse(f"lists a database whose integrity was {found.get('integrity')!r}")
    return Asset(
        kind="database",
        role=role,
        agent_id=agent_id,
        schema_version=version,
        source_path=str(found.get("source_path", "")),
        restore_path=place,
        archive_path=f"{root}/payload/{place}",
        size_bytes=size,
        sha256=sha256,
        integrity="ok",
    )
