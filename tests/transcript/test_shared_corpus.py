"""The counts and facts that are known of the shared corpus of real transcripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from ontoref import vocabulary
from ontoref.transcript import Folder, ReplayEvent, Source, Transcript, read, read_source, validate
from ontoref.transcript.source import lines_of
from ontoref.transcript.stats import count
from tests.conftest import SHARED

pytestmark = pytest.mark.shared
CORPUS = SHARED / "transcripts"
EDGE = CORPUS / "edge"

# The columns of the manifest's table and what we call them.
COLUMNS = {
    "lines": "lines",
    "bad": "bad",
    "user": "user",
    "asst": "assistant",
    "think": "thinking",
    "calls": "calls",
    "results": "results",
    "errors": "errors",
    "deleg.": "delegations",
    "side": "sidechain",
    "compact": "compactions",
    "modes": "modes",
    "files": "files",
    "files ok": "files_ok",
}


def manifest() -> dict[str, dict[str, int]]:
    """The ground truth of MANIFEST.md: {file: {our name: count}}, without the cells that are empty."""
    if not CORPUS.is_dir():
        return {}
    text = (CORPUS / "MANIFEST.md").read_text(encoding="utf-8").partition("## Ground truth counts")[2]
    rows = [[c.strip() for c in line.strip("| \n").split("|")] for line in text.splitlines() if line.startswith("|")]
    head = rows[0][1:]
    found = {}
    for name, *cells in rows[2:]:
        cells += [""] * (len(head) - len(cells))
        found[name] = {COLUMNS[h]: int(c) for h, c in zip(head, cells, strict=True) if c}
    return {name: counts for name, counts in found.items() if counts}


TRUTH = manifest()
OURS = {n: c for n, c in TRUTH.items() if n.startswith(("claude-code/", "codex/", "openclaw/"))}
TRANSCRIPTS = sorted(n for n, c in OURS.items() if "user" in c)


@pytest.mark.parametrize("name", sorted(OURS))
def test_counts_are_the_known_ones(name: str) -> None:
    stats = count(read(CORPUS / name)).as_dict()
    assert {key: stats[key] for key in OURS[name]} == OURS[name]


@pytest.mark.parametrize("name", sorted(n for n in TRUTH if n not in OURS and "user" in TRUTH[n]))
def test_counts_of_the_small_readers_are_the_known_ones(name: str) -> None:
    stats = count(read(CORPUS / name)).as_dict()
    assert {key: stats[key] for key in TRUTH[name]} == TRUTH[name]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_injected_users_are_no_people(name: str) -> None:
    text = (CORPUS / "MANIFEST.md").read_text(encoding="utf-8")
    match = re.search(rf"^- {re.escape(name)}: .*?(\d+) of (\d+) user entries look injected", text, re.MULTILINE)
    if match is None:
        return
    stats = count(read(CORPUS / name)).as_dict()
    assert (stats["user"], stats["human"]) == (int(match[2]), int(match[2]) - int(match[1]))


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_every_event_is_sound_and_every_span_id_stands_once(name: str) -> None:
    events = list(read(CORPUS / name).events)
    schema = Draft202012Validator(vocabulary.load().documents["replay.yaml"])
    for event in events:
        assert validate(event) == []
        schema.validate(orjson.loads(orjson.dumps(event._asdict())))
    ids = [event.span_id for event in events]
    assert len(ids) == len(set(ids))
    assert {event.parent_span_id for event in events} - {None} <= set(ids)


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_reading_again_or_from_stored_lines_gives_the_same_events(name: str) -> None:
    path = CORPUS / name
    first = read(path)
    events = list(first.events)
    stored = [line.rstrip(b"\n") for line in lines_of(str(path))]
    again = read_source(Source(str(path), stored, Folder(str(path.parent))), first.report.runtime)
    assert list(again.events) == events


def edge(name: str) -> tuple[list[ReplayEvent], Any, dict[str, Any]]:
    """Events, report and counts of an edge case."""
    transcript = read(EDGE / name)
    events = list(transcript.events)
    stats = count(Transcript(iter(events), transcript.report)).as_dict()
    return events, transcript.report, stats


def texts(events: list[ReplayEvent]) -> list[str]:
    return [event.payload["text"] for event in events if "text" in event.payload]


def places(found: Any) -> list[int]:
    return [place.line_number for place in found.kept]


def test_02_a_line_of_nuls() -> None:
    events, report, stats = edge("02-null-line/mid-null.jsonl")
    assert (report.lines, places(report.bad), stats["user"], stats["assistant"]) == (5, [3], 2, 2)
    assert {"after", "two"} <= set(texts(events))


def test_04_a_broken_header() -> None:
    before = (EDGE / "04-broken-header/broken-header.jsonl").read_bytes()
    events, report, _ = edge("04-broken-header/broken-header.jsonl")
    assert (report.lines, places(report.bad), texts(events)) == (3, [1], ["keep me", "kept"])
    assert report.session.session_id == "broken-header"
    assert (EDGE / "04-broken-header/broken-header.jsonl").read_bytes() == before


def test_04_no_header() -> None:
    events, report, _ = edge("04-broken-header/no-header.jsonl")
    assert (report.runtime, report.bad.count, texts(events)) == ("openclaw", 0, ["keep me", "kept"])
    assert places(report.notes) == [1]


def test_05_a_cut_line_and_a_blank_one() -> None:
    _, report, stats = edge("05-malformed-middle/middle.jsonl")
    assert (report.lines, report.bad.count, report.blank, stats["user"], stats["assistant"]) == (6, 1, 1, 2, 2)


def test_07_separators_of_unicode_end_no_line() -> None:
    events, report, _ = edge("07-unicode-separators/u2028.jsonl")
    assert (report.lines, report.bad.count) == (2, 0)
    assert {event.payload["line"] for event in events} == {1, 2}
    assert all(mark in "".join(texts(events)) for mark in "\u2028\u2029\x85")


def test_08_a_half_written_tail_is_pending() -> None:
    events, report, _ = edge("08-partial-last-line/moment-1.jsonl")
    assert (report.bad.count, len({e.payload["line"] for e in events})) == (0, 2)
    assert report.pending


def test_08_a_growing_file_gives_each_record_once() -> None:
    first, second = ((EDGE / f"08-partial-last-line/moment-{n}.jsonl").read_bytes() for n in (1, 2))
    assert second.startswith(first)
    seen = first[: first.rfind(b"\n") + 1]
    lines = [*seen.splitlines(keepends=True), None, *second[len(seen) :].splitlines(keepends=True)]
    transcript = read_source(Source("moment.jsonl", lines, open=True), "claude-code")
    events = list(transcript.events)
    assert sorted({e.payload["line"] for e in events}) == [1, 2, 3, 4]
    assert "tu1" in {e.payload.get("tool_use_id") for e in events if e.kind == "tool.result"}
    assert len({e.span_id for e in events}) == len(events)


def test_08_a_whole_last_record_without_a_line_end() -> None:
    events, report, _ = edge("08-partial-last-line/complete-without-newline.jsonl")
    assert (len({e.payload["line"] for e in events}), report.bad.count, report.pending) == (4, 0, None)


def test_09_patches_of_four_kinds() -> None:
    events, _, stats = edge("09-codex-custom-tool/custom.jsonl")
    assert (stats["calls"], stats["results"], stats["errors"]) == (3, 3, 1)
    named = {(f["op"], f["name"]) for e in events for f in e.payload.get("files", ())}
    assert named == {
        ("add", "src/new.py"),
        ("move", "docs/a b.md"),
        ("add", "docs/c d.md"),
        ("delete", "old.txt"),
        ("update", "src/wrapped.py"),
        ("update", "src/viashell.py"),
    }
    assert stats["files"] - stats["files_ok"] == 1


def test_11_a_message_over_several_lines_counts_its_tokens_once() -> None:
    events, _, stats = edge("11-split-message/split.jsonl")
    assert {k: stats[k] for k in ("assistant", "thinking", "calls", "results")} == {
        "assistant": 2,
        "thinking": 1,
        "calls": 2,
        "results": 2,
    }
    mine = [e.payload for e in events if e.payload.get("message_id") == "msg_1"]
    counted = [p["tokens"] for p in mine if "tokens" in p]
    assert len(counted) == 1
    assert (counted[0]["input"], counted[0]["output"]) == (10, 120)
    assert "tokens" in mine[-1]


def test_13_sub_agents_with_equal_prompts() -> None:
    name = "00000000-aaaa-4bbb-8ccc-000000000001"
    events, report, stats = edge(f"13-subagent-files/{name}.jsonl")
    assert (stats["delegations"], stats["human"], stats["calls"]) == (2, 1, 2)
    spawned = {e.payload["tool_use_id"]: e.payload["child_session_id"] for e in events if e.kind == "agent.spawn"}
    assert spawned == {"tk1": f"{name}:agent-ag01", "tk2": f"{name}:agent-ag02"}
    assert {c.tool_use_id: c.session_id for c in report.session.children} == spawned
    for agent, calls in (("ag01", 1), ("ag02", 0)):
        _, child, counts = edge(f"13-subagent-files/{name}/subagents/agent-{agent}.jsonl")
        assert (counts["calls"], counts["human"]) == (calls, 0)
        assert (child.session.session_id, child.session.parent_session_id) == (f"{name}:agent-{agent}", name)


def test_16_messages_without_a_role() -> None:
    events, report, stats = edge("16-null-role/null-role.jsonl")
    assert (report.lines, report.bad.count, places(report.unknown)) == (6, 0, [3, 4, 5])
    assert (stats["user"], stats["assistant"], texts(events)[-1]) == (1, 1, "plain string content")
    assert report.notes.count == 0


def test_17_a_byte_order_mark_and_windows_lines() -> None:
    events, report, _ = edge("17-bom-crlf/bom-crlf.jsonl")
    assert (report.lines, report.bad.count, report.session.session_id) == (4, 0, "c17")
    assert report.session.cwd == "C:\\Users\\user\\proj"
    assert [f["path"] for e in events for f in e.payload.get("files", ())] == ["C:\\Users\\user\\proj\\src\\A.cs"]
    assert texts(events) == ["hi\r\nthere"]


def test_21_a_paginated_history() -> None:
    events, report, stats = edge("21-codex-paginated/paginated.jsonl")
    assert (report.lines, report.bad.count, report.unknown.count) == (9, 0, 2)
    assert (stats["user"], stats["assistant"], texts(events)) == (1, 1, ["please fix", "fixed"])


def test_each_edge_folder_has_its_test() -> None:
    numbers = {path.name[:2] for path in EDGE.iterdir() if path.is_dir()}
    tested = {match[1] for match in map(re.compile(r"test_(\d\d)_").match, globals()) if match}
    assert numbers == tested


def test_no_path_of_the_corpus_is_missing_from_the_table() -> None:
    assert all(Path(CORPUS / name).is_file() for name in TRUTH)
