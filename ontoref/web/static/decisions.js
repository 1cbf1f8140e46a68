// Decisions with facets, and one record.
import { h, oneLine, plural } from "./dom.js";

const reach = (row, path) => path.split(".").reduce((value, name) => (value && typeof value === "object" ? value[name] : undefined), row);
const day = (text) => String(text || "").slice(0, 10);
const minute = (text) => String(text || "").slice(0, 16).replace("T", " ");

export class DecisionsView {
  constructor(source) {
    this.source = source;
    this.chosen = new Map();
  }

  async open(place, wanted) {
    this.place = place;
    const all = await this.source.get(["decisions"], {});
    if (this.gone) return;
    this.open_ = new Set(all.rows.filter((row) => row.open).map((row) => row.id));
    // Open candidates come first as the server ranks them, then the newest.
    const last = (row) => String(row.record?.recorded_at);
    this.rows = [...all.rows.filter((row) => row.open), ...all.rows.filter((row) => !row.open).sort((a, b) => last(b).localeCompare(last(a)))];
    this.facets = Object.entries(all.facets).filter(([path]) => path !== "open" && this.rows.some((row) => ![undefined, null].includes(reach(row, path))));
    this.side = h("aside", { class: "facets", "aria-label": "Facets" });
    this.list = h("div", { class: "decisions" });
    this.count = h("output", { class: "quiet" });
    const skipped = all.skipped || [];
    place.replaceChildren(h("div", { class: "bar" }, h("h1", null, "Decisions"), this.count),
      skipped.length ? h("p", { class: "warning pad" }, `${plural(skipped.length, "place")} of the log could not be read: ${skipped.slice(0, 3).map((one) => one.line_number ? `${one.path}:${one.line_number}` : one.path).join(", ")}`) : "",
      h("div", { class: "columns" }, this.side, this.list));
    this.draw();
    if (wanted) {
      const found = this.list.querySelector(`[data-id="${CSS.escape(wanted)}"]`);
      if (found) { found.open = true; found.scrollIntoView({ block: "center" }); found.firstElementChild.focus(); }
    }
  }

  close() { this.gone = true; }

  passes(row, except) {
    for (const [path, values] of this.chosen) {
      if (path === except || !values.size) continue;
      const value = reach(row, path);
      if (!(Array.isArray(value) ? value : [value]).some((one) => values.has(String(one)))) return false;
    }
    return true;
  }

  draw() {
    const shown = this.rows.filter((row) => this.passes(row));
    this.count.textContent = `${plural(this.open_.size, "open ADR candidate")}, ${shown.length === this.rows.length ? plural(shown.length, "decision") : `${shown.length} of ${plural(this.rows.length, "decision")}`}`;
    const facet = (path, title, values, names) => {
      const counts = new Map();
      for (const row of this.rows) {
        if (!this.passes(row, path)) continue;
        const value = reach(row, path);
        for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null) counts.set(String(one), (counts.get(String(one)) || 0) + 1);
      }
      const chosen = this.chosen.get(path) || new Set();
      const members = values.filter((one) => counts.has(one.name) || chosen.has(one.name));
      if (!members.length) return "";
      return h("fieldset", null, h("legend", null, title), members.map((one) => h("label", { title: one.description || null },
        h("input", { type: "checkbox", checked: chosen.has(one.name), onchange: (event) => { event.target.checked ? chosen.add(one.name) : chosen.delete(one.name); this.chosen.set(path, chosen); this.draw(); } }),
        h("span", null, (names && names[one.name]) || one.name), h("span", { class: "count" }, counts.get(one.name) || 0))));
    };
    const yes = [{ name: "true" }, { name: "false" }];
    const focused = document.activeElement?.closest("label")?.textContent;
    this.side.replaceChildren(
      facet("open", "ADR", yes, { true: "open candidate", false: "other" }),
      ...this.facets.map(([path, words]) => facet(path, path.replace(/^record\./, "").replaceAll("_", " "), words.map((one) => ({ name: String(one.value) })), { true: "yes", false: "no" })),
      [...this.chosen.values()].some((values) => values.size) ? h("button", { onclick: () => { this.chosen.clear(); this.draw(); } }, "Clear") : "");
    if (focused) [...this.side.querySelectorAll("label")].find((one) => one.textContent.startsWith(focused.replace(/\d+$/, "")))?.querySelector("input").focus();
    this.list.replaceChildren(...shown.map((row) => this.row(row)));
    if (!shown.length) this.list.append(h("p", { class: "quiet pad" }, this.rows.length ? "No decision has all of this." : "No decision is recorded here yet: `ontoref interaction record` makes the first."));
  }

  row(row) {
    const record = row.record || {};
    const inside = h("div", { class: "inside" });
    const rejected = row.alternatives_rejected || [];
    const found = h("details", { class: "decision", data: { id: row.id } },
      h("summary", null,
        h("span", { class: "id" }, row.id), this.open_.has(row.id) ? h("span", { class: "chip candidate" }, "ADR?") : "", row.adr ? h("span", { class: "chip" }, row.adr) : "", row.status ? h("span", { class: "chip" }, row.status) : "",
        h("span", { class: `chip ${row.reversible === false ? "hard" : ""}` }, row.reversible === false ? "irreversible" : "reversible"),
        h("span", { class: "grow" }), h("span", { class: "quiet" }, [record.domain, row.times > 1 ? `${row.times} times` : "", row.sessions > 1 ? plural(row.sessions, "session") : ""].filter(Boolean).join(" · ")), h("time", null, day(record.recorded_at)),
        rejected.length ? h("span", { class: "rejected" }, "over ", rejected.map((one, at) => [at ? ", " : "", h("s", null, oneLine(one, 60))])) : ""),
      inside);
    found.addEventListener("toggle", () => found.open && !inside.childElementCount && this.entries(row, inside));
    return found;
  }

  async entries(row, inside) {
    inside.replaceChildren(h("p", { class: "quiet" }, "Loading…"));
    let found;
    try {
      found = await this.source.get(["decisions"], { history: true, reverse: true, where: `id=${row.id}` });
    } catch (error) {
      inside.replaceChildren(h("p", { class: "warning" }, error.message));
      return;
    }
    inside.replaceChildren(row.reasons && row.reasons.length ? h("p", { class: "quiet" }, "deserves an ADR: ", row.reasons.map((one) => one.text).join(", ")) : "", ...found.rows.map((entry) => {
      const record = entry.record || {};
      return h("section", { class: "entry" },
        h("header", null, h("time", null, minute(record.recorded_at)), h("span", { class: "quiet" }, [record.actor, record.kind, record.domain].filter(Boolean).join(" · ")),
          h("a", { href: `#/record/${encodeURIComponent(record.id)}` }, "record"), record.session_id ? h("a", { href: placeOf(record) }, "where in the session") : ""),
        entry.rationale ? h("p", { class: "said" }, entry.rationale) : "",
        (entry.alternatives_rejected || []).length ? h("ul", null, entry.alternatives_rejected.map((one) => h("li", null, h("s", null, one)))) : "",
        (entry.tensions_engaged || []).length ? h("p", { class: "quiet" }, `tensions: ${entry.tensions_engaged.join(", ")}`) : "");
    }));
  }
}

