// Where answers come from: the server that gave this page, or the data that an exported file holds.

export class Refused extends Error {
  constructor(status, error) {
    super(error.message || "the server gave no answer");
    this.status = status;
    this.kind = error.kind;
    this.hint = error.hint;
  }
}

function address(path, params) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) query.append(name, String(one));
    }
  }
  const text = query.toString();
  return "api/" + path.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

export class Server {
  live = true;

  async get(path, params) {
    let answer;
    try {
      answer = await fetch(address(path, params), { credentials: "same-origin" });
    } catch {
      throw new Refused(0, { message: "the server does not answer; is `ontoref serve` still running?" });
    }
    let body = null;
    try {
      body = await answer.json();
    } catch {
      throw new Refused(answer.status, { message: "the answer is no JSON" });
    }
    if (!answer.ok) throw new Refused(answer.status, body.error || {});
    return body;
  }

  tree(id, params) { return this.get(["replay-tree", id], params); }
  children(id, span, params) { return this.get(["replay-tree", id, "children", span], params); }
  event(id, span) { return this.get(["event", id, span]); }
  transcript(id, params) { return this.get(["transcript", id], params); }
  outline(id) { return this.get(["outline", id]); }
  locate(id, params) { return this.get(["locate", id], params); }
  search(id, q) { return this.get(["search", id], { q }); }
  stream(id, after) { return new EventSource(address(["stream", id], { after: after || undefined })); }
}

// An exported session: everything is there, whole, sub-agents opened.
export class Exported {
  live = false;

  constructor(data) {
    this.data = data;
    this.turns = data.tree.turns;
  }

  async tree(_id, params) {
    const start = Number((params && params.cursor) || 0);
    const end = start + 25;
    const more = end < this.turns.length;
    const tree = { ...this.data.tree, turns: this.turns.slice(start, end), turn_index: start };
    if (params && params.cursor) Object.assign(tree, { workflows: [], mode_changes: [] });
    return { ...tree, has_more: more, next_cursor: more ? String(end) : null };
  }

  async outline() { return this.data.outline; }
  async transcript() {
    const events = [...this.data.tree.mode_changes, ...this.data.tree.diagnostics.unplaced];
    return { events, row_count: this.data.tree.row_count, has_more: false };
  }
  async children() { throw new Refused(404, { message: "this was not exported" }); }
  async event() { throw new Refused(404, { message: "this was not exported" }); }

  async locate(_id, params) {
    const place = this.places().get(params.span);
    if (!place) throw new Refused(404, { message: "the session has nothing there" });
    return place;
  }

  async search(_id, q) {
    const wanted = q.toLowerCase();
    const hits = [];
    for (const [span, place] of this.places()) {
      const text = JSON.stringify(place.event.payload);
      const at = text.toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      const snippet = text.slice(Math.max(0, at - 50), at + wanted.length + 60);
      hits.push({ span_id: span, kind: place.event.kind, ts: place.event.ts, snippet, turn_id: place.turn_id, path: place.path });
      if (hits.length >= 200) break;
    }
    return { q, hits, more: hits.length >= 200 };
  }

  places() {
    if (this.known) return this.known;
    this.known = new Map();
    const into = (node, turnId, path) => {
      for (const event of [...node.events, ...node.approvals, ...node.mode_changes]) {
        this.known.set(event.span_id, { span_id: event.span_id, turn_id: turnId, path, event, cursor: null });
      }
      for (const child of [...node.delegations, ...node.workflows, ...(node.stages || [])]) {
        const inside = child.kind === "stage" ? path : path;
        if (child.spawn) this.known.set(child.span_id, { span_id: child.span_id, turn_id: turnId, path: inside, event: child.spawn });
        into(child, turnId, [...path, child.span_id]);
      }
    };
    for (const turn of this.turns) into(turn, turn.turn_id, []);
    for (const workflow of this.data.tree.workflows) into(workflow, workflow.turn_id, [workflow.span_id]);
    return this.known;
  }
}
