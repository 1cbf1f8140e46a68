"""What docs/replay.md shows works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ontoref.replay.duckdb_store import DuckStore
from tests.replay.test_sources import duck_of, write_session

GUIDE = Path(__file__).parent.parent.parent / "docs" / "replay.md"
pytestmark = pytest.mark.checkout
pytest.importorskip("duckdb")


def questions() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL) if GUIDE.exists() else []


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DuckStore:
    folder = tmp_path_factory.mktemp("guide")
    write_session(folder)
    return duck_of(folder)


@pytest.mark.parametrize("sql", questions(), ids=lambda sql: " ".join(sql.split()[1:5]))
def test_every_question_of_the_guide_runs(sql: str, store: DuckStore) -> None:
    list(store.query(sql))


def test_questions_find_what_is_there(store: DuckStore) -> None:
    found = [list(store.query(sql)) for sql in questions()]
    assert len(found) == 8
    tokens, delegations, prompts = found[1], found[2], found[7]
    assert tokens[0]["output"] > 0
    assert (delegations[0]["spawned"], delegations[0]["returned"]) == (1, 1)
    assert prompts[-1]["prompt"] == "Count the files."
