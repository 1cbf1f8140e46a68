"""Transcripts into the archive: each line once, in order, whatever kills the process.

The agent's database is the truth about how much of a source is stored: lines and their count are written in
one transaction. The ledger in the global database says which source is which session; it is written before
the first line (`running`) and after the last one (`completed`).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ontoref.errors import MissingExtra
from ontoref.identifiers import new_ulid
from ontoref.state import companions, leases, ledger, sessions, sources
from ontoref.state.beside import keep_files, keep_routes, keep_trajectory
from ontoref.state.database import Database
from ontoref.state.errors import FILE_AT_FAULT, LeaseHeld, LeaseLost, TooLarge
from ontoref.state.facts import Facts
from ontoref.state.faults import step
from ontoref.state.filling import EMPTY_SHA256, Filler, Target, begins_with, digest_of
from ontoref.state.identify import Candidate, Identified, candidates, identify
from ontoref.state.ledger import LINES
from ontoref.state.sources import Status
from ontoref.state.store import State
from ontoref.transcript.source import TranscriptError, UnknownFormat

__all__ = ["RUN_SCOPE", "Importer", "Outcome"]

# While a run lives it holds this scope under its id; that is how a killed run is told from one that sleeps.
RUN_SCOPE = "import-run"
_SESSION_TABLES = {"transcript": LINES, "trajectory": "trajectory_runtime_events", "routes": "session_routes"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source.

    Shape: status is imported, grown, unchanged, shorter (the archive holds more than the file), rewritten
           (archived beside the earlier version), moved, deleted (its session was deleted on purpose), unknown
           (no reader knows it), excluded, busy (another process imports it), failed.
    """

    path: str
    status: str
    session_id: str | None = None
    lines: int = 0
    bad_lines: int = 0
    note: str | None = None


