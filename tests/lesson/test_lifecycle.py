"""Defaults, migration and validity of lessons; what importing the room does."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.lesson import (
    LESSON_DURABILITIES,
    LESSON_RECORD_KINDS,
    LESSON_SCHEMA_VERSION,
    apply_legacy_lesson_defaults,
    is_lesson_active,
    lifecycle,
    with_lesson_defaults,
)
from ontoref.lesson.errors import LessonValidationError
from ontoref.lesson.records import fingerprint, fold, tokens_of
from tests.lesson.samples import NOW


def test_the_words_of_the_contract() -> None:
    """S1-18"""
    assert LESSON_RECORD_KINDS == ("lesson", "skill")
    assert LESSON_DURABILITIES == ("durable", "decaying", "ephemeral")
    assert LESSON_SCHEMA_VERSION == 1


def test_a_new_lesson_gets_what_it_lacks() -> None:
    """S1-20"""
    given_ = {"statement": "Use tabs.", "durability": "ephemeral", "helpful": 3, "x": 1}
    before = dict(given_)
    made = with_lesson_defaults(given_, NOW)
    assert given_ == before
    assert (made["durability"], made["helpful"], made["x"]) == ("ephemeral", 3, 1)
    assert (made["record_kind"], made["schema_version"], made["status"], made["version"]) == ("lesson", 1, "active", 1)
    assert made["valid_from"] == made["created_at"] == made["updated_at"] == NOW
    assert (made["invalid_at"], made["evidence"], made["tags"], made["harmful"]) == (None, [], [], 0)
    assert len(made["id"]) == 32
    assert made["id"] != with_lesson_defaults(given_, NOW)["id"]
    assert with_lesson_defaults({"id": "a"}, NOW)["id"] == "a"
    with pytest.raises(LessonValidationError):
        with_lesson_defaults({}, "now")


OLD = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(max_size=5),
        "record_kind": st.sampled_from(LESSON_RECORD_KINDS),
        "durability": st.sampled_from(LESSON_DURABILITIES),
        "created_at": st.just(NOW),
        "valid_from": st.sampled_from([None, NOW]),
        "invalid_at": st.sampled_from([None, NOW]),
        "schema_version": st.just(1),
        "scope": st.just({"agent_id": "other"}),
        "mood": st.text(max_size=5),
    },
)


@given(OLD)
@settings(max_examples=60, deadline=None)
def test_migrating_twice_is_migrating_once_and_loses_nothing(old: dict[str, Any]) -> None:
    """S1-21, S1-22"""
    before = dict(old)
    once = apply_legacy_lesson_defaults(old)
    assert old == before
    assert apply_legacy_lesson_defaults(once) == once
    assert old.items() <= once.items()
    assert once["valid_from"] == old.get("valid_from", old.get("created_at"))


def test_a_record_of_a_newer_schema_is_refused() -> None:
    """S1-21"""
    for version in (2, True, "1"):
        with pytest.raises(LessonValidationError):
            apply_legacy_lesson_defaults({"schema_version": version})


@pytest.mark.parametrize(
    ("lesson", "now", "active"),
    [
        ({}, NOW, True),
        ({"valid_from": NOW}, NOW, True),
        ({"valid_from": "2026-11-30T12:00:00.001+02:00"}, NOW, False),
        ({"invalid_at": "2026-11-30T12:00:00+02:00"}, NOW, False),
        ({"invalid_at": "2026-11-30T10:00:01"}, NOW, True),
        ({"valid_from": "20261130T100000Z"}, NOW, True),
    ],
)
def test_a_lesson_holds_within_its_time(lesson: dict[str, Any], now: str, active: bool) -> None:
    """S1-23"""
    assert is_lesson_active(lesson, now) is active


@pytest.mark.parametrize("now", ["", "yesterday", "2026-13-01", None, 7, "99999-01-01"])
def test_no_time_is_no_now(now: Any) -> None:
    """S1-23"""
    with pytest.raises(LessonValidationError):
        is_lesson_active({}, now)


def test_the_module_of_the_lifecycle_has_no_clock() -> None:
    """S1-23"""
    with open(lifecycle.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & {"now", "utcnow", "today", "time", "time_ns", "monotonic"}
    assert not any(
        alias.name == "time" for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    )


def test_importing_the_room_touches_no_file_and_no_database() -> None:
    """S1-56 and the fourth thing that must hold: every module is imported with `open` and `connect` refused."""
    program = """
import builtins, io, os, pkgutil, importlib, socket, sqlite3
import ontoref
def refuse(*given, **named):
    raise AssertionError(f"I/O: {given}")
builtins.open = io.open = os.mkdir = os.makedirs = refuse
sqlite3.connect = socket.socket.connect = refuse
real = os.open
import ontoref.lesson
for module in pkgutil.walk_packages(ontoref.lesson.__path__, "ontoref.lesson."):
    importlib.import_module(module.name)
import sys
assert "psycopg" not in sys.modules
from ontoref.lesson.passes import all_passes
from ontoref.lesson.tasks import TaskPass
passes = all_passes()
passes.register(TaskPass("own", "light", 1, "agent", "deterministic", lambda store, config, now: open("x") and {}))
(result,) = passes.run(None, {}, "2026-11-30T10:00:00Z", ["own"])
assert "I/O" in result.error, result
print(len(passes.in_order()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café", "cafe"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ΟΔΌΣ", "οδοσ"),
        ("日本", "日本"),
        ("a\0b", "ab"),
    ],
)
def test_text_is_folded(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(token and not token.isspace() for token in tokens_of(text))


def test_a_fingerprint_is_that_of_what_is_said() -> None:
    scope = {"agent_id": "a", "workspace": "/x"}
    mark = fingerprint("create", scope, {"statement": "Use  TABS"})
    assert mark == fingerprint("create", dict(reversed(scope.items())), {"statement": "use tabs ", "title": "other"})
    assert mark != fingerprint("merge", scope, {"statement": "use tabs"})
    assert mark != fingerprint("create", {"agent_id": "a"}, {"statement": "use tabs"})
    assert mark != fingerprint("create", scope, {"statement": "use tabs", "record_kind": "skill"})
