"""What the key commands share: the folders of private and public keys, and the passphrase."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ontoref.interaction.keys import Registry

__all__ = ["now", "passphrase", "private_folder", "project_registry"]


def private_folder() -> str:
    """Where private keys of this user lie."""
    from ontoref.places import config_dir

    return os.path.join(config_dir(), "keys")


def project_registry(*, new: bool = False) -> Registry:
    """The registry of the project around the current folder. Shape: new says that it may be made there."""
    from ontoref.interaction.keys import Registry
    from ontoref.interaction.project import find_project, own_project

    return Registry.read((own_project if new else find_project)(os.getcwd()).root)


def passphrase(*, new: bool = False) -> str | None:
    """ONTOREF_KEY_PASSPHRASE; asked for on a terminal only where a new key shall have one."""
    value = os.environ.get("ONTOREF_KEY_PASSPHRASE") or None
    if value is None and new:
        import getpass

        from ontoref.errors import UsageError

        value = getpass.getpass("passphrase: ")
        if value != getpass.getpass("again: "):
            raise UsageError("the two passphrases differ")
    return value or None


def now() -> str:
    """This moment, RFC 3339 in UTC. To the millisecond: a key may sign and retire within a second."""
    from datetime import UTC, datetime

    moment = datetime.now(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
