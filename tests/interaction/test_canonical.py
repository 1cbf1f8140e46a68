"""The canonical form: what RFC 8785 says, and a refusal where programs would differ."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontoref.interaction.canonical import NotCanonical, canonical

text = st.text(st.characters(codec="utf-8"), max_size=20)
key = st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF), max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(key, inner, max_size=4),
    max_leaves=20,
)


@given(values)
@settings(max_examples=200)
def test_the_form_is_that_of_the_rfc(value: Any) -> None:
    """Sorted by UTF-16 units, no white space, text as it is: the standard library can say the same of such values."""

    def ordered(node: Any) -> Any:
        if isinstance(node, dict):
            return {k: ordered(node[k]) for k in sorted(node, key=lambda k: k.encode("utf-16-be"))}
        return [ordered(item) for item in node] if isinstance(node, list) else node

    expected = json.dumps(ordered(value), ensure_ascii=False, separators=(",", ":")).replace("\x7f", "\x7f")
    assert canonical(value) == expected.encode()


@pytest.mark.parametrize("value", [1.5, {"a": [2**53]}, -(2**53), {"😀": 1}, {"a": {"\U00010000": 1}}, 1e300])
def test_what_programs_write_differently_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)
