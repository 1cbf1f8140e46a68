"""A marked block in somebody else's file: put in, brought up to date, taken out, the rest untouched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoref.interaction.adoption.block import BrokenBlock, put, take_out

BEGIN, END = "# begin", "# end"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "# begin\nbody\n# end\n", id="empty file"),
        pytest.param("text\n", "text\n\n# begin\nbody\n# end\n", id="a gap is made"),
        pytest.param("text", "text\n\n# begin\nbody\n# end\n", id="no newline at the end"),
        pytest.param("text\n\n", "text\n\n# begin\nbody\n# end\n", id="the gap is there"),
        pytest.param("a\n# begin\nold\nold\n# end\nb\n", "a\n# begin\nbody\n# end\nb\n", id="replaced in place"),
        pytest.param("a\r\n", "a\r\n\r\n# begin\r\nbody\r\n# end\r\n", id="line ends kept"),
    ],
)
def test_put(before: str, after: str) -> None:
    assert put(before, BEGIN, END, "body\n", path="x") == after
    assert put(after, BEGIN, END, "body\n", path="x") == after, "a second run changes nothing"


@pytest.mark.parametrize("text", ["# begin\n", "# end\n", "# end\n# begin\n", "# begin\n# begin\n# end\n"])
def test_a_broken_pair_is_refused_and_not_repaired_by_guess(text: str) -> None:
    with pytest.raises(BrokenBlock, match="one pair"):
        put(text, BEGIN, END, "body", path="x")


@given(st.text(alphabet="ab \n", max_size=40))
def test_what_was_put_in_comes_out(text: str) -> None:
    out = take_out(put(text, BEGIN, END, "body", path="x"), BEGIN, END, path="x")
    assert out.rstrip("\n") == text.rstrip("\n")
