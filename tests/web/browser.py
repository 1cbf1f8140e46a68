"""A real Chromium and a real server, for the tests of the pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync",
]  # fmt: skip
SCREENSHOTS = Path(__file__).parent.parent.parent / "screenshots"


@contextmanager
def serving(folder: Path, project: Path) -> Iterator[str]:
    """`ontoref serve` over a folder of sessions of Claude Code; gives the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ontoref", "serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=project,
        env=os.environ | {"CLAUDE_CONFIG_DIR": str(folder.parent.parent), "HOME": str(project)},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


class Watched:
    """A page, and everything that it should not do: errors on its console, requests to elsewhere."""

    def __init__(self, page: Any, base: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        self.base = base

    def asked(self, part: str) -> list[str]:
        return [url for url in self.requests if part in url]

    def check(self) -> None:
        assert self.complaints == []
        elsewhere = [url for url in self.requests if not url.startswith((self.base, "data:"))]
        assert elsewhere == []


def shot(page: Any, name: str) -> None:
    """A picture for people to look at, kept out of git."""
    if SCREENSHOTS.parent.joinpath("pyproject.toml").exists():
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=str(SCREENSHOTS / f"{name}.png"))
