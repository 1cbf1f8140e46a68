"""`ontoref key new`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.key.shared import now, passphrase, private_folder, project_registry


def new(
    key_id: Annotated[str | None, typer.Option("--id", help="The key's name; else made from the key itself.")] = None,
    owner: Annotated[str | None, typer.Option("--owner", help="Whose key it is; else git's user.name.")] = None,
    ssh: Annotated[
        str | None, typer.Option("--ssh", metavar="FILE", help="Use an SSH Ed25519 private key that lies here.")
    ] = None,
    existing: Annotated[
        str | None, typer.Option("--existing", metavar="ID", help="Use a key that this machine has already.")
    ] = None,
    protect: Annotated[bool, typer.Option("--passphrase", help="Ask for a passphrase that locks the key.")] = False,
) -> int:
    """Make a signing key: the private half stays on this machine, the public half goes into the project for review.

    \b
    Example:
      ontoref key new --owner "Ana"
      ontoref key new --ssh ~/.ssh/id_ed25519
      ontoref key new --existing ana-2026
    """
    import os
    import subprocess

    from ontoref.cli.output import note
    from ontoref.interaction import keys

    registry = project_registry(new=True)
    if owner is None:
        done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
        owner = done.stdout.strip() or "unknown"
    moment = now()
    if existing is not None:
        name = existing
        signer = keys.load_signer(private_folder(), name, passphrase())
        registry.add(keys.PublicKey(name, owner, signer.public, moment))
    elif ssh is not None:
        path = os.path.expanduser(ssh)
        with open(f"{path}.pub", encoding="utf-8") as file:
            public = keys.public_of_ssh(file.readline())
        name = key_id or keys.key_id_of(public)
        registry.add(keys.PublicKey(name, owner, public, moment))
        keys.remember_ssh(private_folder(), name, path)
    else:
        if key_id is not None and key_id in registry.keys:
            raise keys.KeyProblem(f"a key named {key_id} is there already", hint="choose another name with --id")
        signer = keys.generate(private_folder(), key_id, passphrase(new=protect))
        name = signer.key_id
        registry.add(keys.PublicKey(name, owner, signer.public, moment))
    print(f"{name}  {registry.path(name)}")
    note("commit the public key; sign with: ontoref interaction record --sign --key " + name)
    return 0
