"""A block of ours inside a file that belongs to somebody else, between two marker lines."""

from __future__ import annotations

from ontoref.errors import OntorefError

__all__ = ["BrokenBlock", "put", "take_out"]


class BrokenBlock(OntorefError):
    """A file holds one of the two markers, or holds them twice or in the wrong order."""

    kind = "broken-block"


def put(text: str, begin: str, end: str, body: str, *, path: str) -> str:
    """The text with the block's body replaced, or with the block added at its end; the rest is untouched.

    Shape:  begin and end are whole lines without newline; body is given without the markers.
    Errors: BrokenBlock if the markers do not stand as a pair.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([begin, *body.strip("\n").splitlines(), end])
    place = _find(text, begin, end, path)
    if place is not None:
        start, stop = place
        return text[:start] + block + text[stop:]
    if not text:
        return block + newline
    gap = "" if text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
    return text + gap + block + newline


def take_out(text: str, begin: str, end: str, *, path: str) -> str:
    """The text without the block; unchanged if there is none. Errors: BrokenBlock."""
    place = _find(text, begin, end, path)
    if place is None:
        return text
    start, stop = place
    before, after = text[:start].rstrip("\r\n"), text[stop:].lstrip("\r\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    if not before:
        return after
    return before + newline + (newline + after if after else "")


def _find(text: str, begin: str, end: str, path: str) -> tuple[int, int] | None:
    starts, ends = text.count(begin), text.count(end)
    if starts == ends == 0:
        return None
    start, stop = text.find(begin), text.find(end)
    if starts != 1 or ends != 1 or stop < start:
        raise BrokenBlock(
            "the markers of ontoref's block do not stand as one pair",
            location=f"{path}:{text[: max(start, 0)].count(chr(10)) + 1}",
            hint=f"there must be one line {begin!r} and, after it, one line {end!r}",
        )
    return start, stop + len(end)
