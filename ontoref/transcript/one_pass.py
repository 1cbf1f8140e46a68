"""One pass over one transcript: what each of the large readers keeps while it reads."""

from __future__ import annotations

from ontoref.transcript.outbox import Outbox
from ontoref.transcript.report import Report
from ontoref.transcript.source import Source

__all__ = ["OnePass"]


class OnePass:
    """Where a reader is, and where its events go.

    Shape: `line` and `ts` are set before a line is looked at; prefix begins the ids of the session's events and is
           "" until the session is known.
    """

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.info = report.session
        self.out = Outbox()
        self.ts = 0.0
        self.line = 0
        self.prefix = ""
