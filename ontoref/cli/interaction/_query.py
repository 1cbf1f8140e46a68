"""From a query's options to its answer on the screen, the same for every row."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from ontoref.cli.interaction._options import QueryOptions
from ontoref.cli.output import Format, emit, note, short_path, tell, write_json
from ontoref.text import counted

if TYPE_CHECKING:
    from ontoref.interaction.query import Skipped
    from ontoref.interaction.question import Question
    from ontoref.interaction.rows import Column, Row
    from ontoref.interaction.where import Condition
    from ontoref.vocabulary import Vocabulary

__all__ = ["emit_rows", "logs_and_words", "question_of", "run_query", "tell_skipped"]

_TABLE_ROWS = 5000
_SHOWN_SKIPPED = 5


def run_query(
    options: QueryOptions,
    row_name: str,
    *,
    paths: Sequence[str] | None = None,
    files: Sequence[str] = (),
    more: Iterable[Condition] = (),
    standing: bool = False,
    called: tuple[str, str] | None = None,
) -> int:
    """Ask, print, and say on stderr how much was looked through. Returns the exit code.

    Shape: paths replaces the options' own, files are globs beside theirs; called is what the footer calls
           one row and several.
    """
    from ontoref.interaction.filters import resolve_columns
    from ontoref.interaction.query import answer
    from ontoref.interaction.rows import ROWS, columns_of

    begun = time.perf_counter()
    logs, vocabulary = logs_and_words(options.paths if paths is None else paths, options.schemas)
    row = ROWS[row_name]
    question = question_of(options, row, vocabulary, files=files, more=more, standing=standing)
    chosen = resolve_columns(options.columns, "--columns", row, vocabulary) if options.columns else None
    found = answer(question, logs, vocabulary, jobs=options.jobs)
    emit_rows(found.rows, options.form, columns_of(row, vocabulary), chosen)
    if options.form in (Format.table, Format.markdown):
        cut = f"{options.limit} of " if options.limit is not None and options.limit < found.found else ""
        took_ms = (time.perf_counter() - begun) * 1000
        one, several = called or (row.singular, row.name)
        records = counted(found.records, "record")
        sys.stdout.flush()
        said = f"{cut}{counted(found.found, one, several)} in {records}"
        if row.name == several == "records":
            said = f"{options.limit if cut else found.found:,} of {records}"
        note(f"{said} ({took_ms:.0f} ms)")
    return tell_skipped(found.skipped)


def question_of(
    options: QueryOptions,
    row: Row,
    vocabulary: Vocabulary,
    *,
    files: Sequence[str] = (),
    more: Iterable[Condition] = (),
    standing: bool = False,
) -> Question:
    """What the options ask about a row. Errors: UsageError."""
    from ontoref.interaction.filters import conditions_of, resolve_columns
    from ontoref.interaction.moments import parse_moment
    from ontoref.interaction.question import Question

    now = datetime.now(UTC)
    given = {"actor": options.actor, "kind": options.kind, "domain": options.domain, "category": options.category}
    given |= {"outcome": options.outcome, "session": options.session}
    conditions = conditions_of(
        row,
        vocabulary,
        where=options.where or (),
        options={name: values or () for name, values in given.items()},
        files=[*(options.file or ()), *files],
        tensions=options.tension or (),
    )
    return Question(
        row,
        conditions=(*conditions, *more),
        since=parse_moment(options.since, now, "--since") if options.since else "",
        until=parse_moment(options.until, now, "--until") if options.until else "",
        history=options.history,
        standing=standing,
        sort=resolve_columns(options.sort, "--sort", row, vocabulary) if options.sort else (),
        reverse=options.reverse,
        limit=options.limit,
    )


def logs_and_words(paths: Sequence[str] | None, schemas: str | None) -> tuple[list[str], Vocabulary]:
    """The logs to read and the vocabulary in force."""
    import os

    from ontoref.interaction.logs import log_paths
    from ontoref.interaction.project import nearest_project
    from ontoref.vocabulary import load

    project = nearest_project(os.getcwd())
    if not paths:
        folder = project.log_folder(project.settings)
        paths = [folder] if os.path.isdir(folder) else []
    return log_paths([_read_once(path) for path in paths]), load(schemas, project.root)


def _read_once(path: str) -> str:
    """The path itself; for stdin and pipes, which can be read only once, that of a file with what they hold."""
    import os
    import stat

    if path == "-":
        return _spooled(sys.stdin.buffer)
    try:
        is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        is_pipe = False
    if not is_pipe:
        return path
    with open(path, "rb") as pipe:
        return _spooled(pipe)


def _spooled(source: BinaryIO) -> str:
    """A file with all that a source gives. It goes when the command ends."""
    import atexit
    import os
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="stdin-", suffix=".jsonl", delete=False) as file:
        atexit.register(os.unlink, file.name)
        shutil.copyfileobj(source, file)
    return file.name


def emit_rows(rows: Iterator[bytes], form: Format, columns: Sequence[Column], chosen: Sequence[str] | None) -> None:
    """Print rows that come as JSON texts. chosen limits them to these paths, in every form."""
    import orjson

    if form in (Format.json, Format.jsonl):
        if chosen is not None:
            rows = (orjson.dumps(_pick(orjson.loads(row), chosen)) for row in rows)
        _emit_texts(rows, as_array=form is Format.json)
        return
    by_path = {column.path: column for column in columns}
    paths = [column.path for column in columns] if chosen is None else list(chosen)
    decoded = (orjson.loads(row) for row in rows)
    if form is Format.csv:
        emit((_pick(row, paths) for row in decoded), form, columns=paths)
        return
    while batch := [_shown(row, paths, by_path) for row in islice(decoded, _TABLE_ROWS)]:
        # A column in which nothing stands only makes the table wider, unless somebody asked for it.
        used = [path for path in paths if chosen is not None or any(row[path] not in (None, [], "") for row in batch)]
        headers = {path: by_path[path].header for path in used if path in by_path}
        emit(batch, form, columns=used, headers=headers)


def _emit_texts(rows: Iterator[bytes], *, as_array: bool) -> None:
    write_json(_array(rows) if as_array else (row + b"\n" for row in rows))
    sys.stdout.buffer.flush()


def _array(rows: Iterator[bytes]) -> Iterator[bytes]:
    """The texts of an array, a piece for each of its items."""
    yield b"["
    for number, row in enumerate(rows):
        yield b"," + row if number else row
    yield b"]\n"


def _pick(row: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    from ontoref.interaction.order import reach

    return {path: row[path] if path in row else reach(row, path) for path in paths}


def _shown(row: Mapping[str, Any], paths: Sequence[str], columns: Mapping[str, Column]) -> dict[str, Any]:
    """The row's cells, times cut to what a person reads."""
    cells = _pick(row, paths)
    for path, column in columns.items():
        value = cells.get(path)
        if column.style and isinstance(value, str):
            cells[path] = value[:10] if column.style == "day" else value[:16].replace("T", " ")
    return cells


def tell_skipped(skipped: Sequence[Skipped]) -> int:
    """Name on stderr the lines that are no records and the files that cannot be read. Returns 1 if there are any."""
    if not skipped:
        return 0
    for line in skipped[:_SHOWN_SKIPPED]:
        number = line.line_number()
        place = short_path(line.path) + (f":{number}" if number else "")
        warning = {"kind": "skipped", "message": line.reason, "location": place}
        tell(f"{place}: skipped: {line.reason}", warning=warning)
    rest = len(skipped) - _SHOWN_SKIPPED
    if rest > 0:
        note(f"… and {rest} more")
    note("ontoref interaction validate tells what is wrong with them")
    return 1
