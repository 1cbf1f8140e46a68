"""`ontoref completion`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shells that can be taught."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"
    powershell = "powershell"


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")]) -> int:
    """Print the script that lets a shell complete commands, options and the words of the vocabulary in force.

    \b
    Example:
      bash        eval "$(ontoref completion bash)"                              in ~/.bashrc
      zsh         eval "$(ontoref completion zsh)"                               in ~/.zshrc, after compinit
      fish        ontoref completion fish > ~/.config/fish/completions/ontoref.fish
      PowerShell  ontoref completion powershell | Out-String | Invoke-Expression     in $PROFILE
    """
    from ontoref.cli.shells import script

    print(script(shell.value), end="")
    return 0
