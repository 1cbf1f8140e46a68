"""From a decision to an ADR: ranked by typed fields, promoted once, numbered once on every branch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import ROOT, App

Git = Callable[..., str]


@pytest.fixture
def project(app: App, git: Git) -> App:
    """A repository with a log of four decisions in it."""
    record(app, "s1", {"id": "one-store", "reversible": False, "alternatives_rejected": ["two", "three"]})
    record(app, "s2", {"id": "one-store", "reversible": False, "tensions_engaged": ["speed-vs-safety"]})
    record(app, "s3", {"id": "small-thing", "reversible": True})
    record(app, "s3", {"id": "not-flagged", "reversible": False, "adr_candidate": False})
    git("add", "-A")
    git("commit", "-q", "-m", "log")
    return app


def record(app: App, session: str, decision: dict[str, Any]) -> None:
    body = {
        "kind": "Design",
        "domain": "Storage",
        "outcome": "Completed",
        "actor": "Human",
        "summary": "Thought *hard* about <it>.",
        "session_id": session,
        "decisions": [{"adr_candidate": True, "rationale": "Because.", **decision}],
    }
    done = app("interaction", "record", "-", stdin=json.dumps(body))
    assert done.code == 0, done.err


def ranked(app: App) -> list[dict[str, Any]]:
    return list(json.loads(app("adr", "candidates", "--format", "json").out))


def test_candidates_are_ranked_with_reasons_from_typed_fields(project: App) -> None:
    first, second = ranked(project)
    assert (first["id"], second["id"]) == ("one-store", "small-thing")
    assert {reason["kind"] for reason in first["reasons"]} == {"irreversible", "recurring", "contested", "tension"}
    assert first["times"] == first["sessions"] == 2
    assert second["reasons"] == []
    assert "rationale" not in first


def test_records_that_are_none_of_the_vocabulary_stop_no_ranking(project: App) -> None:
    """A log may hold what was recorded unchecked: values of another type, times of another spelling."""
    odd = {"id": ["x"], "session_id": {"a": 1}, "recorded_at": 7, "decisions": [{"id": "odd", "adr_candidate": True}]}
    odd["decisions"].append({"id": "one-store", "adr_candidate": True, "status": ["Accepted"]})
    (project.folder / ".ontoref" / "interactions" / "odd.jsonl").write_text(json.dumps(odd) + "\n")
    assert {row["id"] for row in ranked(project)} == {"one-store", "small-thing", "odd"}


def test_prose_never_changes_the_ranking(project: App) -> None:
    before = ranked(project)
    for path in project.folder.rglob("*.jsonl"):
        path.write_text(path.read_text().replace("Because.", "irreversible security disaster"))
    assert ranked(project) == before


def test_a_promotion_writes_the_file_and_the_record_and_the_candidate_leaves(project: App) -> None:
    done = project("adr", "promote", "one-store", "--actor", "Human")
    assert done.code == 0, done.err
    text = (project.folder / "docs/adr/0001-one-store.md").read_text()
    assert "<!-- ontoref:decision one-store -->" in text
    assert "- two\n- three\n" in text
    assert r"Thought \*hard\* about \<it\>." in text, "record text carries no markup"
    assert [row["id"] for row in ranked(project)] == ["small-thing"]
    row = json.loads(project("interaction", "decisions", "--where", "adr=ADR-0001", "--format", "json").out)[0]
    assert (row["id"], row["status"]) == ("one-store", "Accepted")
    assert project("interaction", "validate").code == 0
    assert project("adr", "check").code == 0
    again = project("adr", "promote", "one-store", "--actor", "Human")
    assert again.code == 1
    assert "already" in again.err


def test_a_promotion_that_cannot_be_recorded_leaves_no_file(project: App) -> None:
    done = project("adr", "promote", "one-store", "--actor", "Nobody")
    assert done.code == 1
    assert not list(project.folder.rglob("docs/adr/*.md"))


def test_a_number_is_free_on_every_branch(project: App, git: Git) -> None:
    git("switch", "-q", "-c", "other")
    project("adr", "promote", "one-store", "--actor", "Human")
    git("add", "-A")
    git("commit", "-q", "-m", "adr")
    git("switch", "-q", "main")
    refused = project("adr", "promote", "small-thing", "--number", "1", "--actor", "Human")
    assert refused.code == 1
    assert "free: 2" in refused.err
    done = project("adr", "promote", "small-thing", "--actor", "Human")
    assert "ADR-0002" in done.out


def test_two_branches_with_one_number_are_noticed(project: App, git: Git) -> None:
    """A clone that never fetched the other branch takes the same number; the merge is noticed, before and after."""
    clone = project.folder.parent / "clone"
    git("clone", "-q", str(project.folder), str(clone), cwd=project.folder.parent)
    project("adr", "promote", "one-store", "--actor", "Human")
    project("adr", "promote", "small-thing", "--actor", "Human", cwd=clone)
    for place in (project.folder, clone):
        git("add", "-A", cwd=place)
        git("commit", "-q", "-m", "adr", cwd=place)
    assert project("adr", "check").code == 0
    git("fetch", "-q", str(clone), "main:refs/remotes/clone/main")
    seen = project("adr", "check")
    assert seen.code == 1
    assert "number-on-branches" in seen.out
    git("merge", "-q", "--no-edit", "refs/remotes/clone/main")
    merged = project("adr", "check")
    assert merged.code == 1
    assert "number-twice" in merged.out


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param(lambda text: None, "adr-missing", id="the file is gone"),
        pytest.param(
            lambda text: text.replace("decision one-store", "decision small-thing"), "decision-differs", id="other"
        ),
    ],
)
def test_what_does_not_fit_is_named(project: App, change: Callable[[str], str | None], rule: str) -> None:
    project("adr", "promote", "one-store", "--actor", "Human")
    path = project.folder / "docs/adr/0001-one-store.md"
    text = change(path.read_text())
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    result = project("adr", "check")
    assert result.code == 1
    assert rule in result.out


@pytest.mark.checkout
def test_our_own_adrs_and_examples_fit(app: App, git: Git) -> None:
    shutil.copytree(ROOT / "docs/adr", app.folder / "docs/adr")
    shutil.copytree(ROOT / "examples/interactions", app.folder / ".ontoref/interactions")
    result = app("adr", "check")
    assert result.code == 0, result.out
