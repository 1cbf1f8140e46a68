#!/usr/bin/env python3
"""A log of any size for measuring, the same bytes for the same options and vocabulary.

    python benchmarks/corpus.py OUT --records N [--seed S] [--flagged R] [--invalid-rate R] [--spaced] [--torn-tail]
                                    [--files N] [--truth FILE]

Words come from the vocabulary of the package. Two records in five have decisions, 0.62 a record, and one decision in
twenty is flagged as deserving an ADR: the proportions of the log on which the goals were set. Most ids of decisions
are met once: one decision in five takes up an earlier one, out of the last thousand, so over several sessions.
Past `DISTINCT` records the bodies come round again under new ids, also of decisions, and times, so that a log of
gigabytes takes seconds to make.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ontoref.identifiers import ulid
from ontoref.vocabulary import Vocabulary, load

__all__ = ["FAULTS", "Corpus", "records", "spoilt", "write"]

T = TypeVar("T")


def _words(text: str) -> list[str]:
    return text.split()


DISTINCT = 40_000
_RECURRING = 0.2
_REMEMBERED = 1000
_BEGIN_MS = 1_767_225_600_000  # 2026-01-01
_TEXT = _words(
    "a the one each every other same next last first still never only before after while where which that "
    "this because so but and or not with without under over between from into against reader writer line byte "
    "block lock index schema word member field record session branch commit merge rebase test case failure "
    "crash retry timeout cache memory disk file folder path name column row table query answer filter order "
    "reason choice cost price limit bound edge middle half whole small large slow fast early late open closed "
    "shared private stable broken found lost kept dropped moved split joined wrote read parsed checked "
    "refused accepted measured tried waited agreed asked"
)
_NAMES = _words(
    "append-only byte-ranges cold-start compiled-form digest-cache direct-append edge-table flat-file git-merge "
    "hash-name json-lines lazy-import line-scan local-first lock-file one-engine oracle-tests pipe-workers raw-bytes "
    "reference-engine salted-digest single-writer sqlite-tier stable-sort start-up thin-edge typed-core union-merge "
    "vocabulary-file write-ahead"
)
_FOLDERS = _words("ontoref/interaction ontoref/vocabulary ontoref/cli ontoref/state tests docs docs/adr schemas")
_STEMS = _words("check log query engine scan bundle load record archive lease report index")
_ENDS = (".py", ".py", ".py", ".md", ".yaml", ".json")
_ODD = (' "', "\n", " → ", " naïve ", " C:\\", " 漢字 ", "\t", " 🙂 ")

# Where the id of a decision ends: only those stand first in an object.
_DECISION_ID = re.compile(rb'\{"id": ?"[^"]*')

Spoiler = Callable[[dict[str, Any], Callable[[Sequence[T]], T]], None]


def _bad_word(record: dict[str, Any], pick: Callable[[Sequence[Any]], Any]) -> None:
    field = pick(("kind", "domain", "outcome", "actor"))
    record[field] = record[field][:-1] + "#"


def _missing(record: dict[str, Any], pick: Callable[[Sequence[Any]], Any]) -> None:
    del record[pick(("summary", "domain", "outcome", "recorded_at"))]


def _wrong_type(record: dict[str, Any], pick: Callable[[Sequence[Any]], Any]) -> None:
    field, value = pick((("summary", 7), ("files_touched", "a.py"), ("events", {}), ("session_id", [])))
    record[field] = value


def _unknown(record: dict[str, Any], pick: Callable[[Sequence[Any]], Any]) -> None:
    record[pick(("sumary", "notes", "file_touched"))] = "not a field"


def _form(record: dict[str, Any], pick: Callable[[Sequence[Any]], Any]) -> None:
    field, change = pick((("id", str.lower), ("recorded_at", lambda at: at.replace("T", " ")), ("revision", str.upper)))
    record[field] = change(record[field]) + "~"


# What one fault does to a record, or, for the last two, to its line.
FAULTS: dict[str, Spoiler[Any] | None] = {
    "enum": _bad_word,
    "required": _missing,
    "type": _wrong_type,
    "unknown-field": _unknown,
    "pattern": _form,
    "torn": None,
    "duplicate-key": None,
}


class Corpus(NamedTuple):
    """What was written. Shape: faults are (1-based line, rule); flagged counts records with an ADR candidate."""

    records: int
    size_bytes: int
    flagged: int
    faults: list[tuple[int, str]]


def records(vocabulary: Vocabulary, seed: int = 1, flagged: float = 0.05) -> Iterator[dict[str, Any]]:
    """Records without end, in the order of time; flagged is the share of decisions that deserve an ADR."""
    draw = random.Random(seed).random
    words = {name: enum.names for name, enum in vocabulary.enums.items()}

    def pick(items: Sequence[T]) -> T:
        return items[int(draw() * len(items))]

    def some(most: int, chance: float) -> range:
        count = 0
        while count < most and draw() < chance:
            count += 1
        return range(count)

    def prose(most: int) -> str:
        wanted = 20 + int(draw() * draw() * most)
        text = ""
        while len(text) < wanted:
            text += pick(_TEXT) + " "
        if draw() < 0.06:
            text += pick(_ODD) + pick(_TEXT)
        return text.strip().capitalize() + "."

    def moment(at_ms: int) -> str:
        return _moment(at_ms)

    def path() -> str:
        return f"{pick(_FOLDERS)}/{pick(_STEMS)}{pick(_ENDS)}"

    def slug() -> str:
        return f"{pick(_NAMES)}-{int(draw() * 90)}" if draw() < 0.4 else pick(_NAMES)

    met: list[str] = []

    def decision_id() -> str:
        if met and draw() < _RECURRING:
            return pick(met)
        name = f"{pick(_NAMES)}-{hexadecimal(8)}"
        if len(met) < _REMEMBERED:
            met.append(name)
        else:
            met[int(draw() * _REMEMBERED)] = name
        return name

    def hexadecimal(digits: int) -> str:
        return "".join(f"{int(draw() * 16):x}" for _ in range(digits))

    now = _BEGIN_MS
    session, actor = "", ""
    while True:
        now += 1000 + int(draw() * 200_000)
        if not session or draw() < 0.2:
            session = f"{hexadecimal(8)}-{hexadecimal(4)}-4{hexadecimal(3)}-a{hexadecimal(3)}-{hexadecimal(12)}"
            actor = pick(words["ActorKind"])
        begun = now - 60_000 - int(draw() * 900_000)
        record: dict[str, Any] = {
            "schema_version": 1,
            "id": ulid(now, int(draw() * (1 << 53)) << 27 | int(draw() * (1 << 27))),
            "session_id": session,
            "recorded_at": moment(now),
            "started_at": moment(begun),
            "ended_at": moment(now - 100),
            "actor": actor,
            "model": f"model-{int(draw() * 9)}",
            "kind": pick(words["Kind"]),
            "domain": pick(words["Domain"]),
        }
        if draw() < 0.5:
            record["category"] = pick(words["Category"])
        record["outcome"] = pick(words["Outcome"])
        record["summary"] = prose(420)
        record["events"] = [
            {"kind": pick(words["EventKind"]), "at": moment(begun + n * 1000), "note": prose(90)}
            for n in (0, *some(6, 0.6))
        ]
        decisions = [
            {
                "id": decision_id(),
                "rationale": prose(320),
                "alternatives_rejected": [slug() for _ in some(3, 0.5)],
                "reversible": draw() < 0.7,
                "adr_candidate": draw() < flagged,
                "tensions_engaged": [pick(words["Tension"]) for _ in some(2, 0.4)],
                "status": pick(words["DecisionStatus"]),
            }
            for _ in some(3, 0.4)
        ]
        if decisions:
            record["decisions"] = decisions
        record["actions"] = [
            {"kind": pick(words["ActionKind"]), "target": path(), "result": pick(words["ActionResult"])}
            for _ in (0, *some(5, 0.5))
        ]
        insights = [
            {"kind": pick(words["InsightKind"]), "subject": slug(), "confidence": pick(words["Confidence"])}
            for _ in some(3, 0.35)
        ]
        if insights:
            record["insights"] = insights
        record["files_touched"] = [path() for _ in some(8, 0.6)]
        record["tensions_engaged"] = [pick(words["Tension"]) for _ in some(3, 0.4)]
        record["revision"] = hexadecimal(40)
        record["vocabulary"] = vocabulary.digest
        record["origin"] = pick(words["RecordOrigin"])
        if draw() < 0.1:
            signature = base64.b64encode(bytes(int(draw() * 256) for _ in range(64))).decode()
            record["witness"] = {
                "op_id": f"op-{hexadecimal(12)}",
                "state_root": hexadecimal(64),
                "signature": signature,
                "key_id": f"key-{int(draw() * 9)}",
                "algorithm": pick(words["SignatureAlgorithm"]),
            }
        yield record


def _moment(at_ms: int) -> str:
    seconds, milli = divmod(at_ms, 1000)
    days, rest = divmod(seconds, 86_400)
    # Days since 1970 to a date of the Gregorian calendar, by eras of 400 years that begin in March.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    date = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += era * 400 + (month <= 2)
    return f"{year:04}-{month:02}-{date:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}.{milli:03}Z"


def write(
    out: Path,
    count: int,
    vocabulary: Vocabulary,
    *,
    seed: int = 1,
    flagged: float = 0.05,
    invalid_rate: float = 0.0,
    spaced: bool = False,
    torn_tail: bool = False,
    files: int = 1,
) -> Corpus:
    """A log of count records in out, or in a tree of several files below it."""
    chance = random.Random(f"faults {seed}").random
    separators = (", ", ": ") if spaced else (",", ":")
    encode = json.JSONEncoder(ensure_ascii=False, separators=separators).encode
    source = records(vocabulary, seed, flagged)
    size = flags = 0
    faults: list[tuple[int, str]] = []
    bodies: list[tuple[bytes, bytes, list[bytes], bool]] = []
    per_file = -(-count // files)
    for number in range(files):
        target = out if files == 1 else out / f"2026/{number % 12 + 1:02}/session-{number}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as file:
            for place in range(number * per_file, min(count, (number + 1) * per_file)):
                if place < DISTINCT:
                    record = next(source)
                    deserving = any(decision["adr_candidate"] for decision in record.get("decisions", ()))
                    line = encode(record).encode()
                    identity, at = record["id"].encode(), record["recorded_at"].encode()
                    before, _, rest = line.partition(identity)
                    between, _, after = rest.partition(at)
                    if count > DISTINCT:
                        bodies.append((before, between, _cut(after), deserving))
                else:
                    before, between, after, deserving = bodies[place % DISTINCT]
                    now = _BEGIN_MS + place * 100_000
                    rest = (b"-%d" % (place // DISTINCT)).join(after)
                    line = b"".join((before, ulid(now, place).encode(), between, _moment(now).encode(), rest))
                flags += deserving
                if invalid_rate and chance() < invalid_rate:
                    fault = tuple(FAULTS)[int(chance() * len(FAULTS))]
                    faults.append((place + 1, fault))
                    line = spoilt(line, fault, chance, encode)
                if torn_tail and place == count - 1:
                    line = line[: len(line) // 2]
                else:
                    line += b"\n"
                size += file.write(line)
    return Corpus(count, size, flags, faults)


def _cut(text: bytes) -> list[bytes]:
    """The text in pieces, cut where the id of a decision ends."""
    places = [0, *(found.end() for found in _DECISION_ID.finditer(text)), len(text)]
    return [text[start:stop] for start, stop in pairwise(places)]


def spoilt(line: bytes, fault: str, chance: Callable[[], float], encode: Callable[[Any], str] = json.dumps) -> bytes:
    """The line with one of FAULTS; chance draws below 1."""
    if fault == "torn":
        return line[: 1 + int(chance() * (len(line) - 2))]
    if fault == "duplicate-key":
        return line[:-1] + b"," + line[1:].partition(b",")[0] + b"}"
    record = json.loads(line)
    spoil = FAULTS[fault]
    assert spoil is not None
    spoil(record, lambda items: items[int(chance() * len(items))])
    return encode(record).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flagged", type=float, default=0.05, help="share of decisions that deserve an ADR")
    parser.add_argument("--invalid-rate", type=float, default=0.0, help="share of lines with one fault each")
    parser.add_argument("--spaced", action="store_true", help='write ", " and ": " between things')
    parser.add_argument("--torn-tail", action="store_true", help="cut the last line in half")
    parser.add_argument("--files", type=int, default=1, help="spread over so many files below OUT")
    parser.add_argument("--truth", type=Path, help="write which lines are spoilt, and how")
    given = parser.parse_args()
    made = write(
        given.out,
        given.records,
        load(),
        seed=given.seed,
        flagged=given.flagged,
        invalid_rate=given.invalid_rate,
        spaced=given.spaced,
        torn_tail=given.torn_tail,
        files=given.files,
    )
    if given.truth:
        given.truth.write_text("".join(json.dumps({"line": n, "rule": rule}) + os.linesep for n, rule in made.faults))
    print(f"{made.records} records, {made.size_bytes} bytes, {made.flagged} flagged, {len(made.faults)} spoilt")


if __name__ == "__main__":
    main()
