"""Keys that sign records: private ones in the user's configuration, public ones in the project, for review.

Needs the `sign` extra; the registry itself can be read without it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ontoref.errors import MissingExtra, OntorefError
from ontoref.interaction.witness import Verdict
from ontoref.replacing import replacing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["KeyProblem", "PublicKey", "Registry", "Signer", "generate", "key_id_of", "load_signer", "public_of_ssh"]

REGISTRY = ".ontoref/keys"
_KEY_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")


class KeyProblem(OntorefError):
    """A key cannot be used: it is missing, locked, unreadable or of another kind."""

    kind = "key"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """One entry of the registry.

    Units: public is the raw 32 bytes; times are RFC 3339 in UTC. A key with valid_until signs nothing recorded
           later; one with revoked_at is trusted for nothing, since who has it could give any date.
    """

    id: str
    owner: str
    public: bytes
    valid_from: str
    valid_until: str | None = None
    revoked_at: str | None = None
    reason: str | None = None

    @property
    def state(self) -> str:
        """active, retired or revoked."""
        return "revoked" if self.revoked_at else "retired" if self.valid_until else "active"

    def text(self) -> str:
        """The entry as its file holds it."""
        lines = [f"id: {self.id}", f"owner: {_quoted(self.owner)}", f"public: {base64.b64encode(self.public).decode()}"]
        lines += [f"valid_from: '{self.valid_from}'"]
        for name in ("valid_until", "revoked_at"):
            if getattr(self, name):
                lines.append(f"{name}: '{getattr(self, name)}'")
        if self.reason:
            lines.append(f"reason: {_quoted(self.reason)}")
        return "\n".join(lines) + "\n"


class Registry:
    """The public keys of a project, one file each."""

    def __init__(self, root: str, keys: Mapping[str, PublicKey]) -> None:
        self.root = root
        self.keys = dict(keys)

    @classmethod
    def read(cls, root: str) -> Registry:
        """The registry below a project's top folder; empty if there is none. Errors: KeyProblem with the file."""
        folder = os.path.join(root, *REGISTRY.split("/"))
        keys = {}
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
        except FileNotFoundError:
            return cls(root, {})
        for name in names:
            key = _parse(os.path.join(folder, name), name)
            keys[key.id] = key
        return cls(root, keys)

    def path(self, key_id: str) -> str:
        """Where the entry of a key lies, relative to the project."""
        return f"{REGISTRY}/{key_id}.yaml"

    def add(self, key: PublicKey) -> None:
        """Write a new entry. Errors: KeyProblem if the id is taken or no usable file name."""
        if not _KEY_ID.match(key.id):
            raise KeyProblem(
                f"{key.id!r} is no key id", hint="lower-case letters, digits, . _ - and at most 64 characters"
            )
        if key.id in self.keys:
            raise KeyProblem(f"a key named {key.id} is there already", hint="choose another name with --id")
        self._write(key)

    def change(self, key_id: str, **fields: Any) -> PublicKey:
        """Change an entry and return it. Errors: KeyProblem if there is none."""
        key = replace(self.get(key_id), **fields)
        self._write(key)
        return key

    def get(self, key_id: str) -> PublicKey:
        """One key. Errors: KeyProblem if there is none."""
        try:
            return self.keys[key_id]
        except KeyError:
            known = ", ".join(self.keys) or "none"
            raise KeyProblem(f"no key is named {key_id}", hint=f"known: {known}") from None

    def verify(self, key_id: str, message: bytes, signature: bytes, recorded_at: str) -> Verdict:
        """Whether a key of the registry signed a message that was recorded at a moment. Errors: MissingExtra."""
        key = self.keys.get(key_id)
        if key is None:
            return Verdict.unknown_key
        ed25519, invalid = _ed25519()
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
        except (invalid, ValueError):
            return Verdict.modified
        # Without the Z a whole second sorts before its fractions.
        moment, since = recorded_at.removesuffix("Z"), key.valid_from.removesuffix("Z")
        until = key.valid_until.removesuffix("Z") if key.valid_until else None
        if key.revoked_at or (until and moment > until) or moment < since:
            return Verdict.revoked_key
        return Verdict.valid

    def _write(self, key: PublicKey) -> None:
        path = os.path.join(self.root, *self.path(key.id).split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with replacing(path) as aside, open(aside, "w", encoding="utf-8") as file:
            file.write(key.text())
        self.keys[key.id] = key


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key, loaded. sign gives the 64 raw bytes of an Ed25519 signature."""

    key_id: str
    private: Ed25519PrivateKey

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message)

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()


def key_id_of(public: bytes) -> str:
    """The id that a key gets where no name was chosen: `ed25519-` and 12 hex digits of its digest."""
    return f"ed25519-{hashlib.sha256(public).hexdigest()[:12]}"


def generate(folder: str, key_id: str | None, passphrase: str | None) -> Signer:
    """A new private key, written to `folder/KEY_ID.pem` with mode 0600. Errors: KeyProblem, MissingExtra."""
    ed25519, _ = _ed25519()
    from cryptography.hazmat.primitives import serialization

    private = ed25519.Ed25519PrivateKey.generate()
    name = key_id or key_id_of(private.public_key().public_bytes_raw())
    if not _KEY_ID.match(name):
        raise KeyProblem(f"{name!r} is no key id", hint="lower-case letters, digits, . _ - and at most 64 characters")
    locked = serialization.BestAvailableEncryption(passphrase.encode()) if passphrase else serialization.NoEncryption()
    content = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
    _write_private(folder, f"{name}.pem", content)
    return Signer(name, private)


def remember_ssh(folder: str, key_id: str, path: str) -> None:
    """Note that a key id means an SSH private key that stays where it is. Errors: KeyProblem."""
    _write_private(folder, f"{key_id}.ssh", os.path.abspath(path).encode() + b"\n")


def load_signer(folder: str, key_id: str, passphrase: str | None) -> Signer:
    """The private key of an id. Errors: KeyProblem if it is not here, locked or no Ed25519 key; MissingExtra."""
    ed25519, _ = _ed25519()
    from cryptography.hazmat.primitives import serialization

    own, reference = os.path.join(folder, f"{key_id}.pem"), os.path.join(folder, f"{key_id}.ssh")
    secret = passphrase.encode() if passphrase else None
    load: Any = serialization.load_pem_private_key
    path = own
    if not _KEY_ID.match(key_id) or not (os.path.exists(own) or os.path.exists(reference)):
        raise KeyProblem(
            f"the private key {key_id} is not on this machine",
            location=folder,
            hint="ontoref key list; ontoref key new",
        )
    if not os.path.exists(own):
        with open(reference, encoding="utf-8") as file:
            path = file.read().strip()
        load = serialization.load_ssh_private_key
    try:
        with open(path, "rb") as file:
            private = load(file.read(), secret)
    except OSError as error:
        raise KeyProblem(f"the private key cannot be read: {error.strerror}", location=path) from None
    except TypeError:
        hint = "set ONTOREF_KEY_PASSPHRASE" if secret is None else "it has no passphrase: unset ONTOREF_KEY_PASSPHRASE"
        raise KeyProblem("the private key and the passphrase do not go together", location=path, hint=hint) from None
    except Exception as error:
        # The library raises many kinds for a wrong passphrase or a damaged file; each is an answer, not a bug.
        raise KeyProblem(f"the private key cannot be unlocked: {error}", location=path) from None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise KeyProblem("the private key is no Ed25519 key", location=path, hint="ssh-keygen -t ed25519")
    return Signer(key_id, private)


def public_of_ssh(line: str) -> bytes:
    """Raw public key of an `ssh-ed25519 AAAA… comment` line. Errors: KeyProblem for any other."""
    parts = line.split()
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (IndexError, binascii.Error, ValueError):
        blob = b""
    head = b"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"
    if parts[:1] != ["ssh-ed25519"] or not blob.startswith(head) or len(blob) != len(head) + 32:
        raise KeyProblem("this is no ssh-ed25519 public key", hint="ssh-keygen -t ed25519; then name its .pub file")
    return blob[len(head) :]


def private_ids(folder: str) -> set[str]:
    """Ids of the private keys on this machine."""
    try:
        return {name.rpartition(".")[0] for name in os.listdir(folder) if name.endswith((".pem", ".ssh"))}
    except FileNotFoundError:
        return set()


def _write_private(folder: str, name: str, content: bytes) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, name)
    try:
        # Exclusive: a private key is never overwritten.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyProblem(
            "a private key of that name is there already",
            location=path,
            hint="choose another --id, or use it: --existing ID",
        ) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _parse(path: str, name: str) -> PublicKey:
    from ontoref.vocabulary.yaml_file import parse

    with open(path, "rb") as file:
        value = parse(name, path, file.read()).value
    try:
        key = PublicKey(**{**value, "public": base64.b64decode(value["public"], validate=True)})
    except (KeyError, TypeError, ValueError) as error:
        raise KeyProblem(f"the entry lacks or mistypes a field: {error}", location=path) from None
    if len(key.public) != 32 or f"{key.id}.yaml" != name:
        raise KeyProblem("the entry does not fit its file name, or its key is not 32 bytes", location=path)
    return key


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\n", " ") + "'"


def _ed25519() -> tuple[Any, type[Exception]]:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("sign", "cryptography") from None
    return ed25519, InvalidSignature
