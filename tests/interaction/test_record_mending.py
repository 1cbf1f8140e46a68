"""A refusal can be mended from its text alone (S4-13): a scripted agent does nothing but what the text says."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import App

GOOD: dict[str, Any] = {
    "session_id": "s-42",
    "recorded_at": "2026-11-30T18:04:05Z",
    "actor": "AgentClaude",
    "kind": "Fix",
    "domain": "Cli",
    "outcome": "Completed",
    "summary": "Mended the help.",
    "events": [{"kind": "Finding", "note": "x"}],
    "decisions": [{"id": "a-b", "reversible": True, "adr_candidate": False}],
    "actions": [{"kind": "Edit", "target": "a.py"}],
    "insights": [{"kind": "Pitfall", "subject": "s"}],
    "files_touched": ["a.py"],
    "tensions_engaged": ["speed-vs-safety"],
}


def put(pointer: str, value: Any) -> dict[str, Any]:
    """A good record with one value set; `...` takes it away."""
    record = copy.deepcopy(GOOD)
    *way, last = [int(step) if step.isdecimal() else step for step in pointer.split("/")]
    node: Any = record
    for step in way:
        node = node[step]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return record


MISTAKES: dict[str, Any] = {
    "a word misspelt": put("kind", "Fxi"),
    "a word in lower case": put("domain", "cli"),
    "a word of another language": put("outcome", "Fertig"),
    "a word of another enum": put("events/0/kind", "Pitfall"),
    "an actor nobody knows": put("actor", "Claude"),
    "a required word missing": put("kind", ...),
    "a required prose missing": put("summary", ...),
    "a nested boolean missing": put("decisions/0/reversible", ...),
    "a nested word missing": put("insights/0/kind", ...),
    "a field misspelt": put("sumary", "x") | {"summary": "y"},
    "a nested field misspelt": put("decisions/0/reversable", True),
    "a field made up": put("mood", "good"),
    "a boolean as text": put("decisions/0/adr_candidate", "no"),
    "a text as number": put("summary", 7),
    "a list as text": put("files_touched", "a.py"),
    "an object as text": put("events/0", "Finding"),
    "a slug with spaces": put("decisions/0/id", "Use JSON lines"),
    "a path out of the repository": put("files_touched/0", "../a.py"),
    "an absolute path": put("files_touched/0", "/etc/passwd"),
    "a time without zone": put("recorded_at", "2026-11-30T18:04:05"),
    "a day that does not exist": put("recorded_at", "2026-02-30T18:04:05Z"),
    "a label of two lines": put("insights/0/subject", "two\nlines"),
    "a label that is too long": put("insights/0/subject", "x" * 130),
    "a session id with a space": put("session_id", "my session"),
    "an id that is no ULID": put("id", "42"),
    "a version from the future": put("schema_version", 2),
    "a tension in capitals": put("tensions_engaged/0", "Speed-Vs-Safety"),
    "half a witness": put("witness", {"op_id": "o", "state_root": "a" * 40}),
    "null for a required field": put("kind", None),
    "several at once": put("kind", "Fxi") | {"domain": "Clii", "outcome": None},
}

HEAD = re.compile(r"^(?P<place>\S+): (?P<message>.*?) +\[(?P<rule>[a-z-]+)\] ?(?P<pointer>/.*)?$")


class Agent:
    """Knows JSON and reads; knows nothing of the vocabulary."""

    def __init__(self, record: Any) -> None:
        self.record = record

    def mend(self, text: str) -> None:
        blocks: list[list[str]] = []
        for line in text.splitlines():
            if line.startswith("    "):
                blocks[-1].append(line.strip())
            elif HEAD.match(line):
                blocks.append([line])
        assert blocks, f"nothing to go by in: {text}"
        for head, *rest in blocks:
            match = HEAD.match(head)
            assert match
            self._mend_one(match["message"], match["rule"], match["pointer"] or "", " ".join(rest))

    def _mend_one(self, message: str, rule: str, pointer: str, hints: str) -> None:
        offered = self._offered(hints)
        if rule == "required":
            name = re.findall(r'"(\w+)" is missing', message)[0]
            self._set(f"{pointer}/{name}", offered)
        elif rule == "unknown-field":
            meant = re.search(r'did you mean "(\w+)"', hints)
            value = self._take(pointer)
            if meant:
                above = pointer.rpartition("/")[0]
                self._set(f"{above}/{meant[1]}", value)
        elif rule == "length":
            most = int(re.findall(r"at most (\d+)", message + hints)[0])
            self._set(pointer, self._get(pointer)[:most])
        elif rule == "type":
            wanted = re.findall(r"where (.*) was expected", message)[0]
            value = self._get(pointer)
            if wanted == "text":
                self._set(pointer, str(value))
            elif wanted == "an array":
                self._set(pointer, [value])
            elif wanted == "an object":
                self._set(pointer, {"kind": value})
            else:
                self._set(pointer, offered)
        else:
            self._set(pointer, offered)

    def _offered(self, hints: str) -> Any:
        """The first value that the hints offer."""
        meant = re.search(r'did you mean "([^"]*)"', hints)
        words = re.search(r"one of: (\S+)", hints)
        number = re.search(r"\bwrite (\d+)\b", hints)
        example = re.search(r": ([^ ]*[0-9a-z]Z?)\.( |$)", hints)
        form = re.search(r"form: (\^.*)$", hints)
        if meant:
            return meant[1]
        if words:
            return {"true": True, "false": False}.get(words[1], words[1])
        if number:
            return int(number[1])
        if example:
            return example[1]
        if form:
            return self._matching(form[1])
        return "some text"

    def _matching(self, form: str) -> str:
        """Any text of a form; who can read an expression can write what it matches."""
        from hypothesis import find
        from hypothesis import strategies as st

        return find(st.from_regex(form, fullmatch=True), lambda text: "\n" not in text)

    def _walk(self, pointer: str) -> tuple[Any, Any]:
        *way, last = [int(s) if s.isdecimal() else s for s in pointer.split("/")[1:]]
        node = self.record
        for step in way:
            node = node[step]
        return node, last

    def _get(self, pointer: str) -> Any:
        node, last = self._walk(pointer)
        return node[last]

    def _set(self, pointer: str, value: Any) -> None:
        node, last = self._walk(pointer)
        node[last] = value

    def _take(self, pointer: str) -> Any:
        node, last = self._walk(pointer)
        return node.pop(last)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_agent_mends_its_record_from_the_message_alone(app: App, mistake: str) -> None:
    """At most two rounds: the second for what a mended shape brings to light."""
    agent = Agent(copy.deepcopy(MISTAKES[mistake]))
    path = Path(app.folder) / "rec.json"
    said = []
    for _ in range(3):
        path.write_text(json.dumps(agent.record))
        done = app("interaction", "record", "rec.json")
        if done.code == 0:
            break
        assert done.code == 1, done.err
        assert not (app.folder / ".ontoref").exists()
        said.append(done.err)
        agent.mend(done.err)
    assert done.code == 0, "\n".join(said)
    assert said, "the mistake was none"


def test_there_are_at_least_twenty_kinds() -> None:
    assert len(MISTAKES) >= 20
