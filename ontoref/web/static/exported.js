// A session in a file of its own.
import { h } from "./dom.js";
import { Exported } from "./source.js";
import { help, ReplayView } from "./replay.js";
import { themeButton } from "./theme.js";

const data = JSON.parse(document.getElementById("data").textContent);
document.getElementById("top").replaceChildren(
  h("span", { class: "brand" }, "ontoref"), h("span", { class: "quiet" }, data.note), h("span", { class: "grow" }),
  h("button", { class: "plain", onclick: help, "aria-label": "Keys" }, "?"), themeButton());
const span = decodeURIComponent(location.hash.replace(/^#/, ""));
new ReplayView(new Exported(data), data.tree.id).open(document.getElementById("main"), span || null);
