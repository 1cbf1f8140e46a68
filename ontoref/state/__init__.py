"""Local state: two tiers of SQLite, what is archived in them, and how they are kept whole."""

from __future__ import annotations

from ontoref.state.database import Database
from ontoref.state.layout import Layout, default_layout
from ontoref.state.store import State

__all__ = ["Database", "Layout", "State", "default_layout"]
