"""The whole command line under a tracer of file writes: what it may write, and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ontoref.cli.commands import COMMANDS
from ontoref.cli.lazy import Entry

from .samples import SESSION, claude, project

# Servers run until they are stopped; they have tests of their own.
SERVERS = {"serve", "view", "web", "mcp"}
RECORD = ["--kind", "Fix", "--domain", "Query", "--outcome", "Completed", "--actor", "Human", "--summary", "s"]
CALLS: dict[str, list[list[str]]] = {
    "init": [[]],
    "interaction record": [RECORD, [*RECORD, "--session-id", "../../x"]],
    "interaction show": [["nothing"]],
    "transcript show": [[SESSION, "--no-pager"]],
    "transcript stats": [[SESSION]],
    "transcript events": [[SESSION]],
    "transcript trace": [[SESSION]],
    "transcript draft": [[SESSION]],
    "transcript import": [["--all"], [SESSION]],
    "transcript export": [[SESSION], [SESSION, "--output", "out/session.jsonl"]],
    "session show": [[], [SESSION]],
    "backup create": [["--output", "out/b.tar.gz"], ["--dry-run"]],
    "backup verify": [["out/b.tar.gz"]],
    "backup restore": [["out/b.tar.gz"], ["out/b.tar.gz", "--yes"]],
    "doctor": [[], ["--fix"]],
    "completion": [["bash"]],
    "vocabulary show": [["Kind"]],
    "key new": [[]],
    "migrate apply": [[]],
    "hook install": [[]],
}
# Run at the end, because they take away what others look at.
LAST = {"session delete": [[SESSION, "--yes"]], "hook uninstall": [[]], "state reset": [[], ["--yes"]]}

RUNNER = """
import contextlib, io, json, os, sys
from ontoref.cli.main import run
for call in json.load(open(sys.argv[1])):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(io.StringIO()) as said:
        sys.stdout = nowhere
        sys.stdin = open(os.devnull)
        try:
            code = run(call)
        except SystemExit as stop:
            code = stop.code
    sys.__stdout__.write(json.dumps([call, code, said.getvalue()[-600:]]) + "\\n")
