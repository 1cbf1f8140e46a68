"""What a shell offers at TAB, asked of the shells themselves where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import App

SHELLS = ("bash", "zsh", "fish", "powershell")


def offered(app: App, line: str, shell: str = "bash") -> list[str]:
    """What is offered at the end of a line, as the bash script gets it."""
    told = app(env={"_ONTOREF_COMPLETE": f"{shell}_complete", "COMP_LINE": line})
    assert told.code == 0
    assert told.err == ""
    return [entry.partition(",")[2] for entry in told.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ontoref vocab", ["vocabulary"]),
        ("ontoref interaction rec", ["record", "records"]),
        ("ontoref interaction record --kind F", ["Feature", "Fix"]),
        ("ontoref interaction record --kind=F", ["Feature", "Fix"]),
        ("ontoref interaction records --kind Fix,Fe", ["Fix,Feature"]),
        ("ontoref interaction records --tension simp", ["simplicity-vs-completeness"]),
        ("ontoref interaction decisions --where rever", ["reversible="]),
        ("ontoref interaction decisions --where reversible=", ["true", "false"]),
        ("ontoref interaction decisions --where domain=St", ["Storage"]),
        ("ontoref interaction events --where kind!=Que", ["Question"]),
        ("ontoref interaction records --columns id,outc", ["id,outcome"]),
        ("ontoref interaction records --hist", ["--history"]),
        ("ontoref interaction records --format js", ["json", "jsonl"]),
        ("ontoref interaction template --outcome Com", ["Completed"]),
        ("ontoref vocabulary show Decision", ["DecisionStatus", "Decision"]),
        ("ontoref completion ba", ["bash"]),
        ("ontoref interaction records --where summary=", []),
        ("ontoref interaction record --summary F", []),
        ("ontoref nosuch thing --kind F", []),
        ("ontoref interaction record --kind 'unclosed", []),
    ],
)
def test_words_are_offered_where_they_can_stand(app: App, line: str, words: list[str]) -> None:
    assert offered(app, line) == words


def test_a_word_that_a_project_adds_is_offered_at_once(app: App) -> None:
    """Must hold 5: a copied coder.yaml changes what the shell completes."""
    own = app.folder / ".ontoref" / "schemas"
    _copy_schemas(own)
    coder = own / "coder.yaml"
    member = "      - {const: Fix, description: A fault removed.}\n"
    text = coder.read_text(encoding="utf-8")
    assert member in text
    coder.write_text(text.replace(member, member + member.replace("Fix", "Fizzle")), encoding="utf-8")
    assert offered(app, "ontoref interaction record --kind Fi") == ["Fix", "Fizzle"]
    assert offered(app, f"ontoref interaction record --schemas {_ours()} --kind Fi") == ["Fix"]


def test_a_broken_vocabulary_or_request_is_silent(app: App) -> None:
    own = app.folder / ".ontoref" / "schemas"
    own.mkdir(parents=True)
    assert offered(app, "ontoref interaction record --kind F") == []
    assert offered(app, "ontoref interaction record --kin") == ["--kind"]
    odd = app(env={"_ONTOREF_COMPLETE": "tcsh_complete"})
    assert (odd.code, odd.out, odd.err) == (1, "", "")


def test_a_word_with_a_blank_is_not_offered_since_the_shell_would_split_it(app: App) -> None:
    own = app.folder / ".ontoref" / "schemas"
    _copy_schemas(own)
    core = own / "core.yaml"
    text = core.read_text(encoding="utf-8")
    assert "{const: speed-vs-safety," in text
    core.write_text(text.replace("{const: speed-vs-safety,", '{const: "speed $(touch x)",'), encoding="utf-8")
    assert offered(app, "ontoref interaction record --tension sp") == []


def test_files_are_offered_for_places(app: App) -> None:
    told = app(env={"_ONTOREF_COMPLETE": "bash_complete", "COMP_LINE": "ontoref interaction validate rec"})
    assert told.out == "file,rec\n"
    told = app(env={"_ONTOREF_COMPLETE": "bash_complete", "COMP_LINE": "ontoref interaction record --schemas "})
    assert told.out == "dir,\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_is_printed(app: App, shell: str) -> None:
    told = app("completion", shell)
    assert told.code == 0
    assert "_ONTOREF_COMPLETE" in told.out
    assert f"{shell}_complete" in told.out


def test_an_unknown_shell_is_a_usage_error(app: App) -> None:
    told = app("completion", "tcsh")
    assert told.code == 2
    assert "powershell" in told.err


def test_powershell_gets_word_and_meaning(app: App) -> None:
    env = {"_ONTOREF_COMPLETE": "powershell_complete", "COMP_LINE": "ontoref interaction record --kind Fi"}
    assert app(env=env).out == "Fix\tA fault removed.\n"


def _ours() -> Path:
    from ontoref import resources

    return Path(resources.folder("schemas"))


def _copy_schemas(to: Path) -> None:
    to.mkdir(parents=True)
    for path in _ours().glob("*.yaml"):
        shutil.copy(path, to)


@pytest.fixture
def path_with_ontoref(tmp_path: Path) -> str:
    """A PATH on which `ontoref` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ontoref"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ontoref "$@"\n')
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def _need(shell: str) -> str:
    found = shutil.which(shell)
    if found is None or os.name == "nt":
        pytest.skip(f"{shell} is not here")
    return found


