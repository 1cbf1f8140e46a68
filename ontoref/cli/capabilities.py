"""`ontoref capabilities`: the command line described for programs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import click
import typer

EXIT_CODES = {
    "0": "yes",
    "1": "it ran and the answer is no: violations, findings, not found",
    "2": "it could not run: usage, missing file, broken vocabulary, lock, database",
    "3": "a bug of ontoref, with a report to paste",
    "130": "interrupted",
}


class CapabilityForm(StrEnum):
    """The forms of the description."""

    text = "text"
    json = "json"


def capabilities(
    form: Annotated[CapabilityForm, typer.Option("--format", help="How to print it.")] = CapabilityForm.text,
) -> int:
    """Describe every command, its options and formats, the exit codes and the rule ids, for programs.

    \b
    Example:
      ontoref capabilities --format json | jq '.commands[].name'
    """
    from ontoref.cli.output import emit_json

    described = describe()
    if form is CapabilityForm.json:
        emit_json(described)
        return 0
    for command in described["commands"]:
        print(f"{command['name']:<34}{command['help']}")
    print()
    for code, meaning in EXIT_CODES.items():
        print(f"exit {code:<5}{meaning}")
    return 0


def describe() -> dict[str, Any]:
    """Shape: {version, commands: [{name, help, arguments, options, formats}], exit_codes, rules, error}."""
    from ontoref import __version__
    from ontoref.cli.commands import COMMANDS
    from ontoref.cli.lazy import Entry
    from ontoref.interaction.rules import RULES

    root = Entry("", commands=COMMANDS)
    return {
        "version": __version__,
        "commands": [_command(name, entry) for name, entry in _leaves(root, ())],
        "exit_codes": EXIT_CODES,
        "rules": {name: rule.description for name, rule in RULES.items()},
        "error": {"on": "stderr, with --format json", "fields": ["kind", "message", "hint", "location"]},
    }


def _leaves(entry: Any, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if entry.target:
        yield way, entry
    for name, inner in entry.commands.items():
        yield from _leaves(inner, (*way, name))


def _command(way: tuple[str, ...], entry: Any) -> dict[str, Any]:
    from ontoref.cli.lazy import build

    command = build(way[-1], entry)
    options: dict[str, Any] = {}
    arguments: list[dict[str, Any]] = []
    formats: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            names = [*parameter.opts, *parameter.secondary_opts]
            options[max(names, key=len)] = {
                "names": names,
                "help": parameter.help or "",
                "repeatable": parameter.multiple,
                "flag": parameter.is_flag,
                "choices": list(getattr(parameter.type, "choices", ())),
            }
            if "--format" in names:
                formats = [str(choice) for choice in getattr(parameter.type, "choices", ())]
        else:
            arguments.append(
                {"name": parameter.name, "required": parameter.required, "repeatable": parameter.nargs != 1}
            )
    return {
        "name": "ontoref " + " ".join(way),
        "help": entry.help,
        "arguments": arguments,
        "options": options,
        "formats": formats,
    }
