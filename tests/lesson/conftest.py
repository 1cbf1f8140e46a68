"""Every backend as a place in which stores can be opened, once and again."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from ontoref.lesson.backends.fallback import FirstFailureFallbackLessonStore
from ontoref.lesson.factory import open_store
from ontoref.lesson.store import TableLessonStore
from ontoref.state.layout import Layout
from ontoref.state.placement import JsonlPlacement, PostgresPlacement, SqlitePlacement
from tests.conftest import IN_CI
from tests.lesson.servers import Server, binaries

# Each a backend of the resolver, and the wrapper that leaves one; test_backends compares this list with both.
BACKENDS = ("sqlite", "fs-jsonl", "postgres", "fallback")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A running PostgreSQL. Where it is not installed tests are skipped, but not in CI."""
    if not IN_CI:
        pytest.importorskip("psycopg")
    folder = binaries()
    if folder is None:
        if IN_CI:
            pytest.fail("PostgreSQL is not installed, and CI must test with a real one")
        pytest.skip("PostgreSQL is not installed")
    # A socket's path must be short, and its folder open to the user that the server runs as.
    place = Path(tempfile.mkdtemp(prefix="ontoref-pg-"))
    place.chmod(0o711)
    running = Server(place / "s", folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        shutil.rmtree(place, ignore_errors=True)


@dataclass
class Place:
    """A backend with a location of its own."""

    backend: str
    layout: Layout
    placement: Any
    opened: list[TableLessonStore] = field(default_factory=list)

    def open(self, *, fallback: bool = False) -> TableLessonStore:
        """Another store on the same location."""
        if self.backend == "fallback":
            second = open_store(self.placement, self.layout)
            store = cast(TableLessonStore, FirstFailureFallbackLessonStore(Failing(), lambda: second))
        else:
            store = open_store(self.placement, self.layout, fallback=fallback)
        self.opened.append(store)
        return store


class Failing:
    """A store whose backend fails, whatever it is asked."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name == "close":
            raise AttributeError(name)

        def fail(*_: Any, **__: Any) -> Any:
            raise ConnectionError("the backend is gone")

        return fail


def place_of(backend: str, layout: Layout, url: str | None) -> Place:
    folder = os.path.join(layout.root, "placed")
    placement: Any
    if backend == "sqlite":
        placement = SqlitePlacement(layout.global_database)
    elif backend == "postgres":
        assert url is not None
        placement = PostgresPlacement(url, f"t_{uuid.uuid4().hex[:12]}")
    else:
        placement = JsonlPlacement(folder)
    return Place(backend, layout, placement)


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    url = request.getfixturevalue("server").url if request.param == "postgres" else None
    found = place_of(request.param, Layout(str(tmp_path / "state")), url)
    yield found
    for store in found.opened:
        store.close()


@pytest.fixture
def store(place: Place) -> TableLessonStore:
    return place.open()
