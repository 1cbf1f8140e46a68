"""Prepared records put into the log: each once, a file's all together, with where they went."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ontoref.errors import OntorefError
from ontoref.interaction.finding import Finding
from ontoref.interaction.log import Written, append, find_all, relative_path
from ontoref.interaction.record import Item, references, same

__all__ = ["DuplicateId", "Kept", "Settled", "Stopped", "add", "settle"]

_TRIES = 3

Known = dict[str, list[tuple[Written, dict[str, Any]]]]


class DuplicateId(OntorefError):
    """While a record was on its way another one with its id came into the log."""

    kind = "duplicate-id"
    exit_code = 1


class Kept(NamedTuple):
    """A record that is in the log. Shape: again says that it was there before we came to write it."""

    item: Item
    place: Written
    again: bool


class Settled(NamedTuple):
    """Records sorted by what is to be done with them.

    Shape: present are in the log already; repeated stand earlier in the input too; clashing
           share their id with another record and carry the finding that says so; stray are ids of records that
           new ones name and that are nowhere, each with its pointer.
    """

    new: list[Item]
    present: list[Kept]
    repeated: list[Item]
    clashing: list[Item]
    stray: list[tuple[str, str]]


class Stopped(Exception):
    """A file could not be written. Shape: done are the records that were written before; cause is why."""

    def __init__(self, done: list[Kept], cause: OntorefError) -> None:
        super().__init__(str(cause))
        self.done = done
        self.cause = cause


class _Appeared(Exception):
    """A record of one of our ids came into the file after we had looked."""


def settle(items: Sequence[Item], folder: str) -> Settled:
    """Which of the items are new, which are in the log already, and which share their id with another record.

    Only ids that were given are looked for, by one search over the log's bytes.
    """
    wanted = _stated_ids(items) | {target for item in items for target, _ in references(item.record)}
    known: Known = {}
    if wanted and os.path.isdir(folder):
        from ontoref.interaction.logs import log_paths

        known = find_all(log_paths([folder]), wanted)
    settled = _sorted(items, known, folder)
    there = known.keys() | {item.identity for item in items if isinstance(item.identity, str)}
    named = ((target, pointer) for item in settled.new for target, pointer in references(item.record))
    settled.stray.extend((target, pointer) for target, pointer in named if target not in there)
    return settled


def add(new: Sequence[Item], folder: str, branch: str | None, *, lock_timeout_s: float = 30.0) -> list[Kept]:
    """Write new items, each file's together or not at all; where each of them is now.

    Errors: Stopped.
    """
    files: dict[str, list[Item]] = {}
    for item in new:
        name = relative_path(item.record.get("session_id"), item.record.get("recorded_at"), branch)
        files.setdefault(name, []).append(item)
    done: list[Kept] = []
    for name, group in files.items():
        try:
            done += _add_to(folder, name, group, lock_timeout_s)
        except OntorefError as error:
            raise Stopped(done, error) from error
    return done


def _add_to(folder: str, name: str, group: list[Item], lock_timeout_s: float) -> list[Kept]:
    ids = _stated_ids(group)
    present: list[Kept] = []

    def nobody_was_faster(target: str) -> None:
        if ids and find_all([target], ids):
            raise _Appeared

    for _ in range(_TRIES):
        if not group:
            return present
        try:
            lines = [item.line for item in group]
            written = append(folder, name, lines, lock_timeout_s=lock_timeout_s, guard=nobody_was_faster)
        except _Appeared:
            settled = _sorted(group, find_all([os.path.join(folder, name)], ids), folder)
            for item in settled.clashing:
                raise DuplicateId(item.findings[-1].message, hint=item.findings[-1].hint) from None
            group, ids = settled.new, _stated_ids(settled.new)
            present += settled.present
            continue
        return [*present, *(Kept(item, place, False) for item, place in zip(group, written, strict=True))]
    raise OntorefError("records with these ids come and go", location=os.path.join(folder, name))


def _stated_ids(items: Iterable[Item]) -> set[str]:
    return {item.identity for item in items if "id" in item.stated and isinstance(item.identity, str)}


def _sorted(items: Sequence[Item], known: Known, folder: str) -> Settled:
    settled = Settled([], [], [], [], [])
    first: dict[str, Item] = {}
    for item in items:
        identity = item.identity
        if "id" not in item.stated or not isinstance(identity, str):
            settled.new.append(item)
        elif identity in known:
            again = next((place for place, record in known[identity] if same(item.stated, record)), None)
            if again is not None:
                settled.present.append(Kept(item, again, True))
            else:
                place, record = known[identity][0]
                below = os.path.relpath(place.path, os.path.realpath(folder)).replace(os.sep, "/")
                settled.clashing.append(_clash(item, f"the log, at {below}:{place.line},", record))
        elif identity not in first:
            first[identity] = item
            settled.new.append(item)
        elif same(item.stated, first[identity].record):
            settled.repeated.append(item)
        else:
            settled.clashing.append(_clash(item, "the input twice,", first[identity].record))
    return settled


def _clash(item: Item, where: str, record: dict[str, Any]) -> Item:
    differing = [n for n, value in item.stated.items() if n != "witness" and not same({n: value}, record)]
    message = f'id: "{item.identity}" stands in {where} and says something else in {", ".join(differing)}'
    hint = "leave id out for a new record; a correction is a new record that names this one in supersedes"
    finding = Finding("duplicate-id", "options", 0, 0, message, "/id", item.identity, hint=hint)
    layout = item.given.layout
    if layout is not None and "/id" in layout.places:
        finding = finding._replace(column=layout.places["/id"].value)
    return item._replace(findings=(*item.findings, item.given.placed(finding)))
