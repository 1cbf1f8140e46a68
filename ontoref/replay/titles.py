"""What a turn is called in a list: the first words of its prompt, and what happened in it."""

from __future__ import annotations

import re
from typing import Any

from ontoref.replay.tree import Turn
from ontoref.transcript import event as e

__all__ = ["title_of", "turn_line"]

# What a runtime puts around what a person typed: `<ide_opened_file>...</ide_opened_file>` and its like.
_WRAPPED = re.compile(r"<([a-z][a-z_-]*)>.*?</\1>", re.DOTALL)
_READ = 20_000
_PROMPT = 160


def title_of(text: str, most: int) -> str:
    """The first words of a prompt in one line, without the runtime's wrappers unless there is nothing else."""
    text = text[:_READ]
    bare = _WRAPPED.sub(" ", text).strip() or text
    return " ".join(bare[: 4 * most].split())[:most]


def turn_line(turn: Turn) -> dict[str, Any]:
    """A turn as a line of an outline."""
    first = turn.events[0].event if turn.events else None
    is_prompt = first is not None and first.kind == e.LLM_CALL
    text = first.payload.get("text") if first is not None and is_prompt else None
    return {
        "turn_id": turn.span_id,
        "ts": first.ts if first is not None else None,
        "text": title_of(text, _PROMPT) if isinstance(text, str) else "",
        "human": bool(first is not None and first.payload.get("human", True)) if is_prompt else False,
        "events": len(turn.events),
        "agents": len(turn.delegations),
        "approvals": len(turn.approvals),
        "errors": sum(1 for row in turn.events if row.event.payload.get("is_error") is True),
        "compactions": sum(1 for row in turn.events if row.event.kind == e.COMPACTION),
        "modes": [row.event.mode for row in turn.mode_changes],
    }
