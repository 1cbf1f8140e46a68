"""Whether an archive can be trusted: every rule is checked before a byte of it is written anywhere."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator

from ontoref.state import snapshot
from ontoref.state.backup.manifest import MANIFEST_NAME, Asset, Manifest, read_manifest
from ontoref.state.database import SCHEMA_VERSION
from ontoref.state.errors import BadArchive, DatabaseUnusable

__all__ = ["extract", "inspect", "verify"]

_LARGEST_MANIFEST = 16 << 20
# What gzip makes of SQLite pages stays far below; what is made to burst a disk is far above.
_LARGEST_RATIO = 200
_FREELY = 256 << 20
_BLOCK = 1 << 20


def verify(path: str) -> Manifest:
    """The manifest of an archive that keeps every rule and whose snapshots SQLite finds whole.

    Errors: BadArchive naming what is wrong, OSError if the file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="ontoref-verify-") as aside:
        return extract(path, aside)


def extract(path: str, folder: str) -> Manifest:
    """Inspect an archive, then write its snapshots to a folder (`global`, or the agent id) and open each.

    Errors: BadArchive; before anything was written, unless SQLite finds a snapshot damaged.
    """
    manifest = inspect(path)
    free = shutil.disk_usage(folder).free
    needed = sum(asset.size_bytes for asset in manifest.assets)
    if needed > free:
        raise BadArchive(f"it needs {needed} bytes, {free} are free", location=path, hint="nothing was extracted")
    wanted = {asset.archive_path: asset for asset in manifest.assets}
    with _opened(path) as tar:
        for member in tar:
            asset = wanted.get(member.name)
            if asset is None:
                continue
            target = os.path.join(folder, asset.agent_id or "global")
            descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with open(descriptor, "wb") as file:
                for block in _blocks(tar, member, path):
                    file.write(block)
            _open_snapshot(target, asset, path)
    return manifest


def inspect(path: str) -> Manifest:
    """The manifest of an archive whose entries and digests are right. Reads only.

    Errors: BadArchive naming the rule, OSError.
    """
    packed_size = os.path.getsize(path)
    manifest: Manifest | None = None
    seen: set[str] = set()
    with _opened(path) as tar:
        for member in tar:
            name = _checked_name(member, path)
            if name.casefold() in seen:
                raise _refusal(path, f"holds {name!r} twice")
            seen.add(name.casefold())
            if manifest is None:
                manifest = _first(tar, member, path)
                if sum(asset.size_bytes for asset in manifest.assets) > max(_FREELY, packed_size * _LARGEST_RATIO):
                    raise _refusal(path, "would unpack to far more than its size can hold")
                wanted = {asset.archive_path: asset for asset in manifest.assets}
                continue
            if name.rpartition("/")[2] == MANIFEST_NAME:
                raise _refusal(path, "holds two manifests")
            if not name.startswith(manifest.archive_root + "/"):
                raise _refusal(path, f"holds {name!r} outside {manifest.archive_root!r}")
            asset = wanted.get(name)
            if asset is None:
                raise _refusal(path, f"holds {name!r}, which the manifest does not list")
            if member.size != asset.size_bytes:
                raise _refusal(path, f"holds {name!r} with {member.size} bytes, not {asset.size_bytes}")
            digest = hashlib.sha256()
            for block in _blocks(tar, member, path):
                digest.update(block)
            if digest.hexdigest() != asset.sha256:
                raise _refusal(path, f"holds {name!r} with another sha256 than the manifest says")
    if manifest is None:
        raise _refusal(path, "is empty")
    missing = [asset.archive_path for asset in manifest.assets if asset.archive_path.casefold() not in seen]
    if missing:
        raise _refusal(path, f"lacks {missing[0]!r}")
    return manifest


def _first(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> Manifest:
    root, _, name = member.name.partition("/")
    if name != MANIFEST_NAME:
        raise _refusal(path, f"begins with {member.name!r}, not with a manifest")
    if member.size > _LARGEST_MANIFEST:
        raise _refusal(path, "has a manifest of unreasonable size")
    manifest = read_manifest(b"".join(_blocks(tar, member, path)), path)
    if manifest.archive_root != root:
        raise _refusal(path, f"has its manifest in {root!r}, not in {manifest.archive_root!r}")
    return manifest


def _checked_name(member: tarfile.TarInfo, path: str) -> str:
    name = member.name
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise _refusal(path, f"holds {name!r}, which is no ordinary file")
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or "\0" in name or (len(name) > 1 and name[1] == ":"):
        raise _refusal(path, f"holds a path that is absolute or not portable: {name!r}")
    if any(part in ("", ".", "..") for part in parts):
        raise _refusal(path, f"holds a path that leads elsewhere: {name!r}")
    return name


def _open_snapshot(file: str, asset: Asset, path: str) -> None:
    try:
        version, role, agent_id, problems = snapshot.identity(file)
    except DatabaseUnusable as error:
        raise _refusal(path, f"holds a damaged database: {error.message}") from None
    if problems:
        raise _refusal(path, f"holds a damaged database ({asset.restore_path}): {problems[0]}")
    if version != asset.schema_version or version > SCHEMA_VERSION:
        raise _refusal(path, f"holds a database of schema version {version}, known is {SCHEMA_VERSION}")
    if (role, agent_id) != (asset.role, asset.agent_id):
        raise _refusal(path, f"holds the database of {agent_id or role} as that of {asset.agent_id or asset.role}")


def _blocks(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> Iterator[bytes]:
    file = tar.extractfile(member)
    if file is None:
        raise _refusal(path, f"holds {member.name!r}, which is no ordinary file")
    left = member.size
    while left:
        block = file.read(min(_BLOCK, left))
        if not block:
            raise _refusal(path, "is cut off")
        left -= len(block)
        yield block


@contextlib.contextmanager
def _opened(path: str) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r|gz") as tar:
            yield tar
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, OverflowError) as error:
        raise _refusal(path, f"is no backup: {error}") from None


def _refusal(path: str, why: str) -> BadArchive:
    return BadArchive(f"the archive {why}", location=path, hint="nothing was extracted")
