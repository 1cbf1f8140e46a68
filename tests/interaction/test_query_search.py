"""The byte search is sound: it answers as decoding every line does, however the lines are written."""

from __future__ import annotations

import io
import json
import marshal
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontoref.interaction.blocks import Stretch, blocks
from ontoref.interaction.combine import Combiner, Tally, condensed, once, tallied, told
from ontoref.interaction.filters import conditions_of
from ontoref.interaction.query import Answer, answer
from ontoref.interaction.question import Question
from ontoref.interaction.rows import ROWS
from ontoref.interaction.search import Needle, Search, Text
from ontoref.interaction.spill import Spill, merge, read_batches, write_batches
from ontoref.vocabulary import Vocabulary, load


@pytest.fixture(scope="session")
def words() -> Vocabulary:
    return load()


IDS = [f"01JE4Q8ZT3W6M1K9V2C5N7X0R{c}" for c in "ABCDEFGH"]
SLUGS = [
    "jsonl-store",
    "one-parser",
    "kind",
    "true",
    "fast.path-2",
    "0-zero",
    "71234567890123456789012345",
    "é1234567890123456789012345",
]
PATHS = ["ontoref/a.py", "ontoref/vocabulary/load.py", "docs/é.md", 'odd"name']
PROSE = ['"adr_candidate":true', "Fix", 'said "kind":"Fix" \\ and {"a":1}', "", "\n", "supersedes", "\\u0041"]
TENSIONS = ["speed-vs-safety", "build-vs-adopt"]


def member(words: Vocabulary, enum: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words.enum(enum).names[:3])


def record_of(words: Vocabulary) -> st.SearchStrategy[dict[str, Any]]:
    decision = st.fixed_dictionaries(
        {"id": st.sampled_from(SLUGS), "reversible": st.booleans(), "adr_candidate": st.booleans()},
        optional={
            "rationale": st.sampled_from(PROSE),
            "alternatives_rejected": st.lists(st.sampled_from(SLUGS), max_size=2),
            "tensions_engaged": st.lists(st.sampled_from(TENSIONS), max_size=2),
            "status": member(words, "DecisionStatus"),
            "adr": st.just("ADR-0007"),
            "supersedes": st.just(["jsonl-store"]),
        },
    )
    insight = st.fixed_dictionaries({"kind": member(words, "InsightKind"), "subject": st.sampled_from(PATHS)})
    return st.fixed_dictionaries(
        {
            "id": st.sampled_from(IDS),
            "session_id": st.sampled_from(["s-1", "s-2", "s/3"]),
            "recorded_at": st.sampled_from(
                ["2026-11-01T10:00:00Z", "2026-11-01T10:00:00.5Z", "2026-12-01T00:00:00Z", "broken"]
            ),
            "actor": member(words, "ActorKind"),
            "kind": member(words, "Kind"),
            "domain": member(words, "Domain"),
            "outcome": member(words, "Outcome"),
            "summary": st.sampled_from(PROSE),
        },
        optional={
            "events": st.lists(
                st.fixed_dictionaries({"kind": member(words, "EventKind")}, optional={"note": st.sampled_from(PROSE)}),
                max_size=2,
            ),
            "decisions": st.lists(decision, max_size=2),
            "insights": st.lists(insight, max_size=2),
            "files_touched": st.lists(st.sampled_from(PATHS), max_size=2),
            "tensions_engaged": st.lists(st.sampled_from(TENSIONS), max_size=2),
            "supersedes": st.lists(st.sampled_from(IDS), max_size=1),
        },
    )


