"""ADRs: files that a promotion writes, their numbers on every branch, and what records say of them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ontoref import git
from ontoref.errors import OntorefError
from ontoref.interaction.candidates import Candidate, Entry
from ontoref.text import counted

__all__ = ["AdrError", "AdrFile", "Problem", "files_in", "files_on_branches", "next_number", "problems", "render"]

_NAME = re.compile(r"(?:.*/)?([0-9]{4,8})-([^/]+)\.md\Z")
_DECISION = re.compile(r"^<!-- ontoref:decision ([a-z0-9._-]+) -->$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


class AdrError(OntorefError):
    """A decision cannot be promoted."""

    kind = "adr"
    exit_code = 1


class AdrFile(NamedTuple):
    """One ADR. Shape: path is relative to the project; decision is the id that its marker names, if it has one."""

    number: int
    path: str
    title: str
    decision: str | None

    @property
    def name(self) -> str:
        """How records name it."""
        return f"ADR-{self.number:04d}"


class Problem(NamedTuple):
    """What is wrong between ADRs and records. Shape: rule is kebab-case."""

    rule: str
    place: str
    message: str


def files_in(root: str, folder: str) -> list[AdrFile]:
    """ADRs that lie in a folder of the project, by number. Errors: OSError if one cannot be read."""
    found = []
    absolute = os.path.join(root, *folder.split("/"))
    for name in sorted(os.listdir(absolute)) if os.path.isdir(absolute) else ():
        match = _NAME.match(name)
        if match:
            with open(os.path.join(absolute, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            title, decision = _TITLE.search(text), _DECISION.search(text)
            found.append(
                AdrFile(
                    int(match[1]),
                    f"{folder}/{name}",
                    title[1] if title else match[2],
                    decision[1] if decision else None,
                )
            )
    return found


def files_on_branches(root: str, folder: str) -> dict[str, set[str]]:
    """File names of ADRs on every local and remote branch: {name: refs}; {} outside git."""
    listed = git.try_run(["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes"], root)
    found: dict[str, set[str]] = {}
    prefix = (git.try_run(["rev-parse", "--show-prefix"], root) or b"").decode().strip()
    for ref in (listed or b"").decode().splitlines():
        names = git.try_run(["ls-tree", "--name-only", "-z", ref, "--", f":(top){prefix}{folder}/"], root)
        for name in (names or b"").split(b"\0"):
            text = os.fsdecode(name)
            if _NAME.match(text):
                found.setdefault(text.rpartition("/")[2], set()).add(ref)
    return found


def next_number(here: Sequence[AdrFile], branches: Mapping[str, set[str]], named: Collection[str]) -> int:
    """The first number that is free here, on every branch, and in what records name (`ADR-0042`)."""
    taken = {adr.number for adr in here} | {_number(name) for name in branches}
    taken |= {int(name.rpartition("-")[2]) for name in named if name.rpartition("-")[2].isdecimal()}
    return max(taken, default=0) + 1


def _number(name: str) -> int:
    match = _NAME.match(name)
    return int(match[1]) if match else 0


def render(candidate: Candidate, number: int, date: str) -> str:
    """The ADR of a decision in MADR's form; consequences are left to the person."""
    latest = candidate.latest
    title = candidate.id.replace("-", " ").replace("_", " ").capitalize()
    sessions = len({entry.record.get("session_id") for entry in candidate.entries})
    actors = sorted({str(entry.record.get("actor")) for entry in candidate.entries})
    rejected = list(dict.fromkeys(_each(candidate.entries, "alternatives_rejected")))
    tensions = list(dict.fromkeys(_each(candidate.entries, "tensions_engaged")))
    undo = "can be undone cheaply" if latest.decision.get("reversible") else "cannot be undone cheaply"
    count = len(candidate.entries)
    lines = [
        f"# {number:04d}. {title}",
        "",
        f"<!-- ontoref:decision {candidate.id} -->",
        "",
        f"- Status: accepted, {date}",
        f"- Deciders: {', '.join(actors)}",
        "",
        "## Context and problem statement",
        "",
        f"The decision stands in {counted(count, 'record')} of {counted(sessions, 'session')}:",
        "",
    ]
    for entry in candidate.entries:
        record = entry.record
        when = str(record.get("recorded_at", ""))[:10]
        who, where = _inline(record.get("actor")), _inline(record.get("domain"))
        lines.append(f"- {when}, {who}, {where}: {_inline(record.get('summary'))} (`{record.get('id')}`)")
    if tensions:
        lines += ["", f"It balances {', '.join(tensions)}."]
    lines += ["", "## Considered options", "", f"- {candidate.id}", *(f"- {_inline(option)}" for option in rejected)]
    lines += ["", "## Decision outcome", "", f"Chosen: {candidate.id}. It {undo}.", ""]
    reasons = [
        str(entry.decision["rationale"]) for entry in reversed(candidate.entries) if entry.decision.get("rationale")
    ]
    lines += [f"> {_inline(reason)}\n" for reason in dict.fromkeys(reasons)]
    lines += ["## Consequences", "", "<!-- What becomes easier, what becomes harder, what has to be watched. -->", ""]
    return "\n".join(lines)


def problems(
    here: Sequence[AdrFile], branches: Mapping[str, set[str]], decisions: Mapping[str, Sequence[Entry]]
) -> Iterator[Problem]:
    """What does not fit: a named ADR that is nowhere, a promotion its file does not name, a number that two have."""
    by_number: dict[int, list[AdrFile]] = {}
    for adr in here:
        by_number.setdefault(adr.number, []).append(adr)
    for number, group in by_number.items():
        if len(group) > 1:
            places = ", ".join(adr.path for adr in group)
            yield Problem("number-twice", group[0].path, f"ADR-{number:04d} is the number of {places}")
    local = {adr.path.rpartition("/")[2] for adr in here}
    numbers: dict[int, set[str]] = {}
    for name in [*local, *branches]:
        numbers.setdefault(_number(name), set()).add(name)
    for number, names in sorted(numbers.items()):
        if len(names) > 1 and not names <= local:
            where = "; ".join(f"{name} ({', '.join(sorted(branches.get(name, {'here'})))})" for name in sorted(names))
            yield Problem("number-on-branches", f"ADR-{number:04d}", f"two files have the number: {where}")
    for identity, history in sorted(decisions.items()):
        adr_name = history[-1].decision.get("adr")
        if not isinstance(adr_name, str):
            continue
        suffix = adr_name.rpartition("-")[2]
        files = by_number.get(int(suffix), []) if suffix.isdecimal() else []
        if not files:
            yield Problem(
                "adr-missing", identity, f"{adr_name} is named by {history[-1].record.get('id')} and is not there"
            )
        elif any(adr.decision not in (None, identity) for adr in files) and not any(
            adr.decision == identity for adr in files
        ):
            yield Problem(
                "decision-differs", files[0].path, f"{adr_name} is of {files[0].decision}, a record says {identity}"
            )
    for adr in here:
        if adr.decision is not None:
            history = decisions.get(adr.decision, ())
            if not any(entry.decision.get("adr") == adr.name for entry in history):
                yield Problem("not-recorded", adr.path, f"no record says that {adr.decision} became {adr.name}")


def _each(entries: Sequence[Entry], field: str) -> Iterator[str]:
    for entry in entries:
        value = entry.decision.get(field)
        for item in value if isinstance(value, list) else ():
            if isinstance(item, str):
                yield item


def _inline(value: object) -> str:
    """Untrusted text as one line of Markdown that carries no markup of its own."""
    text = " ".join(str(value if value is not None else "—").split())
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)
