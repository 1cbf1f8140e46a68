"""What the archive needs to know of a line: what it is called, and whether it is sound."""

from __future__ import annotations

from typing import Any

import orjson

from ontoref.state.events import Identity
from ontoref.transcript.native import parse, seconds

__all__ = ["Facts"]

_BOM = b"\xef\xbb\xbf"


class Facts:
    """Gathers while lines pass: how many are bad, the last time and the last model named.

    Shape: times as they stand in the lines, read by `ended_ms`.
    """

    __slots__ = ("_last_time", "bad", "model")

    def __init__(self) -> None:
        self.bad = 0
        self.model: str | None = None
        self._last_time: Any = None

    def ended_ms(self) -> int | None:
        """The last time seen, in milliseconds since 1970."""
        found = seconds(self._last_time, -1.0)
        return None if found < 0 else int(found * 1000)

    def of_lines(self, lines: list[bytes], first_seq: int) -> list[Identity]:
        """Names of the lines that have some; first_seq is the first one's number."""
        found: list[Identity] = []
        loads = orjson.loads
        last_time = None
        for seq, line in enumerate(lines, first_seq):
            try:
                record = loads(line)
            except ValueError:
                record = self._leniently(line, seq)
            if type(record) is not dict:
                continue
            get = record.get
            last_time = get("timestamp") or last_time
            event_id = get("uuid") or get("id")
            message = get("message")
            usage_key = None
            if type(message) is dict:
                message_id = message.get("id")
                if type(message_id) is str:
                    usage_key = f"{message_id}:{get('requestId') or ''}"
                model = message.get("model")
                if type(model) is str and not model.startswith("<"):
                    self.model = model
            elif type(payload := get("payload")) is dict and type(model := payload.get("model")) is str:
                self.model = model
            if type(event_id) is str:
                kind = get("type")
                parent = get("parentUuid") or get("parentId")
                found.append(
                    (
                        seq,
                        event_id,
                        kind if type(kind) is str else None,
                        parent if type(parent) is str else None,
                        usage_key,
                    )
                )
        if last_time is not None:
            self._last_time = last_time
        return found

    def is_bad(self, line: bytes, seq: int) -> bool:
        """Whether a line is neither blank nor JSON."""
        before = self.bad
        try:
            orjson.loads(line)
        except ValueError:
            self._leniently(line, seq)
        found, self.bad = self.bad > before, before
        return found

    def _leniently(self, line: bytes, seq: int) -> Any:
        text = line.removeprefix(_BOM) if seq == 1 else line
        if not text.strip():
            return None
        try:
            return parse(text)
        except ValueError:
            self.bad += 1
            return None
