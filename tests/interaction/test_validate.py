"""A log as a whole, and the command over it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ontoref.interaction import blocks
from ontoref.interaction import validate as module
from ontoref.interaction.check import Checker
from ontoref.interaction.finding import Finding
from ontoref.interaction.rules import RULES
from ontoref.interaction.validate import Input, Summary, validate
from ontoref.vocabulary import load
from tests.conftest import App
from tests.interaction.logs import encode, identity, put, record

CHECKER = Checker(load(), often=True)


def inputs(*paths: Path) -> list[Input]:
    return [Input(path.name, str(path)) for path in paths]


def judge(*paths: Path, **options: Any) -> list[tuple[str, str, int]]:
    return [(f.rule, f.path, f.line) for f in validate(inputs(*paths), CHECKER, **options)]


# Lines as a log may hold them: good, bad in every way, and good again.
LINES: list[dict[str, Any] | bytes] = [
    record(1),
    record(2, kind="Fxi"),
    b"",
    record(3),
    encode(record(4))[:77],
    b"[]",
    record(5, summary=..., mood=1),
    encode(record(6)) + b"\r",
    record(7, parent_record=identity(1)),
    record(3),
    record(8, supersedes=[identity(2), identity(99)]),
    b"\xff",
    record(9),
]
EXPECTED = [
    ("enum", 2),
    ("blank", 3),
    ("torn", 5),
    ("not-object", 6),
    ("required", 7),
    ("unknown-field", 7),
    ("crlf", 8),
    ("encoding", 12),
    ("duplicate-id", 10),
    ("unknown-record", 11),
]


def test_no_bad_line_hides_the_next(tmp_path: Path) -> None:
    """S4-15: every bad line of every file, in order; findings about the whole log come last."""
    path = put(tmp_path / "a.jsonl", *LINES)
    assert [(rule, line) for rule, _, line in judge(path)] == EXPECTED


def test_a_last_line_without_a_newline_is_a_line_like_the_others(tmp_path: Path) -> None:
    assert judge(put(tmp_path / "a.jsonl", record(1), record(2), end=b"")) == []
    assert judge(put(tmp_path / "b.jsonl", record(1), encode(record(2))[:50], end=b"")) == [("torn", "b.jsonl", 2)]
    assert judge(put(tmp_path / "c.jsonl", end=b"")) == []


@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_the_answer_is_the_same_whatever_the_jobs(tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares end where lines end, wherever they are cut; findings keep their order and their line numbers."""
    monkeypatch.setattr(blocks, "_LEAST_SHARE_BYTES", 200)
    draw = random.Random(jobs)
    paths = []
    for number in range(5):
        chosen = [draw.choice(LINES) for _ in range(draw.randrange(40))]
        paths.append(put(tmp_path / f"{number}.jsonl", *chosen, end=draw.choice([b"", b"\n"])))
    one, many = Summary([]), Summary([])
    alone = list(validate(inputs(*paths), CHECKER, jobs=1, summary=one))
    together = list(validate(inputs(*paths), CHECKER, jobs=jobs, summary=many))
    assert together == alone
    assert len(alone) > 20
    assert (one.records, one.lines, one.errors, one.warnings) == (many.records, many.lines, many.errors, many.warnings)


