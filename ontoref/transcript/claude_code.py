"""Claude Code's transcripts: one line a content block, sub-agents inside the file or beside it.

Format: docs/transcripts.md. `parentUuid` is the transcript's own chain and never a delegation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from ontoref.transcript import event as e
from ontoref.transcript.claude_agents import agent_of
from ontoref.transcript.claude_lines import Lines
from ontoref.transcript.claude_pass import CONVERSATION, META, RUNTIME
from ontoref.transcript.claude_tools import OWN_WAY, PLAN
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import LARGE_BYTES, minute_start, records, second_try, seconds
from ontoref.transcript.outbox import MOST_EVENTS
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.source import Head, Source

__all__ = ["RUNTIME", "claims", "read", "report"]

_new = tuple.__new__
_CALL, _RESULT, _RESPONSE = e.TOOL_CALL, e.TOOL_RESULT, e.LLM_RESPONSE


def claims(head: Head) -> int:
    """2 if a line has the marks of Claude Code."""
    for record in head.records:
        kind = record.get("type")
        if not isinstance(kind, str):
            continue
        if kind in CONVERSATION and "uuid" in record and ("sessionId" in record or "parentUuid" in record):
            return 2
        if kind == "summary" and "leafUuid" in record:
            return 2
        if kind == "file-history-snapshot" and "snapshot" in record:
            return 2
        if kind in META and "sessionId" in record:
            return 2
        if kind in ("started", "result") and "key" in record and "agentId" in record:
            return 2
    if agent_of(head.name.replace(".meta.json", ".jsonl")) and any("agentType" in r for r in head.records):
        return 2
    return 0


def report(source: Source) -> Report:
    """A report with the session id that the file's name tells."""
    name = source.stem or "unknown"
    found = Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))
    file = source.name.rpartition("/")[2]
    if file == "journal.jsonl":
        found.apart = "claude-code-journal"
    elif file.endswith(".meta.json"):
        found.apart = "claude-code-meta"
    return found


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one transcript of Claude Code; none of a journal or a sidecar."""
    if report.apart:
        for _ in records(source, report):
            report.count(report.apart)
        return iter(())
    return _Reading(source, report).events()


class _Reading(Lines):
    """One pass over one transcript, the usual lines taken on a shorter way."""

    def events(self) -> Iterator[ReplayEvent]:
        """The one loop that decides the speed: a gigabyte is half a million of its rounds."""
        out, report, source, given = self.out, self.report, self.source, self.given
        answered = self.answered.append
        pending, held = out.events, out.held
        loads, append, calls, messages = orjson.loads, out.events.append, self.calls, self.messages
        plain = self.agent is not None
        number = 0
        minute, start, ts = "", 0.0, 0.0
        prefix, session = "", ""
        open_: Any
        for raw in source.lines:
            try:
                record = loads(raw)  # type: ignore[arg-type]
            except ValueError:
                if raw is None:
                    self.close_all()
                    yield from out.all()
                    continue
                record = None
            number += 1
            if type(record) is not dict:
                report.lines = number
                record = second_try(raw, number, source, report)
                if record is None:
                    continue
            if not prefix:
                self.begin(record)
                prefix, session = self.prefix, self.session
            try:
                time = record["timestamp"]
                # Nearly every line shares its minute with the one before.
                ts = start + float(time[17:23]) if time[:17] == minute and len(time) == 24 else 0 / 0
            except (TypeError, ValueError, KeyError, ZeroDivisionError):
                time = record.get("timestamp")
                ts = seconds(time, ts)
                if type(time) is str and (found := minute_start(time[:17])) is not None:
                    minute, start = time[:17], found
            kind = record.get("type")
            uuid = record.get("uuid")
            if type(uuid) is not str:
                uuid = f"#{number}"
            if kind == "assistant":
                # The usual line, one block of a message of the main chain, without a call of our own; whatever
                # is unusual about another is seen to in `assistant`.
                usual = self.usual
                try:
                    message = record["message"]
                    native = message["id"]
                    (block,) = message["content"]
                    sort = block["type"]
                    if sort == "tool_use":
                        call, name, arguments = block["id"], block["name"], block["input"]
                        if name in OWN_WAY or type(name) is not str or type(call) is not str or arguments is None:
                            usual = False
                    elif sort == "text":
                        text = block["text"]
                        if message["model"] != self.model or type(text) is not str:
                            usual = False
                    else:
                        usual = False
                    if type(native) is not str or not (plain or record["isSidechain"] is False):
                        usual = False
                except (KeyError, TypeError, ValueError):
                    usual = False
                if usual:
                    open_ = messages.get("")
                    if open_ is None or open_[0] != native:
                        if native in given:
                            usual = False
                        else:
                            if open_ is not None:
                                self.counted(open_)
                            else:
                                held.add("")
                            open_ = messages[""] = [native, None, None, uuid]
                            if pending and len(held) == 1:
                                yield from pending
                                pending.clear()
                    elif uuid in open_:
                        usual = False
                    else:
                        open_.append(uuid)
                if usual:
                    span = f"{prefix}{uuid}:0"
                    if sort == "text":
                        payload = {
                            "line": number,
                            "text": text,
                            "message_id": native,
                            "model": self.model,
                            "stop_reason": message.get("stop_reason"),
                        }
                        event = (ts, _RESPONSE, span, None, session, RUNTIME, payload, None, None)
                    else:
                        payload = {
                            "line": number,
                            "tool_use_id": call,
                            "name": name,
                            "input": arguments,
                            "message_id": native,
                        }
                        calls[call] = (_CALL, span, payload)
                        event = (ts, _CALL, span, None, session, RUNTIME, payload, None, None)
                    append(_new(ReplayEvent, event))
                    open_[1] = payload
                    usage = message.get("usage")
                    if type(usage) is dict:
                        open_[2] = usage
                    if plain and record.get("isSidechain") is True:
                        self.sidechain += 1
                else:
                    self.line, self.ts = number, ts
                    self.assistant(record, uuid)
            elif kind == "user":
                # The usual line again: the one result of a plain call, as text. Its call waits for it, so it is
                # none that was there before.
                try:
                    (block,) = record["message"]["content"]
                    call = block["tool_use_id"]
                    text = block["content"]
                    called = calls[call]
                    usual = (
                        type(text) is str
                        and text[:1] != "<"
                        and called[0] is _CALL
                        and block.get("is_error") is not True
                        and called[2]["name"] not in PLAN
                        and "permissionMode" not in record
                        and (plain or record["isSidechain"] is False)
                    )
                except (KeyError, TypeError, ValueError):
                    usual = False
                if usual:
                    answered(uuid)
                    del calls[call]
                    payload = {
                        "line": number,
                        "tool_use_id": call,
                        "name": called[2]["name"],
                        "is_error": False,
                        "output": text,
                    }
                    if "toolUseResult" in record:
                        payload["details"] = record["toolUseResult"]
                    event = (ts, _RESULT, f"{prefix}{uuid}:0", None, session, RUNTIME, payload, None, None)
                    append(_new(ReplayEvent, event))
                    if plain and record.get("isSidechain") is True:
                        self.sidechain += 1
                elif self.is_new(uuid, record):
                    self.line, self.ts = number, ts
                    if "permissionMode" in record:
                        self.mode(record["permissionMode"], f"{prefix}{uuid}:mode")
                    self.user(record, uuid)
            elif kind == "progress" or self.is_new(uuid, record):
                self.line, self.ts = number, ts
                self.other(kind, record, uuid)
            if pending:
                if self.settled:
                    # A message ended on this line and the next began: what came before waits for nothing.
                    yield from pending[: self.settled]
                    del pending[: self.settled]
                    self.settled = 0
                if not held:
                    yield from pending
                    pending.clear()
                elif len(pending) > MOST_EVENTS or len(raw) > LARGE_BYTES:  # type: ignore[arg-type]
                    self.close_all()
                    yield from out.all()
        report.lines, self.ts = number, ts
        self.close_all()
        yield from out.all()
        self.finish()
