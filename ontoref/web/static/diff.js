// Two texts as lines that went, came and stayed.
import { h } from "./dom.js";

const MOST = 1500;
const AROUND = 3;

// Longest common lines, in memory that is bounded; texts that are too long are shown one after the other.
export function lineDiff(before, after) {
  const a = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const b = after === "" ? [] : after.replace(/\n$/, "").split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const found = a.slice(0, start).map((text) => [" ", text]);
  const n = endA - start;
  const m = endB - start;
  if (n * m > MOST * MOST) {
    for (let i = start; i < endA; i++) found.push(["-", a[i]]);
    for (let i = start; i < endB; i++) found.push(["+", b[i]]);
  } else {
    const width = m + 1;
    const length = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        length[i * width + j] = a[start + i] === b[start + j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    let i = 0;
    let j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[start + i] === b[start + j]) { found.push([" ", a[start + i]]); i++; j++; }
      else if (i < n && (j >= m || length[(i + 1) * width + j] >= length[i * width + j + 1])) found.push(["-", a[start + i++]]);
      else found.push(["+", b[start + j++]]);
    }
  }
  for (let i = endA; i < a.length; i++) found.push([" ", a[i]]);
  return found;
}

const NAMES = { "+": "added", "-": "removed", " ": "same" };

export function diffBlock(before, after, title) {
  return diffLines(lineDiff(before, after), title);
}

export function diffLines(lines, title) {
  const near = new Uint8Array(lines.length);
  lines.forEach(([sign], at) => {
    if (sign !== " ") for (let i = Math.max(0, at - AROUND); i <= Math.min(lines.length - 1, at + AROUND); i++) near[i] = 1;
  });
  const added = lines.filter(([sign]) => sign === "+").length;
  const removed = lines.filter(([sign]) => sign === "-").length;
  const body = h("div", { class: "diff-lines" });
  let skipped = 0;
  const flush = () => {
    if (skipped) body.append(h("div", { class: "skipped" }, `⋯ ${skipped} unchanged line${skipped === 1 ? "" : "s"}`));
    skipped = 0;
  };
  lines.forEach(([sign, text], at) => {
    if (!near[at]) { skipped++; return; }
    flush();
    body.append(h("div", { class: `line ${NAMES[sign]}` }, h("span", { class: "sign", "aria-label": NAMES[sign] }, sign), h("span", null, text || " ")));
  });
  flush();
  return h("figure", { class: "diff" },
    h("figcaption", null, title ? h("code", null, title) : "", " ",
      h("span", { class: "plus" }, `+${added}`), " ", h("span", { class: "minus" }, `−${removed}`)), body);
}

// A patch as a tool was given it: its own signs tell the lines.
export function patchBlock(text, title) {
  const lines = text.split("\n").map((line) => (line[0] === "+" || line[0] === "-") && !/^(\+\+\+|---)/.test(line)
    ? [line[0], line.slice(1)] : [" ", line]);
  return diffLines(lines, title);
}
