"""The pages in a real browser: what a person does with them, and what a hostile session does to them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ontoref.replay.source import Memory
from ontoref.web.export import export_html
from tests.replay.events import KIND, event
from tests.web.browser import ARGUMENTS, CHROMIUM, Watched, serving, shot
from tests.web.sessions import SESSION, Claude, write_example

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

expect = sync_api.expect
ID = f"claude-code:{SESSION}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the sessions of one project lie, as Claude Code keeps them."""
    found = tmp_path / "claude" / "projects" / "-home-ada-work"
    found.mkdir(parents=True)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    found = tmp_path / "project"
    found.mkdir()
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


class Pages:
    """Opens pages of one server, each watched."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser, self.url = browser, url
        self.base = url.partition("/?")[0]
        self.opened: list[Watched] = []
        self.contexts: list[Any] = []

    def __call__(self, place: str = "", **options: Any) -> Watched:
        context = self.browser.new_context(viewport={"width": 1280, "height": 860}, **options)
        self.contexts.append(context)
        watched = Watched(context.new_page(), self.base)
        self.opened.append(watched)
        watched.page.goto(self.url)
        assert "token" not in watched.page.url
        if place:
            watched.page.goto(f"{self.base}/{place}")
        return watched

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def pages(browser: Any, folder: Path, project: Path) -> Iterator[Pages]:
    with serving(folder, project) as url:
        found = Pages(browser, url)
        yield found
        found.close()
    for watched in found.opened:
        watched.check()


def replay(pages: Pages, session: str = ID, span: str = "", **options: Any) -> Watched:
    watched = pages(f"#/replay/{quote(session, safe='')}" + (f"/{quote(span, safe='')}" if span else ""), **options)
    expect(watched.page.locator(".turn").first).to_be_visible()
    return watched


def test_the_list_of_sessions(pages: Pages, folder: Path) -> None:
    write_example(folder)
    other = Claude(folder, "7d9e4f10-0000-4000-8000-000000000002")
    other.user("Another thing entirely")
    other.say("Done.")
    page = pages().page
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="Please mend the parser.")).to_contain_text("work")
    expect(rows.first.locator("svg.spark")).to_have_count(1)
    page.get_by_role("button", name="Events").click()
    expect(page.locator("th[aria-sort=descending], th[aria-sort=ascending]")).to_contain_text("Events")
    expect(rows.first).to_contain_text("mend the parser")
    page.keyboard.press("/")
    page.keyboard.type("ENTIRELY")
    expect(rows).to_have_count(1)
    page.get_by_label("Filter sessions").fill("nothing has this")
    expect(rows).to_have_count(0)
    page.get_by_label("Filter sessions").fill("000000002")
    expect(rows).to_have_count(1)
    page.get_by_label("Filter sessions").fill("")
    expect(rows).to_have_count(2)
    shot(page, "sessions-small")
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("mend the parser")


def test_a_session_shows_everything(pages: Pages, folder: Path) -> None:
    """S2-52, S2-56: approvals, modes, compaction, thinking and errors are all there."""
    write_example(folder)
    watched = replay(pages)
    page = watched.page
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator(".row.thinking")).to_contain_text("The parser fails on empty input")
    expect(page.locator(".row.compaction")).to_contain_text("compacted")
    expect(page.locator(".row.mode")).to_have_count(3)
    expect(page.locator(".row.approval.denied")).to_contain_text("by user")
    expect(page.locator(".row.tool.failed").first).to_contain_text("error")
    expect(page.locator(".mode-chip")).to_have_text("mode acceptEdits")
    expect(page.locator(".tick-mode")).to_have_count(3)
    expect(page.locator(".rail li")).to_have_count(3)
    expect(page.locator(".answer strong").first).to_have_text("first")
    expect(page.locator(".answer pre").first).to_contain_text("print('<b>x</b>')")
    shot(page, "replay-small")


def test_sub_agents_are_loaded_when_they_are_opened(pages: Pages, folder: Path) -> None:
    """S2-47, S2-52: nested blocks with a toggle and a depth mark, closed at first."""
    write_example(folder)
    watched = replay(pages)
    page = watched.page
    agents = page.locator("details.agent")
    expect(agents).to_have_count(2)
    assert [agents.nth(n).get_attribute("open") for n in range(2)] == [None, None]
    assert watched.asked("/children/") == []
    agents.first.locator("summary").first.click()
    expect(agents.first).to_contain_text("Two callers: a.py and b.py.")
    expect(agents.first.locator(".row.tool")).to_contain_text("Grep")
    assert agents.first.get_attribute("data-depth") == "1"
    assert len(watched.asked("/children/")) == 1
    agents.first.locator("summary").first.click()
    agents.first.locator("summary").first.click()
    assert len(watched.asked("/children/")) == 1
    shot(page, "agent-open")


def test_an_edit_is_a_diff(pages: Pages, folder: Path) -> None:
    write_example(folder)
    page = replay(pages).page
    page.locator(".row.tool:has(.name:text-is('Edit')) > summary").click()
    diff = page.locator(".diff")
    expect(diff.locator(".line.removed")).to_contain_text("return text[0]")
    expect(diff.locator(".line.added")).to_contain_text("return text[:1]")
    expect(diff.locator(".line.same")).to_contain_text("def parse(text):")
    expect(diff.locator("figcaption")).to_contain_text("parser.py")


def test_the_keyboard_alone_is_enough(pages: Pages, folder: Path) -> None:
    write_example(folder)
    page = replay(pages).page
    here = page.locator(".row.here")
    page.keyboard.press("j")
    first = here.text_content()
    page.keyboard.press("j")
    assert here.text_content() != first
    page.keyboard.press("k")
    assert here.text_content() == first
    page.keyboard.press("J")
    page.keyboard.press("J")
    expect(page.locator(".turn").nth(1).locator(".row.here")).to_have_count(1)
    page.keyboard.press("K")
    expect(page.locator(".turn").nth(0).locator(".row.here")).to_have_count(1)
    for _ in range(20):
        page.keyboard.press("]")
        if "agent" in (here.get_attribute("class") or ""):
            break
    expect(here).to_contain_text("Find every caller")
    assert "#/replay/" in page.url
    page.keyboard.press("o")
    expect(page.locator("details.agent").first).to_contain_text("Two callers")
    page.keyboard.press("t")
    expect(page.locator(".row.thinking").first).to_be_hidden()
    page.keyboard.press("t")
    expect(page.locator(".row.thinking").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next, previous turn")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_search_finds_and_steps(pages: Pages, folder: Path) -> None:
    write_example(folder)
    page = replay(pages).page
    page.keyboard.press("/")
    page.keyboard.type("parser")
    page.keyboard.press("Enter")
    expect(page.locator(".search output")).to_contain_text("1 of ")
    first = page.locator(".row.here").get_attribute("data-span")
    page.keyboard.press("n")
    expect(page.locator(".search output")).to_contain_text("2 of ")
    assert page.locator(".row.here").get_attribute("data-span") != first


def test_every_node_has_an_address(pages: Pages, folder: Path) -> None:
    """An address of an event opens there, in a later page and inside a sub-agent's block too."""
    main = write_example(folder)
    for number in range(400):
        main.user(f"And part {number}?")
        main.say(f"Part {number} is well. " + "It took some doing. " * 30)
    wanted = main.say("the needle")
    page = replay(pages, span=f"{ID}:{wanted}:0").page
    expect(page.locator(".row.here")).to_contain_text("the needle")
    expect(page.locator(".row.here")).to_be_in_viewport()
    page.locator(".rail a").first.click()
    expect(page.locator(".row.here")).to_contain_text("Please mend the parser.")


