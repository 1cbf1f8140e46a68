"""The options that all listings share: the same words, meanings and refusals, whatever is listed."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ontoref.cli.commands import COMMANDS
from ontoref.cli.lesson.fields import AUDIT, CANDIDATES, LESSONS, PROPOSALS
from ontoref.cli.listing import Listing
from ontoref.cli.session.show import SESSIONS
from ontoref.cli.transcript.find import FOUND
from tests.conftest import App
from tests.lesson.running import InProcess, Lessons
from tests.lesson.samples import at, candidate, lesson, proposal

LISTINGS: dict[tuple[str, ...], Listing] = {
    ("lesson", "list"): LESSONS,
    ("lesson", "candidates"): CANDIDATES,
    ("lesson", "proposals"): PROPOSALS,
    ("lesson", "audit"): AUDIT,
    ("session", "show"): SESSIONS,
    ("transcript", "find"): FOUND,
}
WORDS = ("--where", "--since", "--until", "--sort", "--limit", "--columns", "--format")
each = pytest.mark.parametrize("words", LISTINGS, ids=" ".join)


@pytest.fixture
def cli(app: App, tmp_path: Path) -> Lessons:
    return Lessons(InProcess(app.folder), tmp_path / "state")


@pytest.fixture
def filled(cli: Lessons) -> Lessons:
    """Four lessons (one ended), two candidates, three proposals (one rejected)."""
    records = [
        ("lesson", lesson("a", 1, section="git", tags=["x", "y"], helpful=2, scope={"agent_id": "main"})),
        ("lesson", lesson("b", 2, section="make", record_kind="skill", helpful=10)),
        ("lesson", lesson("c", 3, section="a, b", evidence=[{"session_id": "s-7"}, {"session_id": "s-8"}])),
        ("lesson", lesson("d", 4, section="git", invalid_at=at(5))),
        ("candidate", candidate("k1", 1, session_id="s-1")),
        ("candidate", candidate("k2", 2, session_id="s-2", signals=["correction", "insight"])),
        ("proposal", proposal("p1", 1)),
        ("proposal", proposal("p2", 2, action="merge", target_lesson_id="a")),
        ("proposal", proposal("p3", 3)),
    ]
    text = "".join(json.dumps({"record_type": kind, "record": record}) + "\n" for kind, record in records)
    cli("lesson", "import", "-", stdin=text)
    cli("lesson", "reject", "p3", "--by", "ben", "--reason", "no")
    return cli


def ids(cli: Lessons, *words: str) -> list[str]:
    return [row["id"] for row in cli.json(*words)]


@each
def test_every_listing_has_the_options_of_a_query_in_the_same_words(app: App, words: tuple[str, ...]) -> None:
    told = json.loads(app("capabilities", "--format", "json").out)
    options = {command["name"]: command["options"] for command in told["commands"]}
    ours, query = options[f"ontoref {' '.join(words)}"], options["ontoref interaction records"]
    for name in WORDS:
        assert ours[name] == query[name], name
    assert "--reverse" in ours


@each
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--where", "nosuch=1", 'there is no field "nosuch"'),
        ("--where", "id", '"id" is no condition'),
        ("--where", "id=", "id: the value is missing"),
        ("--columns", "id,nosuch", '--columns: there is no column "nosuch"'),
        ("--sort", "nosuch", '--sort: there is no column "nosuch"'),
        ("--since", "yesterday", '--since: "yesterday" is no time'),
        ("--until", "soon", '--until: "soon" is no time'),
    ],
)
def test_a_slip_is_answered_before_anything_is_opened(
    cli: Lessons, tmp_path: Path, words: tuple[str, ...], option: str, value: str, said: str
) -> None:
    done = cli(*words, option, value, code=2)
    assert said in done.err
    assert done.out == ""
    assert not (tmp_path / "state").exists()
    told = json.loads(cli(*words, option, value, "--format", "json", code=2).err)
    assert said in told["error"]["message"]
    assert told["error"]["hint"]


@each
def test_prose_and_times_are_never_compared(cli: Lessons, words: tuple[str, ...]) -> None:
    """ADR-0002 holds for every listing."""
    listing = LISTINGS[words]
    fields = listing.fields()
    assert any(field.type == "prose" for field in fields)
    for field in fields:
        if field.type == "prose":
            assert "prose is never a filter" in cli(*words, "--where", f"{field.path}=x", code=2).err
        elif field.type == "time":
            assert "--since and --until" in cli(*words, "--where", f"{field.path}=x", code=2).err


@each
def test_columns_and_the_time_of_a_listing_are_fields_of_it(words: tuple[str, ...]) -> None:
    listing = LISTINGS[words]
    types = {field.path: field.type for field in listing.fields()}
    assert {column.path for column in listing.columns} <= set(types)
    assert types[listing.time] == "time"
    assert len(types) == len(listing.fields())


def test_what_a_store_checks_can_be_asked_for() -> None:
    """A text or a time that records get is a field of the listing, but for what only the store uses."""
    from ontoref.lesson.records import _CHECKS, _TEXTS, _TIMES

    assert set(_CHECKS) == {"lesson", "proposal", "candidate", "audit"}
    for kind, listing in (("lesson", LESSONS), ("candidate", CANDIDATES), ("proposal", PROPOSALS), ("audit", AUDIT)):
        paths = {field.path for field in listing.fields()}
        left_out = {"fingerprint", "processed_at"}
        assert {*_TEXTS[kind], *_TIMES[kind]} - left_out <= paths


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("list", "c b a"),
        ("list --where section=git", "a"),
        ("list --where section=git,make", "b a"),
        ("list --where section!=git", "c b"),
        ("list --where section=git --where tags=y", "a"),
        (r"list --where section=a\,_b", "c"),
        ("list --where kind=skill", "b"),
        ("list --where record_kind=skill", "b"),
        ("list --where active=false", "d"),
        ("list --where active!=true,false", ""),
        ("list --where helpful=10", "b"),
        ("list --where evidence.session_id=s-8", "c"),
        ("list --where sessions=2", "c"),
        ("list --where scope.agent_id=main", "c b a"),
        ("list --sort helpful", "c a b"),
        ("list --sort helpful --reverse", "b a c"),
        ("list --sort helpful --reverse --limit 1", "b"),
        ("list --sort kind,section", "c a b"),
        ("list --reverse", "a b c"),
        ("list --reverse --limit 1", "a"),
        ("list --limit 2", "c b"),
        ("list --limit 0", ""),
        ("list --where section=git --all", "d a"),
        ("list --where section=git --all --limit 1", "d"),
        ("list --since 2026-11-30T10:02:00Z", "c b"),
        ("list --until 2026-11-30T10:02:00Z", "a"),
        ("list --since 2026-11-30T11:02:00+01:00 --until 2026-11-30T10:03:00Z", "b"),
        ("candidates", "k1 k2"),
        ("candidates --where signals=insight", "k2"),
        ("candidates --where session_id=s-1", "k1"),
        ("candidates --where status=failed", ""),
        ("candidates --since 2026-11-30T10:02:00Z", "k2"),
        ("candidates --reverse --limit 1", "k2"),
        ("proposals", "p1 p2"),
        ("proposals --where action=merge", "p2"),
        ("proposals --where target_lesson_id=a", "p2"),
        ("proposals --where status=rejected", "p3"),
        ("proposals --where status=rejected --status pending", ""),
        ("proposals --where decision.decided_by=ben", "p3"),
        ("proposals --sort statement --reverse --status all", "p3 p2 p1"),
    ],
)
def test_rows_are_kept_ordered_and_cut(filled: Lessons, asked: str, found: str) -> None:
    words = [word.replace("_b", " b") if "," in word and "\\" in word else word for word in asked.split()]
    assert ids(filled, "lesson", *words) == found.split()
    streamed = filled("lesson", *words, "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["id"] for line in streamed] == found.split()


def test_the_audit_trail_can_be_asked(filled: Lessons) -> None:
    rows = filled.json("lesson", "audit", "--where", "actor=ben")
    assert rows
    assert {row["actor"] for row in rows} == {"ben"}
    whole = filled.json("lesson", "audit")
    assert filled.json("lesson", "audit", "--reverse") == whole[::-1]


def test_columns_are_chosen_by_heading_or_by_path(filled: Lessons) -> None:
    table = filled("lesson", "list", "--columns", "id,updated,updated_at,statement").out.splitlines()
    assert table[0].split() == ["id", "updated", "updated_at", "statement"]
    assert table[1].split()[:3] == ["c", "2026-11-30", at(3)]
    assert filled.json("lesson", "list", "--columns", "kind,scope.agent_id", "--limit", "1") == [
        {"record_kind": "lesson", "scope.agent_id": "main"}
    ]
    rows = list(csv.reader(io.StringIO(filled("lesson", "list", "--columns", "id,tags", "--format", "csv").out)))
    assert rows[0] == ["id", "tags"]
    assert rows[-1] == ["a", "x, y"]


def test_a_column_without_a_value_is_left_out_unless_it_is_asked_for(filled: Lessons) -> None:
    filled(
        "lesson", "import", "-", stdin=json.dumps({"record_type": "candidate", "record": candidate("k0", signals=[])})
    )
    assert "signals" in filled("lesson", "candidates").out
    assert "signals" not in filled("lesson", "candidates", "--where", "id=k0").out
    assert "signals" in filled("lesson", "candidates", "--where", "id=k0", "--columns", "id,signals").out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("list", "3 lessons"),
        ("list --where section=git", "1 lesson"),
        ("list --where section=svn", "none of 3 lessons matches"),
        ("list --where section!=svn --limit 1", "1 of 3 lessons"),
        ("list --limit 2", "the first 2 lessons"),
        ("list --limit 9", "3 lessons"),
        ("proposals --limit 1", "1 of 2 proposals"),
        ("proposals --status expired", "no proposal is expired"),
        ("list --where sectoin=git", 'did you mean "section"?'),
        ("list --where durability=durble", 'did you mean "durable"?'),
        ("list --where active=maybe", '"maybe" is neither true nor false'),
        ("list --where helpful=many", '"many" is no whole number'),
        ("list --where scope=main", "one of: scope.agent_id scope.workspace scope.domain"),
        ("list --where title=Tabs", "`ontoref lesson search` finds words in it"),
        ("list --where created_at=x", "--since and --until ask for updated_at"),
        ("list --sort helpfull", 'did you mean "helpful"?'),
    ],
)
def test_what_is_told(filled: Lessons, asked: str, said: str) -> None:
    words = asked.split()
    done = filled.app("lesson", *words, env=filled.env)
    assert said in done.err, done


def test_session_and_options_of_the_list_do_not_go_together(cli: Lessons) -> None:
    for words in (("--limit", "1"), ("--where", "runtime=codex"), ("--project", "/x"), ("--reverse",)):
        assert "SESSION names one session" in cli("session", "show", "abc", *words, code=2).err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ontoref lesson list --where dura", ["durability="]),
        ("ontoref lesson list --where durability=d", ["durable", "decaying"]),
        ("ontoref lesson list --where durability!=durable,d", ["durable,decaying"]),
        ("ontoref lesson list --where active=", ["true", "false"]),
        ("ontoref lesson list --where titl", []),
        ("ontoref lesson list --where nosuch=", []),
        ("ontoref transcript find --sort id,star", ["id,started"]),
        ("ontoref session show --columns sess", ["session_key"]),
        ("ontoref session show --where runtime=cl", ["claude-code"]),
    ],
)
def test_the_shell_offers_fields_and_words(app: App, line: str, words: list[str]) -> None:
    told = app(env={"_ONTOREF_COMPLETE": "bash_complete", "COMP_LINE": line})
    assert (told.code, told.err) == (0, "")
    assert [entry.partition(",")[2] for entry in told.out.splitlines()] == words


@each
def test_a_help_reads_no_room(words: tuple[str, ...]) -> None:
    """Start-up is a feature: what a listing can be asked is looked up when it is asked."""
    program = (
        "import sys; from ontoref.cli.main import run; run(sys.argv[1:]); "
        "print([m for m in sys.modules if m.startswith('ontoref.') and m.split('.')[1] in "
        "('interaction', 'lesson', 'state', 'transcript', 'vocabulary', 'replay')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words, "--help"], capture_output=True, text=True, check=True)
    assert "--where" in done.stdout
    assert done.stderr.strip() == "[]"


def test_the_table_here_names_commands() -> None:
    for group, verb in LISTINGS:
        assert verb in (COMMANDS[group].commands or {})
