// Elements, and values as text. Text of sessions only ever becomes text nodes: nothing here parses HTML.

// What could steer a reader: controls, bidirectional marks, invisible characters. Shown as an escape.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;
const UNSAFE_ALL = new RegExp(UNSAFE.source, "gu");
const COLOURS = /\u001b\[[0-9;]*m/g;

// Attributes that are read out or shown.
const READ = new Set(["title", "aria-label", "data-language", "placeholder"]);

export function escaped(text) {
  return text.replace(COLOURS, "").replace(UNSAFE_ALL, (one) => "\\u" + one.codePointAt(0).toString(16).padStart(4, "0"));
}

export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : READ.has(name) ? escaped(String(value)) : String(value));
  }
  add(node, children);
  return node;
}

export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : safe(String(child)));
  }
  return node;
}

// Text as it may be shown: a text node, or a fragment where escapes stand out.
export function safe(text) {
  text = text.replace(COLOURS, "");
  if (!UNSAFE.test(text)) return document.createTextNode(text);
  const found = document.createDocumentFragment();
  let last = 0;
  for (const match of text.matchAll(UNSAFE_ALL)) {
    if (match.index > last) found.append(text.slice(last, match.index));
    const code = match[0].codePointAt(0).toString(16).padStart(4, "0");
    const mark = document.createElement("span");
    mark.className = "escape";
    mark.textContent = "\\u" + code;
    found.append(mark);
    last = match.index + match[0].length;
  }
  if (last < text.length) found.append(text.slice(last));
  return found;
}

export function svg(tag, props, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, String(value));
  for (const child of children) node.append(child);
  return node;
}

// Bars of activity; a picture only, its label says how much there is.
export function spark(bars, label) {
  const top = Math.max(1, ...bars);
  const parts = bars.map((value, at) => {
    const height = value ? Math.max(1.5, (value / top) * 18) : 0.5;
    return svg("rect", { x: at * 4, y: 18 - height, width: 3, height });
  });
  return svg("svg", { class: "spark", viewBox: `0 0 ${bars.length * 4} 18`, role: "img", "aria-label": label }, ...parts);
}

export function say(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

export function when(seconds) {
  if (!seconds || seconds > 1e11) return "";
  const date = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

// A time as data (RFC 3339) for people.
export function moment(text) {
  return when(Date.parse(text) / 1000);
}

export function clock(seconds) {
  const text = when(seconds);
  return text ? `${text.slice(11)}:${String(new Date(seconds * 1000).getSeconds()).padStart(2, "0")}` : "";
}

export function lasted(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 >= 1 && s < 600 ? ` ${Math.floor(s % 60)} s` : ""}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function amount(number) {
  if (number === null || number === undefined) return "";
  if (number < 10000) return String(number);
  if (number < 1e6) return `${(number / 1e3).toFixed(number < 1e5 ? 1 : 0)} k`;
  return `${(number / 1e6).toFixed(number < 1e8 ? 1 : 0)} M`;
}

export function bytes(number) {
  if (number < 1000) return `${number} B`;
  return number < 1e6 ? `${Math.round(number / 1e3)} KB` : `${(number / 1e6).toFixed(1)} MB`;
}

export function plural(number, one, several) {
  return `${amount(number)} ${number === 1 ? one : several || one + "s"}`;
}

export function tokensOf(tokens) {
  if (!tokens) return 0;
  let sum = 0;
  for (const [name, number] of Object.entries(tokens)) if (name !== "total" && name !== "reasoning") sum += number;
  return tokens.total && !sum ? tokens.total : sum;
}

export function money(micro) {
  return micro ? `$${(micro / 1e6).toFixed(micro < 1e6 ? 4 : 2)}` : "";
}

export function oneLine(text, most = 160) {
  const flat = String(text ?? "").slice(0, most * 4).replace(/\s+/g, " ").trim();
  return flat.length > most ? flat.slice(0, most - 1) + "…" : flat;
}

// A prompt without what a runtime wrapped around it, for titles: `<ide_opened_file>…</ide_opened_file>` and its like.
export function unwrapped(text) {
  const whole = String(text ?? "");
  const bare = whole.slice(0, 20000).replace(/<([a-z][a-z_-]*)>[^]*?<\/\1>/g, " ").trim();
  return bare || whole;
}

// A dialog in the middle of the page; Escape closes it and gives the focus back.
export function dialog(title, ...children) {
  const found = h("dialog", { "aria-label": title }, h("h2", null, title), ...children,
    h("p", { class: "right" }, h("button", { onclick: () => found.close() }, "Close")));
  found.addEventListener("close", () => found.remove());
  document.body.append(found);
  found.showModal();
  return found;
}
