"""Every requirement of the interaction layer is named by a test that shows it."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_requirement_of_the_interaction_layer_is_named_by_a_test() -> None:
    named: set[int] = set()
    for path in HERE.rglob("test_*.py"):
        if path != Path(__file__):
            named |= {int(number) for number in re.findall(r"S4[-_](\d+)\b", path.read_text(encoding="utf-8"), re.I)}
    assert set(range(1, 23)) <= named, sorted(set(range(1, 23)) - named)