def _typed(command: list[str], path: str, setup: str, keys: str, wanted: str, cwd: Path) -> str:
    """What a shell on a terminal shows once keys are typed; waits for the wanted text."""
    import pty
    import select

    env = {**os.environ, "PATH": path, "TERM": "dumb", "PS1": "$ ", "COLUMNS": "200", "LINES": "50"}
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        command, stdin=secondary, stdout=secondary, stderr=secondary, env=env, cwd=cwd, start_new_session=True
    )
    os.close(secondary)
    shown = b""

    def read_until(text: bytes, start: int) -> int:
        nonlocal shown
        deadline = time.monotonic() + 30
        while text not in shown[start:] and time.monotonic() < deadline:
            if select.select([primary], [], [], 0.2)[0]:
                shown += os.read(primary, 65536)
        return len(shown)

    try:
        # The marker is printed in two parts, so that the echo of the line is not taken for it.
        os.write(primary, f"{setup}; echo rea''dy\n".encode())
        at = read_until(b"ready", 0)
        os.write(primary, keys.encode())
        read_until(wanted.encode(), at)
        return shown[at:].decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(primary)


@pytest.mark.parametrize(
    ("keys", "completed"),
    [
        ("ontoref interaction record --kind Fi\t", "--kind Fix "),
        ("ontoref interaction record --kind=Fi\t", "--kind=Fix "),
        ("ontoref interaction decisions --where domain=Sto\t", "--where domain=Storage "),
        ("ontoref interaction decisions --where reversi\t", "--where reversible="),
        ("ontoref interaction validate some-rec\t", "some-record.jsonl"),
    ],
)
def test_bash_completes_on_a_terminal(app: App, path_with_ontoref: str, keys: str, completed: str) -> None:
    bash = _need("bash")
    (app.folder / "some-record.jsonl").touch()
    command = [bash, "--norc", "--noprofile", "-i"]
    shown = _typed(command, path_with_ontoref, 'eval "$(ontoref completion bash)"', keys, completed, app.folder)
    assert completed in shown
    assert "rror" not in shown


def test_zsh_completes_on_a_terminal(app: App, path_with_ontoref: str) -> None:
    command = [_need("zsh"), "-f", "-i"]
    setup = 'autoload -U compinit && compinit -u -D && eval "$(ontoref completion zsh)"'
    shown = _typed(command, path_with_ontoref, setup, "ontoref vocabulary show Kin\t", "show Kind", app.folder)
    assert "show Kind" in shown


def test_fish_completes(app: App, path_with_ontoref: str) -> None:
    fish = _need("fish")
    line = "ontoref completion fish | source; complete -C 'ontoref interaction record --kind F'"
    done = subprocess.run(
        [fish, "--no-config", "-c", line],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path_with_ontoref},
        cwd=app.folder,
        check=False,
    )
    assert done.stdout.splitlines() == ["Feature\tSomething users can now do.", "Fix\tA fault removed."]
    assert done.stderr == ""
