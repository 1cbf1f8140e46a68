"""How each shell asks what can stand at the cursor, and how it is answered."""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

from ontoref.text import printable

__all__ = ["SHELLS", "VARIABLE", "answer", "script"]

PROGRAM = "ontoref"
# Set by the scripts: `bash_complete` asks what can stand at the cursor.
VARIABLE = "_ONTOREF_COMPLETE"

# Words are split by us and not by bash, which splits at = and : too and so hides what is being typed.
_BASH = """\
%(complete_func)s() {
    local line type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value"); [[ $value != *= ]] || compopt -o nospace ;;
        esac
    done < <(COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($word, $ast, $cursor)
    $typed = $ast.ToString()
    if ($cursor -gt $typed.Length) { $typed = $typed.PadRight($cursor) } else { $typed = $typed.Substring(0, $cursor) }
    $env:%(complete_var)s = 'powershell_complete'
    $env:COMP_LINE = $typed
    try {
        %(prog_name)s 2>$null | ForEach-Object {
            $value, $help = $_ -split "`t", 2
            if (-not $help) { $help = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
        }
    } finally {
        Remove-Item Env:%(complete_var)s, Env:COMP_LINE -ErrorAction SilentlyContinue
    }
}
"""


class _OurItems(ShellComplete):
    """Items as every shell wants them: one line, whole words, files where a parameter is a place."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        option, equals, _ = incomplete.partition("=")
        before = f"{option}=" if equals and option.startswith("--") else ""
        found = []
        for item in super().get_completions(list(args), incomplete):
            if item.type != "plain":
                found.append(item)
                continue
            # A word with a blank or a control character would become several, or steer the terminal.
            if item.value == printable(item.value) and not any(c.isspace() for c in item.value):
                found.append(CompletionItem(before + item.value, help=printable(item.help or "") or None))
        return found


class _FromLine(_OurItems):
    """A shell that hands over the line up to the cursor."""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)[1:]
        if words and not line[-1:].isspace():
            return words[:-1], words[-1]
        return words, ""


class _Bash(_FromLine):
    name = "bash"
    source_template = _BASH

    def complete(self) -> str:
        args, incomplete = self.get_completion_args()
        # What bash takes for the word at the cursor begins after the last of its break characters.
        breaks = os.environ.get("COMP_BREAKS", "=:")
        cut = max((incomplete.rfind(character) + 1 for character in "=:" if character in breaks), default=0)
        lines = []
        for item in self.get_completions(args, incomplete):
            keep = cut if item.value.startswith(incomplete[:cut]) else 0
            lines.append(f"{item.type},{item.value[keep:]}")
        return "\n".join(lines)


class _Zsh(_OurItems, ZshComplete):
    pass


class _Fish(_OurItems, FishComplete):
    pass


class _PowerShell(_FromLine):
    name = "powershell"
    source_template = _POWERSHELL

    def complete(self) -> str:
        # Without an answer PowerShell offers files by itself.
        items = self.get_completions(*self.get_completion_args())
        return "\n".join(f"{item.value}\t{item.help or ''}" for item in items if item.type == "plain")


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish, "powershell": _PowerShell}


def script(shell: str) -> str:
    """What a shell has to read so that it completes our commands. Shape: shell is a key of SHELLS."""
    return SHELLS[shell](click.Command(PROGRAM), {}, PROGRAM, VARIABLE).source().strip() + "\n"


def answer(root: click.Command, request: str) -> int:
    """Print what can stand at the cursor; nothing if that cannot be told. Returns 0, or 1 for no request of ours."""
    import sys

    shell, _, wish = request.rpartition("_")
    if shell not in SHELLS or wish != "complete":
        return 1
    with open(os.devnull, "w") as silence:
        # Whatever goes wrong: the person is in the middle of a line.
        sys.stderr, told = silence, sys.stderr
        try:
            text = SHELLS[shell](root, {}, PROGRAM, VARIABLE).complete()
        except Exception:
            text = ""
        finally:
            sys.stderr = told
    if text:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()
    return 0
