"""The statements that SQLite and PostgreSQL share, written once; a dialect says where they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ontoref.lesson.records import RECORD_TYPES, Row, Selection

__all__ = ["POSTGRES", "SQLITE", "Dialect", "Statements"]

_COLUMNS = ", ".join(Row._fields)
# The text that was searched may be long, and nobody asks for it again.
_SELECTED = ", ".join("'' AS search_text" if name == "search_text" else name for name in Row._fields)
_MOST_TRIGRAMS = 16
_ORDERS = {
    "updated": "updated_at DESC, id",
    "created": "created_at, id",
    "seq": "seq",
}
_EQUALS = ("scope_key", "record_kind", "durability", "fingerprint", "record_id")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Shape: find is the function that gives the place of its second argument in its first, 0 if it is not there."""

    name: str
    find: str
    placeholder: str


SQLITE = Dialect("sqlite", "instr", "?")
POSTGRES = Dialect("postgres", "strpos", "%s")


class Statements:
    """SQL over one table. Shape: each gives the text and its values; table is a quoted, validated name."""

    def __init__(self, dialect: Dialect, table: str) -> None:
        self.dialect = dialect
        # The name of an index over three characters each, where the database has one.
        self.search_index: str | None = None
        self.table = table
        marks = ", ".join("?" * len(Row._fields))
        changes = ", ".join(f"{name} = excluded.{name}" for name in Row._fields if name not in ("record_type", "id"))
        self.put = self._text(
            f"INSERT INTO {table} ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (record_type, id) DO UPDATE SET {changes}"
        )
        self.get = self._text(f"SELECT {_COLUMNS} FROM {table} WHERE record_type = ? AND id = ?")
        self.remove = self._text(f"DELETE FROM {table} WHERE record_type = ? AND id = ?")
        self.last_seq = self._text(f"SELECT coalesce(max(seq), 0) FROM {table} WHERE record_type = 'audit'")
        self.counts = self._text(f"SELECT record_type, count(*) FROM {table} GROUP BY record_type")
        page = f"SELECT {_COLUMNS} FROM {table} WHERE record_type = ? AND "
        self.by_id = self._text(page + "id > ? ORDER BY id LIMIT 500")
        self.by_seq = self._text(page + "seq > ? ORDER BY seq LIMIT 500")

    def pages(self, read: Callable[[str, tuple[Any, ...]], list[Row]]) -> Iterator[Row]:
        """Every row, a page at a time, whatever memory there is. read runs a statement."""
        for record_type in RECORD_TYPES:
            audit = record_type == "audit"
            after: str | int = 0 if audit else ""
            while page := read(self.by_seq if audit else self.by_id, (record_type, after)):
                yield from page
                after = page[-1].seq if audit else page[-1].id

    def select(self, wanted: Selection) -> tuple[str, list[Any]]:
        """Rows of a selection, in its order."""
        terms: list[str] = ["record_type = ?"]
        values: list[Any] = [wanted.record_type]
        if wanted.record_type == "lesson":
            # Said in so many words, so that the index made for it is used.
            terms, values = ["record_type = 'lesson'"], []
        for name, value in (*wanted.scope, *((name, getattr(wanted, name)) for name in _EQUALS)):
            if value is not None:
                terms.append(f"{name} = ?")
                values.append(value)
        if wanted.statuses:
            terms.append(f"status IN ({', '.join('?' * len(wanted.statuses))})")
            values += wanted.statuses
        if wanted.after_seq is not None:
            terms.append("seq > ?")
            values.append(wanted.after_seq)
        if wanted.active_at_us is not None:
            terms.append("(valid_from IS NULL OR valid_from <= ?) AND (invalid_at IS NULL OR invalid_at > ?)")
            values += [wanted.active_at_us, wanted.active_at_us]
        trigrams = [gram for token in wanted.tokens for gram in _trigrams(token)]
        if self.search_index and trigrams:
            # The plus keeps SQLite from walking an index of all lessons in place of the few that are found.
            terms[0] = "+record_type = 'lesson'"
            terms.append(f"row_number IN (SELECT rowid FROM {self.search_index} WHERE {self.search_index} MATCH ?)")
            values.append(" ".join('"' + gram.replace('"', '""') + '"' for gram in dict.fromkeys(trigrams)))
        for token in wanted.tokens:
            terms.append(f"{self.dialect.find}(search_text, ?) > 0")
            values.append(token)
        order = _ORDERS.get(wanted.order) or self._by_score(wanted, values)
        text = f"SELECT {_SELECTED} FROM {self.table} WHERE {' AND '.join(terms)} ORDER BY {order}"
        if wanted.limit is not None:
            text += " LIMIT ?"
            values.append(wanted.limit)
        return self._text(text), values

    def _by_score(self, wanted: Selection, values: list[Any]) -> str:
        """Every row holds all tokens, so the score differs only by how many stand in the title."""
        hits = [f"CASE WHEN {self.dialect.find}(search_title, ?) > 0 THEN 1 ELSE 0 END" for _ in wanted.tokens]
        values += wanted.tokens
        return f"({' + '.join(hits)}) DESC, {_ORDERS['updated']}"

    def _text(self, statement: str) -> str:
        return statement.replace("?", self.dialect.placeholder)


def _trigrams(token: str) -> list[str]:
    """Some of the three characters that follow one another in a token; none of a short one."""
    found = [token[place : place + 3] for place in range(len(token) - 2)]
    return found[:: len(found) // _MOST_TRIGRAMS + 1]
