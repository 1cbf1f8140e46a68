// The list of sessions.
import { amount, h, lasted, moment, oneLine, safe, spark, tokensOf } from "./dom.js";

const COLUMNS = [
  ["started", "Started"], ["runtime", "Runtime"], ["title", "Session"], ["project", "Project"], ["activity", "Activity"], ["duration", "Time"],
  ["events", "Events"], ["agents", "Agents"], ["tokens", "Tokens"], ["errors", "Errors"],
];
const SORTABLE = new Set(["started", "runtime", "project", "duration", "events", "agents", "tokens", "errors"]);
const PAGE = 200;

export class SessionsView {
  constructor(source) {
    this.source = source;
    this.sort = "started";
    this.reverse = false;
    this.runtime = "";
    this.limit = PAGE;
    this.figures = new Map();
  }

  async open(place) {
    this.place = place;
    this.filter = h("input", { type: "search", placeholder: "Filter by title, project, model or id", "aria-label": "Filter sessions", oninput: () => this.later() });
    this.runtimes = h("div", { class: "choices", role: "group", "aria-label": "Runtime" });
    this.count = h("output", { class: "quiet" });
    this.body = h("tbody");
    this.heads = h("tr");
    this.foot = h("p", { class: "center pad" });
    place.replaceChildren(h("div", { class: "bar" }, h("h1", null, "Sessions"), this.filter, this.runtimes, this.count),
      h("div", { class: "table-wrap" }, h("table", { class: "list sessions" }, h("thead", null, this.heads), this.body)), this.foot);
    document.addEventListener("keydown", (this.onkey = (event) => this.key(event)));
    await this.refresh();
  }

