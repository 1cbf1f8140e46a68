// The pages of `ontoref serve`: which one an address means.
import { h, say } from "./dom.js";
import { Server } from "./source.js";
import { help, ReplayView } from "./replay.js";
import { SessionsView } from "./sessions.js";
import { DecisionsView, RecordView } from "./decisions.js";
import { themeButton } from "./theme.js";

const server = new Server();
let view = null;

function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map((one) => { try { return decodeURIComponent(one); } catch { return one; } });
}

async function show() {
  const [page, id, place] = parts();
  if (page && !["sessions", "replay", "decisions", "record"].includes(page) && document.getElementById(page)) return;
  if (view) view.close();
  const main = document.getElementById("main");
  main.className = `page-${page || "sessions"}`;
  main.replaceChildren(h("p", { class: "quiet pad" }, "Loading…"));
  for (const link of document.querySelectorAll("#top nav a")) {
    const on = link.hash === `#/${page === "record" ? "decisions" : page === "replay" ? "sessions" : page || "sessions"}`;
    if (on) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = "ontoref";
  const fresh = page === "replay" && id ? new ReplayView(server, id) : page === "decisions" ? new DecisionsView(server) : page === "record" && id ? new RecordView(server) : new SessionsView(server);
  view = fresh;
  try {
    if (page === "replay") await fresh.open(main, place);
    else await fresh.open(main, id);
  } catch (error) {
    if (view !== fresh) return;
    main.replaceChildren(h("div", { class: "pad", role: "alert" }, h("h1", null, "That did not work"), h("p", null, error.message), error.hint ? h("p", { class: "quiet" }, error.hint) : ""));
    say(error.message);
    if (!error.status && error.name !== "Refused" && !("kind" in error)) throw error;
  }
}

document.getElementById("top").replaceChildren(
  h("a", { class: "brand", href: "#/sessions" }, "ontoref"),
  h("nav", { "aria-label": "Pages" }, h("a", { href: "#/sessions" }, "Sessions"), h("a", { href: "#/decisions" }, "Decisions"), h("a", { href: "lessons.html" }, "Lessons")),
  h("span", { class: "grow" }),
  h("button", { class: "plain", onclick: help, "aria-label": "Keys" }, "?"),
  themeButton());
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !(view instanceof ReplayView) && !event.target.closest("input, dialog")) { event.preventDefault(); help(); }
});
show();
