"""What every test stands on: no home folder, no network, no settings of the machine, and a way to run the app."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
# The suite also runs against an installed wheel, from a folder that holds the tests without the sources.
IN_CHECKOUT = (ROOT / "ontoref").is_dir()

# Where CI runs, a missing program is a failure and no reason to skip. Told here, since tests see no CI: the variable
# would make every record one of a machine's.
IN_CI = os.environ.get("CI") == "true"

# Variables that change what ontoref does; none of the machine's own reaches a test.
_FOREIGN = (
    "ONTOREF_",
    "CLAUDE",
    "CODEX",
    "OPENCLAW",
    "GEMINI",
    "CURSOR",
    "COPILOT",
    "OPENCODE",
    "GIT_",
    "XDG_",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write golden files anew instead of comparing")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not IN_CHECKOUT and item.get_closest_marker("checkout"):
            item.add_marker(pytest.mark.skip(reason="about the sources, which are not here"))
        if not SHARED.is_dir() and item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.skip(reason="the shared corpus is not here"))


@pytest.fixture(scope="session", autouse=True)
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder of the test run's own; the environment of every test and of every process it starts."""
    home = tmp_path_factory.mktemp("home")
    patch = pytest.MonkeyPatch()
    for name in ("CI", "AGENT", "AI_AGENT"):
        patch.delenv(name, raising=False)
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            patch.delenv(name)
    settings = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "LOCALAPPDATA": str(home / "local"),
        "ONTOREF_STATE_DIR": str(home / "state"),
        "ONTOREF_CACHE_DIR": str(home / "cache"),
        "ONTOREF_CONFIG_DIR": str(home / "config"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "COLUMNS": "200",
        "TZ": "UTC",
    }
    for name, value in settings.items():
        patch.setenv(name, value)
    (home / "gitconfig").write_text(
        "[user]\n\tname = Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n"
        '[protocol "file"]\n\tallow = always\n[commit]\n\tgpgsign = false\n'
    )
    yield home
    patch.undo()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine is a fault of the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise AssertionError(f"a test reached for the network: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@dataclass(frozen=True, slots=True)
class Result:
    """How a run of the app ended."""

    code: int
    out: str
    err: str


class App:
    """Runs the real command line in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        *words: str | os.PathLike[str],
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 120,
    ) -> Result:
        done = subprocess.run(
            self.command(*words),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd or self.folder,
            env={**os.environ, **(env or {})},
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    @staticmethod
    def command(*words: str | os.PathLike[str]) -> Sequence[str]:
        return [sys.executable, "-m", "ontoref", *map(os.fspath, words)]


@pytest.fixture
def app(tmp_path: Path) -> App:
    """The command line, run in an empty folder: `app("interaction", "validate").code`."""
    folder = tmp_path / "project"
    folder.mkdir()
    return App(folder)


@pytest.fixture(scope="session")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Installs packages of the npm registry into a folder of their own: `npm("ajv@8") / "node_modules"`.

    Where CI asks, a missing npm is a failure and no reason to skip.
    """

    def install(*packages: str) -> Path:
        give_up = pytest.fail if IN_CI else pytest.skip
        program = shutil.which("npm")
        if shutil.which("node") is None or program is None:
            give_up("node and npm are not here")
        folder = tmp_path_factory.mktemp("npm")
        (folder / "package.json").write_text('{"private": true}')
        words = [str(program), "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=240)
        if done.returncode != 0:
            give_up(f"npm install failed: {done.stderr or done.stdout}")
        return folder

    return install


@pytest.fixture
def git(app: App) -> Callable[..., str]:
    """The app's folder made a repository, and a function that runs git in it: `git("add", "-A")` -> stdout."""

    def run(*words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, cwd=cwd or app.folder, check=False)
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr}"
        return done.stdout

    run("init", "-q")
    return run
