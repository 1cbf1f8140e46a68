"""What the commands over lessons share: where lessons are kept, who reviews, and how they are shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.lesson.contract import Record
    from ontoref.lesson.factory import OpenStore
    from ontoref.state.placement import DomainStoragePlacement

__all__ = [
    "capture_mode",
    "detail",
    "lesson_row",
    "named",
    "now",
    "opened",
    "place_of_url",
    "placement",
    "reviewer",
    "scope_of",
]

SCOPE_HELP = "Only this scope: agent_id=NAME,workspace=PATH,domain=NAME."


def now() -> str:
    """This moment, RFC 3339 in UTC."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def placement() -> DomainStoragePlacement:
    """Where lessons are kept: ONTOREF_LESSONS, else the project's config.yaml, else the user's, else the default.

    Errors: PlacementError; ConfigError, also for a project that names a place outside itself.
    """
    from ontoref.lesson.factory import DOMAIN
    from ontoref.state.layout import default_layout
    from ontoref.state.placement import resolve_domain_storage

    given = os.environ.get("ONTOREF_LESSONS", "").strip() or _projects_place() or _user_setting("lessons")
    return resolve_domain_storage(DOMAIN, {DOMAIN: given}, default_layout())


def place_of_url(url: str) -> DomainStoragePlacement:
    """The place that a person typed; relative paths are below the folder that they stand in."""
    from ontoref.state.layout import Layout
    from ontoref.state.placement import resolve_domain_storage

    return resolve_domain_storage("lessons", {"lessons": url}, Layout(os.getcwd()))


def _projects_place() -> str | None:
    """The project's own place. A repository may keep lessons in itself, not send them or write anywhere else."""
    from ontoref.interaction.project import ConfigError, nearest_project
    from ontoref.state.layout import Layout
    from ontoref.state.placement import PostgresPlacement, resolve_domain_storage

    project = nearest_project(os.getcwd())
    if not project.exists or (given := project.settings.lessons) is None:
        return None
    place = resolve_domain_storage("lessons", {"lessons": given}, Layout(project.root))
    where = os.path.join(project.root, ".ontoref", "config.yaml")
    if not isinstance(place, PostgresPlacement):
        path = os.path.realpath(str(place).partition(":")[2])
        if path.startswith(os.path.realpath(project.root) + os.sep):
            return str(place)
    raise ConfigError(
        "a project keeps lessons in itself or not at all",
        location=where,
        hint="set any other place in ONTOREF_LESSONS, or as `lessons:` in your own config.yaml",
    )


def _user_setting(name: str) -> str | None:
    from ontoref.interaction.project import settings_of
    from ontoref.places import config_dir

    found: str | None = getattr(settings_of(os.path.join(config_dir(), "config.yaml")), name)
    return found


def capture_mode() -> str:
    """off or capture: ONTOREF_CAPTURE, else the project's setting, else the user's, else capture."""
    from ontoref.interaction.project import nearest_project
    from ontoref.lesson.capture import CAPTURE, MODES

    project = nearest_project(os.getcwd())
    own = project.settings.capture if project.exists else None
    found = os.environ.get("ONTOREF_CAPTURE", "").strip() or own or _user_setting("capture") or CAPTURE
    if found not in MODES:
        raise UsageError(f"capture is {found!r}", hint=f"known: {', '.join(MODES)}")
    return found


@contextmanager
def opened(*, read_only: bool, fallback: bool = True) -> Iterator[OpenStore]:
    """The lesson store. That it gave way to the fallback is told on stderr."""
    import logging

    from ontoref.cli.output import note
    from ontoref.lesson.factory import open_store

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            note(f"warning: {record.getMessage()}")

    log = logging.getLogger("ontoref.lesson")
    handler = Told(logging.WARNING)
    log.addHandler(handler)
    log.propagate = False
    try:
        store = open_store(placement(), read_only=read_only, fallback=fallback)
        try:
            yield store
        finally:
            store.close()
    finally:
        log.removeHandler(handler)
        log.propagate = True


def scope_of(given: Sequence[str] | None) -> dict[str, str] | None:
    """A scope as typed: `agent_id=main,workspace=/app`. Errors: UsageError."""
    if not given:
        return None
    found: dict[str, str] = {}
    for term in (part for text in given for part in text.split(",")):
        name, equals, value = term.partition("=")
        if not equals or not value.strip():
            raise UsageError(f"--scope: {term!r} is no scope", hint="agent_id=main,workspace=/home/me/app")
        found[name.strip()] = value.strip()
    return found


def reviewer(given: str | None) -> str:
    """Who decides: as given, else the agent whose environment this is, else the user."""
    if given:
        return given
    from ontoref.vocabulary.load import load_table

    variables = load_table("actors").get("variables", {})
    agent = next((actor for name, actor in variables.items() if os.environ.get(name)), None)
    if agent is not None:
        return str(agent)
    return os.environ.get("USER") or os.environ.get("USERNAME") or "somebody"


def named(store: OpenStore, beginning: str, what: str) -> str:
    """The id of a lesson or a proposal that begins so. Errors: LessonNotFoundError, LessonConflictError."""
    from ontoref.lesson.review import full_id

    exact = store.get_lesson(beginning) if what == "lesson" else store.get_proposal(beginning)
    if exact is not None:
        return beginning
    records = store.list_lessons() if what == "lesson" else store.list_proposals()
    return full_id(beginning, [one["id"] for one in records], what)


def lesson_row(lesson: Record, at: str) -> dict[str, Any]:
    """A lesson as listings print it: the record, and whether it holds."""
    from ontoref.lesson import is_lesson_active

    return {**lesson, "active": is_lesson_active(lesson, at), "sessions": len(_sessions(lesson))}


def _sessions(lesson: Record) -> set[str]:
    evidence = lesson.get("evidence")
    return {str(one.get("session_id")) for one in evidence or () if isinstance(one, dict)}


def detail(record: Record, *, evidence: Sequence[Record] = ()) -> None:
    """One record for a person: its fields, then where it comes from and how to read that."""
    from ontoref.cli.output import Format, emit
    from ontoref.text import printable

    said = record.get("statement") or record.get("excerpt") or ""
    shown = {name: value for name, value in record.items() if name not in ("statement", "excerpt", "evidence", "draft")}
    pairs = [{"what": name, "value": value} for name, value in shown.items() if value not in (None, [], {}, "")]
    emit(pairs, Format.table, columns=("what", "value"), headers={"what": record["id"], "value": ""}, whole=True)
    if said:
        print("\n" + "\n".join(f"  {printable(line)}" for line in said.splitlines()))
    for one in evidence:
        place = f"{one.get('session_id')}" + (f"  {one['event_id']}" if one.get("event_id") else "")
        print(printable(f"\nseen {one.get('observed_at') or ''} in {place}"))
        if one.get("excerpt") and one["excerpt"] != said:
            print(printable(f"  {one['excerpt']}"))
        print(printable(f"  ontoref transcript show {one.get('session_id')}"))
