"""Gemini CLI's sessions: one JSON document each, or in newer versions lines that add to it.

Format: docs/transcripts.md. Tool calls stand in the message that made them, with their results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import parse, parts, seconds
from ontoref.transcript.report import Report, SessionInfo
from ontoref.transcript.small import Pass
from ontoref.transcript.source import Head, Source

__all__ = ["claims", "read", "report"]

RUNTIME = "gemini"
_STEM = re.compile(r"session-\d{4}-\d\d-\d\dT[\d-]+-(.+)")
_DOCUMENT = re.compile(rb'\A\xef?\xbb?\xbf?\s*\{\s*"sessionId"\s*:')
_MESSAGES = ("user", "gemini")
_REMARKS = ("info", "warning", "error")
_TOKENS = {"input": "input", "output": "output", "cached": "cache_read", "thoughts": "reasoning", "total": "total"}


def claims(head: Head) -> int:
    """2 for a document or lines with Gemini's own marks."""
    for record in head.records:
        if "projectHash" in record and "sessionId" in record:
            return 2
        if record.get("type") == "gemini" and "content" in record:
            return 2
    # A document laid out over many lines has no line that is an object.
    return 2 if _DOCUMENT.match(head.start) and not head.records and b"\n" in head.start else 0


def report(source: Source) -> Report:
    """A report with the session id that the file's name tells, which is the beginning of the real one."""
    match = _STEM.fullmatch(source.stem)
    name = match.group(1) if match else source.stem or "unknown"
    return Report(source.name, RUNTIME, SessionInfo(RUNTIME, name, name))


def read(source: Source, report: Report) -> Iterator[ReplayEvent]:
    """Events of one session, in write order. A document is read whole, lines one by one."""
    reading = _Reading(report)
    kept: list[bytes] = []
    for number, raw in enumerate(_noted(source, report), 1):
        if raw is None:
            continue
        if not raw.strip():
            report.blank += 1
            continue
        if kept:
            kept.append(raw)
            continue
        try:
            record = parse(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw)
        except ValueError as error:
            if number == 1:
                kept.append(raw)
            elif source.open and not raw.endswith(b"\n"):
                report.pending = len(raw)
            else:
                report.bad.add(number, str(error))
            continue
        reading.record(number, record)
        yield from reading.out.take()
    if kept:
        _document(kept, source, reading)
        yield from reading.out.take()


def _noted(source: Source, report: Report) -> Iterator[bytes | None]:
    """The source's lines, counted."""
    for raw in source.lines:
        if raw is not None:
            report.lines += 1
            yield raw


def _document(kept: list[bytes], source: Source, reading: _Reading) -> None:
    """A file whose first line is no value of its own: one document, or lines of which the first is bad."""
    report = reading.out.report
    try:
        reading.record(1, parse(b"".join(kept).removeprefix(b"\xef\xbb\xbf")))
        return
    except ValueError as error:
        what = str(error)
    report.bad.add(1, what)
    for number, raw in enumerate(kept[1:], 2):
        try:
            record = parse(raw)
        except ValueError:
            record = None
        # Brackets and pieces of a damaged document are no values, or none that a line would be.
        if isinstance(record, dict):
            reading.record(number, record)
        elif source.open and number == len(kept) and not raw.endswith(b"\n"):
            report.pending = len(raw)
        else:
            report.bad.add(number, "no JSON object")


