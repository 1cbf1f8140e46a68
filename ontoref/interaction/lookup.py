"""One record, or one decision with all its entries, found by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ontoref.errors import OntorefError
from ontoref.interaction.ask import decode, stretches
from ontoref.interaction.blocks import shares
from ontoref.interaction.moments import order_key
from ontoref.interaction.search import Needle, Search, Text

__all__ = ["Entry", "Found", "NotFound", "look_up", "matching"]

# Of more ids than this it is only said that there are more.
_MOST_IDS = 10_000
# Past so many ids a search for each of them takes longer than to decode what supersedes anything.
_MOST_SOUGHT = 100


class NotFound(OntorefError):
    """No record and no decision has this id, or several could be meant."""

    kind = "not-found"
    exit_code = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a decision and the record that it stands in.

    Shape: record has no arrays and no objects: a name may have a million entries; superseded_by holds record ids.
    """

    decision: dict[str, Any]
    record: dict[str, Any]
    superseded_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Shape: records is one record, or several lines of one id; or entries are a decision's, newest first."""

    records: tuple[dict[str, Any], ...] = ()
    superseded_by: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


def look_up(wanted: str, paths: Sequence[str], skipped: set[tuple[int, int]] | None = None) -> Found:
    """The decision with this id, or the record with this id or with an id that alone starts so.

    Shape:  skipped takes in (file, -errno) of files that cannot be read.
    Errors: NotFound; without skipped OSError.
    """
    entries: list[tuple[dict[str, Any], dict[str, Any]]] = []
    # One id of those that start so is enough to hold on to: with two of them nothing is shown.
    exact: list[dict[str, Any]] = []
    first: list[dict[str, Any]] = []
    ids: set[str] = set()
    for record in matching([Needle.of_value_start("id", wanted)], paths, skipped):
        header: dict[str, Any] | None = None
        for decision in _decisions(record):
            if decision.get("id") == wanted:
                header = header or {k: v for k, v in record.items() if not isinstance(v, list | dict)}
                entries.append((decision, header))
        identity = _id(record)
        if identity == wanted:
            exact.append(record)
        elif identity.startswith(wanted) and len(ids) < _MOST_IDS:
            if not ids or identity == _id(first[0]):
                first.append(record)
            ids.add(identity)
    if entries:
        superseding = _superseding({_id(record) for _, record in entries}, paths, skipped)
        found = [Entry(d, r, superseding.get(_id(r), ())) for d, r in entries]
        found.sort(key=lambda e: (order_key(e.record.get("recorded_at")), _id(e.record)), reverse=True)
        return Found(entries=tuple(found))
    records = exact or first
    if not records:
        raise NotFound(
            f'no record and no decision has the id "{wanted}"',
            hint="ontoref interaction records and ontoref interaction decisions list the ids",
        )
    if not exact and len(ids) > 1:
        some = sorted(ids)[:8]
        more = f" and {len(ids) - 8:,} more" if len(ids) > 8 else ""
        raise NotFound(f'"{wanted}" begins {_count_of(ids)} record ids', hint=f"{' '.join(some)}{more}")
    identity = _id(records[0])
    return Found(records=tuple(records), superseded_by=_superseding({identity}, paths, skipped).get(identity, ()))


def _count_of(ids: set[str]) -> str:
    return f"{len(ids):,}" if len(ids) < _MOST_IDS else f"{_MOST_IDS:,} or more"


def _superseding(
    ids: set[str], paths: Sequence[str], skipped: set[tuple[int, int]] | None
) -> dict[str, tuple[str, ...]]:
    """Which records supersede the given ones."""
    found: dict[str, tuple[str, ...]] = {}
    needles = [Needle.of_key("supersedes")]
    if len(ids) <= _MOST_SOUGHT:
        needles.append(Needle.of_values("supersedes", ids, in_array=True))
    for record in matching(needles, paths, skipped):
        named = record.get("supersedes")
        for old in named if isinstance(named, list) else ():
            if isinstance(old, str) and old in ids:
                found[old] = (*found.get(old, ()), _id(record))
    return found


def matching(
    needles: Sequence[Needle | None], paths: Sequence[str], skipped: set[tuple[int, int]] | None = None
) -> Iterator[dict[str, Any]]:
    """Records whose line holds every needle; what a needle means exactly is for the caller to check.

    Errors: OSError, unless skipped takes in which files cannot be read.
    """
    search = Search([needle for needle in needles if needle is not None])
    for _, block in stretches([stretch for share in shares(paths, 1) for stretch in share], skipped):
        for start, stop in search.lines(Text(block.content, block.end)):
            record = decode(memoryview(block.content)[start:stop])
            if record is not None:
                yield record


def _decisions(record: dict[str, Any]) -> list[dict[str, Any]]:
    decisions = record.get("decisions")
    return [d for d in decisions if isinstance(d, dict)] if isinstance(decisions, list) else []


def _id(record: dict[str, Any]) -> str:
    value = record.get("id")
    return value if isinstance(value, str) else ""
