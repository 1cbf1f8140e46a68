"""Text for people: untrusted text made safe to print, things counted."""

from __future__ import annotations

import re

__all__ = ["counted", "printable", "printable_json", "shorten"]

# C0 and C1 controls, bidirectional marks and overrides, invisible separators, lone surrogates. A tab and a
# newline are controls too: who wants them laid out asks for `keep`.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with every character that could steer a terminal shown as an escape (`\x1b`, `\u202e`).

    Shape: characters in keep (say "\n\t") stay as they are.
    """

    def escape(match: re.Match[str]) -> str:
        character = match.group()
        if character in keep:
            return character
        code = ord(character)
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(
            character, f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
        )

    return _UNSAFE.sub(escape, text)


def printable_json(text: str) -> str:
    r"""A JSON text that cannot steer a terminal and reads as the same value: such characters are `\u202e` in it."""
    # White space between values stays; inside a string these two are escaped already.
    return _UNSAFE.sub(lambda match: match[0] if match[0] in "\n\r" else f"\\u{ord(match[0]):04x}", text)


def counted(count: int, one: str, many: str | None = None) -> str:
    """So many things: `1 file`, `1,204 files`. Shape: many where it is not one with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shorten(text: str, width: int) -> str:
    """The text in at most width characters, an ellipsis in place of what was cut off its end."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
