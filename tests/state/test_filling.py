"""Blocks of a source, cut anywhere, become chunks of whole lines."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from ontoref.state import filling

PIECES = st.lists(st.sampled_from([b"\n", b"\n\n", b"a", b"bcd", b"\r\n", b"\xef\xbb\xbf", b"x" * 9]), max_size=40)


@given(PIECES, st.sampled_from([b"", b"half", b"h"]), st.integers(1, 30), st.integers(1, 5))
def test_chunks_are_the_source_in_whole_lines(
    blocks: list[bytes], half: bytes, most_bytes: int, most_lines: int
) -> None:
    """Every byte once and in order; only the last chunk may end within a line; none holds very many lines."""
    with mock.patch.multiple(filling, _CHUNK_BYTES=most_bytes, _CHUNK_LINES=most_lines):
        chunks = list(filling._chunks(blocks, half))
    found = [chunk for chunk in chunks if chunk is not None]
    content = b"".join(blocks)
    assert b"".join(chunk.content for chunk in found) == (half + content if content else b"")
    assert all(chunk.content.endswith(b"\n") for chunk in found[:-1])
    for chunk in found:
        assert b"\n".join(chunk.lines) + b"\n" * chunk.ends_with_newline == chunk.content
        assert 1 <= len(chunk.lines) <= most_lines + 1
    assert len(chunks) >= 1
