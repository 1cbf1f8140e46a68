"""Decisions that deserve an ADR and wait for one, ranked by reasons that typed fields give; never by prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ontoref.interaction.ask import decode, stretches
from ontoref.interaction.blocks import shares
from ontoref.interaction.moments import order_key
from ontoref.vocabulary import Vocabulary

__all__ = ["Candidate", "Entry", "Reason", "candidates", "entries"]

_BROAD_FILES = 5
_CONTESTED = 2


class Entry(NamedTuple):
    """One time that a decision was recorded."""

    decision: dict[str, Any]
    record: dict[str, Any]

    @property
    def order(self) -> tuple[str, str]:
        return order_key(self.record.get("recorded_at")), _text(self.record.get("id"))


class Reason(NamedTuple):
    """Why a decision deserves an ADR. Shape: kind is kebab-case, text says it with its numbers, weight adds up."""

    kind: str
    text: str
    weight: int


class Candidate(NamedTuple):
    """Shape: entries oldest first; the decision stands as its last entry says."""

    id: str
    entries: tuple[Entry, ...]
    reasons: tuple[Reason, ...]

    @property
    def latest(self) -> Entry:
        return self.entries[-1]

    @property
    def score(self) -> int:
        return sum(reason.weight for reason in self.reasons)

    def as_json(self) -> dict[str, Any]:
        """The candidate as every machine form prints it; prose is left out."""
        record, decision = self.latest.record, self.latest.decision
        header = ("id", "session_id", "recorded_at", "actor", "kind", "domain")
        return {
            "id": self.id,
            "score": self.score,
            "reasons": [reason._asdict() for reason in self.reasons],
            "times": len(self.entries),
            "sessions": len(_sessions(self.entries)),
            **{k: v for k, v in decision.items() if k not in ("id", "rationale")},
            "record": {name: record[name] for name in header if name in record},
        }


def entries(paths: Sequence[str], skipped: set[tuple[int, int]] | None = None) -> dict[str, list[Entry]]:
    """Every entry of every decision by its id, oldest first; those of superseded records are left out.

    Errors: OSError, unless skipped takes in (file, -errno) of files that cannot be read.
    """
    found: list[Entry] = []
    superseded: set[str] = set()
    for record in _records(paths, skipped):
        named = record.get("supersedes")
        superseded.update(item for item in (named if isinstance(named, list) else ()) if isinstance(item, str))
        decisions = record.get("decisions")
        for decision in decisions if isinstance(decisions, list) else ():
            if isinstance(decision, dict) and isinstance(decision.get("id"), str):
                found.append(Entry(decision, record))
    by_id: dict[str, list[Entry]] = {}
    for entry in sorted(found, key=lambda entry: entry.order):
        if _text(entry.record.get("id")) not in superseded:
            by_id.setdefault(entry.decision["id"], []).append(entry)
    return by_id


def candidates(
    paths: Sequence[str], vocabulary: Vocabulary, skipped: set[tuple[int, int]] | None = None
) -> list[Candidate]:
    """Open candidates, those with the most reasons first.

    Shape:  open is flagged at any time, without an ADR, and not closed by its last status.
    Errors: as `entries`.
    """
    closed = {m.name for m in vocabulary.enum("DecisionStatus").members if m.notes.get("closed")}
    everything = entries(paths, skipped)
    found = []
    for identity, history in everything.items():
        last = history[-1].decision
        flagged = any(entry.decision.get("adr_candidate") is True for entry in history)
        if flagged and "adr" not in last and _text(last.get("status")) not in closed:
            found.append(Candidate(identity, tuple(history), tuple(_reasons(identity, history, everything))))
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.latest.order, candidate.id))


def _reasons(identity: str, history: Sequence[Entry], everything: Mapping[str, Sequence[Entry]]) -> Iterator[Reason]:
    last = history[-1].decision
    if last.get("reversible") is False:
        yield Reason("irreversible", "cannot be undone cheaply", 4)
    sessions = _sessions(history)
    if len(sessions) > 1:
        yield Reason("recurring", f"came back in {len(sessions)} sessions", min(3, len(sessions)))
    rejected = _union(history, "alternatives_rejected")
    if len(rejected) >= _CONTESTED:
        yield Reason("contested", f"{len(rejected)} alternatives were rejected", 2)
    tensions = _union(history, "tensions_engaged")
    if tensions:
        yield Reason("tension", f"balances {', '.join(sorted(tensions))}", 1)
    files = {path for entry in history for path in _texts(entry.record.get("files_touched"))}
    if len(files) >= _BROAD_FILES:
        yield Reason("broad", f"touched {len(files)} files", 1)
    replaced = _union(history, "supersedes")
    if replaced:
        yield Reason("supersedes", f"replaces {', '.join(sorted(replaced))}", 2)
    against = sorted(
        other
        for other, entries_of in everything.items()
        if other != identity
        and (other in rejected or identity in _texts(entries_of[-1].decision.get("alternatives_rejected")))
    )
    if against:
        yield Reason("contradicts", f"stands against {', '.join(against)}", 2)


def _union(history: Sequence[Entry], field: str) -> set[str]:
    return {text for entry in history for text in _texts(entry.decision.get(field))}


def _sessions(history: Iterable[Entry]) -> set[str]:
    return {str(entry.record.get("session_id")) for entry in history}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _records(paths: Sequence[str], skipped: set[tuple[int, int]] | None) -> Iterator[dict[str, Any]]:
    """Records that hold a decision or supersede something; a key spelled with escapes is decoded to be found."""
    for _, block in stretches([stretch for share in shares(paths, 1) for stretch in share], skipped):
        for line in block.lines():
            if b'"decisions"' in line or b'"supersedes"' in line or b"\\u00" in line:
                record = decode(line)
                if record is not None:
                    yield record