  close() {
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.onkey);
    this.gone = true;
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), 120);
  }

  async refresh() {
    clearTimeout(this.timer);
    if (!this.all) {
      const answer = await this.source.get(["sessions"], {});
      if (this.gone) return;
      this.all = answer.rows;
    }
    const found = this.page();
    this.heading();
    const focused = document.activeElement?.closest("tr")?.dataset.id;
    this.body.replaceChildren(...found.rows.map((row) => this.row(row)));
    if (focused) this.body.querySelector(`tr[data-id="${CSS.escape(focused)}"] a`)?.focus({ preventScroll: true });
    this.count.textContent = found.pending ? `${found.total} sessions, reading ${found.pending}…` : `${found.total} session${found.total === 1 ? "" : "s"}`;
    this.runtimes.replaceChildren(...["", ...found.runtimes].map((name) => h("button", { "aria-pressed": String(name === this.runtime), onclick: () => { this.runtime = name; this.refresh(); } }, name || "all")));
    this.foot.replaceChildren(found.has_more ? h("button", { onclick: () => { this.limit += PAGE; this.refresh(); } }, "More") : found.total ? "" : h("span", { class: "quiet" }, "No session here. `ontoref transcript find` says where it looks."));
    this.read(found.waiting);
  }

  // The sessions to show, in order; those whose figures are not known yet stand at the end of a sort by figures.
  page() {
    const q = this.filter.value.trim().toLowerCase();
    const kept = this.all.filter((row) => (!this.runtime || row.runtime === this.runtime) &&
      (!q || [row.id, row.title, row.project, row.model, this.figures.get(row.id)?.prompt].some((text) => (text || "").toLowerCase().includes(q))));
    const down = !["runtime", "project"].includes(this.sort) !== this.reverse;
    const keyed = kept.map((row) => [this.value(row), row]);
    const known = keyed.filter(([value]) => value !== null && value !== undefined && value !== "");
    const rest = keyed.filter(([value]) => value === null || value === undefined || value === "");
    known.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
    const every = [...known, ...rest].map(([, row]) => row);
    const rows = every.slice(0, this.limit);
    const figured = !["started", "runtime", "project"].includes(this.sort);
    const waiting = (figured ? every : rows).filter((row) => !this.figures.has(row.id));
    return { rows, total: kept.length, waiting, pending: waiting.length, has_more: every.length > rows.length, runtimes: [...new Set(this.all.map((row) => row.runtime))].sort() };
  }

  value(row) {
    const figures = this.figures.get(row.id);
    switch (this.sort) {
      case "started": return row.started || row.modified;
      case "runtime": case "project": return row[this.sort];
      case "duration": return figures?.duration_ms;
      case "tokens": return figures && tokensOf(figures.tokens);
      default: return figures?.[this.sort];
    }
  }

  // Read the figures of sessions, some at a time; a newer list asks for its own.
  async read(waiting) {
    const turn = (this.turn = (this.turn || 0) + 1);
    const queue = [...waiting];
    let drawn = performance.now();
    const worker = async () => {
      while (queue.length && !this.gone && turn === this.turn) {
        const row = queue.shift();
        let figures = null;
        try { figures = await this.source.get(["figures", row.id]); } catch { /* it is shown without */ }
        this.figures.set(row.id, figures);
        if (performance.now() - drawn > 250 && queue.length && turn === this.turn && !this.gone) { drawn = performance.now(); this.draw(row.id); }
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    if (waiting.length && !this.gone && turn === this.turn) this.refresh();
  }

  // Figures that came meanwhile, without moving any row.
  draw() {
    for (const old of this.body.children) {
      const row = this.all.find((one) => one.id === old.dataset.id);
      if (row && this.figures.has(row.id) && !old.dataset.figured && !old.contains(document.activeElement)) old.replaceWith(this.row(row));
    }
  }

  heading() {
    this.heads.replaceChildren(...COLUMNS.map(([name, text]) => {
      const on = name === this.sort;
      const order = on ? (this.reverse === (name === "runtime" || name === "project") ? "descending" : "ascending") : "none";
      return h("th", { scope: "col", class: `c-${name}`, "aria-sort": SORTABLE.has(name) ? order : null },
        SORTABLE.has(name) ? h("button", { onclick: () => { this.reverse = on ? !this.reverse : false; this.sort = name; this.refresh(); } }, text, on ? h("span", { "aria-hidden": "true" }, this.reverse ? " ↑" : " ↓") : "") : text);
    }));
  }

  row(row) {
    const figures = this.figures.get(row.id);
    const wait = this.figures.has(row.id) ? "—" : "·";
    const number = (value) => (figures ? value || "" : wait);
    const project = (row.project || "").replace(/\/$/, "");
    const title = row.title || figures?.prompt || row.session_id;
    return h("tr", { data: { id: row.id, ...(figures ? { figured: "1" } : {}) } },
      h("td", { class: "c-started" }, moment(row.started || row.modified)),
      h("td", { class: "c-runtime" }, h("span", { class: `runtime ${row.runtime}` }, row.runtime)),
      h("td", { class: "c-title" }, h("a", { href: `#/replay/${encodeURIComponent(row.id)}`, title: row.id }, oneLine(title, 110)), row.archived && !row.live ? h("span", { class: "chip" }, "archive only") : ""),
      h("td", { class: "c-project", title: project }, safe(project.split(/[/\\]/).pop() || "")),
      h("td", { class: "c-activity" }, figures ? spark(figures.activity, `${figures.events} events over time`) : ""),
      h("td", { class: "c-duration" }, number(figures && lasted(figures.duration_ms))),
      h("td", { class: "c-events" }, number(figures && amount(figures.events))),
      h("td", { class: "c-agents" }, number(figures && figures.agents && String(figures.agents))),
      h("td", { class: "c-tokens" }, number(figures && amount(tokensOf(figures.tokens) || ""))),
      h("td", { class: `c-errors ${figures && figures.errors ? "bad" : ""}` }, number(figures && figures.errors && String(figures.errors))));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, dialog")) return;
    if (event.key === "/") { event.preventDefault(); this.filter.focus(); return; }
    const links = [...this.body.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const to = { j: at + 1, k: at - 1 }[event.key];
    if (to !== undefined) { event.preventDefault(); links[Math.max(0, Math.min(links.length - 1, to))]?.focus(); }
    if (event.key === "o" && at >= 0) links[at].click();
  }
}