export function placeOf(record, opRef) {
  const at = opRef ? `@op:${opRef}` : record.recorded_at ? `@at:${record.ended_at || record.recorded_at}` : "";
  return `#/replay/${encodeURIComponent(record.session_id)}${at ? "/" + encodeURIComponent(at) : ""}`;
}

export class RecordView {
  constructor(source) { this.source = source; }
  close() {}

  async open(place, id) {
    const found = await this.source.get(["records"], { where: `id=${id}`, history: true });
    const record = found.rows[0];
    if (!record) {
      place.replaceChildren(h("p", { class: "pad" }, `No record ${id} is in this project.`));
      return;
    }
    const facts = ["actor", "model", "kind", "domain", "category", "outcome", "started_at", "ended_at", "recorded_at", "revision", "origin", "parent_record"].filter((name) => record[name]);
    const list = (title, items, show) => (items && items.length ? [h("h2", null, title), h("ul", { class: "parts" }, items.map((one) => h("li", null, show(one))))] : []);
    const reference = (one) => (one.op_ref ? h("a", { href: placeOf(record, one.op_ref) }, "in the session") : one.at ? h("a", { href: placeOf({ ...record, recorded_at: one.at, ended_at: null }) }, "in the session") : "");
    place.replaceChildren(h("article", { class: "record pad" },
      h("h1", null, h("code", null, record.id)), h("p", { class: "summary said" }, record.summary || ""),
      h("dl", { class: "facts-list" }, facts.map((name) => [h("dt", null, name), h("dd", null, record[name])]), h("dt", null, "session"), h("dd", null, h("a", { href: placeOf(record) }, record.session_id || ""))),
      list("Decisions", record.decisions, (one) => [h("a", { href: `#/decisions/${encodeURIComponent(one.id)}` }, one.id), " ", one.rationale ? h("p", { class: "said" }, one.rationale) : ""]),
      list("Events", record.events, (one) => [h("b", null, one.kind), " ", one.note || "", " ", reference(one)]),
      list("Actions", record.actions, (one) => [h("b", null, one.kind), " ", h("code", null, one.target || ""), " ", one.result || "", " ", reference(one)]),
      list("Insights", record.insights, (one) => [h("b", null, one.kind), " ", one.subject || "", " ", one.confidence || ""]),
      list("Files", record.files_touched, (one) => h("code", null, one)),
      list("Tensions", record.tensions_engaged, (one) => one)));
  }
}
