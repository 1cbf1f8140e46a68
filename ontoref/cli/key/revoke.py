"""`ontoref key revoke`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.key.shared import now, project_registry


def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key that somebody else may have.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for who reviews the registry.")] = None,
) -> int:
    """Trust nothing that a key signed, whatever its date: who has the key could give any.

    \b
    Example:
      ontoref key revoke ana-2026 --reason "laptop stolen"
    """
    registry = project_registry()
    key = registry.get(key_id)
    if key.revoked_at is None:
        key = registry.change(key_id, revoked_at=now(), reason=reason)
    print(f"{key_id}  revoked {key.revoked_at}  {registry.path(key_id)}")
    return 0
