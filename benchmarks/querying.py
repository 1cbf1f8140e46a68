"""What it costs to ask a log, beside a loop that decodes it all and beside jq and DuckDB."""

from __future__ import annotations

import shutil

from benchmarks.corpus import write
from benchmarks.table import Contender, Place, Row, command
from ontoref.vocabulary import load

__all__ = ["CONTENDERS", "LEFT_OUT", "ROWS"]

# The goals speak of a log of 200 MB: on a small one start-up is all there is to see.
_RECORDS = 144_000

_PARSE = """
import sys, orjson
loads = orjson.loads
with open(sys.argv[1], "rb") as file:
    for line in file:
        loads(line)
"""

# The rows that the command prints: of each decision that was ever flagged its latest entry, how often and in how many
# sessions it came up, superseded records left out, in the order of time. Fields of the record stand under "record".
_HEADER = (
    "del(.summary, .events, .decisions, .actions, .insights, .files_touched, .tensions_engaged, .supersedes, .witness)"
)
_GROUPED = f"""
[inputs | select(.decisions or .supersedes)] | (reduce .[].supersedes[]? as $id ({{}}; .[$id] = true)) as $gone
| [.[] | . as $record | select($gone[.id] | not) | .decisions // [] | to_entries[]
  | {{row: .value, by: [$record.recorded_at, $record.id, .key], record: $record}}]
| group_by(.row.id) | map(select(any(.[]; .row.adr_candidate)))
| map({{last: max_by(.by), times: length, sessions: (map(.record.session_id) | unique | length)}})
| sort_by(.last.by)[] | .last.row + {{record: (.last.record | {_HEADER}), times, sessions}}
"""
# Less than what the command answers: the flagged entries as they come, which jq can do line by line.
_FLAT = f". as $r | .decisions[]? | select(.adr_candidate) | . + {{record: ($r | {_HEADER})}}"

_DUCKDB = """
import sys, duckdb
database = duckdb.connect()
source = f"read_json('{sys.argv[1]}', format='newline_delimited', columns={{id: 'VARCHAR', session_id: 'VARCHAR', " \\
    "recorded_at: 'VARCHAR', actor: 'VARCHAR', kind: 'VARCHAR', domain: 'VARCHAR', supersedes: 'VARCHAR[]', " \\
    "decisions: 'STRUCT(id VARCHAR, rationale VARCHAR, alternatives_rejected VARCHAR[], reversible BOOLEAN, " \\
    "adr_candidate BOOLEAN, tensions_engaged VARCHAR[], status VARCHAR, adr VARCHAR)[]'})"
database.execute(f'''
    create temp table records as select * from {source};
    with gone as (select unnest(supersedes) as id from records),
         entries as (select r.* exclude (decisions, supersedes), unnest(decisions) as decision
                     from records r where id not in (select id from gone))
    select max_by(decision, (recorded_at, id)), max_by(entries, (recorded_at, id)), count(*), count(distinct session_id),
           max((recorded_at, id)) as latest
    from entries group by decision.id having bool_or(decision.adr_candidate) order by latest
''').fetchall()
"""


def _log(place: Place) -> str:
    log = place.folder / "asked.jsonl"
    if not log.exists():
        write(log, _RECORDS, load())
    return str(log)


def parse(place: Place) -> float:
    return command([place.python, "-c", _PARSE, _log(place)])


def _ask(place: Place, *words: str) -> float:
    given = [place.python, "-m", "ontoref", "interaction", "decisions", _log(place), "--adr-candidates"]
    return command([*given, "--format", "json", *words])


def flagged(place: Place) -> float:
    return _ask(place)


def flagged_one_process(place: Place) -> float:
    return _ask(place, "--jobs", "1")


def flagged_entries(place: Place) -> float:
    return _ask(place, "--history")


def jq_grouped(place: Place) -> float:
    return command(["jq", "-n", "-c", _GROUPED, _log(place)])


def jq_flat(place: Place) -> float:
    return command(["jq", "-c", _FLAT, _log(place)])


def duckdb_grouped(place: Place) -> float:
    return command([place.python, "-c", _DUCKDB, _log(place)])


CONTENDERS: dict[str, Contender] = {
    "orjson loop over 200 MB, whole": parse,
    "decisions --adr-candidates": flagged,
    "the same with --jobs 1": flagged_one_process,
    "the same with --history": flagged_entries,
    "jq, the same rows": jq_grouped,
    "jq, flagged entries as they come": jq_flat,
    "DuckDB, the same rows": duckdb_grouped,
}

_LOOP = "orjson loop over 200 MB, whole"

ROWS = [
    Row("decisions --adr-candidates, whole", "decisions --adr-candidates", _LOOP, 0.4, 0.2),
    Row("one process", "the same with --jobs 1", _LOOP),
    Row("--history: every flagged entry", "the same with --history", _LOOP),
]
LEFT_OUT: list[str] = []
if not shutil.which("jq"):
    LEFT_OUT.append("jq is not here and left out: install the package jq of the system")
else:
    ROWS += [
        Row("decisions --adr-candidates", "decisions --adr-candidates", "jq, the same rows", 0.08, 0.03),
        Row(
            "decisions --adr-candidates --history",
            "the same with --history",
            "jq, flagged entries as they come",
            0.08,
            0.03,
        ),
    ]
try:
    import duckdb  # noqa: F401
except ImportError:
    LEFT_OUT.append("DuckDB is not here and left out: pip install duckdb")
else:
    ROWS.append(Row("DuckDB, the same rows", "DuckDB, the same rows", _LOOP))
