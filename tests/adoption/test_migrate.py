"""S4-20: the schemas reach a project, again and again, and a local change is never overwritten silently."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ontoref import resources
from ontoref.interaction.adoption import migrate
from ontoref.interaction.adoption.change import Verb, write
from ontoref.interaction.adoption.migrate import MigrationError, migrations, plan, status

NOW = "2026-11-30T12:00:00Z"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what ontoref ships, which a test may change as a new release would."""
    place = tmp_path / "shipped"
    for name in ("schemas", "migrations"):
        shutil.copytree(resources.folder(name), place / name)
    monkeypatch.setattr(resources, "folder", lambda name: str(place / name))
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def apply(project: Path) -> dict[str, Verb]:
    changes = plan(str(project), migrations(), NOW)
    write(str(project), changes)
    return {change.path: change.verb for change in changes}


def release(shipped: Path, old: str, new: str) -> None:
    path = shipped / "schemas/coder.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_project_without_schemas_gets_them_and_a_second_run_changes_nothing(shipped: Path, project: Path) -> None:
    """S4-20: migration 0028 propagates the schemas and is idempotent."""
    assert [entry.state for entry in status(str(project), migrations())] == ["pending"]
    done = apply(project)
    assert done[".ontoref/schemas/interaction.yaml"] is Verb.create
    assert (project / ".ontoref/schemas/coder.yaml").read_bytes() == (shipped / "schemas/coder.yaml").read_bytes()
    assert [entry.state for entry in status(str(project), migrations())] == ["applied"]
    assert apply(project) == {}


def test_a_file_that_is_gone_comes_back_and_the_others_keep_their_changes(shipped: Path, project: Path) -> None:
    apply(project)
    words = project / ".ontoref/schemas/coder.yaml"
    words.write_text(words.read_text() + "# ours\n")
    (project / ".ontoref/schemas/core.yaml").unlink()
    assert [entry.state for entry in status(str(project), migrations())] == ["outdated"]
    assert apply(project)[".ontoref/schemas/core.yaml"] is Verb.create
    assert words.read_text().endswith("# ours\n")
    assert apply(project) == {}


def test_looking_writes_nothing(shipped: Path, project: Path) -> None:
    status(str(project), migrations())
    plan(str(project), migrations(), NOW)
    assert list(project.iterdir()) == []


def test_a_new_release_replaces_a_file_that_the_project_left_alone(shipped: Path, project: Path) -> None:
    apply(project)
    release(shipped, "A fault removed.", "A fault that users met, removed.")
    assert [entry.state for entry in status(str(project), migrations())] == ["outdated"]
    assert apply(project)[".ontoref/schemas/coder.yaml"] is Verb.update
    assert "that users met" in (project / ".ontoref/schemas/coder.yaml").read_text()
    assert apply(project) == {}


def test_a_local_change_and_a_new_release_are_merged(shipped: Path, project: Path) -> None:
    apply(project)
    local = project / ".ontoref/schemas/coder.yaml"
    word = "      - {const: Spike, description: A throw-away experiment.}\n"
    local.write_text(local.read_text().replace("  Domain:\n", f"{word}  Domain:\n", 1))
    release(shipped, "A fault removed.", "A fault that users met, removed.")
    assert apply(project)[".ontoref/schemas/coder.yaml"] is Verb.update
    assert "Spike" in local.read_text()
    assert "that users met" in local.read_text()
    assert apply(project) == {}


def test_a_conflict_leaves_the_file_alone_until_the_person_settles_it(shipped: Path, project: Path) -> None:
    apply(project)
    local = project / ".ontoref/schemas/coder.yaml"
    mine = local.read_text().replace("A fault removed.", "Mine.")
    local.write_text(mine)
    release(shipped, "A fault removed.", "Theirs.")
    for _ in range(2):
        assert apply(project)[".ontoref/schemas/coder.yaml"] is Verb.conflict
        assert local.read_text() == mine
    beside = project / ".ontoref/schemas/coder.yaml.conflict"
    assert "Mine." in beside.read_text()
    assert "Theirs." in beside.read_text()
    assert [entry.state for entry in status(str(project), migrations())] == ["outdated"]
    beside.unlink()
    assert apply(project)[".ontoref/schemas/coder.yaml"] is Verb.keep
    assert local.read_text() == mine
    assert [entry.state for entry in status(str(project), migrations())] == ["applied"]


def test_schemas_copied_by_hand_before_the_first_run_are_not_overwritten(shipped: Path, project: Path) -> None:
    local = project / ".ontoref/schemas/coder.yaml"
    local.parent.mkdir(parents=True)
    mine = (shipped / "schemas/coder.yaml").read_text().replace("A fault removed.", "Mine.")
    local.write_text(mine)
    assert apply(project)[".ontoref/schemas/coder.yaml"] is Verb.conflict
    assert local.read_text() == mine


@pytest.mark.parametrize("text", ["applied: 3\n", "[]\n", "applied:\n  x: 1\n"])
def test_a_broken_ledger_is_an_error_with_its_place(shipped: Path, project: Path, text: str) -> None:
    ledger = project / migrate.LEDGER
    ledger.parent.mkdir()
    ledger.write_text(text)
    with pytest.raises(MigrationError) as caught:
        status(str(project), migrations())
    assert "migrations.yaml" in str(caught.value)
