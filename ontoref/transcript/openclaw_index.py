"""What stands beside OpenClaw's transcripts: the index of sessions and the settings of approvals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ontoref.transcript.native import parse
from ontoref.transcript.report import SessionInfo
from ontoref.transcript.source import SideFiles

__all__ = ["Index", "Setting"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A session as its surroundings know it. permission is `unknown` where nothing is configured."""

    session_key: str | None
    parent_session_id: str | None
    permission: str
    collaboration: str | None


class Index:
    """`sessions.json`: session keys and the sessions behind them. A damaged one only loses what it would add.

    Shape: a session's reader learns of it the entries that name its own session, and those of `asked`; it changes
           all the time, and what else is in it shall not matter.
    """

    def __init__(self, side: SideFiles) -> None:
        self._side = side
        # The keys that were looked up, whether they are there or not.
        self.asked: set[str] = set()

    @cached_property
    def _entries(self) -> dict[str, dict[str, Any]]:
        found = _object(self._side.read("sessions.json"))
        return {key: value for key, value in found.items() if isinstance(value, dict)}

    def entry(self, key: str) -> dict[str, Any]:
        """What the index has under a session key; {} if nothing."""
        self.asked.add(key)
        return self._entries.get(key, {})

    def session_of(self, key: str) -> str | None:
        """Session id behind a session key."""
        found = self.entry(key).get("sessionId")
        return found if isinstance(found, str) and found else None

    def key_of(self, session_id: str) -> str | None:
        """Session key of a session id; a sub-agent's before any other."""
        keys = [k for k, v in self._entries.items() if v.get("sessionId") == session_id]
        return next((k for k in keys if ":subagent:" in k), keys[0] if keys else None)

    def setting(self, info: SessionInfo) -> Setting:
        """What mode the session began in, as far as files beside it tell."""
        key = self.key_of(info.session_id)
        parent = self.entry(key).get("spawnedBy") if key else None
        permission = "unknown"
        security, ask = self._approvals(info.agent)
        if security == "full" and ask in ("never", "off"):
            permission = "yolo"
        elif security or ask:
            permission = "default"
        return Setting(
            key,
            self.session_of(parent) if isinstance(parent, str) else None,
            permission,
            _collaboration(key),
        )

    def _approvals(self, agent: str | None) -> tuple[Any, Any]:
        """Security and ask of exec approvals: the agent's own, else the defaults, else the configuration's."""
        security = ask = None
        approvals = _object(self._side.read("../../../exec-approvals.json"))
        config = _object(self._side.read("../../../openclaw.json"))
        agents = approvals.get("agents")
        places = [
            agents.get(agent) if isinstance(agents, dict) and agent else None,
            approvals.get("defaults"),
            config.get("tools", {}).get("exec") if isinstance(config.get("tools"), dict) else None,
        ]
        for place in places:
            if isinstance(place, dict):
                security = security or place.get("security")
                ask = ask or place.get("ask")
        return security, ask


def _collaboration(key: str | None) -> str | None:
    """How the session came about, from the third part of its key: direct, cron, subagent, a channel …"""
    named = key.split(":") if key else []
    if len(named) < 3 or named[0] != "agent":
        return None
    return "direct" if named[2] == "main" else named[2]


def _object(content: bytes | None) -> dict[str, Any]:
    try:
        found = parse(content) if content else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
