"""The references of docs/ say what the program does."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.checkout


def test_the_references_are_not_behind() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "generate_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_parameter_of_every_command_says_what_it_is() -> None:
    import click

    from ontoref.cli.commands import COMMANDS
    from ontoref.cli.lazy import Entry, build

    silent: list[str] = []

    def walk(name: str, entry: Entry) -> None:
        if entry.target:
            command = build(name, entry)
            assert command.help, name
            assert "Example" in command.help, name
            for parameter in command.params:
                if isinstance(parameter, click.Option | click.Argument) and not getattr(parameter, "help", None):
                    silent.append(f"{name}: {parameter.name}")
        for inner, below in entry.commands.items():
            walk(f"{name} {inner}", below)

    for name, entry in COMMANDS.items():
        walk(name, entry)
    assert silent == []


def test_every_link_of_the_docs_leads_somewhere() -> None:
    missing = []
    for path in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            place = target.partition("#")[0]
            if place and "://" not in place and not (path.parent / place).exists():
                missing.append(f"{path.relative_to(ROOT)}: {target}")
    assert missing == []