@pytest.mark.parametrize("size", [64, 300, 1000, 4096])
def test_blocks_end_anywhere(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a read brings at once, the lines are the same."""
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", size)
    path = put(tmp_path / "a.jsonl", *LINES)
    assert [(rule, line) for rule, _, line in judge(path)] == EXPECTED


def test_a_line_that_is_too_long_is_passed_over_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 512)
    monkeypatch.setattr(blocks, "LONGEST_LINE_BYTES", 2048)
    path = put(tmp_path / "a.jsonl", record(1), record(2, summary="x" * 5000), record(3, kind="Fxi"), record(1))
    assert judge(path) == [("too-long", "a.jsonl", 2), ("enum", "a.jsonl", 3), ("duplicate-id", "a.jsonl", 4)]


def test_an_id_stands_once_in_all_files_together(tmp_path: Path) -> None:
    """Every further sight is a finding that names the first; an id in a record that is otherwise bad counts too."""
    a = put(tmp_path / "a.jsonl", record(1), record(2), record(2))
    b = put(tmp_path / "b.jsonl", record(3), record(1, kind="Fxi"), record(2))
    found = [f for f in validate(inputs(a, b), CHECKER) if f.rule == "duplicate-id"]
    assert [(f.path, f.line, f.value) for f in found] == [
        ("a.jsonl", 3, identity(2)),
        ("b.jsonl", 2, identity(1)),
        ("b.jsonl", 3, identity(2)),
    ]
    assert "a.jsonl:2" in found[0].message
    assert "a.jsonl:1" in found[1].message
    assert "a.jsonl:2" in found[2].message


def test_a_record_that_is_named_is_in_the_log(tmp_path: Path) -> None:
    a = put(
        tmp_path / "a.jsonl", record(1, parent_record=identity(3), supersedes=[identity(8), identity(2), identity(9)])
    )
    b = put(tmp_path / "b.jsonl", record(2), record(3, parent_record=identity(3)))
    found = list(validate(inputs(a, b), CHECKER))
    assert [(f.rule, f.line, f.pointer, f.value) for f in found] == [
        ("unknown-record", 1, "/supersedes/0", identity(8)),
        ("unknown-record", 1, "/supersedes/2", identity(9)),
    ]
    known = put(tmp_path / "known.jsonl", record(8), b"junk", record(9))
    assert list(validate(inputs(a, b), CHECKER, known=inputs(known))) == []


def test_an_id_of_the_rest_of_the_log_may_not_be_taken(tmp_path: Path) -> None:
    a = put(tmp_path / "a.jsonl", record(1), record(2), record(1))
    known = inputs(put(tmp_path / "known.jsonl", record(5), record(2), record(2)))
    found = list(validate(inputs(a), CHECKER, known=known, known_too=True))
    assert [(f.rule, f.line) for f in found] == [("duplicate-id", 2), ("duplicate-id", 3)]
    assert "known.jsonl:2" in found[0].message
    assert "a.jsonl:1" in found[1].message


def test_lines_that_are_skipped_keep_their_ids(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", record(1, kind="Fxi"), record(2, parent_record=identity(1), kind="Fxi"))
    assert judge(path, skip=lambda line: b'"parent_record"' not in line) == [("enum", "a.jsonl", 2)]


def test_memory_for_ids_is_sixteen_bytes_a_record() -> None:
    heaps = module._heaps()
    assert heaps[0].itemsize == 8
    assert len(heaps) == 16


# ---- the command


def test_a_project_that_never_records_pays_nothing(app: App) -> None:
    """S4-19: exit 0, and nothing is created."""
    done = app("interaction", "validate")
    assert (done.code, done.out) == (0, "")
    assert "no findings in 0 files" in done.err
    assert list(app.folder.iterdir()) == []


def test_the_summary_counts_what_was_read(app: App) -> None:
    put(app.folder / "a.jsonl", record(1), record(2, kind="Fxi"))
    put(app.folder / "b.jsonl", record(3))
    done = app("interaction", "validate", "a.jsonl", "b.jsonl")
    assert done.code == 1
    assert "1 finding in 1 of 2 files, 3 records (" in done.err
    assert done.out.startswith(f"a.jsonl:2:{encode(record(2)).index(b'Fix')}: kind: ")


def test_files_folders_globs_and_stdin_are_read(app: App) -> None:
    put(app.folder / "log/a.jsonl", record(1))
    put(app.folder / "log/deep/b.jsonl", record(2, kind="Fxi"))
    put(app.folder / "log/notes.txt", b"not a log")

    def found(*words: str, stdin: bytes = b"") -> list[str]:
        done = app("interaction", "validate", *words, "--format", "json", stdin=stdin)
        answer = json.loads(done.out)
        return [str(answer["summary"]["files"]), *(finding["path"] for finding in answer["findings"])]

    assert found("log") == ["2", "log/deep/b.jsonl"]
    assert found("log/a.jsonl") == ["1"]
    assert found("log/**/*.jsonl") == ["2", "log/deep/b.jsonl"]
    assert found("log/a.jsonl", "log", "log/a.jsonl") == ["2", "log/deep/b.jsonl"]
    assert found("-", stdin=encode(record(3, kind="Fxi"))) == ["1", "-"]
    assert found("-", "log", stdin=encode(record(1))) == ["3", "log/deep/b.jsonl", "log/a.jsonl"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_read_like_a_file(app: App) -> None:
    """`validate <(zcat old.jsonl.gz)` must not find a pipe empty and call it clean."""
    import threading

    pipe = app.folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(encode(record(1, kind="Fxi"))))
    writer.start()
    done = app("interaction", "validate", "pipe", timeout=30)
    writer.join()
    assert done.code == 1
    assert done.out.startswith("pipe:1:")


def test_a_path_that_is_not_there_cannot_be_judged(app: App) -> None:
    for words in (["nothing.jsonl"], ["no/*.jsonl"]):
        done = app("interaction", "validate", *words)
        assert done.code == 2
        assert words[0] in done.err
        assert "Traceback" not in done.err


def test_the_log_of_the_project_is_the_default(app: App, git: Callable[..., str]) -> None:
    put(app.folder / ".ontoref/interactions/2026/11/s.jsonl", record(1, kind="Fxi"))
    below = app.folder / "a/b"
    below.mkdir(parents=True)
    done = app("interaction", "validate", cwd=below)
    assert done.code == 1
    assert "interactions/2026/11/s.jsonl:1:" in done.out


def test_warnings_fail_only_when_asked(app: App) -> None:
    put(app.folder / "a.jsonl", record(1, tensions_engaged=["tabs-vs-spaces"]))
    done = app("interaction", "validate", "a.jsonl")
    assert done.code == 0
    assert "warning: " in done.out
    assert app("interaction", "validate", "a.jsonl", "--strict").code == 1


def test_no_more_findings_are_shown_than_asked_and_all_are_counted(app: App) -> None:
    put(app.folder / "a.jsonl", *(record(n, kind="Fxi") for n in range(9)))
    done = app("interaction", "validate", "a.jsonl", "--max-findings", "2")
    assert done.code == 1
    assert done.out.count("[enum]") == 2
    assert "9 findings" in done.err
    assert "2 shown" in done.err
    assert app("interaction", "validate", "a.jsonl", "--max-findings", "0").code == 1


def test_output_goes_to_a_file(app: App) -> None:
    put(app.folder / "a.jsonl", record(1, kind="Fxi"))
    done = app("interaction", "validate", "a.jsonl", "--format", "sarif", "--output", "out.sarif")
    assert (done.code, done.out) == (1, "")
    assert json.loads((app.folder / "out.sarif").read_text())["version"] == "2.1.0"
    assert "out.sarif" in done.err
    done = app("interaction", "validate", "a.jsonl", "--output", "no/such/folder/x")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_words_come_from_the_folder_given(app: App) -> None:
    """S4-10, S4-12: a member added to a copy is accepted at once; a folder without files judges nothing."""
    import shutil

    from ontoref import resources

    own = app.folder / "words"
    shutil.copytree(resources.folder("schemas"), own)
    put(app.folder / "a.jsonl", record(1, kind="Spike"))
    assert app("interaction", "validate", "a.jsonl", "--schemas", "words").code == 1
    coder = own / "coder.yaml"
    member = "{const: Fix, description: A fault removed.}"
    assert member in coder.read_text()
    coder.write_text(coder.read_text().replace(member, member + "\n      - {const: Spike, description: A trial.}"))
    assert app("interaction", "validate", "a.jsonl", "--schemas", "words").code == 0
    coder.unlink()
    done = app("interaction", "validate", "a.jsonl", "--schemas", "words")
    assert done.code == 2
    assert "coder.yaml" in done.err


def test_a_member_that_is_deprecated_warns_and_names_its_successor(app: App) -> None:
    import shutil

    from ontoref import resources

    own = app.folder / "words"
    shutil.copytree(resources.folder("schemas"), own)
    coder = own / "coder.yaml"
    coder.write_text(
        coder.read_text().replace(
            "{const: Fix, description: A fault removed.}",
            "{const: Fix, description: A fault removed., deprecated: true, x-replaced-by: Feature}",
        )
    )
    put(app.folder / "a.jsonl", record(1))
    done = app("interaction", "validate", "a.jsonl", "--schemas", "words", "--format", "json")
    assert done.code == 0
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["rule"], finding["severity"], finding["suggestion"]) == ("deprecated", "warning", "Feature")
    assert "hint" not in finding
    # What replaces it is known and said once; nothing is guessed.
    for form in ("text", "github", "sarif", "junit"):
        told = app("interaction", "validate", "a.jsonl", "--schemas", "words", "--format", form).out
        assert told.count("Feature") == 1
        assert "did you mean" not in told


def test_text_from_a_log_cannot_steer_a_terminal(app: App) -> None:
    put(app.folder / "a.jsonl", record(1, kind="\x1b[2J\u202e"), record(2, **{"\x1b]0;x\x07": 1}))
    done = app("interaction", "validate", "a.jsonl")
    assert done.code == 1
    assert not {"\x1b", "\u202e", "\x07"} & set(done.out + done.err)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[" * 100_000, id="a hundred thousand levels"),
        pytest.param(b'{"a":' * 100_000, id="a hundred thousand objects"),
        pytest.param(b"\x00" * 1_000_000, id="a megabyte of zeros"),
        pytest.param(encode(record(1, summary="x" * 20_000_000)), id="a text of twenty megabytes"),
        pytest.param(encode(record(1, schema_version=2**64 + 1)), id="a number past 64 bits"),
        pytest.param(b'{"schema_version":1e999}', id="a number past all"),
        pytest.param(b'{"summary":"\\ud800"}', id="half a character"),
        pytest.param(b'{"k":1,' + b'"k":1,' * 100_000 + b'"k":1}', id="a key a hundred thousand times"),
        pytest.param(encode(record(1, events=[{"kind": "x"}] * 20_000)), id="twenty thousand faults in a line"),
        pytest.param(encode(record(1, kind="a" * 1_000_000)), id="a word of a megabyte"),
        pytest.param(encode(record(1, files_touched=["a" * 4000 + "/" + "a" * 4000 + " "])), id="a long path"),
    ],
)
def test_hostile_lines_have_an_answer_in_seconds(app: App, content: bytes) -> None:
    """Bounded time and memory, no traceback, and the line after is still judged."""
    put(app.folder / "a.jsonl", content, record(2, kind="Fxi"))
    done = app("interaction", "validate", "a.jsonl", "--format", "jsonl", timeout=30)
    assert done.code == 1, done.err[-500:]
    assert "Traceback" not in done.err
    last = json.loads(done.out.splitlines()[-1])
    assert (last["line"], last["rule"]) == (2, "enum")


_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


def test_five_hundred_megabytes_without_a_newline_fit_in_little_memory(app: App) -> None:
    """A line that is longer than any record is passed over, not held."""
    pytest.importorskip("resource")
    path = app.folder / "a.jsonl"
    with open(path, "wb") as file:
        # A hole: it reads as zeros and takes no room on the disk.
        file.truncate(500 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + encode(record(1, kind="Fxi")) + b"\n")
    words = app.command("interaction", "validate", "a.jsonl", "--format", "jsonl", "--jobs", "1")
    # A small process in between: the system counts what a process held before it became another program.
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, *words], cwd=app.folder, capture_output=True, timeout=60, check=False
    )
    assert [json.loads(text)["rule"] for text in done.stdout.splitlines()] == ["too-long", "enum"]
    assert int(done.stderr.split()[-1]) < 200 << 10


def test_findings_name_rules_that_the_table_lists(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", *LINES)
    found: list[Finding] = list(validate(inputs(path), CHECKER))
    assert {finding.rule for finding in found} <= set(RULES)
    assert {finding.severity for finding in found} == {"error", "warning"}
