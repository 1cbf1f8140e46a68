"""A session as one file: everything is in it, nothing of it runs, and secrets are not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ontoref.replay.source import Memory
from ontoref.web.export import export_html, shell
from tests.conftest import App
from tests.replay.events import event
from tests.web.sessions import SESSION, Claude, write_example

KEY = "sk-ant-" + "a1B2c3D4" * 5


def data_in(html: bytes) -> dict[str, object]:
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    read: dict[str, object] = json.loads(found.group(1))
    return read


def test_the_shell_is_small() -> None:
    """At most 300 KB before data."""
    assert len(shell("x", "{}")) < 300_000


def test_it_asks_nothing_of_anybody() -> None:
    """S2-55: no address of another host, and a policy that lets none in."""
    html = shell("x", "{}").decode()
    assert re.findall(r"(?:src|href)=\"(?!data:|#)[^\"]*\"", html) == []
    assert "default-src 'none'" in html
    assert "unsafe" not in html.partition("<style>")[0]
    urls = set(re.findall(r"https?://[^\s\"'`)]+", html)) - {"http://www.w3.org/2000/svg"}
    assert urls == set()


def test_data_cannot_end_its_script() -> None:
    hostile = "</script><script>alert(1)</script><!--\u2028 & <b>"
    source = Memory({"codex:s": [event("u1", text=hostile), event("a1", text=hostile)]})
    html = export_html(source, "codex:s").html
    assert html.count(b"</script>") == 2
    assert b"<!--" not in html.split(b'id="data">')[1].split(b"</script>")[0]
    tree = data_in(html)["tree"]
    assert isinstance(tree, dict)
    assert tree["turns"][0]["events"][0]["payload"]["text"] == hostile


def test_sub_agents_are_opened_and_payloads_whole() -> None:
    long = "word " * 5000
    source = Memory({
        "codex:s": [event("u1", text=long), event("s1", child_session_id="kid")],
        "codex:kid": [event("u2", text="task"), event("s2", child_session_id="grandkid")],
        "codex:grandkid": [event("a3", text="deep inside")],
    })  # fmt: skip
    tree = data_in(export_html(source, "codex:s").html)["tree"]
    assert isinstance(tree, dict)
    turn = tree["turns"][0]
    assert turn["events"][0]["payload"]["text"] == long
    inner = turn["delegations"][0]["delegations"][0]
    assert inner["events"][0]["payload"]["text"] == "deep inside"


def test_every_page_of_a_long_session_is_in_it() -> None:
    events = [event(f"u{n}" if n % 2500 == 0 else f"a{n}", text=str(n)) for n in range(25_000)]
    tree = data_in(export_html(Memory({"codex:s": events}), "codex:s").html)["tree"]
    assert isinstance(tree, dict)
    found = [one["span_id"] for turn in tree["turns"] for one in turn["events"]]
    assert found == [one.span_id for one in events]
    assert len(tree["turns"]) == 10


def test_secrets_are_taken_out(app: App, tmp_path: Path) -> None:
    main = Claude(tmp_path)
    main.user(f"Use {KEY} please")
    main.call("c1", "Bash", {"command": f"curl -H 'x-api-key: {KEY}'"}, f"{KEY} works")
    whole = str(tmp_path / f"{SESSION}.jsonl")
    done = app("replay", "export", whole, "--html", "out.html")
    assert done.code == 0
    assert re.search(r"\d secrets redacted", done.err)
    html = (app.folder / "out.html").read_text()
    assert KEY not in html
    assert "[redacted:anthropic-key]" in html
    assert app("replay", "export", whole, "--html", "raw.html", "--no-redact").code == 0
    assert KEY in (app.folder / "raw.html").read_text()


def test_redacting_leaves_the_session_as_it_was() -> None:
    source = Memory({"codex:s": [event("u1", text=f"key {KEY}", deep=[{"in": KEY}])]})
    assert export_html(source, "codex:s").redacted >= 2
    assert KEY in source.sessions["codex:s"][0].event.payload["text"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["SESSION"], 2, "say where to"),
        (["SESSION", "--html", "a", "--duckdb", "b"], 2, "say where to"),
        (["--all", "--html", "a"], 2, "one session"),
        (["SESSION", "SESSION", "--html", "a"], 2, "one session"),
        (["nobody", "--html", "a"], 1, "nobody"),
        (["SESSION", "--html", "no/such/folder/a"], 2, "folder"),
    ],
)
def test_what_cannot_be_exported(app: App, tmp_path: Path, words: list[str], code: int, said: str) -> None:
    write_example(tmp_path)
    path = str(tmp_path / f"{SESSION}.jsonl")
    done = app("replay", "export", *[path if word == "SESSION" else word for word in words])
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert sorted(one.name for one in app.folder.iterdir()) == []


def test_to_standard_output(app: App, tmp_path: Path) -> None:
    write_example(tmp_path)
    done = app("replay", "export", str(tmp_path / f"{SESSION}.jsonl"), "--html", "-")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
