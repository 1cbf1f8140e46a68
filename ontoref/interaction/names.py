"""Which file of the log a record goes into. Its name is built from untrusted text."""

from __future__ import annotations

import hashlib
import os

__all__ = ["file_name", "relative_path"]

_LONGEST_NAME = 100
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_RESERVED = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"COM{n}" for n in range(1, 10)), *(f"LPT{n}" for n in range(1, 10))]
)


def relative_path(session_id: object, recorded_at: object, ref: str | None) -> str:
    """The file of a record below the log: `2026/11/<session>-<hash8>.jsonl`.

    Shape: both values are untrusted. Without a usable session id the name is `unsorted.jsonl`, without a usable
           month it lies at the log's top. ref is the branch's full name, None outside a branch.
    """
    folder = _month(recorded_at)
    if not isinstance(session_id, str) or not session_id:
        return os.path.join(*folder, "unsorted.jsonl")
    branch = hashlib.sha256((ref or "HEAD").encode("utf-8", "surrogateescape")).hexdigest()[:8]
    tail = f"-{branch}.jsonl"
    return os.path.join(*folder, file_name(session_id, _LONGEST_NAME - len(tail)) + tail)


def _month(recorded_at: object) -> list[str]:
    if isinstance(recorded_at, str) and len(recorded_at) >= 7 and recorded_at[4] == "-":
        year, month = recorded_at[:4], recorded_at[5:7]
        if year.isascii() and year.isdecimal() and month.isascii() and month.isdecimal() and 1 <= int(month) <= 12:
            return [year, month]
    return []


def file_name(session_id: str, longest: int) -> str:
    """Untrusted text as part of a file name that every system takes."""
    raw = session_id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    if name[0] in ".-" or name.partition(".")[0].upper() in _RESERVED:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > longest:
        # Cut, and told apart from others that begin alike.
        name = f"{name[: longest - 17]}-{hashlib.sha256(raw).hexdigest()[:16]}"
    return name