"""

AUDIT = """
import os, sys
LOG = os.open(os.environ["WRITES_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
SKIP = os.environ["WRITES_LOG"]
def hook(event, args):
    paths = []
    if event == "open" and isinstance(args[0], (str, bytes)):
        flags = args[2] if isinstance(args[2], int) else 0
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(str(args[1] or "")) & set("wax+"):
            paths = [args[0]]
    elif event in ("os.remove", "os.rmdir"):
        # Inside an open folder: what removes a tree says so itself.
        paths = [args[0]] if args[1] == -1 else []
    elif event == "os.mkdir":
        # Asking for a folder that is there makes nothing.
        paths = [] if os.path.isdir(args[0]) else [args[0]]
    elif event in ("os.truncate", "os.chmod", "shutil.rmtree", "sqlite3.connect"):
        paths = [args[0]]
    elif event in ("os.rename", "os.link", "os.symlink"):
        paths = [args[0], args[1]]
    for path in paths:
        text = os.fsdecode(path) if not isinstance(path, int) else ""
        if text.startswith("file:"):
            if "mode=ro" in text:
                continue
        if text and text != SKIP:
            os.write(LOG, (os.path.abspath(text) + "\\n").encode("utf-8", "surrogateescape"))
sys.addaudithook(hook)
"""


def leaves(commands: dict[str, Entry], before: str = "") -> list[str]:
    found = []
    for name, entry in commands.items():
        found += leaves(dict(entry.commands), f"{before}{name} ") if entry.commands else [before + name]
    return found


def calls() -> list[list[str]]:
    """Every command at least once, those that others look at first."""
    names = [name for name in leaves(COMMANDS) if name.split()[-1] not in SERVERS]
    order = [name for name in CALLS if name in names] + [n for n in names if n not in CALLS and n not in LAST]
    found = [[*name.split(), *arguments] for name in order for arguments in CALLS.get(name, [[]])]
    return found + [[*name.split(), *arguments] for name in LAST if name in names for arguments in LAST[name]]


def traced(command: list[str], log: Path) -> list[str]:
    """The command as the kernel sees it, where it can be asked."""
    strace = shutil.which("strace")
    if strace is not None:
        prefix = [strace, "-f", "-qq", "-s", "4096", "-y", "-e", "trace=file,ftruncate", "-o", str(log)]
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return [*prefix, *command]
    return command


WRITES = re.compile(
    r"(?:open|openat|creat)\(.*O_(?:WRONLY|RDWR|CREAT)|^\d+ +(?:creat|rename|renameat|renameat2|unlink|unlinkat|mkdir"
    r"|mkdirat|rmdir|link|linkat|symlink|symlinkat|truncate|ftruncate|chmod|fchmodat|mknod)\("
)


def written(log: Path, cwd: Path) -> set[str]:
    """Paths that were opened for writing, made, renamed or removed."""
    found = set()
    for line in log.read_text(errors="replace").splitlines():
        if not line[:1].isdigit():
            found.add(line)
        elif WRITES.search(line) and " = -1 " not in line:
            for folder, path in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"', line):
                found.add(os.path.normpath(os.path.join(folder or cwd, path)))
    return found


def test_the_command_line_writes_what_it_may(tmp_path: Path) -> None:
    """S3-1, S3-3, S3-46, S3-54, S3-55, S3-108, S3-109, S3-110"""
    home, repo = tmp_path / "home", tmp_path / "repo"
    state, temp = tmp_path / "state-dir", tmp_path / "temp"
    for folder in (home, repo / "out", temp):
        folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    source = project(home) / f"{SESSION}.jsonl"
    source.write_bytes(claude())
    hooks, log = tmp_path / "hooks", tmp_path / "writes.log"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(AUDIT)
    (tmp_path / "calls.json").write_text(json.dumps(calls()))
    command = [sys.executable, "-c", RUNNER, str(tmp_path / "calls.json")]
    full = traced(command, log)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ONTOREF_", "CLAUDE"))}
    environ |= {
        "HOME": str(home),
        "TMPDIR": str(temp),
        "ONTOREF_STATE_DIR": str(state),
        "ONTOREF_CACHE_DIR": str(tmp_path / "cache"),
        "ONTOREF_CONFIG_DIR": str(tmp_path / "config"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    if full is command:
        environ |= {"PYTHONPATH": str(hooks), "WRITES_LOG": str(log)}
    done = subprocess.run(full, cwd=repo, env=environ, capture_output=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == len(calls())
    assert [outcome for outcome in outcomes if outcome[1] not in (0, 1, 2)] == []
    fine = {" ".join(outcome[0][:2]) for outcome in outcomes if outcome[1] == 0}
    assert fine >= {"transcript import", "backup create", "backup restore", "interaction record", "session delete"}

    allowed = re.compile(
        "|".join(
            [
                # the two kinds of databases and their companions
                rf"{state}(/state(/ontoref\.sqlite(-wal|-shm|-journal)?)?)?",
                rf"{state}/agents(/[^/]+(/agent(/ontoref-agent\.sqlite(-wal|-shm|-journal)?)?)?)?",
                # archives that a repair and a restore make before they write, and temporary places
                rf"{state}/backups(/[^/]+\.tar\.gz)?",
                rf"{state}(/state|/backups|/agents/[^/]+/agent)?/\.ontoref-[a-z]+-[^/]+(/.*)?",
                # configuration with the keys, the vocabulary cache
                rf"{tmp_path}/config(/.*)?",
                rf"{tmp_path}/cache(/.*)?",
                # what init, migrate and hook name; the log and drafts; git's own
                rf"{repo}/\.ontoref(/.*)?",
                rf"{repo}/(AGENTS\.md|CLAUDE\.md|\.gitattributes|\.gitignore|\.pre-commit-config\.yaml)[^/]*",
                rf"{repo}/\.[^/]*(AGENTS|gitattributes|gitignore)[^/]*",
                rf"{repo}/\.git(/.*)?",
                # explicit outputs, temporary files
                rf"{repo}/out(/.*)?",
                rf"{temp}(/.*)?",
                rf"{re.escape(str(log))}|/dev/.*|/proc/.*",
            ]
        )
    )
    wrong = {path for path in written(log, repo) if not allowed.fullmatch(path)}
    assert wrong == set()
    assert source.read_bytes() == claude()
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == [source.name]
    assert {path.suffix for path in state.rglob("*") if path.is_file()} <= {
        ".sqlite",
        ".sqlite-wal",
        ".sqlite-shm",
        ".gz",
    }
