"""Keys by which rows sort: bytes, so that entries compare at once wherever they are kept."""

from __future__ import annotations

import struct
from typing import Any

from ontoref.interaction.moments import order_key

__all__ = ["name_key", "ordered", "reach", "sortable"]

_PLACE = struct.Struct(">IQI")


def reach(row: Any, path: str) -> Any:
    """What stands at a dotted path of a row, None if nothing does."""
    for step in path.split("."):
        if not isinstance(row, dict):
            return None
        row = row.get(step)
    return row


def name_key(name: str) -> bytes:
    return name.encode().replace(b"\0", b"\1") + b"\0"


def ordered(record: dict[str, Any], file: int, offset: int, index: int) -> bytes:
    moment = order_key(record.get("recorded_at"))
    value = record.get("id")
    identity = value.encode() if isinstance(value, str) else b""
    return b"%b\0%b\0%b" % (moment.encode(), identity, _PLACE.pack(file, offset, index))


def sortable(value: Any) -> bytes:
    """Bytes that sort as values do: numbers, then texts, then what is missing."""
    if isinstance(value, bool | int | float):
        bits = int.from_bytes(struct.pack(">d", float(value)), "big")
        return b"\1" + (bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63)).to_bytes(8, "big")
    if isinstance(value, list):
        value = ", ".join(str(item) for item in value) or None
    if value is None:
        return b"\3"
    return b"\2" + str(value).encode().replace(b"\0", b"\1") + b"\0"
