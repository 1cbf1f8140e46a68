"""`ontoref interaction stats`."""

from __future__ import annotations

from ontoref.cli.interaction._options import QueryOptions, query_command

__all__ = ["stats"]


@query_command
def stats(options: QueryOptions) -> int:
    """How often each word of each facet occurs, in the records that meet the conditions.

    \b
    Example:
      ontoref interaction stats --since 30d
      ontoref interaction stats --domain Storage --format json
    """
    import time

    import orjson

    from ontoref.cli.interaction._query import emit_rows, logs_and_words, question_of, tell_skipped
    from ontoref.cli.output import Format, note
    from ontoref.errors import UsageError
    from ontoref.interaction.rows import ROWS, Column
    from ontoref.interaction.stats import count_facets
    from ontoref.interaction.where import did_you_mean

    begun = time.perf_counter()
    names = ("facet", "value", "count")
    chosen = options.columns.split(",") if options.columns else list(names)
    order = options.sort.split(",") if options.sort else []
    for name in (*chosen, *order):
        if name not in names:
            raise UsageError(f'stats has no column "{name}"', hint=did_you_mean(name, names))
    logs, vocabulary = logs_and_words(options.paths, options.schemas)
    plain = options._replace(sort=None, limit=None)
    counts = count_facets(question_of(plain, ROWS["records"], vocabulary), logs, vocabulary, jobs=options.jobs)
    rows = counts.rows
    for name in reversed(order):
        rows.sort(key=lambda row: row[name] if name == "count" else str(row[name]))
    if options.reverse:
        rows.reverse()
    rows = rows[: options.limit]
    columns = [Column(name, name) for name in names]
    emit_rows((orjson.dumps(row) for row in rows), options.form, columns, chosen)
    if options.form in (Format.table, Format.markdown):
        took_ms = (time.perf_counter() - begun) * 1000
        note(f"{counts.matching:,} of {counts.records:,} records ({took_ms:.0f} ms)")
    return tell_skipped(counts.skipped)
