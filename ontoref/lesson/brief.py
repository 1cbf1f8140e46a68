"""Active lessons as text for an agent, the most useful first, as many as fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ontoref.lesson.contract import Record
from ontoref.lesson.lifecycle import instant_us
from ontoref.lesson.passes import title_of, usefulness
from ontoref.text import printable

__all__ = ["MARKERS", "Brief", "brief", "markers_in"]

# Our own pair first; a file that holds another tool's pair keeps it.
MARKERS = (
    ("<!-- ontoref:lessons:begin -->", "<!-- ontoref:lessons:end -->"),
    ("<!-- ACE:SKILLBOOK:START -->", "<!-- ACE:SKILLBOOK:END -->"),
)
_HEADING = "## Lessons"
_BYTES_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Brief:
    """Shape: text is Markdown; ids are those of the lessons in it. Units: tokens are four bytes each."""

    text: str
    ids: tuple[str, ...]
    left_out: int
    tokens: int


def brief(lessons: Iterable[Record], budget_tokens: int | None = None) -> Brief:
    """The lessons that fit, the most useful first. One that is too long leaves room for the next."""
    ordered = sorted(lessons, key=_rank)
    lines, ids = [], []
    used = _tokens(_HEADING) + 1
    for lesson in ordered:
        line = _line(lesson)
        cost = _tokens(line) + 1
        if budget_tokens is not None and used + cost > budget_tokens:
            continue
        used += cost
        lines.append(line)
        ids.append(lesson["id"])
    text = "\n".join([_HEADING, "", *lines]) + "\n" if lines else ""
    return Brief(text, tuple(ids), len(ordered) - len(ids), used if lines else 0)


def markers_in(text: str) -> tuple[str, str]:
    """The pair of markers that a file holds, ours where it holds none."""
    return next((pair for pair in MARKERS[::-1] if pair[0] in text or pair[1] in text), MARKERS[0])


def _rank(lesson: Record) -> tuple[int, int, int, str]:
    updated = lesson.get("updated_at")
    seen = int(lesson.get("observation_count") or 1)
    return -usefulness(lesson), -seen, -(instant_us(updated) if updated else 0), lesson["id"]


def _line(lesson: Record) -> str:
    statement = (lesson.get("statement") or "").strip()
    title = (lesson.get("title") or "").strip()
    # A title that only repeats how the statement begins says nothing.
    said = statement if not title or title == title_of(statement) else f"**{_safe(title)}** {statement}"
    return "- " + _safe(said.strip() or title).replace("\n", "\n  ")


def _safe(text: str) -> str:
    """Text that cannot steer a terminal, nor end the block that it stands in."""
    shown = printable(text.replace("\r\n", "\n"), keep="\n\t").replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    return "\n".join(line.rstrip() for line in shown.splitlines() if line.strip())


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_A_TOKEN)
