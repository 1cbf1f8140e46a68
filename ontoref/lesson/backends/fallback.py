"""A store that leaves a failing backend for another one, once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ontoref.lesson.contract import METHODS, LessonStore
from ontoref.lesson.errors import CallerError

__all__ = ["FirstFailureFallbackLessonStore"]

_log = logging.getLogger("ontoref.lesson")
_DESCRIBE = "describe_backend"


class FirstFailureFallbackLessonStore(LessonStore if TYPE_CHECKING else object):  # type: ignore[misc]
    """Every method of the contract, done by the primary store until it fails for the first time.

    Shape:  that operation is then done by the fallback, and so is every later one: nothing is copied back. What
            the caller did wrong is no failure. fallback is called when it is needed.
    Errors: after the swap those of the fallback.
    """

    def __init__(self, primary: LessonStore, fallback: Callable[[], LessonStore]) -> None:
        self._primary = self._delegate = primary
        self._make_fallback = fallback
        self._lock = threading.Lock()
        self.reason: str | None = None

    def __enter__(self) -> FirstFailureFallbackLessonStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is open; again is fine."""
        close = getattr(self._delegate, "close", None)
        if close is not None:
            close()

    def __getattr__(self, name: str) -> Any:
        # Only asked for what the class does not define: the contract's methods, and what stores add to them.
        if name.startswith("_") or (name not in METHODS and not hasattr(self._delegate, name)):
            raise AttributeError(name)

        def call(*arguments: Any, **named: Any) -> Any:
            delegate = self._delegate
            try:
                found = getattr(delegate, name)(*arguments, **named)
            except CallerError:
                raise
            except Exception as error:
                if delegate is not self._primary:
                    raise
                self._swap(delegate, error)
                found = getattr(self._delegate, name)(*arguments, **named)
            if name == _DESCRIBE and self.reason is not None:
                found = {**found, "degraded": True, "fallback_reason": self.reason}
            return found

        return call

    def _swap(self, failed: LessonStore, error: Exception) -> None:
        with self._lock:
            if self._delegate is not failed:
                return
            self._delegate = self._make_fallback()
            self.reason = f"{error}"
            _log.warning("lessons are kept in the fallback from now on: %s", error)
        close = getattr(failed, "close", None)
        if close is not None:
            try:
                close()
            except Exception as second:
                _log.debug("the failed store could not be closed: %s", second)
