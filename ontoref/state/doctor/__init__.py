"""What is wrong with local state and with what it depends on, and how to mend it."""

from __future__ import annotations

from ontoref.state.doctor.examine import examine
from ontoref.state.doctor.finding import Finding, Severity
from ontoref.state.doctor.repair import repair

__all__ = ["Finding", "Severity", "examine", "repair"]
