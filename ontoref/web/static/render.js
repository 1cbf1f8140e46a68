// One event as an element. Every runtime may register a renderer of its own; what none knows, the default shows.
import { add, clock, h, lasted, oneLine, bytes } from "./dom.js";
import { diffBlock, patchBlock } from "./diff.js";

const runtimes = new Map();

// A renderer has any of: toolTitle(payload), toolBody(payload), text(payload, kind). Each may give null: the default.
export function registerRuntime(name, renderer) {
  runtimes.set(name, renderer);
}

function own(event, name, ...given) {
  const renderer = runtimes.get(event.runtime);
  return renderer && renderer[name] ? renderer[name](...given) : null;
}

// Prose with fenced code; everything else stays as it was written.
export function prose(text) {
  const found = h("div", { class: "prose" });
  const parts = String(text ?? "").split(/^```(.*)$/m);
  for (let at = 0; at < parts.length; at++) {
    if (at % 4 === 0) {
      const piece = parts[at].replace(/^\n+|\n+$/g, "");
      if (piece) found.append(h("div", { class: "said" }, inline(piece)));
    } else if (at % 4 === 1) {
      found.append(h("pre", { "data-language": parts[at].trim() }, (parts[at + 1] || "").replace(/^\n|\n$/g, "")));
    }
  }
  return found;
}

function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, at) => {
    if (at % 2 === 0) return part;
    return part[0] === "`" ? h("code", null, part.slice(1, -1)) : h("strong", null, part.slice(2, -2));
  });
}

export function block(value, label) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const long = text.length > 4000 || text.split("\n").length > 40;
  const pre = h("pre", { class: long ? "long" : null, tabindex: long ? 0 : null, "aria-label": label || null }, text);
  return pre;
}

const NAMED = ["command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt", "task"];

export function toolTitle(payload) {
  const input = payload.input;
  if (typeof input === "string") return oneLine(input);
  if (!input || typeof input !== "object") return "";
  for (const name of NAMED) {
    const value = input[name];
    if (typeof value === "string" && value) return oneLine(value);
    if (Array.isArray(value) && value.length) return oneLine(value.filter((one) => typeof one === "string").join(" "));
  }
  const first = Object.entries(input).find(([, value]) => typeof value === "string" && value);
  return first ? oneLine(first[1]) : "";
}

// What an edit changed, as diffs; null where the call is no edit.
export function edits(payload) {
  const input = payload.input;
  if (typeof input === "string") return input.includes("*** Begin Patch") ? [patchBlock(input, "patch")] : null;
  if (!input || typeof input !== "object") return null;
  const path = input.file_path || input.path || input.filePath || input.notebook_path || "";
  const pair = (one) => {
    const before = one.old_string ?? one.oldText ?? one.old_source;
    const after = one.new_string ?? one.newText ?? one.new_source;
    return typeof before === "string" && typeof after === "string" ? diffBlock(before, after, path) : null;
  };
  if (Array.isArray(input.edits)) {
    const found = input.edits.filter((one) => one && typeof one === "object").map(pair).filter(Boolean);
    return found.length ? found : null;
  }
  const one = pair(input);
  if (one) return [one];
  const patch = input.patch ?? input.input;
  if (typeof patch === "string" && patch.includes("*** Begin Patch")) return [patchBlock(patch, "patch")];
  if (typeof input.content === "string" && path && (payload.files || /write/i.test(payload.name || ""))) {
    return [diffBlock("", input.content, path)];
  }
  return null;
}

export function modeWords(mode) {
  return mode ? Object.values(mode).filter((one) => typeof one === "string" && one).join(" · ") : "";
}

function row(event, kind, ...children) {
  return h("div", { class: `row ${kind}`, tabindex: -1, data: { kind: event.kind } }, ...children);
}

