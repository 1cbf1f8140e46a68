"""State in a folder of the test's own, commands as the real program runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ontoref.state import Layout, State

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    root = tmp_path / "state-dir"
    monkeypatch.setenv("ONTOREF_STATE_DIR", str(root))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    return Layout(str(root))


@pytest.fixture
def state(layout: Layout) -> Iterator[State]:
    with State(layout, read_only=False) as opened:
        yield opened


@pytest.fixture
def ontoref(layout: Layout, tmp_path: Path) -> Run:
    """Run `python -m ontoref …` as a process of its own."""

    def run(
        *arguments: str, extra: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "ontoref", *arguments],
            capture_output=True,
            env={**os.environ, **(extra or {})},
            cwd=cwd or tmp_path,
            timeout=120,
        )

    return run