@dataclass(slots=True)
class Importer:
    """One run over sources.

    Shape:  runtime names the reader for every source; again brings back what was deleted on purpose.
    Errors: what stops a single source is its outcome, so is a database that its agent alone uses and that cannot be
            read; only the state itself failing raises.
    """

    state: State
    runtime: str | None = None
    again: bool = False
    kind: str = "import"
    exclude: tuple[str, ...] = ()
    on_bytes: Callable[[int], None] | None = None
    run_id: str | None = None
    run_lease: leases.Lease | None = None
    counts: Counter[str] = field(default_factory=Counter)
    owner: leases.Owner = field(default_factory=leases.this_process)
    filler: Filler = field(default_factory=Filler)
    failures: dict[str, tuple[Status, Outcome]] = field(default_factory=dict)
    # Folders and files beside sessions that could not be looked into, and why.
    unread: dict[str, str] = field(default_factory=dict)

    def run(self, paths: Iterable[str]) -> Iterator[Outcome]:
        """Import every source at the paths. What another process works on is looked at again at the end."""
        busy = []
        self.unread.clear()
        seen: set[Candidate] = set()
        for path in paths:
            for candidate in candidates(path, self.unread.setdefault):
                # A session brings its sub-agents along, which a search finds as well.
                if candidate in seen:
                    continue
                seen.add(candidate)
                outcome = self.one(candidate, wait=False)
                if outcome.status == "busy":
                    self.counts["busy"] -= 1
                    busy.append(candidate)
                else:
                    yield outcome
        for candidate in busy:
            yield self.one(candidate, wait=True)
        for path, why in self.unread.items():
            self.counts["failed"] += 1
            yield Outcome(path, "failed", note=why)

    def follow(self, paths: Callable[[], list[str]], pause: Callable[[bool], bool]) -> Iterator[Outcome]:
        """Import, and again whenever something grew, until pause says no.

        Shape: paths are asked for in each round, so that new sessions are found; pause sleeps, is told whether
               anything came since, and says whether to go on.
        """
        told: set[Outcome] = set()
        while True:
            news = False
            for outcome in self.run(paths()):
                if outcome.status not in ("unchanged", "unknown", "deleted", "busy") and outcome not in told:
                    news = True
                    if outcome.status == "failed":
                        told.add(outcome)
                    yield outcome
            if not pause(news):
                return

    def finish(self) -> None:
        """Close the run's row; without any change there is none."""
        if self.run_lease is not None and self.run_id is not None:
            self.run_lease.release()
            status = "warning" if self.counts["failed"] else "completed"
            ledger.finish_run(self.state.writable(), self.run_id, status, {"sources": dict(self.counts)})

    def one(self, candidate: Candidate, *, wait: bool = True) -> Outcome:
        """Import one source."""
        try:
            self._live()
            candidate.path.encode()
            outcome = self._one(candidate, wait)
        except UnicodeEncodeError:
            # Nor can the ledger hold such a name.
            outcome = Outcome(candidate.path, "failed", note="the file's name is no UTF-8")
        except UnknownFormat as error:
            outcome = Outcome(candidate.path, "unknown", note=error.message)
        except LeaseHeld as error:
            outcome = Outcome(candidate.path, "busy", note=error.message)
        except OSError as error:
            outcome = self._failed(candidate, error.strerror or str(error))
        except (TranscriptError, MissingExtra, TooLarge) as error:
            outcome = self._failed(candidate, error.message)
        except FILE_AT_FAULT as error:
            if not self.state.leave_out(error):
                raise
            outcome = self._failed(candidate, f"the database of its agent cannot be read: {error.message}")
        self.counts[outcome.status] += 1
        return outcome

    def _failed(self, candidate: Candidate, why: str) -> Outcome:
        """Write down that a source could not be imported, and why: the next run tries again.

        Shape: what was stored of it stays. A source that is gone, or whose session was deleted, is no failure; the
               same one is written once.
        """
        path, table = candidate.path, _SESSION_TABLES[candidate.kind]
        outcome = Outcome(path, "failed", note=why)
        known = ledger.get(self.state.writable(), path, table)
        if known is not None and known.status == "deleted":
            return Outcome(path, "deleted", known.session_id)
        try:
            status = sources.status(path)
        except (OSError, TranscriptError):
            return outcome
        row = known or ledger.new(candidate.kind, path, table, "warning", status.size_bytes, status.mtime_ns)
        seen = replace(row, status="warning", size_bytes=status.size_bytes, mtime_ns=status.mtime_ns)
        if seen != known:
            ledger.put(self.state.writable(), replace(seen, run_id=self._begun()), {"error": why})
        self.failures[path] = status, outcome
        return outcome

    def _one(self, candidate: Candidate, wait: bool) -> Outcome:
        path, table = candidate.path, _SESSION_TABLES[candidate.kind]
        status = sources.status(path)
        if path in self.failures and self.failures[path][0] == status:
            # A follower meets it in every round.
            return self.failures[path][1]
        known = ledger.get(self.state.writable(), path, table)
        if known and known.status == "deleted" and not self.again:
            return Outcome(path, "deleted", known.session_id)
        unchanged = known is not None and known.status == "completed" and not self.again
        same = known is not None and (known.size_bytes, known.mtime_ns) == (status.size_bytes, status.mtime_ns)
        if unchanged and same and known and self._is_kept(known):
            if candidate.kind == "transcript" and known.session_id and not self._excluded(path, None):
                self._keep_files(path, known.agent_id, known.session_id)
            return Outcome(path, "unchanged", known.session_id, known.record_count)
        control = self.state.writable()
        attempts = 100 if wait else 1
        with leases.acquire(control, "import", path, owner=self.owner, attempts=attempts) as lease:
            if candidate.kind == "routes":
                return self._routes(path, status)
            identified = identify(path, self.runtime)
            if self._excluded(path, identified.info.cwd):
                return Outcome(path, "excluded", identified.session_id)
            if candidate.kind == "trajectory":
                return self._trajectory(path, status, identified)
            return self._transcript(path, status, identified, lease)

    def _is_kept(self, known: ledger.Row) -> bool:
        """Whether the archive has what the ledger says it has: an agent's database may have been lost."""
        database = self.state.writable_agent(known.agent_id)
        if known.kind == "routes":
            return not known.record_count or companions.any_route(database)
        row = sessions.stored(database, known.session_id or "")
        if row is None or known.kind == "transcript" or not known.record_count:
            return row is not None
        return companions.any_trajectory(database, row.session_row)

    def _transcript(self, path: str, status: Status, who: Identified, lease: leases.Lease) -> Outcome:
        database = self.state.writable_agent(who.agent_id)
        row, fate = self._claim(path, status, who)
        if fate == "deleted":
            return Outcome(path, fate, row.session_id)
        step("import:claimed")
        session_id = row.session_id or ""
        before = sessions.stored(database, session_id)
        filled = self._fill(database, session_id, who, path, status, lease)
        if filled == "rewritten" and sources.in_store(path):
            # Rows of a living database change in place; what it holds now is the session.
            with database.transaction():
                sessions.empty(database, session_id, EMPTY_SHA256)
                fate = "grown"
                self._fill(database, session_id, who, path, status, lease)
        elif filled == "rewritten":
            # The source is another text now. What it was stays; what it is comes beside it.
            row = self._put(row, session_id=self._free_id(who, path), offset_bytes=0, record_count=0)
            session_id = row.session_id or ""
            before, fate = None, "rewritten"
            filled = self._fill(database, session_id, who, path, status, lease)
        now = sessions.stored(database, session_id)
        if now is None:
            return Outcome(path, "deleted", session_id)
        step("import:described")
        self._keep_files(path, who.agent_id, session_id, who.runtime)
        step("import:files")
        self._put(
            row,
            status="completed",
            sha256=now.content_sha256,
            size_bytes=status.size_bytes,
            mtime_ns=status.mtime_ns,
            offset_bytes=now.size_bytes,
            record_count=now.line_count,
        )
        step("import:completed")
        added = now.line_count - (before.line_count if before else 0)
        if fate == "new" and before is not None:
            fate = "grown" if now.size_bytes > before.size_bytes else "unchanged"
        if filled == "shorter":
            fate = "shorter"
        return Outcome(path, "imported" if fate == "new" else fate, session_id, added, now.bad_line_count, _note(fate))

    def _fill(
        self, database: Database, session_id: str, who: Identified, path: str, status: Status, lease: leases.Lease
    ) -> str:
        native_id = who.info.native_id + session_id.removeprefix(who.session_id)
        first, facts = sessions.stored(database, session_id) is None, Facts()
        target = Target(
            database,
            session_id,
            lease,
            add=lambda: sessions.add(database, session_id, native_id, who.runtime, "jsonl", EMPTY_SHA256),
            describe=lambda: self._describe(database, who, session_id, facts, status, first=first),
            on_bytes=self.on_bytes or _nobody_asks,
        )
        filled = self.filler.fill(target, path, facts)
        if filled == "shorter":
            # Nothing was stored now, and what was may be of an import that did not come to its end.
            database.atomically(lambda _: target.describe())
        return filled

    def _claim(self, path: str, status: Status, who: Identified) -> tuple[ledger.Row, str]:
        """The source's row, with the session id that is its own from now on.

        Files are looked at before the transaction, which begins anew if others changed what was seen.
        """
        control = self.state.writable()
        buried = not self.again and ledger.any_buried(control) and ledger.is_buried(control, digest_of(path))
        while True:
            others = self._claimants(who, path)
            moved = next((other for other in others if self._is_moved(other, path)), None)
            free_id = self._free_id(who, path) if others else who.session_id
            with control.transaction():
                if self._claimants(who, path) != others:
                    continue
                known = ledger.get(control, path, LINES)
                if known is not None and known.session_id and known.agent_id == who.agent_id:
                    if known.status == "deleted" and not self.again:
                        return known, "deleted"
                    if known.status == "deleted":
                        ledger.revive(control, known.agent_id, known.session_id)
                    return self._put(known, status="running"), "new"
                if moved is not None:
                    if moved.status == "deleted" and not self.again:
                        return moved, "deleted"
                    key = ledger.source_key("transcript", path, LINES)
                    if moved.status == "deleted":
                        ledger.revive(control, moved.agent_id, moved.session_id or "")
                    ledger.rename(control, moved.source_key, key, path)
                    return self._put(replace(moved, source_key=key, source_path=path), status="running"), "moved"
                row = ledger.new("transcript", path, LINES, "running", status.size_bytes, status.mtime_ns)
                row = replace(row, agent_id=who.agent_id, session_id=free_id)
                return (row, "deleted") if buried else (self._put(row), "new")

    def _claimants(self, who: Identified, path: str) -> list[ledger.Row]:
        rows = ledger.claimants(self.state.writable(), who.agent_id, who.session_id, LINES)
        return [row for row in rows if row.source_path != path]

    def _is_moved(self, other: ledger.Row, path: str) -> bool:
        """Whether a source is the one that another path held: that is gone, and ours begins with its text."""
        if sources.exists(other.source_path):
            return False
        if other.status == "deleted":
            return bool(other.sha256) and begins_with(path, other.offset_bytes, other.sha256 or "")
        database = self.state.writable_agent(other.agent_id)
        stored = sessions.stored(database, other.session_id or "")
        return stored is not None and begins_with(path, stored.size_bytes, stored.content_sha256)

    def _free_id(self, who: Identified, path: str) -> str:
        """The session id for a source whose own id is another source's: `~` and eight digits of its path."""
        database = self.state.writable_agent(who.agent_id)
        version = 1
        while True:
            name = path if version == 1 else f"{path}#{version}"
            digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
            session_id = f"{who.session_id}~{digest}"
            taken = ledger.claimants(self.state.writable(), who.agent_id, session_id, LINES)
            if sessions.stored(database, session_id) is None and not taken:
                return session_id
            version += 1

    def _describe(
        self, database: Database, who: Identified, session_id: str, facts: Facts, status: Status, *, first: bool
    ) -> None:
        info = who.info
        ended = facts.ended_ms()
        if ended is None and first:
            ended = int(info.ended * 1000) if info.ended else status.mtime_ns // 1_000_000
        sessions.describe(
            database,
            session_id,
            session_key=info.session_key,
            session_scope="subagent" if info.parent_session_id else None,
            parent_session_id=f"{who.runtime}:{info.parent_session_id}" if info.parent_session_id else None,
            project=info.cwd,
            display_name=info.title,
            model=facts.model or info.model,
            model_provider=info.provider,
            started_at=int(info.started * 1000) if info.started else None,
            ended_at=ended,
        )

    def _keep_files(self, path: str, agent_id: str, session_id: str, runtime: str = "") -> None:
        if keep_files(self.state, path, agent_id, session_id, runtime, self.unread.setdefault):
            self._begun()

    def _trajectory(self, path: str, status: Status, who: Identified) -> Outcome:
        lines = keep_trajectory(self.state, path, status, who)
        if lines is None:
            return Outcome(path, "unknown", note="a trace of a session that is not archived")
        return Outcome(path, "imported", who.session_id, lines)

    def _routes(self, path: str, status: Status) -> Outcome:
        return Outcome(path, "imported", lines=keep_routes(self.state, path, status))

    def _excluded(self, path: str, project: str | None) -> bool:
        """Whether a source belongs to a project that was excluded, by its folder or the folder's name."""
        for name in self.exclude:
            wanted = name.rstrip("/\\")
            if project and (project == wanted or project.startswith(wanted + "/")):
                return True
            if path.startswith(wanted + os.sep) or f"{os.sep}{wanted}{os.sep}" in path:
                return True
        return False

    def _live(self) -> None:
        """Keep the run's own lease. One that was lost while the machine slept is taken anew."""
        if self.run_lease is not None:
            try:
                self.run_lease.beat()
            except LeaseLost:
                run_id = self.run_lease.key
                self.run_lease = leases.acquire(self.state.writable(), RUN_SCOPE, run_id, owner=self.owner)

    def _begun(self) -> str:
        """The run's id; its row is written with the first change, so that an import of nothing writes nothing."""
        if self.run_id is None:
            control, run_id = self.state.writable(), new_ulid()
            with control.transaction():
                self.run_lease = leases.acquire(control, RUN_SCOPE, run_id, owner=self.owner, attempts=1)
                ledger.begin_run(control, run_id, self.kind)
            self.run_id = run_id
        return self.run_id

    def _put(self, row: ledger.Row, **changes: Any) -> ledger.Row:
        return ledger.put(self.state.writable(), replace(row, run_id=self._begun(), **changes))


def _nobody_asks(size_bytes: int) -> None:
    """Takes what a progress bar would."""


def _note(fate: str) -> str | None:
    return {
        "rewritten": "the file is another text than the one archived; both are kept",
        "shorter": "the file lost lines that the archive keeps",
        "moved": "the file was found under another name",
    }.get(fate)
