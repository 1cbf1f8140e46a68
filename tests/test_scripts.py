"""The two commands at the top of the README."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.checkout


def test_the_demo_does_the_main_job_and_leaves_the_checkout_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import demo

    status = ["git", "status", "--porcelain", "--", "examples"]
    before = subprocess.run(status, cwd=ROOT, capture_output=True, check=True).stdout
    # The environment under test stands in for the one that the script would make.
    monkeypatch.setattr(demo, "ensure", lambda *_, **__: sys.executable)
    assert demo.main() == 0
    assert subprocess.run(status, cwd=ROOT, capture_output=True, check=True).stdout == before
