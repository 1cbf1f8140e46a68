"""What the strategies draw is what the vocabulary allows."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from ontoref.interaction.check import Checker
from ontoref.vocabulary import load
from tests.strategies import records

CHECKER = Checker(load())


@given(records())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_record_drawn_is_accepted(record: dict[str, Any]) -> None:
    assert [f for f in CHECKER.check_value(record, "drawn") if f.is_error] == []


@given(records(strict=True))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_strict_record_earns_no_warning(record: dict[str, Any]) -> None:
    assert CHECKER.check_value(record, "drawn") == []
