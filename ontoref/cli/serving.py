"""What the server shows, from the same functions that the commands use."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ontoref.errors import UsageError

if TYPE_CHECKING:
    from ontoref.lesson.factory import OpenStore
    from ontoref.replay.files import Files
    from ontoref.replay.source import Source
    from ontoref.transcript.find import Found
    from ontoref.web.data import Data, Parameters
    from ontoref.web.lessons import Review

__all__ = ["data_of"]

_FRESH_SECONDS = 3.0
_MOST_ROWS = 10_000
_TRUE = ("1", "true", "yes", "")


def data_of(store: str | None = None) -> Data:
    """The sessions of this machine and its archive (or of a DuckDB export), and the records of the project here."""
    from ontoref.web.data import Data

    if store is not None:
        from ontoref.replay.duckdb_store import DuckStore

        kept = DuckStore(store)
        return Data(kept, Stored(kept), records, decisions, review())
    from ontoref.cli.replay.opened import archived
    from ontoref.replay.files import Files
    from ontoref.replay.source import Sources

    sessions = Local()
    files = Files(sessions.live)
    sessions.files = files
    archive = archived()
    source: Source = Sources(files, archive)

    def figures(session_id: str) -> dict[str, Any] | None:
        # A live file may have more than was archived of it.
        return None if files.find(session_id) is not None else archive.figures(session_id)

    return Data(source, sessions, records, decisions, review(), lambda session_id: about(files, session_id), figures)


def review() -> Review:
    """The review of lessons, in the name of who started the server."""
    from ontoref.cli.lesson.shared import now, placement, reviewer
    from ontoref.lesson.factory import open_store
    from ontoref.web.lessons import Review

    place = placement()

    @contextmanager
    def opened(read_only: bool) -> Iterator[OpenStore]:
        store = open_store(place, read_only=read_only)
        try:
            yield store
        finally:
            store.close()

    return Review(opened, now, reviewer(None))


def about(files: Files, session_id: str) -> dict[str, Any] | None:
    """What a live transcript tells of itself, bad lines among it; None without a file."""
    report = files.report(session_id)
    if report is None:
        return None
    info = report.session
    return {
        "title": info.title,
        "project": info.cwd,
        "model": info.model,
        "branch": info.branch,
        "version": info.version,
        "started": info.started,
        "parent": f"{info.runtime}:{info.parent_session_id}" if info.parent_session_id else None,
        "bad_lines": report.bad.count,
        "bad_places": [place.line_number for place in report.bad.kept[:20]],
        "unknown_lines": report.unknown.count,
    }


class Local:
    """Sessions of this machine, those that only the archive has among them; searched for again when it is time."""

    def __init__(self) -> None:
        self.files: Files | None = None
        self._lock = threading.Lock()
        self._known: list[tuple[Found, bool]] = []
        self._by_name: dict[str, str] = {}
        self._until = 0.0

    def live(self) -> list[Found]:
        """Those that have a file."""
        return [found for found, _ in self._all() if found.path]

    def rows(self, parameters: Parameters) -> dict[str, Any]:
        from ontoref.replay.answers import BadParameter
        from ontoref.transcript.draft import timestamp
        from ontoref.transcript.find import LAYOUTS

        wanted = parameters.get("runtime", ())
        for name in wanted:
            if name not in LAYOUTS:
                raise BadParameter(f"no runtime is named {name!r}", hint=f"known: {', '.join(LAYOUTS)}")
        children = flag(parameters, "children")
        found = [
            (one, archived)
            for one, archived in self._all()
            if (not wanted or one.runtime in wanted) and (children or one.parent is None)
        ]
        limit = number(parameters, "limit") or _MOST_ROWS
        return {
            "rows": [
                {
                    "id": one.id,
                    "runtime": one.runtime,
                    "session_id": one.session_id,
                    "project": one.project,
                    "title": one.title,
                    "model": one.model,
                    "parent": f"{one.runtime}:{one.parent}" if one.parent else None,
                    "started": timestamp(one.started),
                    "modified": timestamp(one.modified),
                    "size_bytes": one.size_bytes,
                    "archived": archived,
                    "live": bool(one.path),
                }
                for one, archived in found[:limit]
            ],
            "found": len(found),
        }

    def resolve(self, given: str) -> str:
        with self._lock:
            name = self._by_name.get(given)
        if name is None:
            self._all()
            with self._lock:
                name = self._by_name.get(given)
        return name or given

    def _all(self) -> list[tuple[Found, bool]]:
        from ontoref.cli.replay.opened import live_files
        from ontoref.cli.state.shared import opened
        from ontoref.cli.transcript.archived import with_archive

        with self._lock:
            if time.monotonic() < self._until:
                return self._known
            begun = time.monotonic()
            with opened(read_only=True) as state:
                self._known = with_archive(state, live_files(), None, alone=True, children=True)
            names = Counter(found.session_id for found, _ in self._known)
            self._by_name = {found.id: found.id for found, _ in self._known}
            for found, _ in self._known:
                if names[found.session_id] == 1:
                    self._by_name.setdefault(found.session_id, found.id)
                if self.files is not None and found.path:
                    self.files.add(found)
            now = time.monotonic()
            # A search that takes long is done more seldom.
            self._until = now + max(_FRESH_SECONDS, 10 * (now - begun))
            return self._known


class Stored:
    """Sessions of a DuckDB export."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def rows(self, parameters: Parameters) -> dict[str, Any]:
        from ontoref.transcript.draft import timestamp

        found = [
            {
                "id": row["session_id"],
                "runtime": row["runtime"],
                "session_id": row["native_session_id"],
                "project": None,
                "title": None,
                "model": None,
                "parent": None,
                "started": timestamp(row["first"]),
                "modified": timestamp(row["last"]),
                "size_bytes": None,
                "archived": True,
                "live": False,
            }
            for row in self._store.sessions()
        ]
        limit = number(parameters, "limit") or _MOST_ROWS
        wanted = parameters.get("runtime", ())
        found = [row for row in found if not wanted or row["runtime"] in wanted]
        return {"rows": found[:limit], "found": len(found)}

    def resolve(self, given: str) -> str:
        from ontoref.errors import OntorefError

        try:
            return str(self._store.resolve(given))
        except OntorefError:
            return given


