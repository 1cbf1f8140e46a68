"""The tables of the SQL backends, and which names may stand in SQL. No other module writes DDL for lessons."""

from __future__ import annotations

import re

from ontoref.lesson.errors import LessonValidationError

__all__ = ["SEARCH_INDEX", "TABLE", "ddl", "identifier", "qualified", "search_index_ddl"]

TABLE = "learning_records"
# Bounded and without upper case, so that quoting never changes which object is meant.
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,62}")

_COLUMNS = """
  record_type {text} NOT NULL CHECK (record_type IN ('lesson', 'proposal', 'candidate', 'audit')),
  id {text} NOT NULL CHECK (id <> ''),
  seq {number} NOT NULL,
  scope_key {text} NOT NULL,
  agent_id {text} NOT NULL,
  workspace {text} NOT NULL,
  domain {text} NOT NULL,
  record_kind {text} NOT NULL CHECK (record_kind IN ('', 'lesson', 'skill')),
  durability {text} NOT NULL CHECK (durability IN ('', 'durable', 'decaying', 'ephemeral')),
  status {text} NOT NULL,
  fingerprint {text} NOT NULL,
  record_id {text} NOT NULL,
  valid_from {number},
  invalid_at {number},
  created_at {number} NOT NULL,
  updated_at {number} NOT NULL,
  search_title {text} NOT NULL,
  search_text {text} NOT NULL,
  record {text} NOT NULL,
  {key}
"""
# Text sorts by code point everywhere, whatever the database's locale.
_TYPES = {
    "sqlite": {
        "text": "TEXT",
        "number": "INTEGER",
        # A number of its own, which VACUUM keeps: the search index refers to it.
        "key": "row_number INTEGER PRIMARY KEY,\n  UNIQUE (record_type, id)",
    },
    "postgres": {"text": 'TEXT COLLATE "C"', "number": "BIGINT", "key": "PRIMARY KEY (record_type, id)"},
}
_INDEXES = (
    ("latest", "record_type, updated_at DESC, id, valid_from, invalid_at, agent_id", ""),
    ("scoped", "agent_id, workspace, updated_at DESC, id, valid_from, invalid_at", "record_type = 'lesson'"),
    ("waiting", "record_type, status, created_at, id", "record_type IN ('proposal', 'candidate')"),
    ("trail", "seq", "record_type = 'audit'"),
)
# An index over every three characters that follow one another, kept by triggers; it holds no text of its own.
SEARCH_INDEX = "learning_search"
_SEARCH_INDEX = f"""
CREATE VIRTUAL TABLE {SEARCH_INDEX} USING fts5(
  search_text, content='{TABLE}', content_rowid='row_number', tokenize='trigram case_sensitive 1', detail='none'
)
"""
_FORGET = f"INSERT INTO {SEARCH_INDEX} ({SEARCH_INDEX}, rowid, search_text) VALUES ('delete', old.row_number, old.search_text);"
_LEARN = f"INSERT INTO {SEARCH_INDEX} (rowid, search_text) VALUES (new.row_number, new.search_text);"
_TRIGGERS = (
    ("added", "INSERT", "new", _LEARN),
    ("removed", "DELETE", "old", _FORGET),
    ("changed", "UPDATE OF search_text", "new", f"{_FORGET} {_LEARN}"),
)


def identifier(name: str) -> str:
    """The name, quoted for SQL. Errors: LessonValidationError for any name that is not plain."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise LessonValidationError(
            f"{name!r} cannot name a schema", hint="1 to 63 of a-z, 0-9 and _, not beginning with a digit"
        )
    return f'"{name}"'


def qualified(schema: str | None) -> str:
    """The table's name in SQL. Errors: LessonValidationError."""
    return TABLE if schema is None else f"{identifier(schema)}.{TABLE}"


def ddl(dialect: str, schema: str | None = None) -> list[str]:
    """The statements that make what is missing; safe to run again. Errors: LessonValidationError."""
    statements = []
    if schema is not None:
        statements.append(f"CREATE SCHEMA IF NOT EXISTS {identifier(schema)}")
    columns = _COLUMNS.format(**_TYPES[dialect])
    ending = ") STRICT" if dialect == "sqlite" else ")"
    statements.append(f"CREATE TABLE IF NOT EXISTS {qualified(schema)} (" + columns + ending)
    for name, parts, where in _INDEXES:
        condition = f" WHERE {where}" if where else ""
        statements.append(f"CREATE INDEX IF NOT EXISTS {TABLE}_{name} ON {qualified(schema)} ({parts})" + condition)
    return statements


def search_index_ddl() -> list[str]:
    """The statements that make SQLite's search index; an SQLite without FTS5 or its trigrams refuses the first."""
    triggers = [
        f"CREATE TRIGGER {SEARCH_INDEX}_{name} AFTER {event} ON {TABLE} WHEN {row}.record_type = 'lesson'"
        f" BEGIN {body} END"
        for name, event, row, body in _TRIGGERS
    ]
    return [_SEARCH_INDEX, *triggers]
