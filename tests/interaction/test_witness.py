"""A signature holds for the record that was signed, and for nothing else."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("cryptography")

from ontoref.interaction.keys import (
    KeyProblem,
    PublicKey,
    Registry,
    Signer,
    generate,
    load_signer,
    public_of_ssh,
    remember_ssh,
)
from ontoref.interaction.witness import Judgement, Prose, Verdict, judge, seal, signed_form, withhold
from ontoref.vocabulary import load

VOCABULARY = load()
PROSE = Prose(VOCABULARY)
RECORD = {
    "schema_version": 1,
    "id": "01KAJ2Q4M8Z7T1VQ3H5N6R9W2X",
    "session_id": "s",
    "recorded_at": "2026-11-30T12:00:00Z",
    "actor": "Human",
    "kind": "Fix",
    "domain": "Cli",
    "outcome": "Completed",
    "summary": "Something é happened.",
    "events": [{"kind": "Request"}, {"kind": "Finding", "note": ""}, {"kind": "Finding", "note": "Secret."}],
    "decisions": [{"id": "a", "reversible": True, "adr_candidate": False, "rationale": "Because."}],
    "files_touched": ["a", "b"],
}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return generate(str(tmp_path_factory.mktemp("keys")), "test", None)


@pytest.fixture(scope="module")
def registry(signer: Signer, tmp_path_factory: pytest.TempPathFactory) -> Registry:
    found = Registry.read(str(tmp_path_factory.mktemp("project")))
    found.add(PublicKey("test", "Tester", signer.public, "2026-01-01T00:00:00Z"))
    return found


def sealed(signer: Signer, record: dict[str, Any] = RECORD) -> dict[str, Any]:
    return seal(
        record,
        PROSE,
        signer.sign,
        op_id="op-1",
        state_root="a" * 40,
        key_id=signer.key_id,
        algorithm=VOCABULARY.enum("SignatureAlgorithm").by_role("ed25519"),
        new_salt=lambda: os.urandom(16),
    )


def verdict(record: Any, registry: Registry) -> Judgement:
    when = record.get("recorded_at", "") if isinstance(record, dict) else ""
    return judge(record, PROSE, lambda k, m, s: registry.verify(k, m, s, str(when)))


def test_a_signed_record_is_valid_and_keeps_the_shape(signer: Signer, registry: Registry) -> None:
    record = sealed(signer)
    assert verdict(record, registry) == Judgement(Verdict.valid)
    assert {entry["at"] for entry in record["witness"]["prose"]} == {
        "/summary",
        "/events/1/note",
        "/events/2/note",
        "/decisions/0/rationale",
    }
    assert b"Something" not in signed_form(record)


def leaves(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict | list) and node:
        for step, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(inner, (*way, step))
    yield way


@given(st.data())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_change_is_noticed(signer: Signer, registry: Registry, data: st.DataObject) -> None:
    """No change of any value, prose included, is ever called valid; a foreign key is unknown."""
    record = sealed(signer)
    way = data.draw(st.sampled_from([w for w in leaves(record) if w]))
    changed = copy.deepcopy(record)
    target: Any = changed
    for step in way[:-1]:
        target = target[step]
    if data.draw(st.booleans()):
        del target[way[-1]]
    else:
        value = data.draw(st.text(max_size=5) | st.integers(0, 9) | st.none() | st.booleans() | st.just([]))
        if value == target[way[-1]] and type(value) is type(target[way[-1]]):
            return
        target[way[-1]] = value
    answer = verdict(changed, registry).verdict
    if way == ("witness",):
        assert answer in (Verdict.unsigned, Verdict.malformed)
    elif way == ("witness", "key_id"):
        assert answer is Verdict.unknown_key
    elif way == ("witness", "signature"):
        assert answer in (Verdict.modified, Verdict.malformed)
    else:
        assert answer is Verdict.modified


@pytest.mark.parametrize("pointer", ["/summary", "/events/2/note", "/decisions/0/rationale"])
def test_a_withheld_text_leaves_the_signature_standing(signer: Signer, registry: Registry, pointer: str) -> None:
    record = withhold(sealed(signer), PROSE, pointer)
    assert verdict(record, registry) == Judgement(Verdict.withheld, "valid; text was withheld", (pointer,))
    assert record["summary"] == ("" if pointer == "/summary" else RECORD["summary"])
    record["outcome"] = "Failed"
    assert verdict(record, registry).verdict is Verdict.modified


@pytest.mark.parametrize("pointer", ["/kind", "/events/01/note", "/events/-1/note", "/events/²/note", "", "/x/0/note"])
def test_only_prose_can_be_withheld(signer: Signer, pointer: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        withhold(sealed(signer), PROSE, pointer)


def test_other_witnesses_are_data(registry: Registry) -> None:
    """S4-7: a witness of another system is no fault; no witness is none either."""
    foreign = {**RECORD, "witness": {"op_id": "x", "state_root": "b" * 64, "signature": "QUJD"}}
    assert verdict(foreign, registry).verdict is Verdict.unknown_key
    assert verdict(RECORD, registry).verdict is Verdict.unsigned
    assert verdict([], registry).verdict is Verdict.malformed


def test_a_key_is_trusted_for_its_time_and_not_once_it_is_revoked(signer: Signer, tmp_path: Path) -> None:
    registry = Registry.read(str(tmp_path))
    registry.add(PublicKey("test", "Tester", signer.public, "2026-01-01T00:00:00Z"))
    record = sealed(signer)
    registry.change("test", valid_until="2026-12-01T00:00:00Z")
    assert verdict(record, Registry.read(str(tmp_path))).verdict is Verdict.valid
    registry.change("test", valid_until="2026-11-01T00:00:00Z")
    assert verdict(record, Registry.read(str(tmp_path))).verdict is Verdict.revoked_key
    registry.change("test", valid_until=None, revoked_at="2027-01-01T00:00:00Z", reason="it's lost")
    assert verdict(record, Registry.read(str(tmp_path))).verdict is Verdict.revoked_key


def test_private_keys_are_for_their_owner_alone_and_never_overwritten(tmp_path: Path) -> None:
    folder = str(tmp_path / "keys")
    made = generate(folder, "mine", "secret")
    if os.name == "posix":
        assert (tmp_path / "keys/mine.pem").stat().st_mode & 0o777 == 0o600
    with pytest.raises(KeyProblem, match="already"):
        generate(folder, "mine", None)
    assert load_signer(folder, "mine", "secret").public == made.public
    for wrong in (None, "other"):
        with pytest.raises(KeyProblem, match=r"passphrase|unlocked"):
            load_signer(folder, "mine", wrong)
    with pytest.raises(KeyProblem, match="not on this machine"):
        load_signer(folder, "../mine", "secret")


def test_an_ssh_key_signs(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    path = tmp_path / "id_ed25519"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    )
    line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
    remember_ssh(str(tmp_path / "keys"), "ssh", str(path))
    signer = load_signer(str(tmp_path / "keys"), "ssh", None)
    assert signer.public == public_of_ssh(line + " me@here")
    for wrong in ("", "ssh-rsa AAAA", "ssh-ed25519 AAAA", "ssh-ed25519 !"):
        with pytest.raises(KeyProblem):
            public_of_ssh(wrong)
