"""`ontoref adr promote`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ontoref.interaction.candidates import Candidate, Entry
    from ontoref.vocabulary import Vocabulary


def promote(
    decision: Annotated[str, typer.Argument(metavar="DECISION_ID", help="The decision's id.")],
    number: Annotated[int | None, typer.Option(min=1, help="The ADR's number; else the next that is free.")] = None,
    folder: Annotated[str, typer.Option("--dir", help="Where ADRs lie.", metavar="DIR")] = "docs/adr",
    actor: Annotated[
        str | None, typer.Option(help="Who promotes it; else told as `record` does.", metavar="ACTOR")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file and write nothing.")] = False,
    schemas: Annotated[str | None, typer.Option(help="Folder of vocabulary files.", metavar="DIR")] = None,
) -> int:
    """Make an ADR of a decision: writes the file, and a record that says so, so that it waits no longer.

    The file holds what the records know: context, options, the reasons that were given. Consequences are yours to
    write. The number is free on every local and remote branch that git knows here.

    \b
    Example:
      ontoref adr promote jsonl-as-instance-store
    """
    import os
    from datetime import UTC, datetime

    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.interaction import adr
    from ontoref.interaction.adoption.change import replace
    from ontoref.interaction.candidates import Candidate, entries
    from ontoref.interaction.project import own_project

    project = own_project(os.getcwd())
    logs, vocabulary = logs_and_words(None, schemas)
    known = entries(logs)
    history = known.get(decision)
    if history is None:
        raise adr.AdrError(f"no record holds the decision {decision}", hint=_near(decision, known))
    present = history[-1].decision.get("adr")
    if present is not None:
        raise adr.AdrError(f"{decision} is {present} already", hint="ontoref adr list")
    folder = folder.strip("/").replace(os.sep, "/")
    here, branches = adr.files_in(project.root, folder), adr.files_on_branches(project.root, folder)
    named = {str(e.decision["adr"]) for entry in known.values() for e in entry if "adr" in e.decision}
    free = adr.next_number(here, branches, named)
    taken = number is not None and (
        any(file.number == number for file in here)
        or any(name.startswith(f"{number:04d}-") for name in branches)
        or f"ADR-{number:04d}" in named
    )
    if taken:
        raise adr.AdrError(f"the number {number} is taken", hint=f"free: {free}")
    number = number or free
    moment = datetime.now(UTC)
    candidate = Candidate(decision, tuple(history), ())
    text = adr.render(candidate, number, f"{moment:%Y-%m-%d}")
    path = f"{folder}/{number:04d}-{decision}.md"
    if dry_run:
        print(text, end="")
        return 0
    record = _promotion(candidate, number, path, vocabulary)
    target = os.path.join(project.root, *path.split("/"))
    replace(target, text.encode())
    try:
        code = _record(record, actor, schemas)
    except BaseException:
        os.unlink(target)
        raise
    if code != 0:
        os.unlink(target)
        return code
    print(f"ADR-{number:04d}  {os.path.relpath(target)}")
    return 0


def _near(decision: str, known: dict[str, list[Entry]]) -> str:
    from ontoref.interaction.finding import nearest

    near = nearest(decision, list(known))
    return f'did you mean "{near}"?' if near else "ontoref adr candidates lists what waits"


def _promotion(candidate: Candidate, number: int, path: str, vocabulary: Vocabulary) -> dict[str, Any]:
    """The record of the promotion. Words that ontoref itself needs are marked in the vocabulary."""
    latest = candidate.latest
    carried = {k: v for k, v in latest.decision.items() if k not in ("rationale", "status", "adr")}
    status = vocabulary.enum("DecisionStatus").by_role("promoted")
    return {
        "kind": vocabulary.enum("Kind").by_role("promotion"),
        "domain": latest.record.get("domain") or vocabulary.enum("Domain").by_role("promotion"),
        "category": vocabulary.enum("Category").by_role("promotion"),
        "outcome": vocabulary.enum("Outcome").by_role("promotion"),
        "summary": f"{candidate.id} became ADR-{number:04d}.",
        "decisions": [{**carried, "status": status, "adr": f"ADR-{number:04d}"}],
        "files_touched": [path],
    }


def _record(record: dict[str, Any], actor: str | None, schemas: str | None) -> int:
    import os
    import tempfile

    import orjson

    from ontoref.cli.interaction.record import record as record_command

    # The one way into the log: what is refused there is refused here, and explained alike.
    with tempfile.TemporaryDirectory(prefix="ontoref-") as folder:
        source = os.path.join(folder, "promotion.json")
        with open(source, "wb") as file:
            file.write(orjson.dumps(record))
        return record_command(source, actor=actor, schemas=schemas)
