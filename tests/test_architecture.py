"""The house rules that a reader of the sources could check, checked here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.checkout

PACKAGE = Path(__file__).parent.parent / "ontoref"
BASE = {
    "errors",
    "resources",
    "places",
    "text",
    "identifiers",
    "git",
    "globs",
    "secrets",
    "appending",
    "replacing",
    "__init__",
    "__main__",
}
BELOW = {
    "vocabulary": set[str](),
    "transcript": {"vocabulary"},
    "state": {"transcript", "vocabulary"},
    "interaction": {"state", "transcript", "vocabulary"},
    "replay": {"state", "transcript", "vocabulary"},
    "lesson": {"state", "transcript", "vocabulary"},
}
EDGES = {"cli", "web"}


def imports_of(path: Path) -> set[str]:
    """Rooms and base modules of ontoref that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [node.module or ""]
            if node.module == "ontoref":
                names = [f"ontoref.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("ontoref.")}
    return found


FILES = sorted(PACKAGE.rglob("*.py")) if PACKAGE.is_dir() else []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    used = imports_of(path) - {"__version__"}
    if room in EDGES:
        return
    allowed = BASE | ({room} | BELOW[room] if room in BELOW else set())
    if room == "__main__":
        allowed = allowed | {"cli"}
    assert used <= allowed, f"{room} may not import {sorted(used - allowed)}"
