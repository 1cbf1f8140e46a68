"""`ontoref interaction show`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from ontoref.cli.output import Format

__all__ = ["show"]


def show(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="A record's id, its beginning, or a decision's id.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Logs: files, folders or globs. None: the project's own.", metavar="PATH..."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.table,
) -> int:
    """A whole record, or every entry of a decision, newest first, each with its reasons and its session.

    \b
    Example:
      ontoref interaction show 01JE4Q8Z
      ontoref interaction show jsonl-as-instance-store
    """
    from ontoref.cli.interaction._query import logs_and_words, tell_skipped
    from ontoref.cli.output import emit, emit_json
    from ontoref.interaction.lookup import NotFound, look_up
    from ontoref.interaction.query import skipped_of
    from ontoref.interaction.rows import header_fields

    logs, vocabulary = logs_and_words(paths, None)
    skipped: set[tuple[int, int]] = set()
    try:
        found = look_up(wanted, logs, skipped)
    except NotFound:
        # It may stand in what could not be read.
        tell_skipped(skipped_of(skipped, logs))
        raise
    fields = header_fields(vocabulary)
    rows: list[dict[str, Any]] = [dict(record) for record in found.records]
    for entry in found.entries:
        header = {name: entry.record[name] for name in fields if name in entry.record}
        rows.append({**entry.decision, "record": header})
    if form is Format.json:
        emit_json(rows if found.entries or len(rows) > 1 else rows[0])
    elif form is Format.table:
        blocks = [_entry(e.decision, e.record, e.superseded_by) for e in found.entries]
        blocks += [_record(record, found.superseded_by) for record in found.records]
        print("\n\n".join("\n".join(block) for block in blocks))
    else:
        emit(rows, form, columns=list(dict.fromkeys(name for row in rows for name in row)))
    return tell_skipped(skipped_of(skipped, logs))


def _entry(decision: Mapping[str, Any], record: Mapping[str, Any], superseded_by: tuple[str, ...]) -> list[str]:
    names = ("recorded_at", "session_id", "actor", "kind", "domain", "outcome")
    context = "  ".join(_text(record[name]) for name in names if name in record)
    lines = [f"{_text(decision.get('id'))}  {context}"]
    shown = {**{key: value for key, value in decision.items() if key != "id"}, "record": record.get("id")}
    return lines + list(_fields(shown, superseded_by))


def _record(record: Mapping[str, Any], superseded_by: tuple[str, ...]) -> list[str]:
    return list(_fields(record, superseded_by))


def _fields(values: Mapping[str, Any], superseded_by: tuple[str, ...]) -> Iterator[str]:
    """Each field on a line of its own, the parts of an array below one another."""
    shown = dict(values) | ({"superseded by": list(superseded_by)} if superseded_by else {})
    width = max((len(_text(name)) for name in shown), default=0)
    for name, value in shown.items():
        label = f"  {_text(name):<{width}}  "
        if isinstance(value, list) and any(isinstance(part, dict) for part in value):
            for number, part in enumerate(value):
                yield (label if number == 0 else " " * len(label)) + _part(part)
        else:
            yield from _wrapped(label, _text(value))


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return _text(part)
    return "  ".join(f"{_text(name)}={_text(value)}" for name, value in part.items())


def _wrapped(label: str, text: str) -> Iterator[str]:
    import shutil
    import textwrap

    width = max(40, min(100, shutil.get_terminal_size().columns) - len(label))
    lines = [line for paragraph in text.split("\n") for line in textwrap.wrap(paragraph, width) or [""]]
    for number, line in enumerate(lines or [""]):
        yield (label if number == 0 else " " * len(label)) + line


def _text(value: Any) -> str:
    """A value for people, free of characters that steer a terminal; its line breaks are kept."""
    from ontoref.text import printable

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, dict):
        return _part(value)
    return printable("" if value is None else str(value), keep="\n")
