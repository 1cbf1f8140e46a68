"""`ontoref interaction export`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoref.errors import MissingExtra, UsageError
from ontoref.replacing import replacing

if TYPE_CHECKING:
    from ontoref.vocabulary import Vocabulary


class ExportForm(StrEnum):
    """The formats of others."""

    agent_trace = "agent-trace"
    otlp_json = "otlp-json"
    csv = "csv"
    parquet = "parquet"


def export(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Logs: files, folders, globs or -. None: the project's own.", metavar="PATH..."),
    ] = None,
    form: Annotated[ExportForm, typer.Option("--format", help="What to write.")] = ExportForm.agent_trace,
    output: Annotated[str | None, typer.Option(help="Where to; parquet needs it.", metavar="FILE")] = None,
    prose: Annotated[bool, typer.Option("--prose", help="With texts, which csv and parquet leave out.")] = False,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Write valid records in another format: Agent Trace (one a line), OTLP spans, CSV or Parquet.

    What is not valid is told on stderr and left out; then the exit code is 1.

    \b
    Example:
      ontoref interaction export --format otlp-json > spans.json
      ontoref interaction export --format parquet --output records.parquet
    """
    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.cli.output import note, write_out
    from ontoref.vocabulary import load_table

    if form is ExportForm.parquet and output is None:
        raise UsageError("Parquet is no text", hint="--output FILE")
    logs, vocabulary = logs_and_words(paths, schemas)
    skipped: list[str] = []
    records = _valid(logs, vocabulary, skipped)
    if form is ExportForm.parquet:
        _parquet(records, vocabulary, str(output), prose=prose)
    else:
        text = _text(records, form, vocabulary, load_table("interchange"), prose=prose)
        write_out(text, output)
    for place in skipped[:5]:
        note(f"left out: {place}")
    if len(skipped) > 5:
        note(f"… and {len(skipped) - 5:,} more; ontoref interaction validate says why")
    return 1 if skipped else 0


def _valid(logs: list[str], vocabulary: Vocabulary, skipped: list[str]) -> Iterator[dict[str, Any]]:
    import orjson

    from ontoref.interaction.check import Checker
    from ontoref.interaction.logs import unreadable

    checker = Checker(vocabulary)
    for path in logs:
        try:
            file = open(path, "rb")  # noqa: SIM115 closed below
        except OSError as error:
            skipped.append(f"{path}: {unreadable(error.errno or 0)}")
            continue
        with file:
            for number, line in enumerate(file, 1):
                try:
                    record = orjson.loads(line)
                except ValueError:
                    record = None
                if isinstance(record, dict) and checker.full.accepts(record):
                    yield record
                elif line.strip():
                    skipped.append(f"{path}:{number} is no valid record")


def _text(
    records: Iterator[dict[str, Any]], form: ExportForm, vocabulary: Vocabulary, table: dict[str, Any], *, prose: bool
) -> Iterator[str]:
    import orjson

    if form is ExportForm.agent_trace:
        from ontoref.interaction.exports.agent_trace import agent_trace

        for record in records:
            trace = agent_trace(record, table)
            if trace is not None:
                yield orjson.dumps(trace, option=orjson.OPT_APPEND_NEWLINE).decode()
    elif form is ExportForm.otlp_json:
        from ontoref.interaction.exports.otlp import otlp

        yield orjson.dumps(otlp(records, table), option=orjson.OPT_APPEND_NEWLINE).decode()
    else:
        from ontoref.cli.output import csv_text

        yield from csv_text(records, _columns(vocabulary, prose=prose))


def _columns(vocabulary: Vocabulary, *, prose: bool) -> list[str]:
    facets = vocabulary.noun().values()
    return [
        f.path for f in facets if f.noun != "ProseDigest" and (prose or not f.prose) and not (f.noun and not f.many)
    ]


def _parquet(records: Iterator[dict[str, Any]], vocabulary: Vocabulary, output: str, *, prose: bool) -> None:
    """A column a field; arrays of objects as lists of structs. The file is written aside and moved into place."""
    import os
    import tempfile

    import orjson

    try:
        import duckdb
    except ImportError:
        raise MissingExtra("duckdb", "duckdb") from None
    from ontoref.interaction.witness import Prose

    names = Prose(vocabulary)
    with tempfile.TemporaryDirectory(prefix="ontoref-") as folder:
        source = os.path.join(folder, "records.jsonl")
        with open(source, "wb") as file:
            for record in records:
                kept = record if prose else names.stripped(record)
                file.write(orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE))
        if os.path.getsize(source) == 0:
            raise UsageError("there are no records to write", hint="name a log that has some")
        with replacing(output) as aside, duckdb.connect() as connection:
            rows = connection.read_json(source, format="newline_delimited", maximum_object_size=64 << 20)
            rows.write_parquet(aside)
