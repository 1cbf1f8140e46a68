"""The repository check: what it finds, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ontoref.state import guard

ROOT = Path(__file__).parents[2]
# Put together, because this file is checked as well.
LOCATOR = "".join(("transcript", "Locator"))
SCHEME = "".join(("sqlite-transcript", "://"))
SELECT = "SELECT a " + "FROM b WHERE c = 1"

FOUND = [
    ("import json\nopen('x/sessions.json', 'w')", "legacy-store"),
    ("NAME = 'sessions.json'\nopen(NAME, mode='a')", "legacy-store"),
    ("import os\nopen(os.path.join(d, 'sessions.json'), 'w')", "legacy-store"),
    ("open(f'{d}/a.trajectory.jsonl', 'w')", "legacy-store"),
    ("from pathlib import Path\n(Path(d) / 'a.lock').write_text('')", "legacy-store"),
    ("from pathlib import Path\nPath('x', 'commands.log').open('a')", "legacy-store"),
    ("import os as o\no.replace(a, d + '/process-leases.json')", "legacy-store"),
    ("from os import rename as r\nr(a, 'subagents/runs.json')", "legacy-store"),
    ("import shutil as s\ns.copy(a, 'cache/models.json')", "legacy-store"),
    ("from shutil import move\nmove(a, 'acp/event-ledger.json')", "legacy-store"),
    ("open('.acp-stream.jsonl', 'wb')", "legacy-store"),
    ("open('config-audit.jsonl', 'a')", "legacy-store"),
    ("open('config-health.json', 'w')", "legacy-store"),
    ("open('x.jsonl.lock', 'x')", "legacy-store"),
    ("import os\nos.unlink('y.lock')", "legacy-store"),
    ("open('events.jsonl', 'a')", "jsonl-writer"),
    ("import sqlite3\nsqlite3.connect('plugin-state/state.sqlite')", "sidecar"),
    ("import sqlite3 as s\ns.connect(f'{d}/task-state.sqlite')", "sidecar"),
    ("import sqlite3\nsqlite3.connect('anything')", "sidecar"),
    ("from sqlite3 import connect\nconnect(path)", "connect"),
    (f"{LOCATOR} = 1", "retired-locator"),
    ("transcript_" + "locator = 1", "retired-locator"),
    (f"x = '{SCHEME}a/b'", "retired-locator"),
    (f"x = f'{SCHEME}{{a}}'", "retired-locator"),
    ("store.listAll()", "retired-facade"),
    ("def f(storePath): ...", "retired-facade"),
    ("x.sessionFile", "retired-facade"),
    (f"x = '{SELECT}'", "raw-sql"),
    ("x = 'DELETE FROM t'", "raw-sql"),
    ("x = 'PRAGMA user_version'", "raw-sql"),
    ("x = '''\nCREATE TABLE t (a)'''", "create-table"),
    ("from ontoref.state.doctor.legacy import x", "legacy-import"),
    ("import ontoref.state.doctor.legacy", "legacy-import"),
    ("def (", "syntax"),
]


@pytest.mark.parametrize(("source", "rule"), FOUND, ids=[f"{rule} {n}" for n, (_, rule) in enumerate(FOUND)])
def test_what_is_found(source: str, rule: str) -> None:
    """S3-101, S3-103, S3-104, S3-105, S3-106"""
    found = guard.check_file("ontoref/other/module.py", source)
    assert rule in {finding.rule for finding in found}
    assert str(found[0]).startswith(f"ontoref/other/module.py:{found[0].line}: ")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "ontoref/other/a.py",
            f'"""Never a {LOCATOR}, nor {SCHEME}x; SELECT nothing FROM it."""\n# sessions.json, {SCHEME}',
        ),
        ("ontoref/other/a.py", "open('sessions.json')"),
        ("ontoref/other/a.py", "open('sessions.json', 'rb')"),
        ("ontoref/other/a.py", "'a.lock'.replace('a', 'b')"),
        ("ontoref/other/a.py", "x = 'Select a file from the list'"),
        ("ontoref/other/a.py", "x = 'update: the kernel'"),
        ("ontoref/state/doctor/legacy.py", "open('sessions.json', 'w')"),
        ("ontoref/state/doctor/a.py", "from ontoref.state.doctor.legacy import x"),
        ("ontoref/state/ledger.py", f"x = '{SELECT}'"),
        ("ontoref/state/database.py", "import sqlite3\nsqlite3.connect(path)"),
        ("ontoref/transcript/reader.py", f"import sqlite3\nsqlite3.connect('opencode.db').execute('{SELECT}')"),
        ("ontoref/lesson/backends/schema.py", "x = 'CREATE TABLE t (a)'"),
        ("ontoref/interaction/log.py", "open('a.jsonl', 'ab')"),
        ("tests/test_a.py", "open('sessions.json', 'w')"),
        ("tests/test_a.py", "import sqlite3\nsqlite3.connect('other.sqlite')"),
    ],
)
def test_what_is_left_alone(path: str, source: str) -> None:
    """S3-102"""
    assert guard.check_file(path, source) == []


def test_a_sidecar_is_banned_even_for_the_doctor() -> None:
    """S3-102"""
    (finding,) = guard.check_file("ontoref/state/doctor/a.py", "import sqlite3\nsqlite3.connect('tasks/runs.sqlite')")
    assert finding.rule == "sidecar"


def test_markers_count_in_tests_too() -> None:
    """S3-101"""
    (finding,) = guard.check_file("tests/test_a.py", f"x = '{SCHEME}a'")
    assert (finding.rule, finding.line) == ("retired-locator", 1)


def test_an_exception_is_good_for_one_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """S3-103"""
    (tmp_path / "ontoref").mkdir()
    module = tmp_path / "ontoref" / "a.py"
    module.write_text("open('a.lock', 'w')\n")
    assert guard.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("ontoref/a.py:1: legacy-store: ")
    monkeypatch.setattr(guard, "ALLOWED", ("ontoref/a.py: legacy-store: open('a.lock', 'w')",))
    assert guard.main([str(tmp_path)]) == 0
    module.write_text("open('a.lock', 'w')\nopen('a.lock', 'w')\n")
    assert guard.main([str(tmp_path)]) == 1
    module.write_text("")
    assert guard.main([str(tmp_path)]) == 1
    assert "stale-exception" in capsys.readouterr().out


def test_the_repository_keeps_its_rules() -> None:
    """S3-101, S3-107"""
    done = subprocess.run(
        [sys.executable, "-m", "ontoref.state.guard", str(ROOT)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
