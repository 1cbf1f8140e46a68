"""Without an extra everything else still works, and the command that needs it says which."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import App

BLOCKED = """
import importlib.abc, sys

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
from ontoref.cli.main import main
sys.argv[0] = "ontoref"
main()
"""


class Bare(App):
    """The app on an interpreter that lacks some packages."""

    names: tuple[str, ...] = ()

    def command(self, *words: object) -> list[str]:  # type: ignore[override]
        return [sys.executable, "-c", BLOCKED.format(names=self.names), *map(str, words)]


@pytest.mark.parametrize(
    ("names", "words", "extra"),
    [
        (("duckdb",), ("replay", "query", "SELECT 1", "--store", __file__), "duckdb"),
        (("duckdb",), ("replay", "export", "--duckdb", "x.duckdb", "--all"), "duckdb"),
        (("uvicorn",), ("serve",), "web"),
        (("starlette",), ("serve",), "web"),
    ],
)
def test_a_missing_extra_is_named(tmp_path: Path, names: tuple[str, ...], words: tuple[str, ...], extra: str) -> None:
    app = Bare(tmp_path)
    app.names = names
    done = app(*words)
    assert (done.code, done.out) == (2, "")
    assert f"ontoref[{extra}]" in done.err
    assert "Traceback" not in done.err


def test_trees_need_no_extra(tmp_path: Path) -> None:
    """S2-3: neither a web framework nor a database driver."""
    from tests.replay.test_sources import write_session

    app = Bare(tmp_path)
    app.names = ("duckdb", "uvicorn", "starlette", "psycopg")
    path = write_session(tmp_path)
    for verb in ("tree", "show"):
        assert app("replay", verb, str(path)).code == 0
