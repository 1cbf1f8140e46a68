"""`ontoref key list`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.key.shared import private_folder, project_registry
from ontoref.cli.output import Format, emit


def listing(form: Annotated[Format, typer.Option("--format", help="How to print the keys.")] = Format.table) -> int:
    """List the project's public keys, and which of them this machine can sign with.

    \b
    Example:
      ontoref key list
    """
    from ontoref.interaction.keys import private_ids

    here = private_ids(private_folder())
    rows = [
        {
            "id": key.id,
            "owner": key.owner,
            "state": key.state,
            "valid_from": key.valid_from,
            "valid_until": key.valid_until,
            "revoked_at": key.revoked_at,
            "private": key.id in here,
        }
        for key in project_registry().keys.values()
    ]
    emit(rows, form, columns=("id", "owner", "state", "valid_from", "valid_until", "revoked_at", "private"))
    return 0
