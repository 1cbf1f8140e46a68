"""The command line as programs see it: pinned, so that a change of the contract is a decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App

GOLDEN = Path(__file__).parent / "capabilities.json"


def summary(described: dict[str, Any]) -> dict[str, Any]:
    """What the contract is: names, options and formats; help texts may be bettered."""
    return {
        "commands": {
            command["name"]: {"options": sorted(command["options"]), "formats": command["formats"]}
            for command in described["commands"]
        },
        "exit_codes": sorted(described["exit_codes"]),
        "rules": sorted(described["rules"]),
    }


def test_the_contract_is_the_pinned_one(app: App, request: pytest.FixtureRequest) -> None:
    """Write it anew with: python -m pytest tests/test_capabilities.py --write-golden, and read the difference."""
    result = app("capabilities", "--format", "json")
    assert result.code == 0, result.err
    now = summary(json.loads(result.out))
    if request.config.getoption("--write-golden"):
        GOLDEN.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    assert now == json.loads(GOLDEN.read_text())


def test_every_command_says_what_it_takes(app: App) -> None:
    for command in json.loads(app("capabilities", "--format", "json").out)["commands"]:
        assert command["help"], command["name"]
        for name, option in command["options"].items():
            assert option["help"], f"{command['name']} {name}"
