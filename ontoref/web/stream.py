"""A session that is still written, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from ontoref.replay.build import build_tree
from ontoref.replay.finding import located
from ontoref.replay.places import Place, places_of
from ontoref.replay.preview import event_json, packed
from ontoref.replay.source import Source
from ontoref.replay.tree import Row

__all__ = ["Streams"]

_PAUSE_SECONDS = 0.4
_ALIVE_SECONDS = 15.0
_AT_ONCE = 500
# So far back a later line may still change an event: the usage of a message stands on its last one.
_UNSETTLED = 50


@dataclass(slots=True)
class _Feed:
    """One session that somebody watches: read by one task, told to all who watch."""

    rows: Sequence[Row] = ()
    places: Mapping[int, Place] = field(default_factory=dict)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    watchers: int = 0
    task: asyncio.Task[None] | None = None
    messages: dict[tuple[int, int], bytes] = field(default_factory=dict)


class Streams:
    """Live sessions, each read once however many watch it."""

    def __init__(self, source: Source, pause_seconds: float = _PAUSE_SECONDS) -> None:
        self._source = source
        self._pause = pause_seconds
        self._feeds: dict[str, _Feed] = {}

    async def messages(self, session_id: str, after: int | None) -> AsyncIterator[bytes]:
        """What comes after the first `after` events, or from now on; ends when the client goes.

        Shape: `ready` with row_count at once; `events` with up to 500 events, each with its place in the tree, again
               where it changed, the id the number of events so far; `reset` where the transcript became another one.
        """
        feed = self._feeds.setdefault(session_id, _Feed())
        feed.watchers += 1
        try:
            if feed.task is None:
                feed.rows, feed.places = await self._read(session_id, None, {})
                if feed.task is None:
                    feed.task = asyncio.create_task(self._follow(session_id, feed))
            seen: Sequence[Row] = feed.rows
            sent = len(seen) if after is None else min(after, len(seen))
            yield _message("ready", sent, {"row_count": len(seen)})
            while True:
                rows = feed.rows
                if rows is not seen:
                    if len(rows) < sent:
                        sent = 0
                        yield _message("reset", 0, {"row_count": len(rows)})
                    else:
                        start = max(0, sent - _UNSETTLED)
                        changed = [n for n in range(start, sent) if n < len(seen) and rows[n] != seen[n]]
                        sent = min([sent, *changed])
                    seen = rows
                if sent < len(rows):
                    end = min(len(rows), sent + _AT_ONCE)
                    yield self._events(feed, rows, sent, end)
                    sent = end
                    continue
                async with feed.changed:
                    if feed.rows is seen:
                        try:
                            await asyncio.wait_for(feed.changed.wait(), _ALIVE_SECONDS)
                        except TimeoutError:
                            yield b": still here\n\n"
        finally:
            feed.watchers -= 1
            if feed.watchers == 0:
                if feed.task is not None:
                    feed.task.cancel()
                if self._feeds.get(session_id) is feed:
                    del self._feeds[session_id]

    async def _follow(self, session_id: str, feed: _Feed) -> None:
        pause = self._pause
        while True:
            await asyncio.sleep(pause)
            begun = time.monotonic()
            rows, places = await self._read(session_id, feed.rows, feed.places)
            # A long transcript is read again as a whole, so it is read more seldom.
            pause = max(self._pause, 4 * (time.monotonic() - begun))
            if rows is not feed.rows:
                async with feed.changed:
                    feed.rows, feed.places = rows, places
                    feed.messages.clear()
                    feed.changed.notify_all()

    async def _read(
        self, session_id: str, known: Sequence[Row] | None, places: Mapping[int, Place]
    ) -> tuple[Sequence[Row], Mapping[int, Place]]:
        """The events, and where each stands; what is known already while nothing came."""

        def read() -> tuple[Sequence[Row], Mapping[int, Place]]:
            rows = self._source.rows(session_id) or ()
            return (rows, places) if rows is known else (rows, places_of(build_tree(rows)))

        return await run_in_threadpool(read)

    def _events(self, feed: _Feed, rows: Sequence[Row], start: int, end: int) -> bytes:
        """The message for events from start to end; those who watch are mostly at the same place."""
        found = feed.messages.get((start, end)) if rows is feed.rows else None
        if found is None:
            shown = [
                event_json(row.event, row.ordinal) | located(feed.places.get(row.ordinal)) for row in rows[start:end]
            ]
            found = _message("events", end, {"events": shown, "row_count": len(rows)})
            if rows is feed.rows and len(feed.messages) < 16:
                feed.messages[start, end] = found
        return found


def _message(event: str, number: int, data: object) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (event.encode(), number, packed(data))
