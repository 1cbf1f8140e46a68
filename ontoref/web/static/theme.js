// Dark and light: as the system has it, unless somebody chose.
import { h } from "./dom.js";

const NAME = "ontoref-theme";

function kept() {
  try { return localStorage.getItem(NAME); } catch { return null; }
}

export function themeButton() {
  const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button", { class: "plain", onclick: () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem(NAME, next); } catch { /* a file has no storage */ }
    show();
  } });
  const show = () => { button.textContent = dark() ? "☀" : "☾"; button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours"); };
  if (kept()) document.documentElement.dataset.theme = kept();
  show();
  return button;
}
