"""Where a domain's records are kept: the one place that chooses a backend."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ontoref.errors import OntorefError
from ontoref.state.layout import Layout

__all__ = [
    "BackendKind",
    "DomainStoragePlacement",
    "JsonlPlacement",
    "PlacementError",
    "PostgresPlacement",
    "SqlitePlacement",
    "masked",
    "resolve_domain_storage",
    "secrets_in",
]

BackendKind = Literal["postgres", "sqlite", "fs-jsonl"]
_SCHEMA = "ontoref"
_SECRET_NAMES = frozenset({"password", "passfile", "sslpassword"})
_EXAMPLES = "postgres://HOST/DATABASE?schema=NAME, sqlite:PATH or fs-jsonl:FOLDER"


class PlacementError(OntorefError):
    """A place that is no place."""

    kind = "config"


@dataclass(frozen=True, slots=True)
class PostgresPlacement:
    """A schema of a PostgreSQL database. database_url may hold a password, so it is never shown whole."""

    database_url: str = field(repr=False)
    schema: str = _SCHEMA
    backend: ClassVar[BackendKind] = "postgres"

    def __str__(self) -> str:
        return f"{masked(self.database_url)} schema {self.schema}"


@dataclass(frozen=True, slots=True)
class SqlitePlacement:
    """A SQLite file. Shape: path is absolute."""

    path: str
    backend: ClassVar[BackendKind] = "sqlite"

    def __str__(self) -> str:
        return f"sqlite:{self.path}"


@dataclass(frozen=True, slots=True)
class JsonlPlacement:
    """A folder with an append-only file. Shape: dir is absolute."""

    dir: str
    backend: ClassVar[BackendKind] = "fs-jsonl"

    def __str__(self) -> str:
        return f"fs-jsonl:{self.dir}"


DomainStoragePlacement = PostgresPlacement | SqlitePlacement | JsonlPlacement


def resolve_domain_storage(domain: str, config: Mapping[str, Any], layout: Layout) -> DomainStoragePlacement:
    """Where the records of a domain are kept.

    Shape:  config maps domains to places: a URL (`postgres://…`, `sqlite:PATH`, `fs-jsonl:FOLDER`) or a mapping
            with backend and its database_url and schema, path, or dir. Without a place: the global database.
            Relative paths are below the state directory, `~` is the home folder.
    Errors: PlacementError for what is no place; no password stands in it.
    """
    given = config.get(domain)
    if given is None or given == "":
        return SqlitePlacement(layout.global_database)
    if isinstance(given, str):
        return _of_url(given, layout)
    if isinstance(given, Mapping):
        return _of_mapping(domain, given, layout)
    raise PlacementError(f"the place of {domain} is neither a URL nor a mapping", hint=_EXAMPLES)


def masked(url: str) -> str:
    """A database URL as it may be shown: every password in it is ***."""
    try:
        parts = urlsplit(url)
        user, at, place = parts.netloc.rpartition("@")
        if ":" in user:
            user = user.partition(":")[0] + ":***"
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return "***"
    query = urlencode([(name, "***" if name in _SECRET_NAMES else value) for name, value in pairs], safe="*/")
    return _joined(parts.scheme, user + at + place, parts.path, query)


def _joined(scheme: str, host: str, path: str, query: str) -> str:
    """A URL of its parts; urlunsplit would drop the slashes of one without a host (`postgres:///db`)."""
    return f"{scheme}://{host}{path}" + (f"?{query}" if query else "")


def secrets_in(url: str) -> tuple[str, ...]:
    """The passwords in a database URL, as they stand there and as they are meant; longest first."""
    try:
        parts = urlsplit(url)
        found = {parts.netloc.rpartition("@")[0].partition(":")[2]}
        found |= {value for name, value in parse_qsl(parts.query) if name in _SECRET_NAMES}
    except ValueError:
        return (url,)
    found |= {unquote(text) for text in found}
    return tuple(sorted(filter(None, found), key=len, reverse=True))


def _of_url(url: str, layout: Layout) -> DomainStoragePlacement:
    scheme, colon, rest = url.strip().partition(":")
    if colon and scheme in ("postgres", "postgresql"):
        return _postgres(url.strip(), None)
    # The slashes of a URL without a host; a third one begins an absolute path.
    rest = rest[2:] if rest.startswith("//") else rest
    if colon and scheme in ("sqlite", "fs-jsonl") and rest:
        path = unquote(rest)
        if scheme == "sqlite":
            return SqlitePlacement(_absolute(path, layout))
        return JsonlPlacement(_absolute(path, layout))
    shown = f"{scheme}:" if colon else "a text without a scheme"
    raise PlacementError(f"{shown} names no backend; known: {', '.join(get_args(BackendKind))}", hint=_EXAMPLES)


def _of_mapping(domain: str, given: Mapping[str, Any], layout: Layout) -> DomainStoragePlacement:
    backend = given.get("backend")
    names = {"postgres": ("database_url", "schema"), "sqlite": ("path",), "fs-jsonl": ("dir",)}.get(str(backend))
    if names is None:
        raise PlacementError(
            f"{backend!r} is no backend for {domain}; known: {', '.join(get_args(BackendKind))}", hint=_EXAMPLES
        )
    for name in set(given) - {"backend", *names}:
        raise PlacementError(f"{backend} knows no {name!r}", hint=f"known: {', '.join(names)}")
    first = given.get(names[0])
    if not isinstance(first, str) or not first:
        raise PlacementError(f"{backend} needs {names[0]}", hint=_EXAMPLES)
    if backend == "postgres":
        schema = given.get("schema")
        if schema is not None and not isinstance(schema, str):
            raise PlacementError("the schema of postgres must be text")
        return _postgres(first, schema)
    return (
        SqlitePlacement(_absolute(first, layout)) if backend == "sqlite" else JsonlPlacement(_absolute(first, layout))
    )


def _postgres(url: str, schema: str | None) -> PostgresPlacement:
    if not re.match(r"postgres(ql)?://", url):
        raise PlacementError("a PostgreSQL database is named by a URL", hint="postgres://USER@HOST/DATABASE")
    try:
        parts = urlsplit(url)
        _ = parts.port
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        raise PlacementError("the PostgreSQL URL cannot be read", hint="postgres://USER@HOST:PORT/DATABASE") from None
    named = [value for name, value in pairs if name == "schema"]
    query = urlencode([(name, value) for name, value in pairs if name != "schema"], safe="/")
    plain = _joined(parts.scheme, parts.netloc, parts.path, query)
    return PostgresPlacement(plain, schema or (named[-1] if named else _SCHEMA))


def _absolute(path: str, layout: Layout) -> str:
    return os.path.abspath(os.path.join(layout.root, os.path.expanduser(path)))
