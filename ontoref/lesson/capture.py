"""Conversations into candidates: what a person corrected, refused, or had found out. Never into lessons."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ontoref.lesson.contract import LessonStore, Record
from ontoref.lesson.lifecycle import instant_us, moment_text
from ontoref.secrets import redact
from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent

__all__ = [
    "CAPTURE",
    "MODES",
    "OFF",
    "Claim",
    "Corrections",
    "candidates",
    "entries_of_events",
    "handle_claim",
    "insights_of",
    "without_prefix",
]

MODES = (OFF := "off", CAPTURE := "capture")
_log = logging.getLogger("ontoref.lesson")
_LONGEST = 2000
_CONTEXT = 300
_PREFIX = re.compile(r"\[([^\]\n]{3,200})\] ")
_STAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)


def without_prefix(text: str) -> str:
    """A stored text without the one `[<from> <host> <timestamp>] ` before it; any other bracket stays."""
    match = _PREFIX.match(text)
    if match is None:
        return text
    words = match[1].split(" ")
    if len(words) < 3 or not all(words) or not _STAMP.fullmatch(words[-1]):
        return text
    return text[match.end() :]


class Corrections:
    """Tells a message that corrects. Shape: table is `schemas/tables/corrections.yaml`."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self._begins = _any_of(table.get("begins", ()))
        self._holds = _any_of(table.get("holds", ()))

    def mean(self, text: str) -> bool:
        """Whether the text, its prefix aside, corrects something."""
        said = without_prefix(text).lstrip()
        begins, holds = self._begins, self._holds
        return bool((begins and begins.match(said)) or (holds and holds.search(said[:_LONGEST])))


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE) if patterns else None


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece of a session to be looked at.

    Shape: entries are stored conversation entries {entry_id, session_id, from, host, timestamp, text, direction};
           direction is in or out. signals on an entry say what is known of it already, opening marks the first
           message of a session, which corrects nothing. They are read once.
    """

    claim_id: str
    session_id: str
    scope: Mapping[str, str]
    entries: Iterable[Mapping[str, Any]] = field(default=())


def handle_claim(
    claim: Claim,
    *,
    mode: str,
    store: LessonStore,
    corrections: Corrections,
    now: str,
    ack: Callable[[str], object],
    warn: Callable[[str], object] = _log.warning,
) -> list[Record]:
    """Capture the candidates of a claim, then acknowledge it as processed.

    Shape:  with mode off nothing is kept. ack is told `processed` or `failed`.
    Errors: the store's; a warning that names the claim and the session is given first, then it is acknowledged
            as failed, and an acknowledgement that fails in turn hides nothing.
    """
    kept = []
    try:
        if mode != OFF:
            for candidate in candidates(claim, corrections, now):
                kept.append(store.upsert_candidate(candidate))
    except Exception as error:
        code = getattr(error, "kind", type(error).__name__)
        warn(f"capture failed: {error} (code {code}, claim {claim.claim_id}, session {claim.session_id})")
        try:
            ack("failed")
        except Exception as second:
            _log.debug("the acknowledgement failed as well: %s", second)
        raise
    ack("processed")
    return kept


def candidates(claim: Claim, corrections: Corrections, now: str) -> Iterator[Record]:
    """Candidates of a claim's entries: only of texts that came in and that say something.

    Shape: secrets in an excerpt are replaced. The same claim gives the same ids.
    """
    context = ""
    for entry in claim.entries:
        text, direction = entry.get("text"), entry.get("direction")
        if not isinstance(text, str) or not isinstance(entry.get("entry_id"), str):
            continue
        if direction == "out":
            context = text
            continue
        said = without_prefix(text).strip()
        known = entry.get("signals")
        signals = [str(name) for name in known] if isinstance(known, list | tuple) else []
        if not entry.get("opening") and corrections.mean(text):
            signals.append("correction")
        if direction != "in" or not said or not signals:
            continue
        yield _candidate(
            claim,
            entry["entry_id"],
            said,
            signals,
            _stamp(entry.get("timestamp"), now),
            {"context": _short(context, _CONTEXT)} if context.strip() else {},
        )


def insights_of(record: Mapping[str, Any], scope: Mapping[str, str], now: str) -> Iterator[Record]:
    """Candidates of the insights that an InteractionRecord holds."""
    insights = record.get("insights")
    for insight in insights if isinstance(insights, list) else ():
        subject = insight.get("subject") if isinstance(insight, dict) else None
        if not isinstance(subject, str) or not subject.strip():
            continue
        claim = Claim(str(record.get("id")), str(record.get("session_id")), scope)
        signals = ["insight", str(insight.get("kind"))]
        more: Record = {"record_id": claim.claim_id}
        if isinstance(insight.get("confidence"), str):
            more["confidence"] = insight["confidence"]
        yield _candidate(claim, claim.claim_id, subject.strip(), signals, _stamp(record.get("recorded_at"), now), more)


def entries_of_events(events: Iterable[ReplayEvent]) -> Iterator[Record]:
    """A session's events as stored conversation entries; signals tell prompts after a stop and refusals."""
    after: list[str] = []
    opened = False
    for event in events:
        payload = event.payload
        text = payload.get("text")
        if event.parent_span_id is not None and event.kind != e.APPROVAL_DECIDED:
            continue
        if event.kind == e.LLM_CALL and payload.get("origin") in ("interrupt", "abort"):
            after = ["interruption"]
        elif event.kind == e.LLM_CALL and payload.get("human") is True and isinstance(text, str):
            yield _entry(event, text, "in", after if opened else [], opening=not opened)
            after, opened = [], True
        elif event.kind == e.LLM_RESPONSE and isinstance(text, str) and text.strip():
            yield _entry(event, text, "out", [])
        elif event.kind == e.APPROVAL_DECIDED and event.approval and event.approval["status"] == "denied":
            reason = event.approval.get("decision_reason")
            if isinstance(reason, str) and reason.strip() and event.approval.get("resolver") == "user":
                yield _entry(event, reason, "in", ["refusal"])
            else:
                after = ["refusal"]


def _entry(event: ReplayEvent, text: str, direction: str, signals: list[str], *, opening: bool = False) -> Record:
    return {
        "entry_id": event.span_id,
        "session_id": event.session_id,
        "from": "user" if direction == "in" else "agent",
        "host": event.runtime,
        "timestamp": moment_text(int(event.ts * 1000) * 1000) if 0 < event.ts < 32_503_680_000 else None,
        "text": text,
        "direction": direction,
        "signals": signals,
        "opening": opening,
    }


def _candidate(
    claim: Claim, event_id: str, said: str, signals: list[str], created_at: str, more: Mapping[str, Any]
) -> Record:
    excerpt = _short(said, _LONGEST)
    name = hashlib.sha256("\0".join((claim.session_id, event_id, said)).encode("utf-8", "replace")).hexdigest()
    return {
        "id": f"c-{name[:24]}",
        "scope": dict(claim.scope),
        "session_id": _plain(claim.session_id),
        "claim_id": _plain(claim.claim_id),
        "event_id": _plain(event_id),
        "excerpt": excerpt,
        "signals": list(dict.fromkeys(signals)),
        "created_at": created_at,
        **more,
    }


def _short(text: str, longest: int) -> str:
    clean = redact(_plain(text[: longest * 2]).strip())
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def _plain(text: str) -> str:
    """Text that every store takes: half of a character pair becomes a question mark, NUL is left out."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _stamp(value: Any, now: str) -> str:
    try:
        instant_us(value)
    except ValueError:
        return now
    return str(value)
