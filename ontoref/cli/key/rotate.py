"""`ontoref key rotate`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.key.shared import now, passphrase, private_folder, project_registry


def rotate(
    old: Annotated[str, typer.Argument(metavar="ID", help="The key that stops signing.")],
    key_id: Annotated[str | None, typer.Option("--id", help="The new key's name.")] = None,
    protect: Annotated[bool, typer.Option("--passphrase", help="Ask for a passphrase that locks the key.")] = False,
) -> int:
    """Make a new key of the same owner and let the old one sign nothing from now on. What it signed stays valid.

    \b
    Example:
      ontoref key rotate ana-2026 --id ana-2027
    """
    from ontoref.interaction import keys

    registry = project_registry()
    retiring = registry.get(old)
    if retiring.state != "active":
        raise keys.KeyProblem(f"the key {old} is {retiring.state} already", hint="ontoref key new")
    moment = now()
    signer = keys.generate(private_folder(), key_id, passphrase(new=protect))
    registry.add(keys.PublicKey(signer.key_id, retiring.owner, signer.public, moment))
    registry.change(old, valid_until=moment)
    print(f"{signer.key_id}  {registry.path(signer.key_id)}")
    print(f"{old}  retired {moment}")
    return 0
