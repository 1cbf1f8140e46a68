"""From a listing's options to its rows on the screen, the same for every listing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from ontoref.cli.listing import Column, Field, Listing, ListOptions
from ontoref.cli.output import Format, emit, note
from ontoref.errors import UsageError
from ontoref.interaction.moments import parse_moment
from ontoref.interaction.order import reach, sortable
from ontoref.interaction.where import Condition, Reach, WhereError, did_you_mean, parse_term, typed_value
from ontoref.text import counted

__all__ = ["Narrowing"]

_PEOPLE = (Format.table, Format.markdown)


class Narrowing:
    """What the options of a listing ask, checked. Made before anything is opened, so that a slip costs nothing."""

    __slots__ = ("_chosen", "_conditions", "_listing", "_options", "_since", "_sort", "_until", "asked")

    def __init__(self, options: ListOptions, listing: Listing) -> None:
        fields = listing.fields()
        parsed = [_condition(text, listing, fields) for text in options.where or ()]
        self._conditions = [condition for _, condition in parsed]
        # The paths that --where names.
        self.asked = frozenset(path for path, _ in parsed)
        self._since = _moment(options.since, "--since")
        self._until = _moment(options.until, "--until")
        self._sort = _named(options.sort, "--sort", listing, fields) if options.sort else ()
        self._chosen = _named(options.columns, "--columns", listing, fields) if options.columns else ()
        self._options = options
        self._listing = listing

    @property
    def first(self) -> int | None:
        """How many rows are enough to be looked at; None if only all of them tell."""
        options = self._options
        narrowed = self._conditions or self._since or self._until or self._sort or options.reverse
        return None if narrowed else options.limit

    def emit(
        self, rows: Iterable[Mapping[str, Any]], *, whole: bool = False, empty: str | Callable[[], str] = ""
    ) -> None:
        """Print the rows that are meant, and tell a person how many.

        Shape: whole says that rows are all there are, not only the `first`; empty is said if there is none at all,
                and may depend on what was met on the way.
        """
        options = self._options
        seen = found = 0

        def kept() -> Iterator[Mapping[str, Any]]:
            nonlocal seen, found
            for row in rows:
                seen += 1
                if self._holds(row):
                    found += 1
                    yield row

        meant: Iterable[Mapping[str, Any]] = kept()
        if self._sort:
            meant = sorted(meant, key=self._key)
        if options.reverse or options.form in _PEOPLE:
            meant = list(meant)[:: -1 if options.reverse else 1]
        self._print(islice(meant, options.limit))
        if not seen and options.limit != 0:
            if told := empty if isinstance(empty, str) else empty():
                note(told)
        elif options.form in _PEOPLE:
            sys.stdout.flush()
            self._count(seen, found, whole)

    def _print(self, rows: Iterator[Mapping[str, Any]]) -> None:
        form, chosen = self._options.form, self._chosen
        columns = chosen or self._listing.columns
        paths = [column.path for column in columns]
        if form in _PEOPLE:
            # Columns are told apart by place: a path may be shown twice, whole and as people read it.
            cells = [{str(at): _cell(column, row) for at, column in enumerate(columns)} for row in rows]
            headers = {str(at): column.header or column.path for at, column in enumerate(columns)}
            # As in a query, a column in which nothing stands is left out, unless somebody asked for it.
            used = [at for at in headers if chosen or any(row[at] not in (None, [], "") for row in cells)]
            emit(cells, form, columns=used, headers=headers)
        elif form is Format.csv:
            emit(rows, form, columns=paths)
        elif chosen:
            emit(({path: reach(row, path) for path in paths} for row in rows), form, columns=paths)
        else:
            emit(rows, form, columns=paths)

    def _count(self, seen: int, found: int, whole: bool) -> None:
        listing, limit = self._listing, self._options.limit
        name = listing.one if found == 1 else listing.many
        if not whole and self.first is not None and seen == limit:
            note(f"the first {seen:,} {name}" if seen != 1 else f"the first {name}")
        elif not found:
            note(f"none of {counted(seen, listing.one, listing.many)} matches")
        else:
            note(
                f"{limit:,} of {found:,} {name}"
                if limit is not None and limit < found
                else counted(found, listing.one, listing.many)
            )

    def _holds(self, row: Mapping[str, Any]) -> bool:
        if not all(condition.holds(row, row) for condition in self._conditions):
            return False
        if self._since is None and self._until is None:
            return True
        at = _time(reach(row, self._listing.time))
        return (self._since is None or at >= self._since) and (self._until is None or at < self._until)

    def _key(self, row: Mapping[str, Any]) -> bytes:
        return b"".join(sortable(reach(row, column.path)) for column in self._sort)


def _named(text: str, option: str, listing: Listing, fields: Sequence[Field]) -> tuple[Column, ...]:
    """The columns that a person named: a heading is the column of the table, a path the value as it is."""
    by_header = {column.header or column.path: column for column in listing.columns}
    known = listing.names()
    found = []
    for name in (part.strip() for part in text.split(",")):
        if name not in known:
            raise UsageError(f'{option}: there is no column "{name}"', hint=did_you_mean(name, known))
        found.append(by_header.get(name) or Column(name))
    return tuple(found)


def _condition(text: str, listing: Listing, fields: Sequence[Field]) -> tuple[str, Condition]:
    """The path that a term of `--where` names, and what it states. Errors: WhereError."""
    typed, negated, values = parse_term(text)
    by_path = {field.path: field for field in fields}
    by_header = {column.header: column.path for column in listing.columns if column.header}
    field = by_path.get(typed) or by_path.get(by_header.get(typed, ""))
    if field is None:
        raise WhereError(f'there is no field "{typed}"', hint=did_you_mean(typed, listing.paths()))
    _refuse(typed, field, listing)
    wanted = frozenset(typed_value(typed, value, field.type, field.words, typed) for value in values)
    return field.path, Condition((Reach(True, tuple(field.path.split("."))),), wanted, negated)


def _refuse(typed: str, field: Field, listing: Listing) -> None:
    if field.type == "prose":
        others = f"filter by a field instead: {' '.join(listing.paths())}"
        words = f"`{listing.words_at}` finds words in it; " if listing.words_at else ""
        raise WhereError(f"{typed} is prose, and prose is never a filter (ADR-0002)", hint=words + others)
    if field.type == "object":
        inner = [path for path in listing.paths() if path.startswith(f"{field.path}.")]
        raise WhereError(f"{typed} has fields of its own; filter by one of them", hint=f"one of: {' '.join(inner)}")
    if field.type == "time":
        hint = (
            "use --since and --until" if field.path == listing.time else f"--since and --until ask for {listing.time}"
        )
        raise WhereError(f"{typed} is a time, and times are not compared for equality", hint=hint)


def _cell(column: Column, row: Mapping[str, Any]) -> Any:
    return column.show(row) if column.show is not None else reach(row, column.path)


def _moment(text: str | None, option: str) -> datetime | None:
    """What a person typed as a moment. Errors: UsageError."""
    if not text:
        return None
    return datetime.fromisoformat(parse_moment(text, datetime.now(UTC), option)[:26]).replace(tzinfo=UTC)


def _time(value: Any) -> datetime:
    """A row's time; without an offset it is UTC, and what is no time is before all."""
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        except ValueError:
            pass
    return datetime.min.replace(tzinfo=UTC)
