"""A witness: what is signed of a record, and what a signature says about the record that lies here now.

Signed is the canonical form of the record without `witness.signature`, in which each prose text is replaced by
its salted digest. The digests stand in `witness.prose` too, with their salts. So a text can be withheld later
(text and salt go, the digest stays) and the signature still holds.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ontoref.interaction.canonical import NotCanonical, canonical
from ontoref.vocabulary import Vocabulary

__all__ = ["Judgement", "Prose", "Verdict", "judge", "seal", "signed_form", "withhold"]


class Verdict(StrEnum):
    """What a witness says about its record."""

    valid = "valid"
    withheld = "withheld"
    modified = "modified"
    unsigned = "unsigned"
    unknown_key = "unknown-key"
    revoked_key = "revoked-key"
    malformed = "malformed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Shape: verdict, and in one sentence why; pointers are the texts that are withheld or differ."""

    verdict: Verdict
    why: str = ""
    pointers: tuple[str, ...] = ()


class Prose:
    """Where a vocabulary lets prose stand: `summary`, `decisions/*/rationale`, `events/*/note`."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.top = tuple(f.path for f in vocabulary.noun().values() if f.prose and "." not in f.path)
        self.required = frozenset(f.path for f in vocabulary.noun().values() if f.prose and f.required)
        self.nested = tuple(
            (array, facet.path)
            for array, noun in vocabulary.nouns.items()
            for facet in vocabulary.noun(noun).values()
            if facet.prose
        )

    def places(self, record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """(JSON pointer, text) of each prose text in a record, in the order of the vocabulary."""
        for field in self.top:
            if isinstance(record.get(field), str):
                yield f"/{field}", record[field]
        for array, field in self.nested:
            items = record.get(array)
            for index, item in enumerate(items if isinstance(items, list) else ()):
                if isinstance(item, dict) and isinstance(item.get(field), str):
                    yield f"/{array}/{index}/{field}", item[field]

    def stripped(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The record without its prose."""
        bare = {name: value for name, value in record.items() if name not in self.top}
        for array, field in self.nested:
            if isinstance(bare.get(array), list):
                bare[array] = [
                    {name: value for name, value in item.items() if name != field} if isinstance(item, dict) else item
                    for item in bare[array]
                ]
        return bare

    def allows(self, pointer: str) -> bool:
        """Whether a pointer names a place of prose."""
        parts = pointer.split("/")[1:]
        if len(parts) == 1:
            return parts[0] in self.top
        # One spelling an index: "01" or "-1" would let two digests speak of one text.
        return len(parts) == 3 and _is_index(parts[1]) and (parts[0], parts[2]) in self.nested


def seal(
    record: Mapping[str, Any],
    prose: Prose,
    sign: Callable[[bytes], bytes],
    *,
    op_id: str,
    state_root: str,
    key_id: str,
    algorithm: str,
    new_salt: Callable[[], bytes],
) -> dict[str, Any]:
    """The record with a witness that sign made over it.

    Units:  state_root is hex; new_salt gives 16 to 32 random bytes for each text.
    Errors: NotCanonical for a record that has no canonical form.
    """
    digests = []
    for pointer, text in prose.places(record):
        salt = new_salt()
        digests.append({"at": pointer, "digest": _digest(salt, text), "salt": salt.hex()})
    witness: dict[str, Any] = {
        "op_id": op_id,
        "state_root": state_root,
        "signature": "",
        "key_id": key_id,
        "algorithm": algorithm,
    }
    if digests:
        witness["prose"] = digests
    sealed = {**record, "witness": witness}
    witness["signature"] = base64.b64encode(sign(signed_form(sealed))).decode()
    return sealed


def signed_form(record: Mapping[str, Any]) -> bytes:
    """The bytes that a witness's signature is over. Errors: NotCanonical; ValueError for a pointer to nowhere."""
    form = dict(record)
    witness = {name: value for name, value in form["witness"].items() if name != "signature"}
    form["witness"] = witness
    if "prose" in witness:
        entries = witness["prose"]
        witness["prose"] = [{name: value for name, value in entry.items() if name != "salt"} for entry in entries]
        # Only what changes is copied: a deep copy would cost more than hashing and signing together.
        own: set[str] = set()
        for entry in entries:
            _put(form, entry["at"], entry["digest"], own)
    return canonical(form)


