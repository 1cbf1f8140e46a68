"""A question made ready to be put to lines: what is searched for, what is kept, how it sorts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from ontoref.interaction.blocks import Block, Stretch, blocks, readable
from ontoref.interaction.combine import Combiner, Tally, condensed, once, told
from ontoref.interaction.moments import order_key
from ontoref.interaction.order import name_key, ordered, reach, sortable
from ontoref.interaction.question import Question
from ontoref.interaction.recurrence import Recurrence, look_like_ids
from ontoref.interaction.rows import Row, header_fields
from ontoref.interaction.search import Needle, Search, Text
from ontoref.interaction.spill import Entry, Spill, merge
from ontoref.vocabulary import Vocabulary

__all__ = ["Ask", "Report", "decode", "stretches"]

# Past so many a list of what is meant takes more than it saves; every decision is then looked at.
_MOST_MATCHES = 100_000
# Past one line in so many it is faster to read all of them in a row than to fetch each.
_MANY_LINES = 8


class Report:
    """What a first look over a part of a log tells.

    Shape: skipped holds (file, offset) of lines that are no objects, (file, -errno) of files that cannot be read;
           superseded record ids; matches (record, decision) of the entries that are meant, None if they were too
           many to note.
    """

    __slots__ = ("lines", "matches", "skipped", "superseded")

    def __init__(self) -> None:
        self.lines = 0
        self.skipped: set[tuple[int, int]] = set()
        self.superseded: set[str] = set()
        self.matches: set[tuple[str, str]] | None = set()

    def plain(self) -> tuple[Any, ...]:
        """The report as it goes from one process to another."""
        return self.lines, self.skipped, self.superseded, self.matches

    def add(self, plain: tuple[Any, ...]) -> None:
        """Take in what another part tells."""
        lines, skipped, superseded, matches = plain
        self.lines += lines
        self.skipped |= skipped
        self.superseded |= superseded
        self.matches = None if self.matches is None or matches is None else self.matches | matches

    def names(self) -> set[str] | None:
        """Decisions that are meant in a record which is not superseded; None if they were too many to note."""
        if self.matches is None:
            return None
        return {name for record, name in self.matches if record not in self.superseded}


class Ask:
    """One question over one vocabulary; superseded and names are set once the first look is over."""

    def __init__(self, question: Question, vocabulary: Vocabulary, everything: bool) -> None:
        self.question = question
        self.row = question.row
        self.everything = everything
        self.grouped = bool(self.row.name_field) and not (question.history and self.row.name == "decisions")
        # A decision is kept if any of its entries is meant, and shown as its latest one is: so the names come first.
        filtered = bool(question.conditions or question.since or question.until)
        self.by_name = self.grouped and self.row.name == "decisions" and filtered
        self.superseded: set[str] = set()
        self.names: set[str] | None = None
        self.header = header_fields(vocabulary)
        self.closed = _closed_words(vocabulary) if question.standing else frozenset[str]()
        self.needles = [condition.needle for condition in question.conditions if condition.needle is not None]
        holding = _holding(self.row.field)
        if holding is not None:
            self.needles.append(holding)
        self.on_record = tuple(c.tester() for c in question.conditions if c.of_record_only)
        self._on_record = bool(self.on_record or question.since or question.until)
        self.on_element = tuple(c.tester() for c in question.conditions if not c.of_record_only)

    # The first look ------------------------------------------------------------------------------------------

    def survey(self, share: list[Stretch], recurrence: Recurrence | None = None) -> Report:
        """What a first look over a share tells; where decisions are named is noted in recurrence."""
        report = Report()
        needle = Needle.of_key("supersedes")
        assert needle is not None
        superseding = Search([] if self.everything else [needle])
        meant = Search([] if self.everything else self.needles)
        for stretch, block in stretches(share, report.skipped):
            if block.too_long:
                report.lines += 1
                report.skipped.add((stretch.file, block.offset_bytes))
                continue
            text, at = Text(block.content, block.end), block.offset_bytes
            report.lines += text.lines
            for start, stop in text.odd():
                line = block.content[start:stop].strip()
                if not line:
                    report.lines -= 1
                elif decode(line) is None:
                    report.skipped.add((stretch.file, at + start))
            if not self.question.history:
                for record, _, _ in _records(superseding, stretch, at, text, report.skipped):
                    report.superseded.update(_texts(record.get("supersedes")))
            if recurrence is not None and report.matches is not None:
                recurrence.note(stretch, at, text)
                for record, start, stop in _records(meant, stretch, at, text, report.skipped):
                    self._match(record, stretch, start, stop, report.matches, recurrence)
                if len(report.matches) > _MOST_MATCHES:
                    report.matches = None
        return report

    def _match(
        self,
        record: dict[str, Any],
        stretch: Stretch,
        start: int,
        stop: int,
        matches: set[tuple[str, str]],
        recurrence: Recurrence,
    ) -> None:
        if self._on_record and not self._holds_for_record(record):
            return
        found: list[tuple[int, dict[str, Any]]] = []
        left: list[str] = []
        tests, identity = self.on_element, _text(record, "id")
        for index, element in self._decisions(record):
            for test in tests:
                if not test(record, element):
                    left.append(element["id"])
                    break
            else:
                found.append((index, element))
                matches.add((identity, element["id"]))
        if found:
            recurrence.keep(self._decision_entries(record, stretch.file, start, found), left, stretch, start, stop)

    # The rows ------------------------------------------------------------------------------------------------

    def work(self, share: list[Stretch], hear: Callable[[], Any]) -> Iterator[Any]:
        """A report; then, once superseded records and names are heard: (how many entries, lines skipped), and
        the entries of the share, sorted by their keys."""
        recurrence = Recurrence() if self.by_name else None
        report = self.survey(share, recurrence)
        yield report.plain()
        self.superseded, self.names = hear()
        skipped: set[tuple[int, int]] = set()
        if self.by_name and not self.names and self.names is not None:
            yield 0, skipped
            return
        names = frozenset(name.encode() for name in self.names or ())
        if recurrence is not None and self.names is not None and not (self.everything or look_like_ids(names)):
            places = recurrence.places(names)
            if len(places) < report.lines // _MANY_LINES or len(places) < _MANY_LINES:
                yield from self._recurring(recurrence, places, share, skipped)
                return
        del recurrence
        question = self.question
        plain = not self.grouped
        spill = Spill(limit=question.limit if plain else None, reverse=question.reverse and plain)
        search = Search([] if self.everything else self.needles[-1:] if self.by_name else self.needles)
        if self.grouped:
            self._combine(self._current(search, share, skipped), spill)
        else:
            entries = self._part_entries if self.row.field else self._record_entries
            for record, file, offset in self._current(search, share, skipped):
                for entry in entries(record, file, offset):
                    spill.add(entry)
        yield spill.count, skipped
        yield from condensed(spill) if self.grouped else spill

    def _recurring(
        self, recurrence: Recurrence, places: list[int], share: list[Stretch], skipped: set[tuple[int, int]]
    ) -> Iterator[Any]:
        """The entries of the names that were heard: those kept, and those at the places."""
        for line, file, offset, known in recurrence.lines(places, share):
            record = decode(line)
            if record is None:
                skipped.add((file, offset))
                continue
            found = [(i, e) for i, e in self._decisions(record) if e["id"] in (self.names or ())]
            if known:
                found = [(i, e) for i, e in found if not self._holds_for_element(record, e)]
            recurrence.entries.extend(self._decision_entries(record, file, offset, found))
        yield recurrence.entries.count, skipped
        entries = iter(recurrence.entries)
        yield from condensed(self._still(entries) if self.superseded else entries)

    def _still(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Entries of the names that were heard, those of superseded records left out."""
        keys = frozenset(map(name_key, self.names or ()))
        superseded = frozenset(record.encode() for record in self.superseded)
        for entry in entries:
            name, _, rest = entry[0].partition(b"\0")
            if name + b"\0" in keys and rest.split(b"\0", 2)[1] not in superseded:
                yield entry

    def records(self, share: list[Stretch], skipped: set[tuple[int, int]]) -> Iterator[dict[str, Any]]:
        """Every record of a share that meets the conditions."""
        search = Search([] if self.everything else self.needles)
        return (r for r, _, _ in self._current(search, share, skipped) if self._holds(r, r))

    def _current(
        self, search: Search, share: list[Stretch], skipped: set[tuple[int, int]]
    ) -> Iterator[tuple[dict[str, Any], int, int]]:
        """Records of the lines found, with file and offset, superseded ones left out."""
        for stretch, block in stretches(share, skipped):
            for start, stop in search.lines(Text(block.content, block.end)):
                record = decode(memoryview(block.content)[start:stop])
                if record is None:
                    if block.content[start:stop].strip():
                        skipped.add((stretch.file, block.offset_bytes + start))
                elif not (self.superseded and _text(record, "id") in self.superseded):
                    yield record, stretch.file, block.offset_bytes + start

    def _record_entries(self, record: dict[str, Any], file: int, offset: int) -> Iterator[Entry]:
        if self._holds(record, record):
            yield self._key(record, record, file, offset, 0), orjson.dumps(record)

    def _part_entries(self, record: dict[str, Any], file: int, offset: int) -> Iterator[Entry]:
        if not self._holds_for_record(record):
            return
        header: dict[str, Any] | None = None
        for index, element in enumerate(self._elements(record)):
            if self._holds_for_element(record, element):
                header = self._header(record) if header is None else header
                row = {**element, "record": header}
                yield self._key(row, record, file, offset, index), orjson.dumps(row)

    def _combine(self, records: Iterator[tuple[dict[str, Any], int, int]], spill: Spill) -> None:
        """One entry for each name into the spill."""
        if self.row.name == "decisions":
            decisions = Combiner(spill, name_key, self._row_of)
            for record, file, offset in records:
                self._add_decisions(decisions, record, file, offset)
            decisions.flush()
        else:
            names = Combiner(spill, name_key, orjson.dumps)
            for record, file, offset in records:
                self._add_names(names, record, file, offset)
            names.flush()

    def _add_decisions(
        self, combiner: Combiner[tuple[dict[str, Any], dict[str, Any]]], record: dict[str, Any], file: int, offset: int
    ) -> None:
        # Where names were heard, each of them is meant already.
        all_meant = not self.by_name or self.names is not None
        meant = all_meant or self._holds_for_record(record)
        session, order = "", b""
        for index, element in self._decisions(record):
            name = element["id"]
            if self.names is not None and name not in self.names:
                continue
            if not order:
                session = orjson.dumps(record.get("session_id")).decode()
                order = ordered(record, file, offset, 0)[:-4]
            this = meant and (all_meant or self._holds_for_element(record, element))
            combiner.add(name, order + index.to_bytes(4, "big"), (element, record), session, meant=this)

    def _add_names(self, combiner: Combiner[Any], record: dict[str, Any], file: int, offset: int) -> None:
        if not self._holds_for_record(record):
            return
        session = orjson.dumps(record.get("session_id")).decode()
        order, at = ordered(record, file, offset, 0), record.get("recorded_at")
        for name, decisions in _named(record, self.row).items():
            if self._holds_for_element(record, name):
                combiner.add(name, order, at, session, record.get("actor"), meant=True, decisions=decisions)

    def _row_of(self, last: tuple[dict[str, Any], dict[str, Any]]) -> bytes:
        element, record = last
        return orjson.dumps({**element, "record": self._header(record)})

    def _decision_entries(
        self, record: dict[str, Any], file: int, offset: int, elements: Iterable[tuple[int, dict[str, Any]]]
    ) -> list[Entry]:
        """Decisions of a name that is meant, each an entry of its own."""
        header, dumps = self._header(record), orjson.dumps
        before = once(dumps(record.get("session_id")))
        order = ordered(record, file, offset, 0)[:-4]
        return [
            (name_key(e["id"]) + order + index.to_bytes(4, "big"), before + dumps({**e, "record": header}))
            for index, e in elements
        ]

    def _decisions(self, record: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
        parts = record.get(self.row.field)
        if type(parts) is not list:
            return []
        return [(i, part) for i, part in enumerate(parts) if type(part) is dict and type(part.get("id")) is str]

    # Groups --------------------------------------------------------------------------------------------------

    def groups(self, streams: list[Iterator[Entry]]) -> Iterator[Entry]:
        """The row of each name, in no order, from the entries of the shares."""
        is_decision, sort, standing = self.row.name == "decisions", self.question.sort, self.question.standing
        for key, content in streams[0] if len(streams) == 1 else condensed(merge(streams)):
            end = key.index(0)
            order = key[end + 1 :]
            tally, last = told(content)
            if is_decision:
                if not tally.meant or (standing and not self._stands(orjson.loads(last))):
                    continue
                row = b'%b,"times":%d,"sessions":%d}' % (last[:-1], tally.times, len(tally.sessions))
            else:
                row = self._named(key[:end], tally, last)
            yield (self._prefix(orjson.loads(row)) + order if sort else order), row

    def _named(self, name: bytes, tally: Tally, last: bytes) -> bytes:
        row: dict[str, Any] = {self.row.name_field: name.decode(), "sessions": len(tally.sessions)}
        row |= {"records": tally.times, "last": orjson.loads(last), "actors": sorted(tally.actors)}
        if self.row.name == "tensions":
            row["decisions"] = tally.decisions
        return orjson.dumps(row)

    def _stands(self, row: dict[str, Any]) -> bool:
        status = row.get("status")
        closed = isinstance(status, str) and status in self.closed
        return row.get("adr_candidate") is True and not row.get("adr") and not closed

    # Conditions ----------------------------------------------------------------------------------------------

    def _elements(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        parts = record.get(self.row.field)
        return (part for part in parts if isinstance(part, dict)) if isinstance(parts, list) else iter(())

    def _holds(self, record: dict[str, Any], element: Any) -> bool:
        return self._holds_for_record(record) and self._holds_for_element(record, element)

    def _holds_for_record(self, record: dict[str, Any]) -> bool:
        question = self.question
        if question.since or question.until:
            moment = order_key(record.get("recorded_at"))
            if not moment or moment < question.since or (question.until and moment >= question.until):
                return False
        return all(test(record, None) for test in self.on_record)

    def _holds_for_element(self, record: dict[str, Any], element: Any) -> bool:
        for test in self.on_element:  # noqa: SIM110 it is asked of every decision, and `all` makes a generator
            if not test(record, element):
                return False
        return True

    def _header(self, record: dict[str, Any]) -> dict[str, Any]:
        return {name: record[name] for name in self.header if name in record}

    # Order ---------------------------------------------------------------------------------------------------

    def _key(self, row: dict[str, Any], record: dict[str, Any], file: int, offset: int, index: int) -> bytes:
        return self._prefix(row) + ordered(record, file, offset, index)

    def _prefix(self, row: dict[str, Any]) -> bytes:
        return b"".join(sortable(reach(row, path)) for path in self.question.sort)


def stretches(share: list[Stretch], skipped: set[tuple[int, int]] | None = None) -> Iterator[tuple[Stretch, Block]]:
    """Every block of a share. Errors: OSError, unless skipped takes in which files cannot be read."""
    for stretch in share:
        for block in blocks(stretch) if skipped is None else readable(stretch, skipped):
            yield stretch, block


def decode(text: bytes | bytearray | memoryview) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _records(
    search: Search, stretch: Stretch, offset_bytes: int, text: Text, skipped: set[tuple[int, int]]
) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Each record that is found in a text at an offset, from where to where it stands in its file."""
    for start, stop in search.lines(text):
        line = text.content[start:stop]
        record = decode(line)
        if record is not None:
            yield record, offset_bytes + start, offset_bytes + stop
        elif line.strip():
            skipped.add((stretch.file, offset_bytes + start))


def _holding(field_name: str) -> Needle | None:
    """Lines whose array of that name may have something in it."""
    return Needle.of_key(field_name, rb"\[[ \t\r]*[^\] \t\r]") if field_name else None


def _named(record: dict[str, Any], row: Row) -> dict[str, int]:
    """Names of a record that a grouped row counts, each with the number of decisions that bear it."""
    names = {name: 0 for name in _texts(record.get(row.field))}
    if row.name == "tensions":
        decisions = record.get("decisions")
        for decision in decisions if isinstance(decisions, list) else ():
            for name in set(_texts(decision.get(row.field) if isinstance(decision, dict) else None)):
                names[name] = names.get(name, 0) + 1
    return names


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _closed_words(vocabulary: Vocabulary) -> frozenset[str]:
    facet = vocabulary.noun(vocabulary.nouns["decisions"]).get("status")
    if facet is None or facet.enum is None:
        return frozenset()
    return frozenset(member.name for member in vocabulary.enum(facet.enum).members if member.notes.get("closed"))
