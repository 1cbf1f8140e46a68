"""What belongs to a session beside its lines: files, routes of session keys, a run's trace."""

from __future__ import annotations

from dataclasses import dataclass

from ontoref.state.database import Database, now_ms

__all__ = [
    "Artifact",
    "Route",
    "any_route",
    "any_trajectory",
    "artifact",
    "artifact_digest",
    "artifacts",
    "put_artifact",
    "put_route",
    "put_trajectory",
    "route",
    "routes",
    "routes_of",
    "trajectory",
]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that is kept with a session. name is relative to the transcript's folder, with `/`."""

    name: str
    kind: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Route:
    """Which session a key means. entry is the index's own entry, JSON. Units: milliseconds since 1970."""

    session_key: str
    session_id: str
    spawned_by: str | None
    entry: bytes
    updated_at: int


def put_artifact(database: Database, session_row: int, name: str, kind: str, blob: bytes, sha256: str) -> None:
    """Keep a file; a newer version replaces it."""
    database.execute(
        "INSERT INTO tool_artifacts (session_row, name, kind, blob, sha256, created_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session_row, name) DO UPDATE SET kind = excluded.kind, blob = excluded.blob,"
        " sha256 = excluded.sha256 WHERE sha256 <> excluded.sha256",
        (session_row, name, kind, blob, sha256, now_ms()),
    )


def artifact(database: Database, session_row: int, name: str) -> bytes | None:
    """Content of one kept file."""
    row = database.one("SELECT blob FROM tool_artifacts WHERE session_row = ? AND name = ?", (session_row, name))
    return None if row is None else bytes(row[0])


def artifact_digest(database: Database, session_row: int, name: str) -> str | None:
    """The digest of one kept file; None if there is none."""
    row = database.one("SELECT sha256 FROM tool_artifacts WHERE session_row = ? AND name = ?", (session_row, name))
    return None if row is None else str(row[0])


def artifacts(database: Database, session_row: int) -> list[Artifact]:
    """The kept files of a session, by name."""
    return [
        Artifact(*row)
        for row in database.all(
            "SELECT name, kind, length(blob), sha256 FROM tool_artifacts WHERE session_row = ? ORDER BY name",
            (session_row,),
        )
    ]


def put_route(database: Database, route: Route) -> None:
    """Let a key mean a session, unless what is known is newer."""
    database.execute(
        "INSERT INTO session_routes (session_key, session_id, spawned_by, entry_json, updated_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (session_key) DO UPDATE SET session_id = excluded.session_id,"
        " spawned_by = excluded.spawned_by, entry_json = excluded.entry_json, updated_at = excluded.updated_at"
        " WHERE excluded.updated_at >= updated_at",
        (route.session_key, route.session_id, route.spawned_by, route.entry.decode("utf-8"), route.updated_at),
    )


def route(database: Database, session_key: str) -> Route | None:
    """Which session a key means."""
    found = _routes(database, " WHERE session_key = ?", (session_key,))
    return found[0] if found else None


def routes_of(database: Database, session_id: str) -> list[Route]:
    """The routes that lead to a session, by key."""
    return _routes(database, " WHERE session_id = ?", (session_id,))


def any_route(database: Database) -> bool:
    """Whether there is any route."""
    return database.one("SELECT 1 FROM session_routes LIMIT 1") is not None


def routes(database: Database) -> list[Route]:
    """All routes of an agent, by key."""
    return _routes(database, "", ())


def put_trajectory(database: Database, session_row: int, rows: list[tuple[str, bytes]]) -> None:
    """Replace a session's run trace: (run id, line) in order."""
    database.execute("DELETE FROM trajectory_runtime_events WHERE session_row = ?", (session_row,))
    now = now_ms()
    database.many(
        "INSERT INTO trajectory_runtime_events (session_row, run_id, seq, event_line, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        ((session_row, run_id, seq, line, now) for seq, (run_id, line) in enumerate(rows, 1)),
    )


def any_trajectory(database: Database, session_row: int) -> bool:
    """Whether a session has a run trace."""
    row = database.one("SELECT 1 FROM trajectory_runtime_events WHERE session_row = ? LIMIT 1", (session_row,))
    return row is not None


def trajectory(database: Database, session_row: int) -> list[bytes]:
    """Lines of a session's run trace, in order."""
    return [
        bytes(row[0])
        for row in database.all(
            "SELECT event_line FROM trajectory_runtime_events WHERE session_row = ? ORDER BY seq", (session_row,)
        )
    ]


def _routes(database: Database, condition: str, values: tuple[str, ...]) -> list[Route]:
    return [
        Route(key, session_id, spawned_by, entry.encode("utf-8"), updated)
        for key, session_id, spawned_by, entry, updated in database.all(
            "SELECT session_key, session_id, spawned_by, entry_json, updated_at FROM session_routes"
            f"{condition} ORDER BY session_key",
            values,
        )
    ]