function fold(event, kind, mark, summary, body, open) {
  const found = h("details", { class: `row ${kind}`, open, data: { kind: event.kind } },
    h("summary", null, h("span", { class: "mark", "aria-hidden": "true" }, mark), ...summary));
  let made = false;
  const make = () => {
    if (made || !found.open) return;
    made = true;
    add(found, [h("div", { class: "inside" }, body())]);
  };
  found.addEventListener("toggle", make);
  found.remake = () => { made = false; for (const one of [...found.children].slice(1)) one.remove(); make(); };
  if (open) make();
  return found;
}

const time = (event) => h("time", null, clock(event.ts));

export function toolRow(event, result, wholes) {
  const payload = event.payload;
  const found = fold(event, "tool", "▸", [
    h("b", { class: "name" }, payload.name || "tool"),
    h("span", { class: "title" }, own(event, "toolTitle", payload) ?? toolTitle(payload)),
    h("span", { class: "outcome" }),
    time(event),
  ], () => {
    const call = found.event.payload;
    const parts = [own(found.event, "toolBody", call) ?? edits(call) ?? block(call.input ?? "", "Input")];
    if (found.result) parts.push(resultBody(found.result));
    else parts.push(h("p", { class: "quiet" }, "no result yet"));
    return [...parts, wholes(found)];
  });
  found.event = event;
  setResult(found, result);
  return found;
}

export function setResult(found, result) {
  if (!result) return;
  found.result = result;
  const payload = result.payload;
  const failed = payload.is_error === true;
  found.classList.toggle("failed", failed);
  const place = found.querySelector(":scope > summary .outcome");
  const ms = result.ts && found.event.ts && result.ts >= found.event.ts ? (result.ts - found.event.ts) * 1000 : null;
  const words = failed ? (payload.refused ? "refused" : payload.exit_code ? `exit ${payload.exit_code}` : "error") : "";
  place.replaceChildren(...[words, ms !== null && ms >= 1000 ? lasted(ms) : ""].filter(Boolean).map((text) => h("span", null, text)));
  if (found.open) found.remake();
}

function resultBody(result) {
  const payload = result.payload;
  const output = payload.output ?? payload.details ?? payload.blocks ?? "";
  return h("div", { class: payload.is_error ? "output failed" : "output" },
    h("h4", null, payload.is_error ? "Error" : "Result"),
    output === "" || output === null ? h("p", { class: "quiet" }, "empty") : block(output, "Result"));
}

const STATUS = { requested: "asked", approved: "approved", denied: "denied", edited: "approved with edits", timeout: "no answer" };

const KINDS = { "workflow.start": "started", "workflow.stage": "stage", "workflow.end": "ended", "tool.result": "result", "agent.return": "returned" };

function approvalRow(event) {
  const approval = event.approval || {};
  const what = [
    h("span", { class: "mark", "aria-hidden": "true" }, { requested: "?", approved: "✓", edited: "✎", denied: "✕", timeout: "…" }[approval.status] || "?"),
    h("b", null, `Approval ${STATUS[approval.status] || approval.status || ""}`),
    event.payload.name ? h("span", { class: "title" }, event.payload.name) : "",
    approval.resolver ? h("span", { class: "quiet" }, `by ${approval.resolver}`) : "",
    time(event),
  ];
  const found = row(event, `approval ${approval.status || ""}`, h("div", { class: "head" }, what));
  if (approval.decision_reason) found.append(h("p", { class: "reason" }, approval.decision_reason));
  if (approval.edit_diff) found.append(beforeAfter(approval.edit_diff));
  return found;
}

function beforeAfter(pair) {
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2));
  return diffBlock(text(pair.before), text(pair.after), "what was allowed");
}

