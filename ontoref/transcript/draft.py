"""A session as an InteractionRecord: what can be known of it without judging."""

from __future__ import annotations

import hashlib
import json
import ntpath
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ontoref.globs import glob_pattern
from ontoref.identifiers import ulid
from ontoref.text import counted
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.observed import Call, Observed, observe
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.tooling import Tooling

__all__ = ["Draft", "Words", "draft", "relative", "timestamp"]

_LABEL_LENGTH = 120
_NOT_IN_A_LABEL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_PART = re.compile("[^\x00-\x1f\x7f/\\\\]*[^\x00-\x1f\x7f/\\\\. ]")
_LONGEST_PROMPT = 4000


@dataclass(frozen=True, slots=True)
class Words:
    """The words that a draft is written in: three tables of `schemas/tables/` and two marks of the vocabulary.

    Shape: origin is the member that plays `drafted`; vocabulary the digest of the vocabulary in force.
    """

    tools: Tooling
    actors: Mapping[str, Any]
    drafting: Mapping[str, Any]
    origin: str
    vocabulary: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted record and how the session ended (a key of `outcomes` in drafting.yaml)."""

    record: dict[str, Any]
    ended: str


def draft(
    events: Iterable[ReplayEvent],
    report: Report,
    words: Words,
    *,
    recorded_at: str,
    top_of: Callable[[str], str | None] = lambda cwd: cwd,
    given: Mapping[str, Any] | None = None,
    own_of: Callable[[str], Sequence[Mapping[str, Any]]] = lambda session_id: (),
    parent_record: str | None = None,
    redact: Callable[[str], str] | None = None,
    clean: Callable[[dict[str, Any]], dict[str, Any]] = lambda record: record,
) -> Draft:
    """The InteractionRecord of a session; it holds no text of the session unless redact is given.

    Shape:  events are consumed, then report is complete. top_of gives the folder that paths are relative to,
            from the session's cwd; given overrides fields (kind, domain, outcome …); own_of gives the records
            that the session itself wrote, by its id: their decisions and insights are taken over; redact
            allows the first prompt into the summary and replaces its secrets; clean has the last word.
    Units:  the record's id depends on the session and on what is drafted of it, never on the clock.
    Source: schemas/interaction.yaml, schemas/tables/drafting.yaml.
    """
    seen = observe(events)
    info = report.session
    own = own_of(session_id(info))
    top = top_of(info.cwd) if info.cwd else None
    files = _touched(seen, top)
    actions = _actions(seen, words, top)
    ended = _ending(seen, bool(files), words)
    record: dict[str, Any] = {
        "schema_version": 1,
        "session_id": session_id(info),
        "recorded_at": recorded_at,
        "started_at": timestamp(info.started),
        "ended_at": timestamp(info.ended),
        "actor": words.actors["actors"].get(info.runtime, words.actors["other"]),
        "model": label(seen.model or info.model),
        "kind": _kind(words, files, actions),
        "domain": _domain(words, files),
        "outcome": words.drafting["outcomes"][ended],
        "summary": _summary(seen, info, len(files), redact),
        "events": _events(seen, words),
        "decisions": _taken_over(own, "decisions", "id"),
        "actions": actions,
        "insights": _taken_over(own, "insights", "subject"),
        "files_touched": files,
        "parent_record": parent_record,
        "vocabulary": words.vocabulary,
        "origin": words.origin,
    }
    record |= given or {}
    kept = clean({key: value for key, value in record.items() if value not in (None, [], "")})
    return Draft({"schema_version": 1, "id": _id(info, kept)} | kept, ended)


def session_id(info: SessionInfo) -> str:
    """The session's id as a record can hold it: printable ASCII, at most 200 characters."""
    plain = re.sub("[^!-~]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "replace")), info.session_id)
    if len(plain) <= 200:
        return plain
    return plain[:183] + "~" + hashlib.sha256(plain.encode()).hexdigest()[:16]


def timestamp(seconds: float | None) -> str | None:
    """RFC 3339 in UTC with milliseconds; None for no time and for one outside the years 1000 to 2999."""
    if not seconds or seconds < 0:
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    if not 1000 <= moment.year < 3000:
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def label(text: str | None) -> str | None:
    """The text as one line of at most 120 characters, None if nothing is left of it."""
    plain = _NOT_IN_A_LABEL.sub(" ", text or "").strip()
    return (plain if len(plain) <= _LABEL_LENGTH else plain[: _LABEL_LENGTH - 1] + "…") or None


def relative(path: str, top: str | None) -> str | None:
    r"""A path as the repository knows it: below top, with slashes; None if it lies elsewhere or has no such form.

    Shape: Windows paths (`C:\…`, `C:/…`) are compared without regard to case; a relative path is taken from top.
    """
    windows = top is not None and (ntpath.splitdrive(top)[0] != "")
    if windows and top is not None:
        place = ntpath.normpath(ntpath.join(top, path))
        base = ntpath.normpath(top).rstrip("\\") + "\\"
        if not place.lower().startswith(base.lower()):
            return None
        rest = place[len(base) :].replace("\\", "/")
    elif top is not None:
        if ntpath.splitdrive(path)[0]:
            return None
        base = posixpath.normpath(top).rstrip("/") + "/"
        # A masked or damaged cwd may be relative itself; then so are the paths below it.
        place = posixpath.normpath(path if path.startswith(base) else posixpath.join(top, path))
        if not place.startswith(base):
            return None
        rest = place[len(base) :]
    elif path.startswith(("/", "~", "\\")) or ntpath.splitdrive(path)[0]:
        return None
    else:
        rest = posixpath.normpath(path.replace("\\", "/"))
    sound = all(_PART.fullmatch(part) for part in rest.split("/"))
    return rest if sound and len(rest) <= 4096 and _encodes(rest) else None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _touched(seen: Observed, top: str | None) -> list[str]:
    found: dict[str, None] = {}
    for file in seen.changed_files():
        path = file.get("path")
        place = relative(path, top) if isinstance(path, str) else None
        if place is not None:
            found[place] = None
    return sorted(found)


def _actions(seen: Observed, words: Words, top: str | None) -> list[dict[str, Any]]:
    """What was done, each kind, target and result once, in the order of the first time."""
    found: dict[tuple[str, str, str], None] = {}
    for call in seen.calls:
        result = words.drafting["results"][call.ended]
        for kind, target in _acts(call, words, top):
            found[kind, target, result] = None
    return [{"kind": kind, "target": target, "result": result} for kind, target, result in found]


def _acts(call: Call, words: Words, top: str | None) -> Iterable[tuple[str, str]]:
    tool = label(call.name) or "unknown"
    if call.files:
        for file in call.files:
            kind = words.tools.changes.get(str(file.get("op")))
            path = file.get("path")
            # A renamed file is told by its old name; the new one is the other half of the same act.
            if kind is not None and isinstance(path, str) and "from" not in file:
                yield kind, _target(path, top) or tool
        return
    kind = words.tools.kind(call.name, call.given)
    if kind is not None:
        path = words.tools.path(call.given)
        yield kind, (_target(path, top) if path else None) or tool


def _target(path: str, top: str | None) -> str | None:
    """A path as an action's target. One outside the repository would tell of the machine, so it is none."""
    place = relative(path, top)
    return place if place is not None and len(place) <= _LABEL_LENGTH and label(place) == place else None


def _events(seen: Observed, words: Words) -> list[dict[str, Any]]:
    kinds = words.drafting["events"]
    return [
        {"kind": kinds[moment.signal]} | ({"at": at} if (at := timestamp(moment.ts)) else {})
        for moment in seen.moments
        if moment.signal in kinds
    ]


def _ending(seen: Observed, changed: bool, words: Words) -> str:
    """How it ended, in the form that says whether files had been changed, where the table has one."""
    ended = f"{seen.ended}-changed" if changed else f"{seen.ended}-unchanged"
    return ended if ended in words.drafting["outcomes"] else seen.ended


def _kind(words: Words, files: list[str], actions: list[dict[str, Any]]) -> str:
    done = {action["kind"] for action in actions}
    for rule in words.drafting["kinds"]:
        patterns = rule.get("files")
        if patterns and files and all(_matches(file, patterns) for file in files):
            return str(rule["kind"])
        if rule.get("action") in done or rule.get("always"):
            return str(rule["kind"])
    raise AssertionError("the last rule of kinds holds always")


def _domain(words: Words, files: list[str]) -> str:
    votes: dict[str, int] = {}
    for file in files:
        for rule in words.drafting["domains"]:
            if _matches(file, rule["files"]):
                votes[rule["domain"]] = votes.get(rule["domain"], 0) + 1
                break
    # Of equal numbers the first file's wins, since dictionaries keep their order.
    return max(votes, key=lambda name: votes[name]) if votes else str(words.drafting["other_domain"])


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(_pattern(pattern).fullmatch(path) for pattern in patterns)


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    """A glob of the table as an expression; `Dockerfile` and `dockerfile` are the same there."""
    return re.compile(glob_pattern(glob).pattern, re.IGNORECASE | re.DOTALL)


def _taken_over(own: Sequence[Mapping[str, Any]], field: str, key: str) -> list[Any]:
    """What the session itself recorded, the latest of each."""
    found: dict[Any, Any] = {}
    for record in own:
        for item in record.get(field, ()):
            found[item.get(key)] = item
    return list(found.values())


def _summary(seen: Observed, info: SessionInfo, files: int, redact: Callable[[str], str] | None) -> str:
    counts = [
        _counted(seen.prompts, "prompt"),
        _counted(seen.answers, "answer"),
        _counted(len(seen.calls), "tool call") + (f" ({seen.errors} failed)" if seen.errors else ""),
    ]
    if seen.spawns:
        counts.append(_counted(seen.spawns, "delegation"))
    counts.append(_counted(files, "file") + " changed")
    sentence = f"A session of {info.runtime}: {', '.join(counts)}."
    if redact is None or not seen.prompt:
        return sentence
    # Redacted whole, then cut: half a secret at the cut would no longer look like one.
    prompt = redact(seen.prompt)
    if len(prompt) > _LONGEST_PROMPT:
        prompt = prompt[:_LONGEST_PROMPT] + "…"
    return f"{prompt}\n\n{sentence}"


def _counted(number: int, noun: str) -> str:
    return counted(number, noun) if number else f"no {noun}s"


def _id(info: SessionInfo, record: Mapping[str, Any]) -> str:
    """An id that the same session with the same content gets again. The clock and the vocabulary do not count."""
    content = {k: v for k, v in record.items() if k not in ("recorded_at", "vocabulary")}
    digest = hashlib.sha256(f"{info.runtime}:{info.session_id}\n".encode("utf-8", "replace"))
    digest.update(json.dumps(content, sort_keys=True).encode())
    moment = info.ended or info.started or 0
    return ulid(max(0, int(moment * 1000)), int.from_bytes(digest.digest()[:10], "big"))
