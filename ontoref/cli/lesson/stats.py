"""`ontoref lesson stats`."""

from __future__ import annotations

from collections import Counter

from ontoref.cli.lesson._options import Form
from ontoref.cli.output import Format, emit


def stats(form: Form = Format.table) -> None:
    """Count what the store holds, and say where it is and whether it works.

    \b
    Example:
      ontoref lesson stats
    """
    from ontoref.cli.lesson.shared import now, opened
    from ontoref.cli.output import emit_json
    from ontoref.lesson import is_lesson_active

    at = now()
    with opened(read_only=True) as store:
        lessons = store.list_lessons()
        proposals = Counter(one["status"] for one in store.list_proposals())
        waiting = len(store.list_pending_candidates())
        backend = store.describe_backend()
    found = {
        "lessons": len(lessons),
        "active": sum(is_lesson_active(one, at) for one in lessons),
        "kinds": dict(Counter(one["record_kind"] for one in lessons)),
        "durabilities": dict(Counter(one["durability"] for one in lessons)),
        "scopes": dict(Counter(one["scope"].get("agent_id", "") for one in lessons)),
        "votes": {name: sum(one.get(name) or 0 for one in lessons) for name in ("helpful", "harmful", "neutral")},
        "proposals": dict(proposals),
        "candidates_waiting": waiting,
        "store": backend,
    }
    if form in (Format.json, Format.jsonl):
        emit_json([found] if form is Format.json else found)
        return
    rows = []
    for name, value in found.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key}: {one}" for key, one in value.items() if not isinstance(one, dict))
        rows.append({"what": name, "value": value})
    emit(rows, form, columns=("what", "value"))