class _Reading:
    def __init__(self, report: Report) -> None:
        self.out = Pass(report)
        self.turn = 0
        # Messages are written again when they grow: what of each was given out.
        self.given: dict[str, int] = {}
        self.results: set[str] = set()

    def record(self, number: int, record: Any) -> None:
        report = self.out.report
        self.out.line = number
        if not isinstance(record, dict):
            report.unknown.add(number, "no JSON object")
            return
        if isinstance(record.get("$set"), dict):
            self.header(record["$set"])
        elif "messages" in record or "sessionId" in record:
            self.header(record)
            messages = record.get("messages")
            for message in messages if isinstance(messages, list) else ():
                self.message(number, message)
        elif "$rewindTo" in record:
            report.count("rewind")
        else:
            self.message(number, record)

    def header(self, record: Mapping[str, Any]) -> None:
        info = self.out.info
        native = record.get("sessionId")
        if isinstance(native, str) and native and not self.given:
            info.session_id = info.native_id = native
        started = seconds(record.get("startTime"), 0.0)
        ended = seconds(record.get("lastUpdated"), 0.0)
        info.started = started or info.started
        info.ended = ended or info.ended
        if isinstance(record.get("summary"), str):
            info.title = record["summary"]
        folders = record.get("directories")
        if isinstance(folders, list) and folders and isinstance(folders[0], str):
            info.cwd = folders[0]

    def message(self, number: int, message: Any) -> None:
        out = self.out
        kind = message.get("type") if isinstance(message, dict) else None
        if not isinstance(message, dict) or kind not in _MESSAGES + _REMARKS:
            out.report.unknown.add(number, f"message of type {str(kind)[:40]}")
            return
        out.at(number, seconds(message.get("timestamp"), out.ts))
        native = message.get("id")
        native = native if isinstance(native, str) and native else f"#{number}:{len(self.given)}"
        texts, others = parts(message.get("content"))
        text = "\n".join(texts)
        if kind == "user":
            if native in self.given:
                return
            self.given[native] = 1
            self.turn += 1
            payload: dict[str, Any] = {"text": text, "human": True, "origin": "human", "turn": self.turn}
            out.add(e.LLM_CALL, native, 0, payload | ({"blocks": others} if others else {}))
        elif kind == "gemini":
            self.answer(native, message, text)
        elif kind == "error":
            shared = {"text": "", "message_id": native, "synthetic": True, "error": text}
            if native not in self.given:
                self.given[native] = 1
                out.add(e.LLM_RESPONSE, native, 0, shared)
        else:
            out.report.count(str(kind))

    def answer(self, native: str, message: Mapping[str, Any], text: str) -> None:
        """One answer: its thoughts, its text, its calls with their results; only what is new of it."""
        out = self.out
        first = native not in self.given
        shared = {"message_id": native}
        model = message.get("model")
        model = model if isinstance(model, str) and model else None
        out.info.model = model or out.info.model
        position = 0
        begun = len(out.made)
        if first:
            thoughts = message.get("thoughts")
            for thought in thoughts if isinstance(thoughts, list) else ():
                position += 1
                out.add(e.THINKING, native, position, shared | {"text": _thought(thought)})
            out.add(e.LLM_RESPONSE, native, 0, shared | {"text": text, "model": model, "provider": None})
            self.given[native] = 1
        calls = message.get("toolCalls")
        results: list[tuple[Any, ...]] = []
        for index, call in enumerate(calls if isinstance(calls, list) else (), 1):
            if not isinstance(call, dict):
                continue
            call_id = call.get("id")
            call_id = call_id if isinstance(call_id, str) and call_id else f"{native}:call{index}"
            name = call.get("name")
            name = name if isinstance(name, str) and name else "unknown"
            given = call.get("args")
            if call_id not in self.given:
                self.given[call_id] = 1
                payload = shared | {"tool_use_id": call_id, "name": name, "input": {} if given is None else given}
                out.add(e.TOOL_CALL, native, f"call{index}", payload | {"files": out.files(name, given)})
            if call_id not in self.results and ("result" in call or call.get("status") in ("error", "cancelled")):
                self.results.add(call_id)
                results.append((index, call_id, name, call))
        usage = message.get("tokens")
        if first and isinstance(usage, dict) and len(out.made) > begun:
            counts = {ours: usage[n] for n, ours in _TOKENS.items() if type(usage.get(n)) is int and usage[n] >= 0}
            out.made[-1].payload.update(usage=usage, tokens=counts)
        for index, call_id, name, call in results:
            self.result(native, index, call_id, name, call)

    def result(self, native: str, index: int, call_id: str, name: str, call: Mapping[str, Any]) -> None:
        status = call.get("status")
        text, others = _output(call.get("result"))
        failed = status in ("error", "cancelled")
        payload: dict[str, Any] = {
            "tool_use_id": call_id,
            "name": name,
            "is_error": failed,
            "error_sign": "status" if failed else None,
            "exit_code": None,
            "output": text,
            "status": status if isinstance(status, str) else None,
        }
        self.out.add(e.TOOL_RESULT, native, f"result{index}", payload | ({"blocks": others} if others else {}))


def _thought(thought: Any) -> str:
    """A thought as one text: its subject and description, or its summary."""
    if not isinstance(thought, dict):
        return thought if isinstance(thought, str) else ""
    texts = [thought.get(key) for key in ("subject", "description", "summary")]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _output(result: Any) -> tuple[str, list[Any]]:
    """A result's text and what else it holds. Newer versions wrap it in the model's own response parts."""
    if isinstance(result, str):
        return result, []
    texts: list[str] = []
    others: list[Any] = []
    for block in result if isinstance(result, list) else [result]:
        answer = block.get("functionResponse") if isinstance(block, dict) else None
        inner = answer.get("response") if isinstance(answer, dict) else None
        said = inner.get("output", inner.get("error")) if isinstance(inner, dict) else None
        if isinstance(said, str):
            texts.append(said)
        elif block is not None:
            some, more = parts([block])
            texts += some
            others += more
    return "\n".join(texts), others
