"""What stops a command: every exception that ontoref raises on purpose."""

from __future__ import annotations

__all__ = ["MissingExtra", "OntorefError", "UsageError"]


class OntorefError(Exception):
    """ontoref cannot go on. One sentence for a person, the place, and what to do next.

    Shape:  message is one sentence without a final full stop; hint says what to do; location is a path,
            `path:line` or `path:line:column`; kind is kebab-case and part of the JSON contract.
    Units:  exit_code as in docs/commands.md: 1 the answer is no, 2 it could not run.
    """

    kind = "error"
    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None, location: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message


class UsageError(OntorefError):
    """The command's words do not go together; typer finds the simple cases itself."""

    kind = "usage"


class MissingExtra(OntorefError):
    """A command needs a package that only an extra installs."""

    kind = "missing-extra"

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs the {extra} extra ({module} is not installed)",
            hint=f"pip install 'ontoref[{extra}]'",
        )
        self.extra = extra
        self.module = module
