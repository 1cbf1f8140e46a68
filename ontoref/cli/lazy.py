"""Command groups that import a command only when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

__all__ = ["Entry", "build"]


class Entry(NamedTuple):
    """One line of help and where the command is: a group has commands, a leaf a target `module:function`."""

    help: str
    target: str = ""
    commands: Mapping[str, Entry] = {}


class LazyGroup(TyperGroup):
    """A group over a table of entries; `--help` reads the table, a call imports its one command."""

    entries: Mapping[str, Entry] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        return None if entry is None else build(cmd_name, entry)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        # click's own would import every command to ask whether it is hidden.
        found = [CompletionItem(n, help=e.help) for n, e in self.entries.items() if n.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.entries:
            import difflib

            near = difflib.get_close_matches(args[0], self.entries, 1, 0.6)
            meant = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, entry.help) for name, entry in self.entries.items()]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class Place(click.types.StringParamType):
    """A text that names a file or a folder, so that the shell offers those."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self._kind)]


# Parameters whose values are places, told by what help calls them.
_PLACES = {"FILE": "file", "PATH": "file", "PATH...": "file", "OLD": "file", "NEW": "file", "DIR": "dir"}


class LeafCommand(TyperCommand):
    """A command; an option whose metavar stands in brackets (`[REV]`) may stand without its value, which is then ""."""

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: typer lists arguments among the options, and click from 8.5 on would list them again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        lax = {n for p in self.params if str(getattr(p, "metavar", "") or "").startswith("[") for n in p.opts}
        words: list[str] = []
        for place, word in enumerate(args):
            bare = word in lax and (place + 1 == len(args) or args[place + 1].startswith("-"))
            words.append(f"{word}=" if bare else word)
        return super().parse_args(ctx, words)


def build(name: str, entry: Entry, **settings: Any) -> click.Command:
    """The click command of an entry. A leaf's function is imported here and nowhere earlier."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)
    if entry.target:
        module_name, _, function_name = entry.target.partition(":")
        function = getattr(importlib.import_module(module_name), function_name)
        app.command(name, cls=LeafCommand, context_settings={"help_option_names": ["-h", "--help"]}, **settings)(
            function
        )
        command = typer.main.get_command(app)
        for parameter in command.params:
            if isinstance(parameter, TyperArgument) and parameter.help is None:
                # click from 8.5 on has a help of its own here, and its None overwrites typer's.
                from typer.utils import get_params_from_function

                info = get_params_from_function(function)[str(parameter.name)].default
                parameter.help = getattr(info, "help", None)
            kind = _PLACES.get(str(parameter.metavar or ""))
            if kind is not None and parameter.type is click.STRING:
                parameter.type = Place(kind)
        return command
    app.callback(
        cls=LazyGroup,
        invoke_without_command=False,
        help=entry.help,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )(_group)
    group = typer.main.get_group(app)
    assert isinstance(group, LazyGroup)
    group.entries = entry.commands
    group.name = name
    return group


def _group() -> None:
    """A group does nothing itself."""
