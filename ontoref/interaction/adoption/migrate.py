"""Upgrades of a project: files that ontoref ships, kept current without losing what the project changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ontoref import resources
from ontoref.errors import OntorefError
from ontoref.interaction.adoption.change import Change, Verb, planned, read
from ontoref.interaction.adoption.merge import merge

__all__ = ["LEDGER", "Migration", "MigrationError", "Status", "migrations", "plan", "status"]

LEDGER = ".ontoref/migrations.yaml"
_BASE = ".ontoref/base"


class MigrationError(OntorefError):
    """A migration file or the project's ledger of migrations cannot be used."""

    kind = "migration"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step. ships maps shipped files (`schemas/coder.yaml`) to their place in a project."""

    id: str
    title: str
    description: str
    ships: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Status:
    """Shape: state is `pending` (never applied), `outdated` (a newer file ships now, or one is gone) or `applied`."""

    migration: Migration
    state: str
    applied_at: str | None


def migrations(folder: str | None = None) -> list[Migration]:
    """Every shipped migration, in the order of its number. Errors: MigrationError."""
    folder = folder or resources.folder("migrations")
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".yaml"):
            path = os.path.join(folder, name)
            value = _parse(path, name)
            try:
                ships = {str(source): str(target) for source, target in value["ships"].items()}
                found.append(Migration(name.removesuffix(".yaml"), value["title"], value["description"], ships))
            except (KeyError, TypeError, AttributeError) as error:
                raise MigrationError(f"the migration lacks or mistypes {error}", location=path) from None
    return found


def status(root: str, all_migrations: list[Migration]) -> list[Status]:
    """Where a project stands; reads and writes nothing else. Errors: MigrationError for a broken ledger."""
    applied = _ledger(root)
    result = []
    for migration in all_migrations:
        entry = applied.get(migration.id)
        if entry is None:
            result.append(Status(migration, "pending", None))
            continue
        current = {source: _digest(_shipped(source)) for source in migration.ships}
        there = all(os.path.exists(os.path.join(root, *target.split("/"))) for target in migration.ships.values())
        state = "applied" if there and entry.get("files") == current else "outdated"
        result.append(Status(migration, state, entry.get("applied_at")))
    return result


def plan(root: str, all_migrations: list[Migration], now: str) -> list[Change]:
    """Changes that bring a project up to date, the ledger's own line among them; [] if it is.

    Shape:  a file the project did not touch is replaced; one it changed is merged with what has shipped since
            its base; a conflict leaves the file alone and puts both texts beside it as `NAME.conflict`. A
            migration with a conflict is recorded once the person has deleted that file.
    Errors: MigrationError, OSError.
    """
    changes: list[Change] = []
    ledger = _ledger(root)
    recorded = dict(ledger)
    for entry in status(root, all_migrations):
        if entry.state == "applied":
            continue
        migration = entry.migration
        steps = [step for source, target in migration.ships.items() for step in _ship(root, source, target)]
        changes += steps
        if not any(step.verb is Verb.conflict for step in steps):
            files = {source: _digest(_shipped(source)) for source in migration.ships}
            recorded[migration.id] = {"applied_at": now, "files": files}
    if recorded != ledger:
        changes.append(planned(root, LEDGER, _ledger_text(recorded), "which upgrades this project has had"))
    return changes


def _ship(root: str, source: str, target: str) -> list[Change]:
    """Changes for one shipped file: the file itself and the copy that later merges start from."""
    shipped = _shipped(source)
    base_path = f"{_BASE}/{source}"
    local, base = read(root, target), read(root, base_path)
    # Written with a conflict too: once the person has settled it, there is nothing left to merge.
    new_base = planned(root, base_path, shipped, "what shipped, to merge from next time")
    if local is None:
        return [Change(target, Verb.create, shipped, "shipped with ontoref"), new_base]
    beside = f"{target}.conflict"
    settle = f"both texts are in {beside}: put what you want into {target}, then delete {beside}"
    if read(root, beside) is not None:
        return [Change(target, Verb.conflict, None, settle)]
    merged = merge(local, base, shipped)
    if not merged.clean:
        return [
            Change(target, Verb.conflict, None, settle),
            planned(root, beside, merged.content, "both texts"),
            new_base,
        ]
    if merged.content == local:
        return [Change(target, Verb.keep, None, "yours is current"), new_base]
    why = "shipped with ontoref" if merged.content == shipped else "your changes kept, the newer version merged in"
    return [Change(target, Verb.update, merged.content, why), new_base]


def _shipped(source: str) -> bytes:
    folder, _, name = source.partition("/")
    path = os.path.join(resources.folder(folder), *name.split("/"))
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise MigrationError(f"a shipped file is missing: {error.strerror}", location=path) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _ledger(root: str) -> dict[str, dict[str, Any]]:
    path = os.path.join(root, *LEDGER.split("/"))
    if not os.path.exists(path):
        return {}
    value = _parse(path, LEDGER)
    applied = value.get("applied")
    if not isinstance(applied, dict) or not all(isinstance(entry, dict) for entry in applied.values()):
        raise MigrationError("the ledger has no mapping named applied", location=path, hint="restore it from git")
    return applied


def _ledger_text(applied: Mapping[str, Mapping[str, Any]]) -> bytes:
    lines = ["# Written by `ontoref migrate`. Keep it in version control.", "applied:"]
    for name, entry in applied.items():
        lines += [f"  {name}:", f"    applied_at: '{entry['applied_at']}'", "    files:"]
        lines += [f"      {source}: {digest}" for source, digest in sorted(entry["files"].items())]
    return "\n".join(lines).encode() + b"\n"


def _parse(path: str, name: str) -> dict[str, Any]:
    from ontoref.vocabulary.yaml_file import parse

    with open(path, "rb") as file:
        value = parse(name, path, file.read()).value
    if not isinstance(value, dict):
        raise MigrationError("the file is not a mapping", location=path)
    return value
