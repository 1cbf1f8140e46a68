"""What stops work on local state."""

from __future__ import annotations

from ontoref.errors import OntorefError

__all__ = [
    "FILE_AT_FAULT",
    "BadAgentId",
    "BadArchive",
    "DatabaseRefused",
    "DatabaseUnreadable",
    "DatabaseUnusable",
    "LeaseHeld",
    "LeaseLost",
    "NoSuchSession",
    "SessionUnreadable",
    "StateError",
    "TooLarge",
]


class StateError(OntorefError):
    """Local state cannot be used as asked."""

    kind = "state"


class BadAgentId(StateError):
    """An agent id that names no folder of its own."""

    kind = "agent-id"


class DatabaseRefused(StateError):
    """A file that is there but not ours, not this agent's, or from a newer ontoref. Nothing was written."""

    kind = "database-refused"


class DatabaseUnusable(StateError):
    """SQLite cannot work with the file: damaged, locked for too long, disk full."""

    kind = "database"


class DatabaseUnreadable(DatabaseUnusable):
    """The file itself is at fault: damaged, or without the right to open it. Waiting does not help."""


class SessionUnreadable(DatabaseUnreadable):
    """No archived session by that id where we can look, and a database in which we cannot: fault says why."""

    def __init__(self, text: str, agent_id: str, fault: StateError) -> None:
        super().__init__(
            f"{text!r} cannot be looked up: the database of {agent_id} cannot be read: {fault.message}",
            hint="see `ontoref doctor`",
            location=fault.location,
        )
        self.fault = fault


# What costs one agent where it is about an agent's database; a lock or a full disk is none of it.
FILE_AT_FAULT = (DatabaseRefused, DatabaseUnreadable)


class TooLarge(StateError):
    """A value beyond SQLite's limit of a gigabyte."""

    kind = "too-large"


class LeaseHeld(StateError):
    """Another process does the same work now."""

    kind = "lease"

    def __init__(self, scope: str, key: str, holder: str) -> None:
        super().__init__(
            f"another process holds the lease {scope}" + (f" ({key})" if key else "") + f": {holder}",
            hint="wait for it to finish; a lease of a process that died is taken over by itself",
        )
        self.scope = scope
        self.key = key


class LeaseLost(StateError):
    """Our lease expired and was taken over; what we were about to do is not ours any more."""

    kind = "lease-lost"


class NoSuchSession(StateError):
    """No archived session by that id."""

    kind = "not-found"
    exit_code = 1


class BadArchive(StateError):
    """A backup archive that cannot be trusted. Nothing was extracted from it."""

    kind = "bad-archive"
    exit_code = 1