def test_a_live_session_grows_on_the_page(pages: Pages, folder: Path) -> None:
    main = write_example(folder)
    page = replay(pages).page
    page.wait_for_timeout(500)
    page.evaluate("scrollTo(0, 0)")
    main.user("One more thing.")
    main.say("Here it is, live.")
    main.call("late", "Read", {"file_path": "/home/ada/work/new.py"}, "fresh content")
    expect(page.locator(".pill")).to_contain_text("new")
    expect(page.locator(".turn")).to_have_count(4)
    expect(page.locator(".turn").last).to_contain_text("Here it is, live.")
    expect(page.locator(".unread")).to_have_count(1)
    expect(page).to_have_title(re.compile(r"^\(\d+\) "))
    expect(page.locator(".chip.live")).to_be_visible()
    shot(page, "live")
    page.locator(".pill").click()
    expect(page.locator(".pill")).to_be_hidden()
    expect(page.locator(".turn").last.locator(".row.tool")).to_contain_text("Read")
    child = main.agent_call("a3", "three", "Look once more", answer=None)
    expect(page.locator("details.agent")).to_have_count(3)
    expect(page.locator("details.agent").last).to_contain_text("open")
    child.user("do: Look once more")
    child.say("Nothing new.")
    main.result("a3", "done", toolUseResult={"agentId": "three", "status": "completed"})
    expect(page.locator("details.agent").last).to_contain_text("returned")


HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><a href='javascript:window.pwned=1'>x</a>"
    "[link](javascript:window.pwned=1) \u202etxt.exe \x1b[31mred\x1b[0m \x1b]0;title\x07 \x00 </script></textarea>"
)


def write_hostile(folder: Path) -> None:
    main = Claude(folder)
    main.user(HOSTILE, cwd=f"/home/{HOSTILE}", gitBranch=HOSTILE)
    main.think(HOSTILE)
    main.say(HOSTILE + "\n```<b>\n" + HOSTILE + "\n```")
    main.call("h1", HOSTILE, {"command": HOSTILE, HOSTILE: [HOSTILE]}, HOSTILE, error=True)
    main.call("h2", "Edit", {"file_path": HOSTILE, "old_string": HOSTILE, "new_string": "x" + HOSTILE}, HOSTILE)
    main.call("h3", "__proto__", {"__proto__": {"polluted": 1}, "command": {"a": 1}}, [{"type": "image"}])
    child = main.agent_call("h4", "bad", HOSTILE, HOSTILE)
    child.user(HOSTILE)
    child.say(HOSTILE)
    main.line("custom", HOSTILE, title=HOSTILE)


def open_everything(page: Any) -> None:
    for _ in range(3):
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.wait_for_timeout(250)


def test_hostile_sessions_stay_text(pages: Pages, folder: Path) -> None:
    """S2-55"""
    write_hostile(folder)
    watched = replay(pages)
    page = watched.page
    open_everything(page)
    text = page.locator("main").inner_text()
    assert "<script>window.pwned = 1</script>" in text
    assert "\u202e" not in page.content()
    assert "\\u202e" in text
    assert "\x1b" not in text
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("({}).polluted") is None
    assert page.locator("main script, main img, main a[href^='javascript']").count() == 0
    shot(page, "hostile")
    page.goto(f"{pages.base}/#/sessions")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.evaluate("window.pwned") is None


def test_without_the_token_there_is_no_page(browser: Any, pages: Pages, folder: Path) -> None:
    """Another user of this machine can reach the port, and gets nothing."""
    write_example(folder)
    context = browser.new_context()
    page = context.new_page()
    for place in ("/", "/app.js", "/api/sessions", f"/api/replay-tree/{ID}", f"/api/stream/{ID}", "/openapi.json"):
        answer = page.goto(pages.base + place)
        assert answer is not None
        assert answer.status == 401
        assert "parser" not in answer.text()
    context.close()


def export(folder: Path, *more: str) -> Path:
    made = folder.parent / "session.html"
    words = ["replay", "export", str(folder / f"{SESSION}.jsonl"), "--html", str(made), *more]
    done = subprocess.run([sys.executable, "-m", "ontoref", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return made


def opened_file(browser: Any, path: Path) -> tuple[Any, Watched]:
    context = browser.new_context(offline=True)
    watched = Watched(context.new_page(), "file://")
    watched.page.goto(path.as_uri())
    expect(watched.page.locator(".turn").first).to_be_visible()
    return context, watched


def test_an_export_opens_from_a_file(browser: Any, folder: Path) -> None:
    write_example(folder)
    context, watched = opened_file(browser, export(folder))
    page = watched.page
    expect(page.locator(".turn")).to_have_count(3)
    page.locator("details.agent summary").first.click()
    expect(page.locator("details.agent").first).to_contain_text("Two callers")
    page.locator(".row.tool:has(.name:text-is('Edit')) > summary").click()
    expect(page.locator(".diff .added")).to_contain_text("text[:1]")
    page.keyboard.press("/")
    page.keyboard.type("Two callers")
    page.keyboard.press("Enter")
    expect(page.locator(".search output")).to_contain_text("1 of ")
    page.keyboard.press("J")
    shot(page, "exported")
    watched.check()
    context.close()


def test_a_hostile_export_stays_text(browser: Any, folder: Path) -> None:
    write_hostile(folder)
    context, watched = opened_file(browser, export(folder))
    open_everything(watched.page)
    assert watched.page.evaluate("window.pwned") is None
    assert "<script>window.pwned" in watched.page.locator("main").inner_text()
    watched.check()
    context.close()


def test_dark_and_light(pages: Pages, folder: Path) -> None:
    write_example(folder)
    watched = replay(pages, color_scheme="dark")
    page = watched.page
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    shot(page, "replay-dark")
    page.get_by_role("button", name="Light colours").click()
    assert page.evaluate(ground) != dark


def test_a_screen_reader_finds_its_way(pages: Pages, folder: Path) -> None:
    write_example(folder)
    page = replay(pages).page
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page.get_by_role("navigation", name="Turns")).to_be_visible()
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, a, input')].filter(one => !(one.textContent.trim() || one.ariaLabel || "
        "one.getAttribute('aria-label') || one.title)).length"
    )
    assert unnamed == 0
    assert page.locator("[role=status]").text_content()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for selector in ("body", ".quiet", ".rail .text", ".tool .title", ".row.mode", ".thinking .title", "a"):
            assert page.evaluate(CONTRAST, selector) >= 4.5, (scheme, selector)


