"""The references of docs/, written from what they describe: python scripts/generate_docs.py [--check].

docs/commands.md comes from the commands themselves, docs/vocabulary.md from schemas/. With --check nothing is
written, and a file that is not what would be written makes the exit code 1.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

_NOTE = "<!-- Written by scripts/generate_docs.py; change what it describes, then run it. -->"


def main(words: list[str]) -> int:
    """0, or 1 if --check finds a file that is behind."""
    behind = 0
    for name, lines in {"commands.md": commands(), "vocabulary.md": vocabulary()}.items():
        path = ROOT / "docs" / name
        text = "\n".join(lines).rstrip() + "\n"
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in words:
            behind = 1
            print(f"docs/{name} is behind; run: python scripts/generate_docs.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"docs/{name} written")
    return behind


def commands() -> Iterator[str]:
    """Every command: what it does, how it is called, its options."""
    from ontoref.cli.capabilities import EXIT_CODES
    from ontoref.cli.commands import COMMANDS

    yield from ("# Commands", "", _NOTE, "")
    yield "`ontoref COMMAND --help` says the same in a terminal. Data goes to stdout, talk to stderr; `-` is stdin."
    yield "With `--format json` or `jsonl` what is told on stderr is JSON too, one object a line: `error`, `warning`, `note`."
    yield from ("", "| exit code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    yield from ("", "| command | |", "|---|---|")
    for way, entry in _leaves(COMMANDS):
        name = " ".join(way)
        yield f"| [`{name}`](#ontoref-{name.replace(' ', '-')}) | {entry.help} |"
    for way, entry in _leaves(COMMANDS):
        yield from _command(way, entry)


def _leaves(table: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, entry in table.items():
        if entry.target:
            yield (*way, name), entry
        yield from _leaves(entry.commands, (*way, name))


def _command(way: tuple[str, ...], entry: Any) -> Iterator[str]:
    import click

    from ontoref.cli.lazy import build

    command = build(way[-1], entry)
    path = "ontoref " + " ".join(way)
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option) and "--help" not in p.opts]
    usage = [_usage(argument) for argument in arguments]
    yield from ("", f"## {path}", "", f"`{' '.join([path, *(['[OPTIONS]'] if options else []), *usage])}`", "")
    yield from _prose(command.help or "")
    rows = [(f"`{a.metavar or a.name}`", getattr(a, "help", None) or "") for a in arguments]
    rows += [(_names(option), _meaning(option)) for option in options]
    if rows:
        yield from ("| | |", "|---|---|")
        yield from (f"| {_cell(name)} | {_cell(meaning)} |" for name, meaning in rows)


def _usage(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    given = [*option.opts, *option.secondary_opts]
    if option.is_flag:
        return ", ".join(f"`{name}`" for name in given)
    choices = getattr(option.type, "choices", None)
    value = "\\|".join(str(c) for c in choices) if choices else option.metavar or option.name.upper().replace("_", "-")
    return ", ".join(f"`{name}`" for name in given) + f" `{value}`"


def _meaning(option: Any) -> str:
    text = option.help or ""
    default = getattr(option.default, "value", option.default)
    if option.is_flag or default is None or callable(default) or not isinstance(default, str | int | float):
        return text
    return f"{text} Default: `{default}`."


def _prose(help_text: str) -> Iterator[str]:
    """A docstring as Markdown: blocks after a lone \\b keep their lines."""
    for block in inspect.cleandoc(help_text).split("\n\n"):
        if not block.startswith("\b"):
            yield from (block, "")
            continue
        lines = block.removeprefix("\b").strip("\n").split("\n")
        if lines[0].rstrip().endswith(":") and not lines[0].startswith(" "):
            lines = lines[1:]
        body = inspect.cleandoc("\n" + "\n".join(lines)).split("\n")
        yield from ("```", *body, "```", "")


def _cell(text: str) -> str:
    return " ".join(text.replace("\\|", "|").replace("|", "\\|").split())


def vocabulary() -> Iterator[str]:
    """Every enum, noun, field and shape of the vocabulary that ships with ontoref."""
    from ontoref.vocabulary import load

    words = load(os.path.join(ROOT, "schemas"))
    yield from ("# Vocabulary", "", _NOTE, "")
    yield "The words and shapes that ship with ontoref, in `schemas/`. A project may own and extend a copy"
    yield "([how](vocabulary-guide.md)); `ontoref vocabulary list` and `show NAME` print what is in force."
    yield "Prose stands in three fields and is never a filter; a label is one line and is filtered by equality only."
    for document, content in words.documents.items():
        yield from ("", f"## {document}", "", _cell(content.get("description", "")))
        defined = content.get("$defs", {})
        for name, shape in defined.items():
            yield from ("", f"### {name}", "", _cell(shape.get("description", "")))
            enum = words.enums.get(name)
            if enum is not None and enum.document == document:
                yield from ("", "| word | meaning |", "|---|---|")
                yield from (f"| `{member.name}` | {_cell(_of_member(member))} |" for member in enum.members)
            elif shape.get("type") == "object":
                yield from _fields(words, name)
            else:
                yield from _shape(shape)


def _of_member(member: Any) -> str:
    instead = f", write `{member.replaced_by}`" if member.replaced_by else ""
    return f"{member.description} (deprecated{instead})" if member.deprecated else member.description


def _fields(words: Any, name: str) -> Iterator[str]:
    facets = [facet for facet in words.noun(name).values() if "." not in facet.path]
    if not facets:
        return
    yield from ("", "| field | type | required | meaning |", "|---|---|---|---|")
    for facet in facets:
        kind = facet.enum or facet.noun
        shown = f"[{kind}](#{kind.lower()})" if kind else _plain_type(facet)
        several = "list of " if facet.many else ""
        needed = "yes" if facet.required else ""
        more = " (open: other words are accepted with a warning)" if facet.open else ""
        yield f"| `{facet.path}` | {several}{shown} | {needed} | {_cell(facet.description + more)} |"


def _plain_type(facet: Any) -> str:
    if facet.prose:
        return "prose"
    return "label" if facet.label else facet.format or facet.type


def _shape(shape: Any) -> Iterator[str]:
    limits = [f"{key} {shape[key]}" for key in ("format", "minLength", "maxLength") if key in shape]
    if limits:
        yield from ("", f"{', '.join(limits)}.")
    patterns = [shape.get("pattern"), *(branch.get("pattern") for branch in shape.get("anyOf", ()))]
    for pattern in filter(None, patterns):
        yield from ("", "```", pattern, "```")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
