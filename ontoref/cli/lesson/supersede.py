"""`ontoref lesson supersede`."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoref.cli.lesson._options import Form, Reason
from ontoref.cli.output import Format
from ontoref.errors import UsageError


def supersede(
    id: Annotated[str, typer.Argument(help="The lesson that ends, or the beginning of its id.")],
    statement: Annotated[str | None, typer.Option(help="What holds in its place.")] = None,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    with_: Annotated[str | None, typer.Option("--with", help="A lesson that is there takes its place.")] = None,
    reason: Reason = None,
    form: Form = Format.table,
) -> None:
    """Replace a lesson by a better one; the old one stays in the chain.

    \b
    Example:
      ontoref lesson supersede l-3f0c --statement "Indent everything with tabs." --reason "the formatter does"
    """
    from ontoref.cli.lesson.shared import named, now, opened
    from ontoref.cli.output import emit_json, note
    from ontoref.lesson.passes import title_of

    if (statement is None) == (with_ is None):
        raise UsageError("say what takes its place", hint="--statement TEXT, or --with ID")
    at = now()
    with opened(read_only=False) as store:
        old = store.get_lesson(named(store, id, "lesson"))
        assert old is not None
        if with_ is not None:
            new = store.get_lesson(named(store, with_, "lesson"))
            assert new is not None
            new = {**new, "updated_at": at}
        else:
            kept = ("scope", "record_kind", "section", "durability", "tags")
            new = {name: old[name] for name in kept if name in old}
            new |= {"statement": statement, "title": title or title_of(statement or "")}
        done = store.supersede_lesson(old["id"], new, at, reason)
    if form in (Format.json, Format.jsonl):
        emit_json([done] if form is Format.json else done)
        return
    print(done["new"]["id"])
    note(f"{old['id']} ended; `ontoref lesson chain {old['id']}`")
