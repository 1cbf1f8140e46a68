"""Records of a lesson store as rows: checked, and with the values that are searched by."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from ontoref.lesson.errors import LessonValidationError
from ontoref.lesson.lifecycle import (
    DEFAULT_AGENT,
    LESSON_DURABILITIES,
    LESSON_RECORD_KINDS,
    LESSON_SCHEMA_VERSION,
    instant_us,
)

__all__ = [
    "RECORD_TYPES",
    "Row",
    "Selection",
    "as_json",
    "checked",
    "fingerprint",
    "fold",
    "row_of",
    "scope_key",
    "scope_of",
    "tokens_of",
]

RECORD_TYPES = ("lesson", "proposal", "candidate", "audit")
SCOPE_KEYS = ("agent_id", "workspace", "domain")
PROPOSAL_ACTIONS = ("create", "merge", "supersede", "invalidate")
PROPOSAL_STATUSES = ("pending", "accepted", "rejected", "expired")
CANDIDATE_STATUSES = ("pending", "processed", "failed")
CANDIDATE_OUTCOMES = ("promoted", "merged", "discarded", "error")
VERDICTS = ("accepted", "rejected")

_LONGEST_ID = 255
_LONGEST_SCOPE = 512
_COUNTERS = ("helpful", "harmful", "neutral")
_LISTS_OF_TEXT = {"lesson": ("tags",), "candidate": ("signals", "result_ids"), "proposal": ("source_candidate_ids",)}
_TEXTS = {
    "lesson": ("title", "statement", "section", "supersede_reason"),
    "candidate": ("session_id", "claim_id", "excerpt", "last_error"),
    "proposal": ("rationale", "target_lesson_id", "fingerprint"),
    "audit": ("actor", "action", "record_type", "record_id", "before_hash", "after_hash"),
}
_TIMES = {
    "lesson": ("created_at", "updated_at", "valid_from", "invalid_at"),
    "candidate": ("created_at", "processed_at"),
    "proposal": ("created_at", "updated_at"),
    "audit": ("at",),
}
_NEEDED_TIME = {"lesson": "updated_at", "candidate": "created_at", "proposal": "created_at", "audit": "at"}


class Row(NamedTuple):
    """A record and what it is found by. Every backend stores exactly these.

    Units: times in microseconds since 1970. Shape: record is the JSON text; scope columns are "" where unknown.
    """

    record_type: str
    id: str
    seq: int
    scope_key: str
    agent_id: str
    workspace: str
    domain: str
    record_kind: str
    durability: str
    status: str
    fingerprint: str
    record_id: str
    valid_from: int | None
    invalid_at: int | None
    created_at: int
    updated_at: int
    search_title: str
    search_text: str
    record: str

    def value(self) -> dict[str, Any]:
        """The record, a new object each time."""
        found: dict[str, Any] = orjson.loads(self.record)
        return found


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a type are wanted; every condition must hold.

    Shape: scope holds the columns that must be equal; tokens must all occur in search_text; order is updated
           (latest first), created, seq or score. Units: active_at_us in microseconds.
    """

    record_type: str
    scope: tuple[tuple[str, str], ...] = ()
    scope_key: str | None = None
    record_kind: str | None = None
    durability: str | None = None
    statuses: tuple[str, ...] = ()
    fingerprint: str | None = None
    record_id: str | None = None
    after_seq: int | None = None
    active_at_us: int | None = None
    tokens: tuple[str, ...] = ()
    order: str = "updated"
    limit: int | None = None

    def matches(self, row: Row) -> bool:
        """Whether a row of the right type is wanted, limit aside."""
        return (
            all(getattr(row, name) == value for name, value in self.scope)
            and (self.scope_key is None or row.scope_key == self.scope_key)
            and (self.record_kind is None or row.record_kind == self.record_kind)
            and (self.durability is None or row.durability == self.durability)
            and (not self.statuses or row.status in self.statuses)
            and (self.fingerprint is None or row.fingerprint == self.fingerprint)
            and (self.record_id is None or row.record_id == self.record_id)
            and (self.after_seq is None or row.seq > self.after_seq)
            and (
                self.active_at_us is None
                or (
                    (row.valid_from is None or row.valid_from <= self.active_at_us)
                    and (row.invalid_at is None or self.active_at_us < row.invalid_at)
                )
            )
            and all(token in row.search_text for token in self.tokens)
        )

    def sort_key(self, row: Row) -> tuple[Any, ...]:
        """What rows are ordered by."""
        if self.order == "updated":
            return -row.updated_at, row.id
        if self.order == "created":
            return row.created_at, row.id
        if self.order == "seq":
            return (row.seq,)
        return -score(self.tokens, row.search_title), -row.updated_at, row.id


