// One session: its turns, what they hold, and moving about in it.
import { add, amount, clock, dialog, h, lasted, money, oneLine, plural, safe, say, tokensOf, unwrapped, when } from "./dom.js";
import { eventRow, modeWords, setResult, sizeButton, toolRow } from "./render.js";

const KEYS = [
  ["j  k", "next, previous entry"], ["J  K", "next, previous turn"], ["[  ]", "previous, next sub-agent, approval, mode or error"],
  ["o  Enter", "open or close the entry"], ["t", "show or hide thinking"], ["e", "open or close all tools"], ["/", "search in the session"],
  ["n  N", "next, previous hit"], ["g  G", "top, end"], ["y", "copy the address of the entry"], ["?", "this list"],
];

export class ReplayView {
  constructor(source, id, options = {}) {
    this.source = source;
    this.given = id;
    this.id = id;
    this.options = options;
    this.turns = new Map();
    this.nodes = new Map();
    this.rows = new Map();
    this.calls = new Map();
    this.workflows = [];
    this.cursor = null;
    this.unread = 0;
    this.hits = [];
    this.hit = -1;
    this.gone = false;
  }

  // -- the page

  async open(place, span) {
    this.place = place;
    this.main = h("div", { class: "turns", role: "feed", "aria-label": "Session" });
    this.more = h("div", { class: "pad center" });
    this.before = h("div", { class: "pad center" });
    this.head = h("div", { class: "session-head" });
    this.rail = h("nav", { class: "rail", "aria-label": "Turns" });
    this.pill = h("button", { class: "pill", hidden: true, onclick: () => this.end() }, "new");
    place.replaceChildren(this.head, h("div", { class: "columns" }, this.rail, h("div", { class: "stream" }, this.before, this.main, this.more)), this.pill);
    document.addEventListener("keydown", (this.onkey = (event) => this.key(event)));
    window.addEventListener("scroll", (this.onscroll = () => this.scrolled()), { passive: true });
    let start = null;
    const target = await this.target(span);
    const first = await this.source.tree(this.given, {});
    if (this.gone) return;
    this.tree = first;
    this.id = first.id;
    if (!first.row_count || !first.runtime || !first.turns.length) {
      await this.flat(first);
      return;
    }
    if (target && !first.turns.some((turn) => turn.turn_id === target.turn_id) && target.turn_id && this.source.live) start = `0@${target.turn_id}`;
    this.workflows = first.workflows;
    for (const event of start ? [] : first.mode_changes) this.entry(this.main, null, event, null);
    const page = start ? await this.source.tree(this.id, { cursor: start }) : first;
    if (start) this.earlier(first, page);
    this.page(page);
    this.header(first);
    this.watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.next(), { rootMargin: "1200px" });
    this.watcher.observe(this.more);
    this.outline();
    if (target) await this.reveal(target);
    else if (this.source.live) this.follow(first.row_count);
    if (target && this.source.live) this.follow(first.row_count);
    say(`${plural(first.turn_count, "turn")} loaded`);
  }

  close() {
    this.gone = true;
    document.removeEventListener("keydown", this.onkey);
    window.removeEventListener("scroll", this.onscroll);
    if (this.watcher) this.watcher.disconnect();
    if (this.events) this.events.close();
    document.title = "ontoref";
  }

  async target(span) {
    if (!span) return null;
    const [kind, value] = /^@(at|op):([^]*)$/.exec(span)?.slice(1) || ["span", span];
    try {
      return await this.source.locate(this.given, { [{ at: "at", op: "op_ref", span: "span" }[kind]]: value });
    } catch (error) {
      say(error.message);
      return null;
    }
  }

  header(tree) {
    const totals = tree.totals;
    const figures = [
      [lasted(totals.duration_ms), "time"], [amount(tree.turn_count), tree.turn_count === 1 ? "turn" : "turns"], [amount(totals.events), totals.events === 1 ? "event" : "events"], [amount(totals.calls), totals.calls === 1 ? "call" : "calls"],
      [totals.errors ? amount(totals.errors) : "", totals.errors === 1 ? "error" : "errors"], [amount(tokensOf(totals.tokens) || null), "tokens"], [money(totals.cost_micro), "cost"],
    ].filter(([value]) => value);
    this.title = h("h1", null, oneLine(unwrapped(this.promptOf(tree)) || tree.session_id, 120));
    this.about = h("p", { class: "about quiet" }, h("span", { class: "chip" }, tree.runtime), h("code", null, tree.session_id));
    this.modeChip = h("span", { class: "chip mode-chip" });
    this.liveChip = h("span", { class: "chip live", hidden: true }, "live");
    this.about.append(this.modeChip, this.liveChip);
    this.setMode(tree.mode);
    this.searchBox = h("input", { type: "search", placeholder: "Search in this session  /", "aria-label": "Search in this session", onkeydown: (event) => this.searchKey(event) });
    this.searchCount = h("output", { class: "quiet" });
    this.line = h("div", { class: "timeline", role: "list", "aria-label": "Time line" });
    this.head.replaceChildren(
      h("div", { class: "title-line" }, this.title,
        h("form", { role: "search", class: "search", onsubmit: (event) => { event.preventDefault(); this.search(); } }, this.searchBox, this.searchCount)),
      this.about,
      h("dl", { class: "figures" }, figures.map(([value, name]) => h("div", { class: name === "errors" || name === "error" ? "bad" : null }, h("dt", null, name), h("dd", null, value))),
        totals.complete ? "" : h("div", { class: "note quiet" }, "sub-agents’ sessions not counted")),
      this.line,
      this.diagnostics(tree));
    document.title = `${oneLine(this.title.textContent, 50)} · ontoref`;
  }

  promptOf(tree) {
    for (const turn of tree.turns) {
      const prompt = turn.events.find((event) => event.kind === "llm.call" && event.payload.human !== false);
      if (prompt) return prompt.payload.text;
    }
    return "";
  }

  setMode(mode) {
    const words = modeWords(mode);
    this.modeChip.hidden = !words;
    this.modeChip.replaceChildren(words ? safe(`mode ${words}`) : "");
  }

  diagnostics(tree) {
    const found = tree.diagnostics;
    const said = [];
    if (found.orphans.length) said.push(`${plural(found.orphans.length, "event")} without the parent they name`);
    if (found.cycles.length) said.push(plural(found.cycles.length, "cycle"));
    if (found.unplaced.length) said.push(`${plural(found.unplaced.length, "answer")} that no call waits for`);
    return said.length ? h("p", { class: "warning" }, said.join("; ")) : "";
  }

  async outline() {
    let found;
    try {
      found = await this.source.outline(this.id);
    } catch {
      return;
    }
    if (this.gone || !found) return;
    const list = h("ol");
    found.turns.forEach((turn, number) => {
      list.append(h("li", { class: turn.errors ? "bad" : null }, h("a", { href: this.address(turn.turn_id), onclick: (event) => { event.preventDefault(); this.jump(turn.turn_id); }, title: turn.text || null },
        h("span", { class: "number" }, number + 1), h("span", { class: "text" }, turn.text || "before the first prompt"),
        h("span", { class: "counts" }, [turn.agents ? `↳${turn.agents}` : "", turn.approvals ? `?${turn.approvals}` : "", turn.errors ? `✕${turn.errors}` : ""].filter(Boolean).join(" ")))));
    });
    this.rail.replaceChildren(h("h2", null, "Turns"), list);
    const info = found.about;
    if (info) {
      const parts = [info.title, info.project, info.model, info.branch ? `⎇ ${info.branch}` : "", when(info.started)].filter(Boolean);
      add(this.about, parts.map((part) => h("span", null, part)));
      if (info.bad_lines) this.about.append(h("span", { class: "warning", title: `line ${info.bad_places.join(", ")}` }, plural(info.bad_lines, "malformed line")));
      if (info.parent) this.about.append(h("a", { href: `#/replay/${encodeURIComponent(info.parent)}` }, "parent session"));
    }
    this.marks(found.turns);
  }

  // Turns by their place in time, with what changed the mode or went wrong standing out.
  marks(turns) {
    const times = turns.map((turn) => turn.ts).filter(Boolean);
    const low = Math.min(...times);
    const span = Math.max(...times) - low;
    const spread = span > 0 && times.length === turns.length;
    const at = (ts, number) => 100 * (spread && ts ? Math.min(1, Math.max(0, (ts - low) / span)) : number / Math.max(1, turns.length - 1 || 1));
    const marks = turns.slice(0, 400).map((turn, number) => [turn.ts, number, turn.turn_id, turn.compactions ? "compaction" : turn.errors ? "bad" : turn.approvals ? "approval" : turn.agents ? "agent" : "turn", turn.text || "before the first prompt"]);
    const turnAt = new Map(turns.map((turn, number) => [turn.turn_id, number]));
    for (const mark of this.tree.mode_history) marks.push([mark.ts, turnAt.get(mark.turn_id) ?? 0, mark.span_id, "mode", `mode ${modeWords(mark.mode)}`]);
    this.line.replaceChildren(...marks.map(([ts, number, spanId, kind, text]) => {
      const mark = h("a", { class: `tick tick-${kind}`, role: "listitem", href: this.address(spanId), title: `${clock(ts)} ${oneLine(text, 80)}`, "aria-label": `${kind}: ${oneLine(text, 80)}`, tabindex: kind === "mode" ? 0 : -1, onclick: (event) => { event.preventDefault(); this.jump(spanId); } });
      mark.style.left = `${at(ts, number)}%`;
      return mark;
    }));
  }

  earlier(first, page) {
    const button = h("button", { onclick: () => this.restart() }, `Earlier turns (${page.turn_index})`);
    this.before.replaceChildren(button);
  }

  restart() {
    this.close();
    location.hash = `#/replay/${encodeURIComponent(this.id)}`;
  }

  // -- turns

  page(page) {
    for (const turn of page.turns) this.turn(turn);
    this.cursor = page.next_cursor;
    this.more.replaceChildren(this.cursor ? h("button", { onclick: () => this.next() }, "More") : h("span", { class: "quiet end" }, "end of session"));
  }

  async next() {
    if (!this.cursor || this.loading) return;
    this.loading = true;
    try {
      const page = await this.source.tree(this.id, { cursor: this.cursor });
      if (this.gone) return;
      this.page(page);
      this.latest = page.row_count;
    } catch (error) {
      this.more.replaceChildren(h("p", { class: "warning" }, error.message), h("button", { onclick: () => { this.loading = false; this.next(); } }, "Try again"));
    } finally {
      this.loading = false;
    }
    // What is still in view wants the page after that one.
    if (this.cursor && this.more.getBoundingClientRect().top < innerHeight + 800) await this.next();
  }

  turn(turn) {
    const found = this.turnFor(turn.turn_id, turn.index, turn.totals);
    this.fill(found.body, turn.turn_id, turn);
    for (const workflow of this.workflows) if (workflow.turn_id === turn.turn_id && !turn.continued) this.entry(found.body, turn.turn_id, workflow, null);
  }

  turnFor(turnId, index, totals) {
    let found = this.turns.get(turnId);
    if (!found) {
      const body = h("div", { class: "body" });
      const facts = h("span", { class: "facts quiet" });
      const number = index ?? this.tree.turn_count++;
      const section = h("article", { class: "turn", "aria-label": `Turn ${number + 1}`, data: { span: turnId } },
        h("header", null, h("a", { class: "number", href: this.address(turnId), title: "Address of this turn" }, number + 1), facts), body);
      this.main.append(section);
      found = { section, body, facts };
      this.turns.set(turnId, found);
    }
    if (totals) found.facts.replaceChildren(safe([lasted(totals.duration_ms), totals.calls ? plural(totals.calls, "call") : "", totals.errors ? plural(totals.errors, "error") : "", tokensOf(totals.tokens) ? `${amount(tokensOf(totals.tokens))} tokens` : "", money(totals.cost_micro)].filter(Boolean).join(" · ")));
    return found;
  }

  // Everything that stands directly in a node, in the order it was written.
  fill(body, turnId, node) {
    const items = [...node.events, ...node.approvals, ...node.mode_changes, ...node.delegations, ...(node.workflows || [])];
    const place = (item) => item.ordinal ?? item.spawn?.ordinal ?? item.events?.[0]?.ordinal ?? 0;
    items.sort((a, b) => place(a) - place(b));
    for (const item of items) this.entry(body, turnId, item, node);
  }

  // One item into its place; one that is there already is brought up to date.
  entry(body, turnId, item, node) {
    if (item.kind === "delegation" || item.kind === "workflow" || item.kind === "stage") return this.agent(body, turnId, item, node);
    const native = item.payload && item.payload.tool_use_id;
    const key = native ? `${item.session_id}\n${native}` : null;
    const known = this.rows.get(this.key_(item));
    if (known) {
      if (JSON.stringify(known.event) === JSON.stringify(item)) return known;
      if (item.kind === "tool.call") { known.event = item; if (known.open) known.remake(); return known; }
      if (item.kind === "tool.result" && known.event && known.event.kind === "tool.call") { setResult(known, item); return known; }
      const fresh = this.dress(eventRow(item, this.wholes), item);
      fresh.dataset.ordinal = known.dataset.ordinal;
      if (known.open) fresh.open = true;
      known.replaceWith(fresh);
      this.rows.set(this.key_(item), fresh);
      return fresh;
    }
    if (item.kind === "tool.result" && key && this.calls.has(key)) {
      const call = this.calls.get(key);
      setResult(call, item);
      this.rows.set(this.key_(item), call);
      return call;
    }
    const found = this.dress(item.kind === "tool.call" ? toolRow(item, null, this.wholes) : eventRow(item, this.wholes), item);
    if (item.kind === "tool.call" && key) this.calls.set(key, found);
    this.rows.set(this.key_(item), found);
    this.insert(body, found, item.ordinal);
    return found;
  }

  key_(item) { return `${item.runtime}:${item.session_id}\n${item.span_id}`; }

  dress(found, event) {
    found.dataset.span = event.span_id;
    found.event = found.event || event;
    return found;
  }

  insert(body, found, ordinal) {
    found.dataset.ordinal = ordinal;
    let after = body.lastElementChild;
    while (after && Number(after.dataset.ordinal) > ordinal) after = after.previousElementSibling;
    if (after) after.after(found);
    else body.prepend(found);
  }

  wholes = (found) => sizeButton(found.event, async (press) => {
    press.target.disabled = true;
    try {
      const event = found.event;
      const whole = await this.source.event(`${event.runtime}:${event.session_id}`, event.span_id);
      found.event = whole;
      if (found.result && found.result.truncated) found.result = await this.source.event(`${event.runtime}:${event.session_id}`, found.result.span_id);
      if (found.remake) found.remake();
      else {
        const fresh = this.dress(eventRow(whole, this.wholes), whole);
        fresh.dataset.ordinal = found.dataset.ordinal;
        found.replaceWith(fresh);
      }
    } catch (error) {
      press.target.textContent = error.message;
    }
  });

  // -- sub-agents and workflows

  agent(body, turnId, node, parent) {
    const key = `${parent?.child_id || ""}\n${node.span_id}`;
    const known = this.nodes.get(key) || this.nodes.get(node.span_id);
    if (known && known.kind === node.kind) { this.status(known, node); return known.section; }
    const depth = (body.closest("[data-depth]") ? Number(body.closest("[data-depth]").dataset.depth) : 0) + 1;
    const inside = h("div", { class: node.kind === "workflow" ? "body lanes-body" : "body" });
    const status = h("span", { class: "chip status" });
    const facts = h("span", { class: "quiet facts" });
    const title = node.label || node.name || (node.kind === "delegation" ? "sub-agent" : node.kind);
    const section = h("details", { class: `row agent ${node.kind}`, data: { depth, span: node.span_id, kind: node.kind } },
      h("summary", null, h("span", { class: "mark", "aria-hidden": "true" }, node.kind === "delegation" ? "↳" : node.kind === "workflow" ? "⊞" : "▹"),
        h("b", { class: "title" }, oneLine(title)), node.agent && node.agent !== title ? h("span", { class: "quiet" }, node.agent) : "", status, facts, node.spawn ? h("time", null, clock(node.spawn.ts)) : ""),
      inside);
    section.event = node.spawn || null;
    const view = { section, inside, status, facts, node, turnId, kind: node.kind, loaded: false, key };
    this.nodes.set(key, view);
    if (!this.nodes.has(node.span_id)) this.nodes.set(node.span_id, view);
    this.status(view, node);
    section.addEventListener("toggle", () => section.open && this.load(view));
    if (node.kind === "workflow") section.open = true;
    this.insert(body, section, node.spawn?.ordinal ?? node.events?.[0]?.ordinal ?? 0);
    return section;
  }

  status(view, node) {
    view.node = { ...view.node, ...node };
    view.status.className = `chip status ${node.status || ""}`;
    view.status.textContent = node.status || "";
    view.status.hidden = !node.status;
    const totals = node.totals || {};
    const count = node.event_count;
    const stated = node.return && node.return.payload.details;
    const bits = [
      node.cycle ? "calls a session that called it" : "", count ? plural(count, "event") : "", totals.calls ? plural(totals.calls, "call") : "", totals.errors ? plural(totals.errors, "error") : "",
      lasted(node.expanded && totals.duration_ms ? totals.duration_ms : stated && stated.totalDurationMs),
      tokensOf(totals.tokens) ? `${amount(tokensOf(totals.tokens))} tokens` : stated && stated.totalTokens ? `${amount(stated.totalTokens)} tokens` : "", money(totals.cost_micro),
    ].filter(Boolean);
    view.facts.replaceChildren(safe(bits.join(" · ")));
  }

  async load(view, cursor = null) {
    if (view.loaded && !cursor) return;
    view.loaded = true;
    const node = view.node;
    const wait = h("p", { class: "quiet pad" }, "Loading…");
    let opened = node;
    if (node.child_id && (!node.expanded || cursor) || cursor) {
      view.inside.append(wait);
      try {
        opened = await this.source.children(view.session || this.id, node.span_id, cursor ? { cursor } : {});
        this.status(view, opened);
      } catch (error) {
        view.loaded = false;
        wait.replaceChildren(safe(error.message), " ", h("button", { onclick: () => { wait.remove(); this.load(view); } }, "Try again"));
        return;
      }
      wait.remove();
    }
    if (!cursor) this.opening(view, opened);
    if (view.kind === "workflow") this.lanes(view, opened);
    else this.fill(view.inside, view.turnId, opened);
    if (opened.child_id) for (const inner of view.inside.querySelectorAll(":scope > .agent")) {
      const child = this.nodes.get(`${opened.child_id}\n${inner.dataset.span}`);
      if (child) child.session = opened.child_id;
    }
    if (opened.has_more) {
      const button = h("button", { class: "whole", onclick: () => { button.remove(); this.load(view, opened.next_cursor); }, data: { ordinal: 1e12 } }, "More of it");
      view.inside.append(button);
    } else if (view.kind === "delegation" && opened.return) {
      const output = opened.return.payload.output;
      if (output) view.inside.append(h("div", { class: "row answer returned", data: { ordinal: 1e12, span: opened.return.span_id }, tabindex: -1 }, h("div", { class: "head" }, h("b", null, "Returned"), h("time", null, clock(opened.return.ts))), h("div", { class: "said" }, String(output))));
    }
  }

  opening(view, opened) {
    const bits = [];
    const prompt = opened.spawn && (opened.spawn.payload.prompt || opened.spawn.payload.task);
    if (prompt && !opened.events.some((event) => event.kind === "llm.call")) bits.push(h("div", { class: "row prompt task", tabindex: -1 }, h("div", { class: "head" }, h("b", null, "Task")), h("div", { class: "said" }, String(prompt))));
    if (opened.missing) bits.push(h("p", { class: "quiet pad" }, "Its own session is not on this machine."));
    if (opened.cycle) bits.push(h("p", { class: "warning pad" }, "This session is one of those that called it; it is not opened again."));
    if (opened.truncated) bits.push(h("p", { class: "quiet pad" }, "Nested too deeply to be shown here."));
    if (opened.child_id && this.source.live && !opened.missing) bits.push(h("p", { class: "apart" }, h("a", { href: `#/replay/${encodeURIComponent(opened.child_id)}` }, "open as a session of its own")));
    for (const bit of bits) { bit.dataset.ordinal = -1; view.inside.append(bit); }
  }

  // Stages side by side, each opened by itself; what else the workflow holds stands below.
  lanes(view, opened) {
    let lanes = view.inside.querySelector(":scope > .lanes");
    if (!lanes) {
      lanes = h("div", { class: "lanes", data: { ordinal: -1 } });
      view.inside.prepend(lanes);
    }
    for (const stage of opened.stages || []) this.agent(lanes, view.turnId, stage, view.node);
    const rest = { ...opened, events: opened.events.filter((event) => event.kind !== "workflow.stage") };
    this.fill(view.inside, view.turnId, rest);
  }

  // -- moving about

  address(span) { return `#/replay/${encodeURIComponent(this.id)}/${encodeURIComponent(span)}`; }

  // Entries that are not folded away. Nothing is asked of the layout, which the browser leaves out for far turns.
  visible() {
    const quiet = this.place.classList.contains("no-thinking");
    return [...this.main.querySelectorAll(".row")].filter((row) => !row.parentElement.closest("details:not([open])") && !(quiet && row.matches(".thinking")));
  }

  // The first entry below the head of the page.
  onTop(rows) {
    const turn = [...this.main.querySelectorAll(".turn")].find((one) => one.getBoundingClientRect().bottom > 140);
    const row = [...(turn || this.main).querySelectorAll(".row")].find((one) => rows.includes(one) && one.getBoundingClientRect().bottom > 140);
    return rows.indexOf(row);
  }

  go(found, quiet) {
    if (!found) return;
    this.here?.classList.remove("here");
    this.here = found;
    found.classList.add("here");
    const target = found.matches("details") ? found.firstElementChild : found;
    target.focus({ preventScroll: true });
    found.scrollIntoView({ block: quiet ? "nearest" : "center" });
    const span = found.dataset.span || found.closest("[data-span]")?.dataset.span;
    if (span && this.source.live) history.replaceState(null, "", this.address(span));
    else if (span) history.replaceState(null, "", `#${encodeURIComponent(span)}`);
  }

  step(by, test = () => true) {
    const rows = this.visible().filter(test);
    const here = this.here && this.here.isConnected ? this.here : null;
    let at = here ? rows.indexOf(here) : -1;
    if (here && at < 0) {
      at = rows.findIndex((row) => here.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING);
      at = by > 0 ? (at < 0 ? rows.length : at) - 1 : at < 0 ? rows.length : at;
    }
    if (!here) {
      const top = scrollY > 100 ? this.onTop(rows) : 0;
      at = by > 0 ? Math.max(-1, top - 1) : Math.max(0, top) + 1;
    }
    this.go(rows[Math.min(rows.length - 1, Math.max(0, at + by))], true);
  }

  stepTurn(by) {
    const turns = [...this.main.querySelectorAll(".turn")];
    const here = this.here?.closest(".turn");
    const at = here ? turns.indexOf(here) : by > 0 ? -1 : 0;
    const turn = turns[Math.min(turns.length - 1, Math.max(0, at + by))];
    if (turn) { turn.scrollIntoView({ block: "start" }); this.go(turn.querySelector(".row"), true); }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    const marked = (row) => row.matches(".agent, .approval, .mode, .failed, .compaction");
    const acts = {
      j: () => this.step(1), k: () => this.step(-1), J: () => this.stepTurn(1), K: () => this.stepTurn(-1),
      "]": () => this.step(1, marked), "[": () => this.step(-1, marked), o: () => this.toggle(), t: () => this.thinking(), e: () => this.tools(),
      n: () => this.nextHit(1), N: () => this.nextHit(-1), "/": () => this.searchBox?.focus(), G: () => this.end(), y: () => this.copy(),
      g: () => { scrollTo(0, 0); this.go(this.main.querySelector(".row"), true); }, "?": () => help(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  toggle() { if (this.here?.matches("details")) this.here.open = !this.here.open; else this.here?.querySelector("details")?.toggleAttribute("open"); }

  thinking() {
    const hidden = this.place.classList.toggle("no-thinking");
    say(hidden ? "thinking hidden" : "thinking shown");
  }

  tools() {
    const all = [...this.main.querySelectorAll("details.tool")];
    const open = !all.some((row) => row.open);
    for (const row of all) row.open = open;
  }

  async copy() {
    try { await navigator.clipboard.writeText(location.href); say("address copied"); } catch { say(location.href); }
  }

  async jump(span) {
    const loaded = this.turns.get(span)?.section.querySelector(".row") || this.rowOf(span);
    if (loaded) { this.go(loaded); return; }
    const target = await this.target(span);
    if (target) await this.reveal(target);
  }

  rowOf(span) { return this.main.querySelector(`[data-span="${CSS.escape(span)}"].row`) || this.rows.get(`${this.id}\n${span}`); }

  // Bring an event into view: load its turn, open what is around it.
  async reveal(target) {
    if (target.turn_id && !this.turns.has(target.turn_id)) {
      while (this.cursor && !this.turns.has(target.turn_id) && this.turns.size < 60) await this.next();
      if (!this.turns.has(target.turn_id) && this.source.live) {
        location.hash = this.address(target.span_id);
        window.dispatchEvent(new Event("hashchange"));
        return;
      }
    }
    for (const span of target.path || []) {
      const view = this.nodes.get(span);
      if (view) { view.section.open = true; await this.load(view); }
    }
    let found = this.rowOf(target.span_id) || this.turns.get(target.span_id)?.section.querySelector(".row");
    for (let tries = 0; !found && this.cursor && tries < 40; tries++) { await this.next(); found = this.rowOf(target.span_id); }
    for (let around = found; around && around !== this.main; around = around.parentElement) if (around.matches("details")) around.open = true;
    this.go(found || this.turns.get(target.turn_id)?.section.querySelector(".row"));
  }

  // -- search

  searchKey(event) {
    if (event.key === "Escape") { this.searchBox.value = ""; this.search(); this.searchBox.blur(); }
  }

  async search() {
    const q = this.searchBox.value.trim();
    if (q && q === this.asked) { this.nextHit(1); return; }
    this.asked = q;
    for (const row of this.main.querySelectorAll(".found")) row.classList.remove("found");
    this.hits = [];
    this.hit = -1;
    if (!q) { this.searchCount.textContent = ""; return; }
    const found = await this.source.search(this.id, q);
    this.hits = found.hits;
    this.searchCount.textContent = found.hits.length ? `${found.hits.length}${found.more ? "+" : ""}` : "nothing";
    say(found.hits.length ? plural(found.hits.length, "hit") : "nothing found");
    this.searchBox.blur();
    await this.nextHit(1);
  }

  async nextHit(by) {
    if (!this.hits.length) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    this.searchCount.textContent = `${this.hit + 1} of ${this.hits.length}`;
    const hit = this.hits[this.hit];
    const row = this.rows.get(`${this.id}\n${hit.span_id}`);
    if (row && row.isConnected) { for (let around = row; around && around !== this.main; around = around.parentElement) if (around.matches("details")) around.open = true; this.go(row); } else await this.reveal(hit);
    this.here?.classList.add("found");
  }

  // -- live

  follow(after) {
    this.events = this.source.stream(this.id, after);
    this.events.addEventListener("events", (event) => this.news(JSON.parse(event.data)));
    this.events.addEventListener("reset", () => { this.close(); window.dispatchEvent(new Event("hashchange")); });
    this.events.onerror = () => { this.liveChip.classList.add("lost"); };
    this.events.onopen = () => { this.liveChip.classList.remove("lost"); };
  }

  news(message) {
    const bottom = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
    this.liveChip.hidden = false;
    let fresh = 0;
    for (const row of message.events) {
      const isNew = !this.rows.has(this.key_(row)) && !this.nodes.has(row.span_id);
      if (this.cursor) { fresh += isNew; continue; }
      if (this.arrive(row) && isNew) fresh++;
    }
    this.tree.row_count = message.row_count;
    if (!fresh) return;
    if (bottom && document.visibilityState === "visible" && !this.cursor) { this.end(); return; }
    if (!this.unread && !this.cursor) {
      this.newMark?.remove();
      const rows = this.main.querySelectorAll(".row.fresh");
      this.newMark = h("div", { class: "unread", role: "separator", "aria-label": "new from here", data: { ordinal: rows[0]?.dataset.ordinal || 1e12 } }, "new");
      rows[0]?.before(this.newMark);
    }
    this.unread += fresh;
    this.pill.hidden = false;
    this.pill.textContent = `${this.unread} new ↓`;
    document.title = `(${this.unread}) ${document.title.replace(/^\(\d+\) /, "")}`;
    say(`${this.unread} new events`);
  }

  // A live event into its place.
  arrive(row) {
    if (row.where === "return") {
      const view = this.nodes.get(row.node);
      if (view) { this.knows(view, row); this.status(view, { ...view.node, return: row, status: row.payload.is_error ? "failed" : "returned" }); }
      return Boolean(view);
    }
    if (row.where === "unplaced" || !row.turn_id) return false;
    let body;
    if (row.path.length) {
      const view = this.nodes.get(row.path[row.path.length - 1]);
      if (!view) return false;
      if (!view.loaded) return false;
      body = view.inside;
    } else body = this.turnFor(row.turn_id).body;
    if (row.mode) this.setMode(row.mode);
    let found;
    if (row.where === "spawn" && this.nodes.has(row.span_id)) { this.knows(this.nodes.get(row.span_id), row); return false; }
    if (row.where === "spawn") {
      const payload = row.payload;
      const child = payload.child_session_id;
      found = this.agent(body, row.turn_id, {
        kind: "delegation", span_id: row.span_id, child_session_id: child || null, child_id: child ? `${row.runtime}:${child}` : null, label: payload.label, agent: payload.agent_type,
        status: "open", spawn: row, return: null, events: [], delegations: [], approvals: [], mode_changes: [], workflows: [], expanded: !child, event_count: null, totals: {},
      }, null);
    } else found = this.entry(body, row.turn_id, row, null);
    found?.classList.add("fresh");
    return true;
  }

  // Where a sub-agent's own session is may come later than its start.
  knows(view, row) {
    const child = row.payload.child_session_id;
    if (child && !view.node.child_id) Object.assign(view.node, { child_session_id: child, child_id: `${row.runtime}:${child}`, expanded: false });
  }

  async end() {
    while (this.cursor) { await this.next(); if (this.gone) return; }
    this.unread = 0;
    this.pill.hidden = true;
    document.title = document.title.replace(/^\(\d+\) /, "");
    scrollTo(0, document.documentElement.scrollHeight);
    for (const row of this.main.querySelectorAll(".fresh")) row.classList.remove("fresh");
  }

  scrolled() {
    if (this.unread && innerHeight + scrollY >= document.documentElement.scrollHeight - 60 && !this.cursor) this.end();
  }

  // -- without a tree

  async flat(tree) {
    const found = await this.source.transcript(this.given, {});
    this.head.replaceChildren(h("h1", null, tree.session_id), h("p", { class: "quiet" }, found.row_count ? "This session has no tree; here is everything in the order it was written." : tree.known === false ? "No session of that name is on this machine." : "This session has no events."));
    const body = h("div", { class: "body flat" });
    this.main.append(body);
    let page = found;
    const show = () => {
      for (const event of page.events) this.entry(body, null, event, null);
      this.more.replaceChildren(page.has_more ? h("button", { onclick: async () => { page = await this.source.transcript(this.given, { cursor: page.next_cursor }); show(); } }, "More") : "");
    };
    show();
  }
}

export function help() {
  dialog("Keys", h("table", { class: "keys" }, KEYS.map(([keys, what]) => h("tr", null, h("td", null, keys.split("  ").map((one, at) => [at ? " " : "", h("kbd", null, one)])), h("td", null, what)))));
}
