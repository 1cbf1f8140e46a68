"""ULIDs: 48 bits of time in milliseconds and 80 random bits, as 26 characters that sort by time."""

from __future__ import annotations

import os
import time

__all__ = ["new_ulid", "ulid"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(time_ms: int, randomness: int) -> str:
    """The ULID of a moment (milliseconds since 1970) and an 80-bit number."""
    number = (time_ms & (1 << 48) - 1) << 80 | randomness & (1 << 80) - 1
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def new_ulid() -> str:
    """A ULID of this moment. The edge calls this; the core is given ids."""
    return ulid(time.time_ns() // 1_000_000, int.from_bytes(os.urandom(10), "big"))