def records(parameters: Parameters) -> dict[str, Any]:
    """Records as the command lists them."""
    return _asked(parameters, "records")


def decisions(parameters: Parameters) -> dict[str, Any]:
    """Decisions as the command lists them, open candidates first and with the reasons for an ADR; facets counted."""
    from ontoref.cli.interaction._query import logs_and_words
    from ontoref.interaction.candidates import candidates

    found = _asked(parameters, "decisions")
    logs, vocabulary = logs_and_words(None, None)
    ranked = {one.id: (place, one) for place, one in enumerate(candidates(logs, vocabulary, set()))}
    for row in found["rows"]:
        place = ranked.get(row.get("id"))
        row["open"] = place is not None
        row["score"] = place[1].score if place else None
        row["reasons"] = [reason._asdict() for reason in place[1].reasons] if place else []
    if not parameters.get("sort"):
        found["rows"].sort(key=lambda row: ranked[row["id"]][0] if row["open"] else len(ranked))
    found["facets"] = _facets(found["rows"], vocabulary)
    return found


def _facets(rows: list[dict[str, Any]], vocabulary: Any) -> dict[str, list[dict[str, Any]]]:
    """Every facet of a decision and of its record that has a list of words: each word and how many rows have it."""
    from ontoref.interaction.order import reach

    found: dict[str, list[dict[str, Any]]] = {}
    for prefix, facets in (("", vocabulary.noun(vocabulary.nouns["decisions"])), ("record.", vocabulary.noun())):
        for path, facet in facets.items():
            if facet.enum is None or "." in path or facet.prose:
                continue
            counts: Counter[str] = Counter()
            for row in rows:
                value = reach(row, prefix + path)
                counts.update(v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str))
            words = [member.name for member in vocabulary.enum(facet.enum).members]
            words += sorted(set(counts) - set(words))
            if len(counts) or len(words) <= 40:
                found[prefix + path] = [{"value": word, "count": counts[word]} for word in words]
    for name in ("reversible", "adr_candidate", "open"):
        truths = Counter(row.get(name) for row in rows)
        found[name] = [{"value": value, "count": truths[value]} for value in (True, False)]
    return found


def _asked(parameters: Parameters, name: str) -> dict[str, Any]:
    import orjson

    from ontoref.cli.interaction._options import QueryOptions
    from ontoref.cli.interaction._query import logs_and_words, question_of
    from ontoref.interaction.query import answer
    from ontoref.interaction.rows import ROWS
    from ontoref.interaction.where import equality

    many = {
        field: list(parameters[field])
        for field in ("where", "actor", "kind", "domain", "category", "outcome", "session", "file", "tension")
        if field in parameters
    }
    single = {field: one(parameters, field) for field in ("since", "until", "sort") if field in parameters}
    options = QueryOptions(
        **many,  # type: ignore[arg-type]
        **single,  # type: ignore[arg-type]
        history=flag(parameters, "history"),
        reverse=flag(parameters, "reverse"),
        limit=number(parameters, "limit") or _MOST_ROWS,
    )
    standing = flag(parameters, "open")
    more = []
    if standing or flag(parameters, "adr_candidates"):
        more.append(equality(("adr_candidate",), True))
    if "reversible" in parameters:
        more.append(equality(("reversible",), flag(parameters, "reversible")))
    logs, vocabulary = logs_and_words(None, None)
    question = question_of(options, ROWS[name], vocabulary, more=more, standing=standing)
    # A server has threads, which a fork would lose.
    found = answer(question, logs, vocabulary, jobs=1)
    rows = [orjson.loads(row) for row in found.rows]
    skipped = [{"path": one.path, "line_number": one.line_number()} for one in found.skipped[:100]]
    return {"rows": rows, "found": found.found, "records": found.records, "skipped": skipped}


def one(parameters: Parameters, name: str) -> str | None:
    """The one value of a parameter. Errors: UsageError if there are more."""
    values = parameters.get(name, ())
    if len(values) > 1:
        raise UsageError(f"{name} is given more than once")
    return values[0] if values else None


def flag(parameters: Parameters, name: str) -> bool:
    """Whether a parameter says yes. Errors: UsageError for neither yes nor no."""
    text = one(parameters, name)
    if text is None or text in ("0", "false", "no"):
        return False
    if text not in _TRUE:
        raise UsageError(f"{name} is true or false")
    return True


def number(parameters: Parameters, name: str) -> int | None:
    """A parameter that is a count. Errors: UsageError."""
    text = one(parameters, name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= len(text) < 10 and int(text) >= 1):
        raise UsageError(f"{name} is a number from 1 on")
    return int(text)
