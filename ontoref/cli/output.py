"""Rows of data on stdout, in whichever form was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from ontoref.text import printable, printable_json, shorten

__all__ = [
    "Format",
    "TextFormat",
    "csv_text",
    "emit",
    "emit_json",
    "note",
    "short_path",
    "table",
    "tell",
    "write_json",
    "write_out",
]


# How wide a cell is at most.
_WIDTH = 60
# Longer than any id: three of them, joined as a sub-agent's sub-agent has them.
_LONGEST_WORD = 160


class Format(StrEnum):
    """The forms of a listing. Each is a contract: json is one array, jsonl one object a line."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    markdown = "markdown"


class TextFormat(StrEnum):
    """The forms of what is no listing: text for people, json and jsonl as in Format."""

    text = "text"
    json = "json"
    jsonl = "jsonl"


def emit(
    rows: Iterable[Mapping[str, Any]],
    form: Format,
    *,
    columns: Sequence[str],
    headers: Mapping[str, str] | None = None,
    whole: bool = False,
) -> None:
    """Print rows to stdout.

    Shape: json and jsonl print each row whole; the others print the columns named, a dotted name reaching
           into nested objects, lists joined with ", ", true as yes and false as no. whole cuts no cell.
    """
    if form is Format.json:
        emit_json(list(rows))
    elif form is Format.jsonl:
        for row in rows:
            emit_json(row)
    elif form is Format.csv:
        on_terminal = sys.stdout.isatty()
        for line in csv_text(rows, columns):
            sys.stdout.write(printable(line, keep="\n") if on_terminal else line)
    else:
        sys.stdout.write(
            table(rows, columns, headers or {}, markdown=form is Format.markdown, width=0 if whole else _WIDTH)
        )


def emit_json(value: Any) -> None:
    """Print one JSON value and a newline to stdout, keys in their own order."""
    import orjson

    try:
        text = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # The name of a file may be no UTF-8.
        text = orjson.dumps(_in_utf8(value), option=orjson.OPT_APPEND_NEWLINE)
    write_json((text,))
    sys.stdout.buffer.flush()


def _in_utf8(value: Any) -> Any:
    """The value, its texts showing by their bytes what is no UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_in_utf8(key): _in_utf8(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_utf8(item) for item in value]
    return value


def write_json(texts: Iterable[bytes]) -> None:
    """Put JSON texts on stdout as they are; on a terminal, characters that could steer it are escaped."""
    if sys.stdout.isatty():
        texts = (printable_json(text.decode("utf-8", "replace")).encode() for text in texts)
    sys.stdout.buffer.writelines(texts)


def note(text: str) -> None:
    """Say something on stderr: to a person as it is, to a program as `{"note": text}`."""
    tell(text, note=text)


def tell(text: str, **fields: Any) -> None:
    """Say something on stderr: to a person the text, to a program the fields, one JSON object a line.

    Shape: a program is who asked the running command for json or jsonl.
    """
    import click

    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("form") in (Format.json, Format.jsonl):
        import orjson

        sys.stderr.write(orjson.dumps(fields).decode() + "\n")
    else:
        sys.stderr.write(printable(text, keep="\n\t") + "\n")


def write_out(pieces: Iterable[str], path: str | None) -> None:
    """Print pieces of text to stdout or to a file, which is complete or as it was before.

    Shape:  what is no plain file, such as a pipe or a device, is written to as it is.
    Errors: UsageError if the file cannot be written.
    """
    if path is None:
        on_terminal = sys.stdout.isatty()
        for piece in pieces:
            sys.stdout.write(printable_json(piece) if on_terminal else piece)
        sys.stdout.flush()
        return
    from contextlib import ExitStack

    from ontoref.errors import UsageError
    from ontoref.replacing import replacing

    plain = os.path.isfile(path) or not os.path.exists(path)
    with ExitStack() as stack:
        try:
            place = stack.enter_context(replacing(path)) if plain else path
            file = stack.enter_context(open(place, "w", encoding="utf-8", errors="backslashreplace", newline="\n"))
        except OSError as error:
            raise UsageError(f"it cannot be written: {error.strerror}", location=path) from None
        file.writelines(pieces)


def short_path(path: str) -> str:
    """A path as people type it: relative and with `/` where it lies below the current folder."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path
    return path if relative.startswith(os.pardir) else relative.replace(os.sep, "/")


def table(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    headers: Mapping[str, str],
    *,
    markdown: bool = False,
    width: int = _WIDTH,
) -> str:
    """The rows laid out for people, ending in a newline; "" without rows.

    Shape: what is longer than width, if there is one, is cut: text at its end, a path at its beginning. An id or a hash is to be copied
           and stays whole.
    """
    from tabulate import tabulate

    cells = [[_cell(row, column, width, markdown=markdown) for column in columns] for row in rows]
    if not cells:
        return ""
    names = [headers.get(column, column) for column in columns]
    form = "github" if markdown else "plain"
    return tabulate(cells, names, tablefmt=form, disable_numparse=True, colalign=_alignment(rows, columns)) + "\n"


def _alignment(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[str] | None:
    if not isinstance(rows, Sequence):
        return None
    numeric = (int, float)
    return [
        "right" if all(isinstance(v := _reach(row, c), numeric) and not isinstance(v, bool) for row in rows) else "left"
        for c in columns
    ]


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The rows as CSV, one line a piece, a heading first; cells that a spreadsheet would run are guarded."""
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        writer.writerow([_guard(_plain(_reach(row, column))) for column in columns])
    yield buffer.getvalue()


def _guard(text: str) -> str:
    """A spreadsheet takes a cell that begins so for a formula; an apostrophe keeps it text."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _cell(row: Mapping[str, Any], column: str, width: int, *, markdown: bool) -> str:
    text = printable(_plain(_reach(row, column)))
    if markdown:
        return text.replace("|", "\\|")
    if not width or len(text) <= width or any(c in text for c in ' "{['):
        return (shorten(text, width) if width else text) or "—"
    if "/" in text or "\\" in text:
        return "…" + text[1 - width :]
    return shorten(text, _LONGEST_WORD)


def _reach(row: Mapping[str, Any], column: str) -> Any:
    if column in row:
        return row[column]
    value: Any = row
    for part in column.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, Mapping):
        import orjson

        return orjson.dumps(value).decode()
    return str(value)