def score(tokens: tuple[str, ...], search_title: str) -> int:
    """How well a lesson that holds all tokens answers: one for each, one more for each in the title."""
    return sum(1 + (token in search_title) for token in tokens)


def fold(text: str) -> str:
    """Text as it is searched: without case and accents. NUL, which one database refuses, is left out."""
    if text.isascii():
        return text.casefold().replace("\0", "")
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c))).replace("\0", "")


def tokens_of(query: str) -> tuple[str, ...]:
    """The words of a query as they are searched; each once."""
    return tuple(dict.fromkeys(fold(query).split()))


def scope_of(scope: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """A scope filter as columns and values. Errors: LessonValidationError for what is no scope."""
    if scope is None:
        return ()
    _check_scope(scope, filtering=True)
    return tuple((name, scope[name]) for name in SCOPE_KEYS if scope.get(name) is not None)


def scope_key(scope: Any) -> str:
    """One text for one scope, whatever the order of its keys. Two are equal if their scopes are."""
    if not isinstance(scope, Mapping):
        return ""
    return orjson.dumps({k: v for k, v in scope.items() if v is not None}, option=orjson.OPT_SORT_KEYS).decode()


def fingerprint(action: str, scope: Any, draft: Any, target: str | None = None) -> str:
    """What makes two proposals the same: action, scope, target, and the draft's kind, section and folded words."""
    draft = draft if isinstance(draft, Mapping) else {}
    words = " ".join(fold(str(draft.get("statement") or draft.get("title") or "")).split())
    parts = [action, scope_key(scope), target, draft.get("record_kind") or "lesson", draft.get("section"), words]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


def checked(record_type: str, record: Any) -> dict[str, Any]:
    """A copy of the record, proven to keep the rules of its type. Errors: LessonValidationError."""
    if not isinstance(record, Mapping):
        raise LessonValidationError(f"a {record_type} is an object, not {type(record).__name__}")
    found = dict(record)
    _check_id(found.get("id"))
    if found.get("schema_version", LESSON_SCHEMA_VERSION) != LESSON_SCHEMA_VERSION:
        raise LessonValidationError(
            f"schema_version is {found['schema_version']!r}, known is {LESSON_SCHEMA_VERSION}", hint="update ontoref"
        )
    for name in _TEXTS[record_type]:
        if found.get(name) is not None and not isinstance(found[name], str):
            raise LessonValidationError(f"{name} must be text")
    for name in _LISTS_OF_TEXT.get(record_type, ()):
        value = found.get(name, [])
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise LessonValidationError(f"{name} must be a list of texts")
    for name in _TIMES[record_type]:
        if found.get(name) is not None:
            instant_us(found[name], name)
        elif name == _NEEDED_TIME[record_type]:
            raise LessonValidationError(f"{name} is missing", hint="an ISO 8601 time; stores read no clock")
    if "scope" in found:
        _check_scope(found["scope"])
    _CHECKS[record_type](found)
    return found


def _check_id(value: Any) -> None:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_ID or "\0" in value:
        raise LessonValidationError(f"id must be a text of 1 to {_LONGEST_ID} characters")


def _check_scope(scope: Any, *, filtering: bool = False) -> None:
    if not isinstance(scope, Mapping):
        raise LessonValidationError("scope must be an object", hint='{"agent_id": "main"}')
    for name, value in scope.items():
        if name not in SCOPE_KEYS:
            raise LessonValidationError(f"scope has no {name!r}", hint=f"known: {', '.join(SCOPE_KEYS)}")
        if value is not None and (not isinstance(value, str) or not value or len(value) > _LONGEST_SCOPE):
            raise LessonValidationError(f"scope.{name} must be a text of 1 to {_LONGEST_SCOPE} characters")
        if value is not None and "\0" in value:
            raise LessonValidationError(f"scope.{name} holds a NUL")
    if not filtering and not scope.get("agent_id"):
        raise LessonValidationError("scope.agent_id is missing", hint=f'{{"agent_id": "{DEFAULT_AGENT}"}}')


def _one_of(found: Mapping[str, Any], name: str, known: tuple[str, ...], *, needed: bool = True) -> None:
    value = found.get(name)
    if (value is not None or needed) and value not in known:
        raise LessonValidationError(f"{name} is {value!r}; known: {', '.join(known)}")


def _check_lesson(found: dict[str, Any]) -> None:
    _one_of(found, "record_kind", LESSON_RECORD_KINDS)
    _one_of(found, "durability", LESSON_DURABILITIES)
    if not (found.get("title") or found.get("statement")):
        raise LessonValidationError("a lesson needs a title or a statement")
    for name in (*_COUNTERS, "observation_count", "version"):
        value = found.get(name, 1)
        least = 0 if name in _COUNTERS else 1
        if type(value) is not int or value < least:
            raise LessonValidationError(f"{name} must be a whole number, at least {least}")
    confidence = found.get("confidence")
    if confidence is not None and (
        isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1
    ):
        raise LessonValidationError("confidence must be a number from 0 to 1")
    evidence = found.get("evidence", [])
    if not isinstance(evidence, list | tuple) or not all(isinstance(item, Mapping) for item in evidence):
        raise LessonValidationError("evidence must be a list of objects")
    for name in ("supersedes", "superseded_by"):
        if found.get(name) is not None:
            _check_id(found[name])


def _check_proposal(found: dict[str, Any]) -> None:
    _one_of(found, "action", PROPOSAL_ACTIONS)
    _one_of(found, "status", PROPOSAL_STATUSES)
    if not isinstance(found.get("draft", {}), Mapping):
        raise LessonValidationError("draft must be an object")
    if not isinstance(found.get("decision"), Mapping | None):
        raise LessonValidationError("decision must be an object")


def _check_candidate(found: dict[str, Any]) -> None:
    _one_of(found, "status", CANDIDATE_STATUSES)
    _one_of(found, "outcome", CANDIDATE_OUTCOMES, needed=False)
    if not (found.get("excerpt") or "").strip():
        raise LessonValidationError("a candidate needs an excerpt of the transcript")
    if type(found.get("attempts", 0)) is not int:
        raise LessonValidationError("attempts must be a whole number")


def _check_audit(found: dict[str, Any]) -> None:
    if not found.get("action"):
        raise LessonValidationError("an audit entry needs an action")
    if not isinstance(found.get("details", {}), Mapping):
        raise LessonValidationError("details must be an object")


_CHECKS = {
    "lesson": _check_lesson,
    "proposal": _check_proposal,
    "candidate": _check_candidate,
    "audit": _check_audit,
}


def as_json(record: Mapping[str, Any]) -> str:
    """The record's JSON text. Errors: LessonValidationError for what JSON cannot hold."""
    try:
        return orjson.dumps(record).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise LessonValidationError(f"the record cannot be written as JSON: {error}") from None


def row_of(record_type: str, record: Mapping[str, Any], text: str | None = None) -> Row:
    """The row of a record. text is the record's JSON where it is at hand.

    Errors: LessonValidationError for what JSON cannot hold.
    """
    text = as_json(record) if text is None else text
    get = record.get
    scope = get("scope")
    scope = scope if isinstance(scope, Mapping) else {"agent_id": DEFAULT_AGENT} if record_type == "lesson" else {}
    lesson = record_type == "lesson"
    title = fold(_text(get("title"))) if lesson else ""
    tags = get("tags")
    words = [title, fold(_text(get("statement"))), *map(fold, map(_text, tags if isinstance(tags, list) else ()))]
    created = _moment(get("created_at") or get("at"))
    return Row(
        record_type,
        str(record["id"]),
        seq if isinstance(seq := get("seq"), int) else 0,
        scope_key(scope),
        _text(scope.get("agent_id")),
        _text(scope.get("workspace")),
        _text(scope.get("domain")),
        _text(get("record_kind")) or ("lesson" if lesson else ""),
        _text(get("durability")) or ("durable" if lesson else ""),
        _text(get("status")),
        _text(get("fingerprint")),
        _text(get("record_id")) if record_type == "audit" else "",
        _moment(get("valid_from", get("created_at")), None) if lesson else None,
        _moment(get("invalid_at"), None) if lesson else None,
        created or 0,
        _moment(get("updated_at"), created) or 0,
        title,
        "\n".join(words) if lesson else "",
        text,
    )


def _text(value: Any) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""


def _moment(value: Any, default: int | None = 0) -> int | None:
    """A time as a number; what an older record holds in its place is no reason to lose the record."""
    try:
        return instant_us(value)
    except LessonValidationError:
        return default