def judge(record: Any, prose: Prose, verify: Callable[[str, bytes, bytes], Verdict]) -> Judgement:
    """What a record's witness says about it.

    Shape:  verify(key_id, message, signature) answers valid, modified (the signature is not over the message),
            unknown_key or revoked_key.
    """
    if not isinstance(record, dict):
        return Judgement(Verdict.malformed, "the line is no record")
    witness = record.get("witness")
    if witness is None:
        return Judgement(Verdict.unsigned)
    if not isinstance(witness, dict) or not isinstance(witness.get("signature"), str):
        return Judgement(Verdict.malformed, "the witness has no signature")
    key_id = witness.get("key_id")
    if not isinstance(key_id, str):
        return Judgement(Verdict.unknown_key, "the witness names no key; another system may know it")
    try:
        differing, withheld = _compare(record, witness, prose)
        form = signed_form(record)
    except (NotCanonical, ValueError, KeyError, TypeError, AttributeError) as error:
        return Judgement(Verdict.modified, f"the record cannot have been signed as it is: {error}")
    try:
        signature = base64.b64decode(witness["signature"], validate=True)
    except (binascii.Error, ValueError):
        signature = b""
    answer = verify(key_id, form, signature)
    if answer is Verdict.modified:
        return Judgement(answer, "the record or its witness is not what was signed", differing)
    if differing and answer in (Verdict.valid, Verdict.revoked_key):
        return Judgement(Verdict.modified, "a text is not the one that was signed", differing)
    if answer is not Verdict.valid:
        return Judgement(answer)
    if withheld:
        return Judgement(Verdict.withheld, "valid; text was withheld", withheld)
    return Judgement(Verdict.valid)


def withhold(record: Mapping[str, Any], prose: Prose, pointer: str) -> dict[str, Any]:
    """The record without one prose text: the field goes (a required one becomes ""), its salt with it.

    Errors: KeyError if no text stands at the pointer, ValueError if prose may not stand there.
    """
    if not prose.allows(pointer):
        raise ValueError(pointer)
    if pointer not in dict(prose.places(record)):
        raise KeyError(pointer)
    result = copy.deepcopy(dict(record))
    *way, last = pointer.split("/")[1:]
    target: Any = result
    for step in way:
        target = target[int(step)] if isinstance(target, list) else target[step]
    if not way and last in prose.required:
        target[last] = ""
    else:
        del target[last]
    witness = result.get("witness")
    if isinstance(witness, dict):
        for entry in witness.get("prose", ()):
            if entry.get("at") == pointer:
                entry.pop("salt", None)
    return result


def _compare(
    record: Mapping[str, Any], witness: Mapping[str, Any], prose: Prose
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Pointers of texts that differ from what was signed, and of those that are withheld."""
    entries = {entry["at"]: entry for entry in witness.get("prose", ())}
    if len(entries) != len(witness.get("prose", ())):
        raise ValueError("a text has two digests")
    texts = dict(prose.places(record))
    differing: list[str] = []
    withheld: list[str] = []
    for pointer, entry in entries.items():
        if not prose.allows(pointer):
            raise ValueError(f"{pointer} is no place of prose")
        text = texts.pop(pointer, None)
        salt = entry.get("salt")
        if salt is None:
            gone = text is None or (text == "" and pointer[1:] in prose.required)
            (withheld if gone else differing).append(pointer)
        elif text is None or _digest(bytes.fromhex(salt), text) != entry["digest"]:
            differing.append(pointer)
    # A text without a digest was not signed.
    differing.extend(texts)
    return tuple(differing), tuple(withheld)


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdecimal() and (step == "0" or not step.startswith("0"))


def _digest(salt: bytes, text: str) -> str:
    return f"sha256:{hashlib.sha256(salt + text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _put(form: dict[str, Any], pointer: str, value: str, own: set[str]) -> None:
    """Set what a pointer to prose names, in copies; own are the arrays and items that are copies already."""
    steps = pointer.split("/")[1:]
    if len(steps) == 1:
        form[steps[0]] = value
        return
    if len(steps) != 3 or not _is_index(steps[1]):
        raise ValueError(f"{pointer} points to nothing")
    array, index, field = steps[0], int(steps[1]), steps[2]
    items = form.get(array)
    if not isinstance(items, list) or index >= len(items) or not isinstance(items[index], dict):
        raise ValueError(f"{pointer} points to nothing")
    if array not in own:
        own.add(array)
        items = form[array] = list(items)
    place = f"{array}/{index}"
    if place not in own:
        own.add(place)
        items[index] = dict(items[index])
    items[index][field] = value
