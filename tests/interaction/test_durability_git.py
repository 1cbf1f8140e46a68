"""The log and git, for real: branches, worktrees and resumed sessions merge without conflict and lose nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import App

OPTIONS = ["--kind", "Fix", "--domain", "Cli", "--outcome", "Completed", "--summary", "x"]
AGENT = {"CLAUDECODE": "1", "ONTOREF_SESSION_ID": "s-42"}
Git = Callable[..., str]


class Team:
    """A repository and people who record in it and commit what they recorded."""

    def __init__(self, app: App, git: Git) -> None:
        self.app = app
        self.git = git
        self.told: list[str] = []
        self.commits = 0
        git("commit", "-q", "--allow-empty", "-m", "first")

    def work(self, cwd: Path | None = None, session: str = "s-42", times: int = 2) -> None:
        """Record some and commit them together with a change."""
        folder = cwd or self.app.folder
        for _ in range(times):
            done = self.app("interaction", "record", *OPTIONS, "--session", session, env=AGENT, cwd=folder)
            assert done.code == 0, done.err
            self.told.append(done.out.split()[0])
        self.commits += 1
        (folder / f"file-{self.commits}").write_text("work")
        self.git("add", "-A", cwd=folder)
        self.git("commit", "-qm", f"work {self.commits}", cwd=folder)

    def check(self, *, strict: bool = True) -> None:
        """Every record is there once, and the log is clean."""
        done = self.app("interaction", "records", "--format", "json", "--history")
        assert sorted(record["id"] for record in json.loads(done.out)) == sorted(self.told)
        done = self.app("interaction", "validate", *(["--strict"] if strict else []))
        assert done.code == 0, done.out + done.err
        assert "<<<<" not in "".join(p.read_text() for p in self.app.folder.rglob("*.jsonl"))


@pytest.fixture
def team(app: App, git: Git) -> Team:
    return Team(app, git)


def merge(git: Git, branch: str) -> None:
    git("merge", "-q", "--no-edit", branch)


def squash(git: Git, branch: str) -> None:
    git("merge", "-q", "--squash", branch)
    git("commit", "-qm", f"squashed {branch}")


def rebase(git: Git, branch: str) -> None:
    git("checkout", "-q", branch)
    git("rebase", "-q", "main")
    git("checkout", "-q", "main")
    git("merge", "-q", "--ff-only", branch)


def pick(git: Git, branch: str) -> None:
    git("cherry-pick", f"main..{branch}")


WAYS = [merge, squash, rebase, pick]


@pytest.mark.parametrize("way", WAYS)
def test_one_session_on_two_branches(team: Team, way: Callable[[Git, str], None]) -> None:
    team.git("checkout", "-q", "-b", "feature")
    team.work()
    team.work()
    team.git("checkout", "-q", "main")
    team.work()
    way(team.git, "feature")
    team.check()
    assert len(list(team.app.folder.rglob("*.jsonl"))) == 2


@pytest.mark.parametrize("way", WAYS)
def test_two_worktrees(team: Team, tmp_path: Path, way: Callable[[Git, str], None]) -> None:
    """The same session, started in one worktree and gone on with in another, and a second one beside it."""
    other = tmp_path / "other"
    team.git("worktree", "add", "-q", "-b", "feature", str(other))
    team.work()
    team.work(cwd=other)
    team.work(cwd=other, session="s-43")
    team.work()
    assert not (team.app.folder / ".ontoref").samefile(other / ".ontoref")
    team.git("checkout", "-q", "--detach", cwd=other)
    way(team.git, "feature")
    team.check()


@pytest.mark.parametrize("way", WAYS)
def test_a_session_resumed_on_a_new_branch(team: Team, way: Callable[[Git, str], None]) -> None:
    for branch in ("one", "two", "three"):
        team.git("checkout", "-q", "-b", branch)
        team.work()
        team.git("checkout", "-q", "main")
        way(team.git, branch)
    team.check()


@pytest.mark.parametrize("way", WAYS)
def test_a_session_resumed_on_its_branch_after_that_was_merged(team: Team, way: Callable[[Git, str], None]) -> None:
    """Both sides know the file and one has gone on with it; after a squash git sees no common history. What `init`
    writes into .gitattributes lets git take the lines of both."""
    assert team.app("init").code == 0
    team.git("add", "-A")
    team.git("commit", "-qm", "init")
    team.git("checkout", "-q", "-b", "feature")
    team.work()
    team.git("checkout", "-q", "main")
    way(team.git, "feature")
    team.work()
    team.git("checkout", "-q", "feature")
    before = team.git("rev-parse", "HEAD").strip()
    team.work()
    team.git("checkout", "-q", "main")
    if way is pick:
        team.git("cherry-pick", f"{before}..feature")
    else:
        way(team.git, "feature")
    team.check()


def test_two_people_on_one_branch(team: Team, tmp_path: Path) -> None:
    """Two clones, two sessions, the same branch: pulled with and without a rebase."""
    for name, words in (("clone", ["--no-rebase"]), ("clone-2", ["--rebase"])):
        clone = tmp_path / name
        team.git("clone", "-q", str(team.app.folder), str(clone))
        team.work(session=f"here-{name}")
        team.work(cwd=clone, session=f"there-{name}")
        team.git("pull", "-q", "--no-edit", *words, cwd=clone)
        team.git("pull", "-q", "--ff-only", str(clone), "main")
    team.check()


def test_a_detached_head_records_too(team: Team) -> None:
    team.work()
    team.git("checkout", "-q", "--detach")
    team.work()
    team.git("checkout", "-q", "main")
    team.git("merge", "-q", "--no-edit", "@{-1}")
    team.check()


@pytest.mark.parametrize("prepared", [True, False], ids=["after init", "without init"])
def test_autocrlf_does_no_harm(team: Team, tmp_path: Path, prepared: bool) -> None:
    """With init the log keeps its line ends; without it they change, which earns warnings and loses nothing."""
    if prepared:
        assert team.app("init").code == 0
    team.work()
    clone = tmp_path / "clone"
    team.git("clone", "-q", "-c", "core.autocrlf=true", str(team.app.folder), str(clone))
    (path,) = clone.rglob("s-42-*.jsonl")
    assert (b"\r\n" in path.read_bytes()) is not prepared
    team.work(cwd=clone)
    assert team.app("interaction", "validate", "--format", "json", cwd=clone).code == 0
    team.git("pull", "-q", "--ff-only", str(clone), "main")
    team.check()
    assert b"\r" not in b"".join(p.read_bytes() for p in team.app.folder.rglob("*.jsonl"))
