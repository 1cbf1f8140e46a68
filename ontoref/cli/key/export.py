"""`ontoref key export`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ontoref.cli.key.shared import project_registry


class KeyForm(StrEnum):
    """The forms of a public key."""

    ssh = "ssh"
    pem = "pem"
    json = "json"


def export(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's name.")],
    form: Annotated[KeyForm, typer.Option("--format", help="ssh: one line for allowed_signers.")] = KeyForm.ssh,
) -> int:
    """Print a public key for other tools. A private key is never printed.

    \b
    Example:
      ontoref key export ana-2026 --format pem
    """
    import base64

    from ontoref.errors import MissingExtra
    from ontoref.text import printable

    key = project_registry().get(key_id)
    if form is KeyForm.json:
        from ontoref.cli.output import emit_json

        emit_json({"id": key.id, "owner": key.owner, "public": base64.b64encode(key.public).decode()})
        return 0
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise MissingExtra("sign", "cryptography") from None
    public = Ed25519PublicKey.from_public_bytes(key.public)
    if form is KeyForm.pem:
        content = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        print(content.decode(), end="")
    else:
        line = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
        print(f"{line} {printable(key.owner)}")
    return 0
