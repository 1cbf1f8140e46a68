"""Locks between processes: rows of the global database with an owner and an expiry, never files."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field

from ontoref.identifiers import new_ulid
from ontoref.state.database import Database, now_ms
from ontoref.state.errors import LeaseHeld, LeaseLost
from ontoref.state.process import machine, process_is_gone, process_started

__all__ = [
    "EXCLUSIVE_SCOPE",
    "STALE_MS",
    "Held",
    "Lease",
    "Owner",
    "acquire",
    "dead",
    "held",
    "remove_dead",
    "this_process",
]

STALE_MS = 60_000
# Who holds this scope holds everything: no other lease is given meanwhile, and it waits for all others.
EXCLUSIVE_SCOPE = "restore"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who takes a lease. host and started tell a process from another one that got its number later."""

    token: str
    host: str
    pid: int
    started: str


@dataclass(frozen=True, slots=True)
class Held:
    """A lease as it stands in the table. Units: times are milliseconds since 1970."""

    scope: str
    key: str
    owner: Owner
    expires_at: int
    heartbeat_at: int
    created_at: int

    def holds(self, now: int) -> bool:
        """Whether it still binds others: not expired, and its process is not known to be dead."""
        return self.expires_at > now and not _is_dead(self.owner)

    def __str__(self) -> str:
        return f"process {self.owner.pid} until {time.strftime('%H:%M:%SZ', time.gmtime(self.expires_at / 1000))}"


@dataclass(slots=True)
class Lease:
    """A lease of ours. Use it as a context manager; call `beat` at least every half of its time.

    Errors: LeaseLost from beat once another owner has it.
    """

    database: Database
    scope: str
    key: str
    owner: Owner
    stale_ms: int
    last_beat: int = field(default=0)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def beat(self, *, now: int | None = None, always: bool = False) -> None:
        """Say that we live. Writes only when a third of the time has gone."""
        now = now_ms() if now is None else now
        if not always and now - self.last_beat < self.stale_ms // 3:
            return
        with self.database.transaction():
            changed = self.database.execute(
                "UPDATE state_leases SET heartbeat_at = ?, expires_at = ?, updated_at = ?"
                " WHERE scope = ? AND lease_key = ? AND owner = ? AND expires_at > ?",
                (now, now + self.stale_ms, now, self.scope, self.key, self.owner.token, now),
            ).rowcount
        if not changed:
            raise LeaseLost(
                f"the lease {self.scope} ({self.key}) expired and is not ours any more",
                hint="the process was stopped for too long; run the command again",
            )
        self.last_beat = now

    def release(self) -> None:
        """Give it back. One that another owner took over is left alone."""
        with self.database.transaction():
            self.database.execute(
                "DELETE FROM state_leases WHERE scope = ? AND lease_key = ? AND owner = ?",
                (self.scope, self.key, self.owner.token),
            )


def this_process() -> Owner:
    """A new owner that stands for this process."""
    return Owner(new_ulid(), machine(), os.getpid(), process_started(os.getpid()))


def acquire(
    database: Database,
    scope: str,
    key: str = "",
    *,
    owner: Owner,
    stale_ms: int = STALE_MS,
    attempts: int = 10,
    now: int | None = None,
) -> Lease:
    """The lease, as soon as nobody else holds it.

    Shape:  free, expired, our own, or of a process of this machine that is dead: taken. Between attempts it
            sleeps 100 to 1000 ms.
    Errors: LeaseHeld naming the holder after the last attempt.
    """
    for attempt in range(attempts):
        moment = now_ms() if now is None else now
        holder = _try(database, scope, key, owner, stale_ms, moment)
        if holder is None:
            return Lease(database, scope, key, owner, stale_ms, moment)
        if attempt + 1 < attempts:
            time.sleep(random.uniform(0.1, min(1.0, 0.1 * 2**attempt)))
    assert holder is not None
    raise LeaseHeld(holder.scope, holder.key, str(holder))


def held(database: Database, *, now: int | None = None) -> list[Held]:
    """Leases that bind now, by scope and key."""
    moment = now_ms() if now is None else now
    return [lease for lease in _rows(database, "1 = 1", ()) if lease.holds(moment)]


def dead(database: Database, *, now: int | None = None) -> list[Held]:
    """Leases that bind nobody any more: expired, or of a process that is gone."""
    moment = now_ms() if now is None else now
    return [lease for lease in _rows(database, "1 = 1", ()) if not lease.holds(moment)]


def remove_dead(database: Database, *, now: int | None = None) -> int:
    """Delete those. How many."""
    with database.transaction():
        gone = dead(database, now=now)
        for lease in gone:
            database.execute(
                "DELETE FROM state_leases WHERE scope = ? AND lease_key = ? AND owner = ?",
                (lease.scope, lease.key, lease.owner.token),
            )
        return len(gone)


def _try(database: Database, scope: str, key: str, owner: Owner, stale_ms: int, now: int) -> Held | None:
    """Take it and give None, or give who stands in the way."""
    with database.transaction():
        if scope == EXCLUSIVE_SCOPE:
            rows = _rows(database, "owner <> ?", (owner.token,))
        else:
            rows = _rows(
                database,
                "((scope = ? AND lease_key = ?) OR scope = ?) AND owner <> ?",
                (scope, key, EXCLUSIVE_SCOPE, owner.token),
            )
        for row in rows:
            if row.holds(now):
                return row
        database.execute(
            "INSERT INTO state_leases (scope, lease_key, owner, host, pid, process_started, expires_at,"
            " heartbeat_at, payload_json, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)"
            " ON CONFLICT (scope, lease_key) DO UPDATE SET owner = excluded.owner, host = excluded.host,"
            " pid = excluded.pid, process_started = excluded.process_started,"
            " expires_at = excluded.expires_at, heartbeat_at = excluded.heartbeat_at,"
            " created_at = excluded.created_at, updated_at = excluded.updated_at",
            (scope, key, owner.token, owner.host, owner.pid, owner.started, now + stale_ms, now, now, now),
        )
        return None


def _rows(database: Database, condition: str, values: tuple[str, ...]) -> list[Held]:
    return [
        Held(scope, key, Owner(token, host, pid, started), expires, beat, created)
        for scope, key, token, host, pid, started, expires, beat, created in database.all(
            "SELECT scope, lease_key, owner, host, pid, process_started, expires_at, heartbeat_at, created_at"
            f" FROM state_leases WHERE {condition} ORDER BY scope, lease_key",
            values,
        )
    ]


def _is_dead(owner: Owner) -> bool:
    """Whether the owner was a process of this machine and is gone. Where that cannot be known: False."""
    return owner.host == machine() and process_is_gone(owner.pid, owner.started)
