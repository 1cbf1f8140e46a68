"""Where the files of local state are, below one directory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ontoref.places import state_dir
from ontoref.state.errors import BadAgentId

__all__ = ["AGENT_DATABASE", "GLOBAL_DATABASE", "Layout", "agent_id_of", "default_layout"]

GLOBAL_DATABASE = "ontoref.sqlite"
AGENT_DATABASE = "ontoref-agent.sqlite"

_AGENT_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


@dataclass(frozen=True, slots=True)
class Layout:
    """The state directory and the places in it.

    Shape: root is absolute. Nothing is created by asking.
    """

    root: str

    @property
    def global_database(self) -> str:
        return os.path.join(self.root, "state", GLOBAL_DATABASE)

    @property
    def safety_archives(self) -> str:
        """Where backups lie that a repair or a restore makes before it writes."""
        return os.path.join(self.root, "backups")

    def agent_database(self, agent_id: str) -> str:
        """Where the database of an agent is made. Where it is now, the registry knows."""
        return os.path.join(self.root, "agents", agent_id_of(agent_id), "agent", AGENT_DATABASE)

    def stored(self, path: str) -> str:
        """A path as the registry keeps it: relative to the state directory if below it, with `/`."""
        absolute = os.path.abspath(path)
        inside = os.path.relpath(absolute, self.root) if _same_drive(absolute, self.root) else absolute
        if inside.split(os.sep)[0] == os.pardir or os.path.isabs(inside):
            return absolute
        return inside.replace(os.sep, "/")

    def located(self, stored: str) -> str:
        """The absolute path of what `stored` gave."""
        return os.path.normpath(os.path.join(self.root, stored))


def default_layout(environ: Mapping[str, str] = os.environ) -> Layout:
    """The layout below ONTOREF_STATE_DIR or the platform's folder."""
    return Layout(os.path.abspath(state_dir(environ)))


def agent_id_of(name: str) -> str:
    """The agent id as everything uses it: trimmed, in lower case.

    Errors: BadAgentId if it could name another folder than its own.
    """
    agent_id = name.strip().lower()
    if not _AGENT_ID.fullmatch(agent_id) or _RESERVED.fullmatch(agent_id) or agent_id.endswith("."):
        raise BadAgentId(
            f"{name!r} cannot be an agent id",
            hint="letters, digits, dot, dash and underscore, beginning with a letter or digit",
        )
    return agent_id


def _same_drive(left: str, right: str) -> bool:
    return os.path.splitdrive(left)[0].lower() == os.path.splitdrive(right)[0].lower()
