"""`ontoref init`: a project set up in one command, as often as one likes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ontoref.interaction.adoption.setup import AGENTS_BEGIN, AGENTS_END
from tests.conftest import App


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_init_gives_a_project_all_it_needs_and_a_second_run_changes_nothing(app: App, git: Callable[..., str]) -> None:
    result = app("init")
    assert result.code == 0, result.err
    files = tree(app.folder)
    assert {
        ".gitattributes",
        "AGENTS.md",
        ".ontoref/config.yaml",
        ".ontoref/.gitignore",
        ".ontoref/migrations.yaml",
        ".ontoref/schemas/coder.yaml",
        ".ontoref/schemas/core.yaml",
        ".ontoref/schemas/interaction.yaml",
    } <= set(files)
    again = app("init")
    assert again.code == 0
    assert "nothing to do" in again.out
    assert tree(app.folder) == files


def test_a_dry_run_names_the_same_changes_and_writes_nothing(app: App, git: Callable[..., str]) -> None:
    planned = json.loads(app("init", "--dry-run", "--format", "json").out)
    assert tree(app.folder) == {}
    done = json.loads(app("init", "--format", "json").out)
    assert planned == done


def test_init_from_a_subfolder_sets_up_the_top_of_the_repository(app: App, git: Callable[..., str]) -> None:
    below = app.folder / "a" / "b"
    below.mkdir(parents=True)
    assert app("init", cwd=below).code == 0
    assert (app.folder / ".ontoref/config.yaml").is_file()
    assert not (below / ".ontoref").exists()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_our_block_of_the_agents_file_changes(app: App, git: Callable[..., str], newline: str) -> None:
    path = app.folder / "AGENTS.md"
    path.write_bytes(newline.join(["# Mine", "", "Be kind.", ""]).encode())
    app("init")
    text = path.read_bytes().decode()
    assert text.startswith(newline.join(["# Mine", "", "Be kind.", ""]))
    start, stop = text.index(AGENTS_BEGIN), text.index(AGENTS_END)
    path.write_bytes(
        (text[:start] + AGENTS_BEGIN + newline + "old" + newline + text[stop:] + "After." + newline).encode()
    )
    app("init")
    assert path.read_bytes().decode() == text + "After." + newline


def test_settings_of_a_project_stay(app: App, git: Callable[..., str]) -> None:
    app("init")
    (app.folder / ".ontoref/config.yaml").write_text("redact: true\n")
    app("init")
    assert (app.folder / ".ontoref/config.yaml").read_text() == "redact: true\n"


def test_the_settings_and_the_record_that_init_suggests_work(app: App, git: Callable[..., str]) -> None:
    app("init")
    config = app.folder / ".ontoref/config.yaml"
    config.write_text(config.read_text().replace("# actor: Human ", "actor: Human "))
    result = app(
        "interaction",
        "record",
        "--kind",
        "Fix",
        "--domain",
        "Cli",
        "--outcome",
        "Completed",
        "--summary",
        "What was done.",
    )
    assert result.code == 0, result.err
    assert app("interaction", "validate").code == 0


def test_the_way_out_that_a_missing_vocabulary_file_names_is_one(app: App) -> None:
    app("init")
    (app.folder / ".ontoref/schemas/coder.yaml").unlink()
    refused = app("interaction", "validate")
    assert refused.code == 2
    assert "ontoref init" in refused.err
    assert "create" in app("init").out
    assert app("interaction", "validate").code == 0


def test_from_a_folder_inside_it_says_which_project_it_sets_up(app: App, git: Callable[..., str]) -> None:
    inner = app.folder / "deep"
    inner.mkdir()
    assert f"in {app.folder.resolve()}" in app("init", cwd=inner).err
    assert (app.folder / "AGENTS.md").is_file()
    assert app("init").err == ""