// An event that stands by itself. wholes(found) gives the button that loads a shortened payload whole.
export function eventRow(event, wholes) {
  const payload = event.payload || {};
  switch (event.kind) {
    case "llm.call": {
      const from = payload.human === false ? payload.origin || "system" : "You";
      const found = row(event, payload.human === false ? "prompt injected" : "prompt",
        h("div", { class: "head" }, h("b", null, from), time(event)));
      const body = own(event, "text", payload, event.kind) ?? prose(payload.text);
      if (payload.human === false && String(payload.text || "").length > 300) {
        found.append(h("details", null, h("summary", null, oneLine(payload.text, 120)), body));
      } else found.append(body);
      if (payload.blocks) found.append(h("p", { class: "quiet" }, `${payload.blocks.length} attachment${payload.blocks.length === 1 ? "" : "s"}`));
      return finish(found, event, wholes);
    }
    case "llm.response": {
      const found = row(event, payload.error ? "answer failed" : "answer", h("div", { class: "head" }, time(event)));
      if (payload.synthetic) found.firstChild.prepend(h("span", { class: "chip" }, "not from a model"));
      found.append(own(event, "text", payload, event.kind) ?? prose(payload.text));
      return finish(found, event, wholes);
    }
    case "thinking": {
      const found = fold(event, "thinking", "∴", [h("span", { class: "title" }, oneLine(payload.text) || "thinking, not kept"), time(event)],
        () => [prose(found.event.payload.text || "The runtime kept no text."), wholes(found)]);
      found.event = event;
      return found;
    }
    case "compaction": {
      const parts = [payload.tokens_before ? `${payload.tokens_before} tokens before` : "", payload.tokens_after ? `${payload.tokens_after} after` : "", payload.trigger || ""];
      const found = fold(event, "compaction", "⇊", [h("b", null, "Conversation compacted"), h("span", { class: "quiet" }, parts.filter(Boolean).join(", ")), time(event)],
        () => [payload.summary ? prose(found.event.payload.summary) : h("p", { class: "quiet" }, "no summary was kept"), wholes(found)]);
      found.event = event;
      return found;
    }
    case "mode.changed":
      return row(event, "mode", h("span", { class: "mark", "aria-hidden": "true" }, "◆"), h("b", null, "Mode"), h("span", { class: "title" }, modeWords(event.mode) || "unknown"), payload.by ? h("span", { class: "quiet" }, `by ${payload.by}`) : "", time(event));
    case "approval.requested":
    case "approval.decided":
      return approvalRow(event);
    case "tool.call":
      return toolRow(event, null, wholes);
    default: {
      const found = fold(event, payload.is_error ? "other failed" : "other", "·", [
        h("b", { class: "name" }, KINDS[event.kind] || event.kind), h("span", { class: "title" }, oneLine(payload.name || payload.output || payload.text || "")), time(event),
      ], () => [block(payload.output ?? payload, event.kind), wholes(found)]);
      found.event = event;
      return found;
    }
  }
}

function finish(found, event, wholes) {
  found.event = event;
  if (event.truncated) found.append(wholes(found));
  return found;
}

export function sizeButton(event, load) {
  return event.truncated ? h("button", { class: "whole", onclick: load }, `show all of it (${bytes(event.bytes)})`) : "";
}

// Codex calls shells with lists of words; its plans read better as text.
registerRuntime("codex", {
  toolTitle(payload) {
    const input = payload.input;
    if (!input || typeof input !== "object") return null;
    const command = input.command ?? input.cmd;
    if (Array.isArray(command)) return oneLine(command.slice(/^(ba|z)?sh$/.test(command[0]) ? 2 : 0).join(" "));
    return null;
  },
  toolBody(payload) {
    const plan = payload.input && payload.input.plan;
    if (payload.name !== "update_plan" || !Array.isArray(plan)) return null;
    return h("ul", { class: "plan" }, plan.map((one) => h("li", { class: String(one.status || "") }, `${one.status === "completed" ? "✓" : "·"} ${one.step || ""}`)));
  },
});

registerRuntime("claude-code", {
  toolBody(payload) {
    const todos = payload.input && payload.input.todos;
    if (payload.name === "TodoWrite" && Array.isArray(todos)) {
      return h("ul", { class: "plan" }, todos.map((one) => h("li", { class: String(one.status || "") }, `${one.status === "completed" ? "✓" : "·"} ${one.content || ""}`)));
    }
    if (payload.name === "Bash" && payload.input && typeof payload.input.command === "string") {
      return h("pre", null, payload.input.command);
    }
    return null;
  },
});
