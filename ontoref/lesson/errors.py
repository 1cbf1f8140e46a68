"""What the caller of a lesson store did wrong, and what a store cannot do."""

from __future__ import annotations

from ontoref.errors import OntorefError

__all__ = [
    "CallerError",
    "LessonConflictError",
    "LessonNotFoundError",
    "LessonValidationError",
    "StoreUnavailable",
]


class CallerError(OntorefError):
    """The call cannot be done as asked, whichever backend does it: no reason to leave a backend."""


class LessonValidationError(CallerError, ValueError):
    """A record or an argument that breaks the rules. Nothing was written."""

    kind = "lesson-invalid"


class LessonNotFoundError(CallerError, LookupError):
    """No record of this id."""

    kind = "not-found"
    exit_code = 1


class LessonConflictError(CallerError):
    """Somebody else was first: another version, another decision, another successor. Nothing was written."""

    kind = "conflict"
    exit_code = 1


class StoreUnavailable(OntorefError):
    """The backend failed. The message holds no password."""

    kind = "lesson-store"
