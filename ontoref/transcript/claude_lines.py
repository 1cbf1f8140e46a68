"""What becomes of each line of Claude Code, whatever it holds."""

from __future__ import annotations

from typing import Any

from ontoref.transcript import event as e
from ontoref.transcript.claude_pass import META, RUNTIME
from ontoref.transcript.claude_prompts import origin_of
from ontoref.transcript.claude_tools import OWN_WAY, Tools
from ontoref.transcript.event import ReplayEvent
from ontoref.transcript.native import parts, shown, tokens

__all__ = ["Lines"]

_COMPACTED = "compaction"

_new = tuple.__new__


class Lines(Tools):
    """What becomes of each line. Shape: `assistant`, `user` and `other` take one each."""

    def other(self, kind: Any, record: dict[str, Any], uuid: str) -> None:
        """A line that is no message."""
        if record.get("isSidechain") is True:
            self.sidechain += 1
        if "permissionMode" in record:
            self.mode(record["permissionMode"], f"{self.prefix}{uuid}:mode")
        if kind == "progress":
            self.progress(record)
        elif kind == "attachment":
            self.attachment(record, uuid)
        elif kind == "system":
            self.system(record, uuid)
        elif type(kind) is str and kind in META:
            self.meta(kind, record)
        else:
            self.report.unknown.add(self.line, f"line of type {shown(kind)}")

    # -- assistants

    def assistant(self, record: dict[str, Any], uuid: str) -> None:
        message = record.get("message")
        if type(message) is not dict:
            self.report.unknown.add(self.line, f"assistant without a message but {shown(message)}")
            return
        native = message.get("id")
        if type(native) is not str:
            native = uuid
        parent = None
        chain = ""
        if record.get("isSidechain") is True:
            self.sidechain += 1
            if self.agent is None:
                parent = self.agents.sidechain(record, None)
                chain = parent or "side"
        open_ = self.messages.get(chain)
        if open_ is None or open_[0] != native:
            if open_ is not None:
                self.close(chain)
                if not self.out.held:
                    self.settled = len(self.out.events)
            before = self.given.get(native)
            if before is not None and uuid in before:
                self.report.count("duplicate")
                return
            open_ = self.messages[chain] = [native, None, None, uuid]
            self.out.held.add(chain)
        elif uuid in open_:
            self.report.count("duplicate")
            return
        else:
            open_.append(uuid)
        if self.compaction is not None:
            self.release_compaction()
        model = message.get("model")
        content = message.get("content")
        payload: dict[str, Any] | None = None
        position = 0
        block: Any
        for block in content if type(content) is list else (content,):
            kind = block.get("type") if type(block) is dict else "text" if type(block) is str else None
            if kind == "tool_use":
                name, given, call = block.get("name"), block.get("input"), block.get("id")
                if type(name) is not str or name in OWN_WAY or type(call) is not str or given is None:
                    payload = self.call(record, uuid, position, block, parent, native)
                else:
                    payload = {
                        "line": self.line,
                        "tool_use_id": call,
                        "name": name,
                        "input": given,
                        "message_id": native,
                    }
                    span = f"{self.prefix}{uuid}:{position}"
                    self.calls[call] = (e.TOOL_CALL, span, payload)
                    self.append(
                        _new(
                            ReplayEvent,
                            (self.ts, e.TOOL_CALL, span, parent, self.session, RUNTIME, payload, None, None),
                        )
                    )
            elif kind == "text":
                text = block if type(block) is str else block.get("text")
                payload = {
                    "line": self.line,
                    "text": text if type(text) is str else "",
                    "message_id": native,
                    "model": model,
                    "stop_reason": message.get("stop_reason"),
                }
                if model == "<synthetic>" or "isApiErrorMessage" in record:
                    payload["synthetic"] = True
                    if record.get("isApiErrorMessage"):
                        payload["error"] = record.get("error") or True
                self.add(e.LLM_RESPONSE, f"{self.prefix}{uuid}:{position}", payload, parent)
            elif kind == "thinking" or kind == "redacted_thinking":
                text = block.get("thinking")
                payload = {"line": self.line, "text": text if type(text) is str else "", "message_id": native}
                if kind == "redacted_thinking" or not payload["text"]:
                    payload["redacted"] = True
                self.add(e.THINKING, f"{self.prefix}{uuid}:{position}", payload, parent)
            elif kind is not None or block is not None:
                payload = self.other_block(uuid, position, block, kind, parent, native) or payload
            position += 1
        if payload is not None:
            open_[1] = payload
        elif open_[1] is None:
            open_[1] = payload = {"line": self.line, "text": "", "message_id": native, "model": model}
            self.add(e.LLM_RESPONSE, f"{self.prefix}{uuid}:{position}", payload, parent)
        usage = message.get("usage")
        if type(usage) is dict:
            open_[2] = usage
        if model is not self.model and type(model) is str and model != "<synthetic>":
            self.model = self.info.model = model
        if not self.described:
            self.describe(record)

    def other_block(
        self, uuid: str, position: int, block: Any, kind: Any, parent: str | None, message: str
    ) -> dict[str, Any] | None:
        """A block that is rare in an assistant's message: a tool of the server, its result, something new."""
        if type(kind) is str and kind.endswith("tool_use"):
            return self.call({}, uuid, position, block, parent, message)
        if type(kind) is str and kind.endswith("tool_result"):
            self.result({}, uuid, position, block, parent, None)
            return None
        self.report.unknown.add(self.line, f"assistant's block of type {shown(kind or block)}")
        return None

    def close(self, chain: str) -> None:
        """A chain's message is over: its usage goes onto its last event, once."""
        message = self.messages.pop(chain)
        self.out.held.discard(chain)
        self.counted(message)

    def counted(self, message: list[Any]) -> None:
        """Put the usage of a message that is over onto its last event, and remember the message."""
        native, payload, usage = message[0], message[1], message[2]
        message[1] = None
        message[2] = 0
        before = self.given.get(native)
        if before is not None:
            # It went on after it seemed to be over: only what is new counts.
            before += message[3:]
            more = tokens(usage).get("output", 0) - before[2]
            if more > 0 and payload is not None:
                payload["tokens"] = {"output": more}
                before[2] += more
            return
        self.given[native] = message
        if payload is not None and usage is not None:
            payload["usage"] = usage
            payload["tokens"] = counts = _tokens(usage)
            message[2] = counts.get("output", 0)

    def close_all(self) -> None:
        for chain in list(self.messages):
            self.close(chain)
        self.compaction = None

    # -- users

    def user(self, record: dict[str, Any], uuid: str) -> None:
        message = record.get("message")
        side = record.get("isSidechain") is True
        if side:
            self.sidechain += 1
        content = message.get("content") if type(message) is dict else message
        if content is None or (type(message) is not dict and type(message) is not str):
            self.report.unknown.add(self.line, f"user without content: {shown(message)}")
            return
        parent = None
        own: list[Any] = []
        if type(content) is list:
            results = 0
            if side and self.agent is None:
                own = [b for b in content if not _is_result(b)]
                parent = self.agents.sidechain(record, "\n".join(parts(own)[0]) if own else None)
            own = []
            for position, block in enumerate(content):
                if _is_result(block):
                    self.result(record, uuid, position, block, parent, record.get("toolUseResult"))
                    results += 1
                elif block is not None:
                    own.append(block)
            if not own:
                if not results:
                    self.report.unknown.add(self.line, "user with empty content")
                return
            texts, others = parts(own)
        else:
            if side and self.agent is None:
                parent = self.agents.sidechain(record, content if type(content) is str else None)
            texts, others = parts(content)
        if not self.described:
            self.describe(record)
        if record.get("isCompactSummary") is True:
            self.summary(uuid, "\n".join(texts))
            return
        if self.compaction is not None:
            self.release_compaction()
        if record.get("isMeta") is True:
            self.report.count("meta")
            return
        origin = origin_of(texts)
        if origin == "echo":
            # What a local command printed: neither a prompt nor an answer, though role user.
            self.report.count("user")
            return
        if side:
            origin = "task" if record.get("parentUuid") is None else "sidechain"
        self.prompt(uuid, "\n".join(texts), others, origin, parent, side)

    def prompt(self, uuid: str, text: str, others: list[Any], origin: str, parent: str | None, side: bool) -> None:
        if not side:
            for chain in list(self.messages):
                self.close(chain)
        payload: dict[str, Any] = {"line": self.line, "text": text, "human": origin == "human", "origin": origin}
        if others:
            payload["blocks"] = others
        if origin == "notification":
            self.notified(uuid, text)
        self.add(e.LLM_CALL, f"{self.prefix}{uuid}:0", payload, parent)

    # -- everything else

    def system(self, record: dict[str, Any], uuid: str) -> None:
        subtype = record.get("subtype")
        self.report.count(f"system/{subtype}" if type(subtype) is str else "system")
        if subtype != "compact_boundary":
            return
        for chain in list(self.messages):
            self.close(chain)
        known = record.get("compactMetadata")
        known = known if isinstance(known, dict) else {}
        payload = {"line": self.line, "summary": "", "trigger": known.get("trigger")}
        payload |= {"tokens_before": known.get("preTokens"), "tokens_after": known.get("postTokens"), "details": known}
        self.compaction = payload
        self.usual = False
        self.out.hold(_COMPACTED)
        self.add(e.COMPACTION, f"{self.prefix}{uuid}:0", payload)

    def summary(self, uuid: str, text: str) -> None:
        """The summary after a boundary belongs to it; before 2.0 it stands alone."""
        if self.compaction is not None:
            self.compaction["summary"] = text
            self.compaction["summary_line"] = self.line
            self.release_compaction()
            return
        payload = {"line": self.line, "summary": text, "trigger": None, "tokens_before": None, "tokens_after": None}
        self.add(e.COMPACTION, f"{self.prefix}{uuid}:0", payload)

    def release_compaction(self) -> None:
        self.compaction = None
        self.usual = self.described
        self.out.release(_COMPACTED)

    def attachment(self, record: dict[str, Any], uuid: str) -> None:
        found = record.get("attachment")
        if type(found) is not dict:
            self.report.unknown.add(self.line, f"attachment that is {shown(found)}")
            return
        kind = found.get("type")
        self.report.count(f"attachment/{kind}" if type(kind) is str else "attachment")
        if kind == "queued_command":
            texts, others = parts(found.get("prompt", found.get("content")))
            self.prompt(uuid, "\n".join(texts), others, "queued", None, False)
        elif found.get("hookEvent") == "PreToolUse":
            self.hook(found, uuid)


def _tokens(usage: dict[str, Any]) -> dict[str, int]:
    """As `native.tokens`, for usage that has the usual four counts."""
    try:
        given, out = usage["input_tokens"], usage["output_tokens"]
        read, write = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        # Negative if one of them is; an error if one is no whole number.
        if given | out | read | write >= 0:
            return {"input": given, "output": out, "cache_read": read, "cache_write": write}
    except (KeyError, TypeError):
        pass
    return tokens(usage)


def _is_result(block: Any) -> bool:
    return type(block) is dict and block.get("type") == "tool_result"