CONTRAST = """(selector) => {
  const one = document.querySelector(selector);
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let ground = one;
  while (ground && /, 0\\)$|transparent/.test(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
  const a = light(getComputedStyle(one).color), b = light(getComputedStyle(ground || document.body).backgroundColor);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


def test_decisions_lead_to_their_session(pages: Pages, folder: Path, project: Path) -> None:
    write_example(folder)
    record = {
        "kind": "Fix", "domain": "Validation", "outcome": "Completed", "actor": "Human", "session_id": SESSION,
        "summary": "Mended the parser.", "started_at": "2026-11-20T10:00:00Z", "ended_at": "2026-11-20T10:00:09Z",
        "decisions": [
            {"id": "slice-not-index", "rationale": "A slice of nothing is nothing.", "reversible": True,
             "adr_candidate": True, "alternatives_rejected": ["raise on empty input"]},
            {"id": "keep-the-name", "rationale": "Callers use it.", "reversible": False, "adr_candidate": False},
        ],
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "ontoref", "interaction", "record", "-"],
        input=json.dumps(record), capture_output=True, text=True, cwd=project, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = pages("#/decisions").page
    rows = page.locator(".decision")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("slice-not-index")
    expect(rows.first).to_contain_text("ADR?")
    page.get_by_label("no", exact=False).first.check()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("keep-the-name")
    page.get_by_role("button", name="Clear").click()
    rows.first.locator("summary").click()
    expect(rows.first).to_contain_text("A slice of nothing is nothing.")
    shot(page, "decisions-small")
    rows.first.get_by_role("link", name="record").click()
    expect(page.locator(".record .summary")).to_have_text("Mended the parser.")
    page.go_back()
    rows.first.locator("summary").click()
    rows.first.get_by_role("link", name="where in the session").click()
    expect(page.locator(".row.here")).to_be_visible()


def test_a_session_without_a_tree_is_shown_flat(pages: Pages, folder: Path) -> None:
    """S2-54"""
    write_example(folder)
    page = pages("#/replay/nobody").page
    expect(page.locator("main")).to_contain_text("No session of that name")


def test_a_session_that_grows_all_the_time_is_complete(pages: Pages, folder: Path) -> None:
    """Must-hold 4 in short: appended to every 10 ms, the page misses nothing."""
    main = write_example(folder)
    page = replay(pages).page
    page.wait_for_timeout(500)
    stop = time.monotonic() + 5
    written = 0

    def write() -> None:
        nonlocal written
        while time.monotonic() < stop:
            main.say(f"tick {written}")
            written += 1
            time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    writer.join()
    page.keyboard.press("G")
    expect(page.locator(".answer", has_text=f"tick {written - 1}").last).to_be_attached(timeout=20_000)
    said = page.evaluate("[...document.querySelectorAll('.answer')].map(one => one.textContent).join(' ')")
    missing = [n for n in range(written) if f"tick {n}" not in said]
    assert missing == []


def shown(browser: Any, folder: Path, *events: Any) -> tuple[Any, Watched]:
    """A page of made-up events."""
    path = folder.parent / "made.html"
    path.write_bytes(export_html(Memory({"codex:s": events}), "codex:s").html)
    return opened_file(browser, path)


def test_an_approval_with_edits_shows_before_and_after(browser: Any, folder: Path) -> None:
    edited = {
        "status": "edited", "decision_reason": "not that folder", "resolver": "user",
        "edit_diff": {"before": {"command": "rm -rf /"}, "after": {"command": "rm -rf build"}},
    }  # fmt: skip
    context, watched = shown(
        browser, folder, event("u1", text="go"), event("t1", tool_use_id="c", name="shell", input={"command": "rm"}),
        event("q1", "t1", name="shell"), event("d1", "t1", name="shell")._replace(approval=edited),
    )  # fmt: skip
    approval = watched.page.locator(".approval.edited")
    expect(approval).to_contain_text("approved with edits")
    expect(approval).to_contain_text("not that folder")
    expect(approval.locator(".removed")).to_contain_text("rm -rf /")
    expect(approval.locator(".added")).to_contain_text("rm -rf build")
    shot(watched.page, "approval")
    watched.check()
    context.close()


def test_a_workflow_has_a_lane_for_each_stage(browser: Any, folder: Path) -> None:
    context, watched = shown(
        browser, folder, event("u1", text="go"), event("w1", label="release"), event("g1", "w1", name="test"),
        event("g2", "w1", name="ship"), event("s1", "g2", label="the shipper"), event("a1", "s1", text="shipped"),
        event("e1", "w1"),
    )  # fmt: skip
    page = watched.page
    expect(page.locator("details.workflow > summary")).to_contain_text("release")
    expect(page.locator(".lanes > details")).to_have_count(2)
    page.locator("details.delegation > summary").click()
    expect(page.locator("details.delegation")).to_contain_text("shipped")
    assert page.locator("details.delegation").get_attribute("data-depth") == "2"
    shot(page, "workflow")
    watched.check()
    context.close()


def test_a_runtime_that_nobody_knows_is_shown_by_default(browser: Any, folder: Path) -> None:
    """S2-9, S2-53: every kind with an empty payload, of a runtime without a renderer of its own."""
    events = [event(f"{letter}0")._replace(runtime="of-tomorrow") for letter in KIND]
    path = folder.parent / "made.html"
    path.write_bytes(export_html(Memory({"of-tomorrow:s": events}), "of-tomorrow:s").html)
    context, watched = opened_file(browser, path)
    open_everything(watched.page)
    expect(watched.page.locator(".chip").first).to_have_text("of-tomorrow")
    watched.check()
    context.close()


def test_fifty_thousand_events(pages: Pages, folder: Path) -> None:
    """Must-hold 3: the first page is small, keys and search answer at once, an address deep inside opens."""
    with (folder / f"{SESSION}.jsonl").open("w") as file:
        for number in range(12_500):
            base = {"sessionId": SESSION, "cwd": "/home/ada/big", "timestamp": "2026-11-20T10:00:00.000Z"}
            if number % 10 == 0:
                prompt = {"role": "user", "content": f"Prompt {number}"}
                file.write(json.dumps(base | {"type": "user", "uuid": f"u{number}", "message": prompt}) + "\n")
            content = [
                {"type": "text", "text": f"Part {number}. " * 5},
                {"type": "tool_use", "id": f"c{number}", "name": "Read", "input": {"file_path": f"/f{number}"}},
            ]
            said = {"role": "assistant", "id": f"m{number}", "model": "m", "content": content}
            result = [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "line\n" * 20}]
            file.write(json.dumps(base | {"type": "assistant", "uuid": f"a{number}", "message": said}) + "\n")
            answer = {"role": "user", "content": result}
            file.write(json.dumps(base | {"type": "user", "uuid": f"r{number}", "message": answer}) + "\n")
            if number % 4 == 0:
                more = {"role": "assistant", "id": f"n{number}", "model": "m", "content": [{"type": "thinking",
                        "thinking": "hm " * 9}] * 4}  # fmt: skip
                file.write(json.dumps(base | {"type": "assistant", "uuid": f"k{number}", "message": more}) + "\n")
    watched = replay(pages, span=f"{ID}:a12345:0")
    page = watched.page
    expect(page.locator(".row.here")).to_contain_text("Part 12345.", timeout=20_000)
    first = page.request.get(f"{pages.base}/api/replay-tree/{quote(ID, safe='')}")
    assert first.json()["row_count"] > 50_000
    assert len(first.body()) < 200_000
    for key in "jkJK":
        begun = time.monotonic()
        page.keyboard.press(key)
        page.evaluate("document.body.offsetHeight")
        assert time.monotonic() - begun < 1.0, key
    page.keyboard.press("G")
    expect(page.locator(".end")).to_be_attached(timeout=60_000)
    assert page.evaluate("find('Part 12499.')"), "the browser's own search finds what is loaded"
    page.keyboard.press("/")
    page.keyboard.type("part 12007.")
    page.keyboard.press("Enter")
    expect(page.locator(".row.here")).to_contain_text("Part 12007.", timeout=20_000)


def test_an_export_without_turns_shows_what_there_is(browser: Any, folder: Path) -> None:
    """S2-54"""
    path = folder.parent / "made.html"
    mode = {"permission": "plan", "sandbox": None, "collaboration": None}
    path.write_bytes(export_html(Memory({"codex:s": [event("m1", mode=mode)]}), "codex:s").html)
    context = browser.new_context(offline=True)
    watched = Watched(context.new_page(), "file://")
    watched.page.goto(path.as_uri())
    expect(watched.page.locator(".row.mode")).to_contain_text("plan")
    watched.check()
    context.close()
