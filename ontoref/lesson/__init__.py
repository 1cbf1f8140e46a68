"""What sessions taught: candidates, proposals, reviewed lessons, and the stores that keep them.

Importing this reads and opens nothing.
"""

from __future__ import annotations

from ontoref.lesson.contract import LessonStore
from ontoref.lesson.lifecycle import (
    LESSON_DURABILITIES,
    LESSON_RECORD_KINDS,
    LESSON_SCHEMA_VERSION,
    apply_legacy_lesson_defaults,
    is_lesson_active,
    with_lesson_defaults,
)

__all__ = [
    "LESSON_DURABILITIES",
    "LESSON_RECORD_KINDS",
    "LESSON_SCHEMA_VERSION",
    "LessonStore",
    "apply_legacy_lesson_defaults",
    "is_lesson_active",
    "with_lesson_defaults",
]