def written(value: Any, dice: random.Random) -> str:
    """The value as JSON text in a spelling that the dice choose: white space, escapes, order, repeated keys."""
    if isinstance(value, dict):
        items = list(value.items())
        if dice.random() < 0.3:
            dice.shuffle(items)
        if items and dice.random() < 0.2:
            key, _ = dice.choice(items)
            items.insert(0, (key, dice.choice([True, False, "Fix", [], ["x"], "jsonl-store"])))
        return (
            "{"
            + ",".join(
                f"{gap(dice)}{word(k, dice)}{gap(dice)}:{gap(dice)}{written(v, dice)}{gap(dice)}" for k, v in items
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(f"{gap(dice)}{written(item, dice)}{gap(dice)}" for item in value) + gap(dice) + "]"
    if isinstance(value, str):
        return word(value, dice)
    return json.dumps(value)


def gap(dice: random.Random) -> str:
    return dice.choice(["", "", "", " ", "\t", "\r", "  "])


def word(text: str, dice: random.Random) -> str:
    plain = json.dumps(text, ensure_ascii=dice.random() < 0.5)[1:-1]
    if dice.random() < 0.6:
        return f'"{plain}"'
    if dice.random() < 0.5:
        return '"' + plain.replace("/", "\\/") + '"'
    digits = dice.choice(["04x", "04X"])
    return '"' + "".join(f"\\u{ord(c):{digits}}" if dice.random() < 0.3 else json.dumps(c)[1:-1] for c in text) + '"'


@pytest.fixture(params=["stringzilla", "alone"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search with the library that makes it fast, and with the standard library alone."""
    if request.param == "alone":
        monkeypatch.setattr("ontoref.interaction.search.Str", None)
    else:
        pytest.importorskip("stringzilla")


QUESTIONS: list[Callable[[Vocabulary], Question]] = []


def asks(row: str, *where: str, history: bool = False, standing: bool = False, **more: Any) -> None:
    def build(words: Vocabulary) -> Question:
        conditions = conditions_of(ROWS[row], words, where=where, **more)
        return Question(ROWS[row], conditions=conditions, history=history, standing=standing)

    QUESTIONS.append(build)


asks("records")
asks("records", "kind=Feature")
asks("records", "kind!=Feature")
asks("records", "kind=Feature,Fix", "domain=Architecture")
asks("records", "decisions.reversible=false")
asks("records", "insights.subject=docs/é.md")
asks("records", "insights.subject=ontoref/a.py", history=True)
asks("records", 'insights.subject=odd"name')
asks("records", "session_id=s/3")
asks("records", files=["ontoref/**"])
asks("records", tensions=["speed-vs-safety"])
asks("decisions")
asks("decisions", "adr_candidate=true")
asks("decisions", "adr_candidate=true", standing=True)
asks("decisions", "adr_candidate=true", history=True)
asks("decisions", "id=kind,true")
asks("decisions", "alternatives_rejected=fast.path-2", "domain=Architecture,Schema")
asks("events", "kind=Request")
asks("insights", "kind=Pattern", "record.kind=Fix")
asks("files")
asks("files", files=["**/*.py"])
asks("tensions")
asks("tensions", tensions=["build-vs-adopt"], options={"actor": ["Human"]})


def contents(found: Answer) -> tuple[list[Any], int, int]:
    return [orjson.loads(row) for row in found.rows], found.found, found.records


@pytest.mark.usefixtures("engine")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_the_search_and_decoding_every_line_give_the_same_answer(
    data: st.DataObject, seed: int, words: Vocabulary, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = data.draw(st.lists(record_of(words), min_size=1, max_size=8))
    dice = random.Random(seed)
    lines = [written(record, dice) for record in records]
    if dice.random() < 0.3:
        lines.insert(dice.randrange(len(lines)), dice.choice(["", "[1]", lines[0][:-3], "nonsense"]))
    path = tmp_path_factory.mktemp("log", numbered=True) / "log.jsonl"
    path.write_bytes("\n".join(lines).encode() + dice.choice([b"", b"\n"]))
    for build in QUESTIONS:
        question = build(words)
        fast = answer(question, [str(path)], words, jobs=1)
        slow = answer(question, [str(path)], words, jobs=1, everything=True)
        assert contents(fast) == contents(slow), question


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("most", [1, 100_000])
def test_the_answer_is_the_same_whatever_the_number_of_processes(
    words: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Also where more decisions are meant than are worth noting."""
    monkeypatch.setattr("ontoref.interaction.ask._MOST_MATCHES", most)
    monkeypatch.setattr("ontoref.interaction.blocks._LEAST_SHARE_BYTES", 1 << 12)
    dice = random.Random(7)
    paths = []
    for number in range(3):
        path = tmp_path / f"{number}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for index in range(200):
                record = {
                    "id": f"r{dice.randrange(10**6)}",
                    "session_id": f"s-{index % 7}",
                    "recorded_at": f"2026-11-{dice.randrange(1, 28):02}T00:00:00Z",
                    "kind": dice.choice(["Fix", "Feature"]),
                    **({"supersedes": [f"r{dice.randrange(10**6)}"]} if index % 50 == 0 else {}),
                    "decisions": [
                        {"id": f"d-{dice.randrange(30)}", "reversible": True, "adr_candidate": dice.random() < 0.1}
                    ],
                    "files_touched": [f"f{dice.randrange(9)}.py"],
                }
                file.write(json.dumps(record) + "\n")
            file.write("{torn\n")
        paths.append(str(path))
    for build in QUESTIONS:
        question = build(words)
        one = answer(question, paths, words, jobs=1)
        rows, skipped = contents(one), one.skipped
        assert len(skipped) == 3
        assert contents(answer(question, paths, words, jobs=1, everything=True)) == rows
        for jobs in (2, 3):
            many = answer(question, paths, words, jobs=jobs)
            assert contents(many) == rows
            assert many.skipped == skipped


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "line",
    [
        b'{"adr_candidate":true}',
        b'{"adr_candidate" \t:\r true}',
        b'{"\\u0061dr_candidate":true}',
        b'{"adr\\u005fcandidate":true}',
        b'{"adr\\u005Fcandidate":true}',
        b'{"decisions":[{"adr_candidate":false,"adr_candidate":true}]}',
        b'{"s":"' + b"\\n" * 2000 + b'\\u0061","x":"\\u0061","adr_candidat\\u0065":true}',
    ],
)
def test_a_line_is_found_however_it_spells_the_key(line: bytes) -> None:
    needle = Needle.of_values("adr_candidate", [True], in_array=False)
    assert needle is not None
    block = b'{"a":1}\n' + line + b'\n{"adr_candidate":false}\n'
    found = [block[start:stop] for start, stop in Search([needle]).lines(Text(block, len(block)))]
    assert found == [line]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("block", "odd"),
    [
        (b'{"a":1}\n\n{"b":\n[1]\n {"c":1}\r\n{}\n', [b"", b'{"b":', b"[1]", b' {"c":1}\r']),
        (b'{"v":1,"id":"0A"}\n{"v":1,"id":"0B"}\n', []),
        (b'{"v":1,"id":"0A"}\n{"v":2,"id":"0B"}\n[{"v":1,"id":"0C"}\n{"v":1,"id":"0D"}\n', [b'[{"v":1,"id":"0C"}']),
    ],
)
def test_lines_are_counted_and_those_named_that_are_no_whole_object(block: bytes, odd: list[bytes]) -> None:
    text = Text(block, len(block))
    assert text.lines == block.count(b"\n")
    assert [block[start:stop] for start, stop in text.odd()] == odd


@pytest.mark.parametrize("most_runs", [2, 3, 32])
def test_more_rows_than_memory_may_hold_come_back_in_order(most_runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ontoref.interaction.spill._MOST_RUNS", most_runs)
    spill = Spill(budget_bytes=2000)
    keys = [b"%05d" % (number * 7919 % 1000) for number in range(1000)]
    for key in keys:
        spill.add((key, b"row " + key))
    assert [key for key, _ in spill] == sorted(keys)
    few = Spill(limit=5, reverse=True, budget_bytes=2000)
    for key in keys:
        few.add((key, b""))
    assert [key for key, _ in few] == sorted(keys, reverse=True)[:5]
    assert few.count == 1000


@pytest.mark.parametrize("cut", [0, 3, 8, 20])
def test_what_a_worker_did_not_write_whole_is_left_out(cut: int) -> None:
    file = io.BytesIO()
    write_batches(file, range(300))
    assert list(read_batches(io.BytesIO(file.getvalue()))) == list(range(300))
    first = len(marshal.dumps(list(range(16)))) + 8
    torn = io.BytesIO(file.getvalue()[: first + cut])
    assert list(read_batches(torn)) == list(range(16))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("runs", [[], [[]], [[1, 4], []], [[], [2]], [[1, 3, 5, 6], [2, 4]], [[3], [1, 2, 9], [5]]])
def test_sorted_runs_become_one(runs: list[list[int]], reverse: bool) -> None:
    entries = [sorted(((b"%d" % n, b"") for n in run), reverse=reverse) for run in runs]
    assert list(merge(list(map(iter, entries)), reverse=reverse)) == sorted(
        (entry for run in entries for entry in run), reverse=reverse
    )


def test_blocks_hold_every_line_once_and_pass_over_one_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontoref.interaction.blocks._BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr("ontoref.interaction.blocks.LONGEST_LINE_BYTES", 1 << 12)
    lines = [b"%d:" % number + b"x" * (number * 37 % 900) for number in range(300)]
    lines[150] = b"y" * 20_000
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(lines))
    found, too_long = [], 0
    for block in blocks(Stretch(0, str(path), 0, path.stat().st_size)):
        too_long += block.too_long
        found += block.lines()
    assert too_long == 1
    assert found == lines[:150] + lines[151:]


def test_a_size_taken_within_a_write_cuts_no_line(tmp_path: Path) -> None:
    """S4-22: what was looked at while a line was written is read to that line's end, and no further."""
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\nthree\n")
    for size in (5, 7, 8):
        found = [line for block in blocks(Stretch(0, str(path), 0, size)) for line in block.lines()]
        assert found == [b"one", b"two"]


@pytest.mark.skipif(sys.platform == "win32", reason="a reader cannot tell there who holds the lock")
def test_a_line_that_a_writer_is_at_is_waited_for(tmp_path: Path) -> None:
    import fcntl
    import threading

    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")
    with path.open("ab", buffering=0) as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)

        def finish() -> None:
            writer.write(b"o\nthree\n")
            fcntl.flock(writer, fcntl.LOCK_UN)

        later = threading.Timer(0.05, finish)
        later.start()
        found = [line for block in blocks(Stretch(0, str(path), 0, 6)) for line in block.lines()]
        later.join()
    assert found == [b"one", b"two"]


def test_a_torn_line_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ontoref.interaction.blocks._PAUSE_S", 1000)
    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")
    assert [line for block in blocks(Stretch(0, str(path), 0, 6)) for line in block.lines()] == [b"one", b"tw"]


@pytest.mark.parametrize("session", ["s-1", 'a "b" \\', "é\n", None, 7, ["s"]])
def test_the_tally_of_one_entry_is_written_as_any_tally_is(session: Any) -> None:
    text = orjson.dumps(session)
    assert once(text) == tallied(Tally(True, 1, 0, [text.decode()], []), b"")


@pytest.mark.parametrize("held", [2, 1000])
@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_entries_of_a_name_are_combined_the_same_however_few_are_held(
    most: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ontoref.interaction.combine._MOST_HELD", held)
    spill = Spill()
    combiner = Combiner[int](spill, str.encode, lambda last: str(last).encode(), most)
    for number in range(60):
        order = b"\0%02d" % (number * 7 % 60)
        combiner.add("ab"[number % 2], order, number, f"s-{number % 5}", "Human", meant=number == 3, decisions=1)
    combiner.flush()
    found = {key[:1]: told(content) for key, content in condensed(spill)}
    sessions = [f"s-{number}" for number in range(5)]
    assert {name: (tally._replace(sessions=sorted(tally.sessions)), last) for name, (tally, last) in found.items()} == {
        b"a": (Tally(False, 30, 30, sessions, ["Human"]), b"34"),
        b"b": (Tally(True, 30, 30, sessions, ["Human"]), b"17"),
    }
