// The page on which proposals are reviewed. Every text is put in as text, never as markup.
const said = document.getElementById("said");

function h(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((one) => one !== null && one !== undefined));
  return made;
}

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, { ...options, credentials: "same-origin" });
  const found = await answer.json();
  if (!answer.ok) throw new Error([found.error.message, found.error.hint].filter(Boolean).join("; "));
  return found;
}

function evidence(list) {
  return (list || []).map((seen) => {
    const place = `./#/replay/${encodeURIComponent(seen.session_id || "")}` + (seen.event_id ? `/${encodeURIComponent(seen.event_id)}` : "");
    return h("div", { class: "soft" },
      h("blockquote", null, seen.excerpt || ""),
      h("a", { href: place }, `${seen.session_id || "a session"}`), ` ${seen.observed_at || ""}`);
  });
}

function proposal(one) {
  const draft = one.draft || {};
  const statement = h("textarea", { rows: "3", "aria-label": "What the lesson says" });
  statement.value = draft.statement || draft.title || "";
  const reason = h("input", { placeholder: "Why (for the audit trail)", "aria-label": "Why" });
  const item = h("li", { id: one.id },
    h("p", { class: "soft" }, `${one.action} · ${one.rationale || ""} · ${Object.values(one.scope || {}).join(" · ")}`),
    one.context ? h("p", { class: "soft" }, `after: ${one.context}`) : null,
    ...evidence(draft.evidence),
    one.target ? h("p", { class: "soft" }, `about the lesson: ${one.target.statement || one.target.title}`) : null,
    statement,
    h("div", { class: "row" }, reason,
      h("button", { class: "yes", onclick: () => decide("accept") }, "Accept"),
      h("button", { class: "no", onclick: () => decide("reject") }, "Reject")));
  async function decide(verb) {
    const buttons = item.querySelectorAll("button");
    buttons.forEach((button) => { button.disabled = true; });
    const body = reason.value ? { reason: reason.value } : {};
    if (verb === "accept" && statement.value !== (draft.statement || draft.title || "")) body.statement = statement.value;
    try {
      await ask(`api/lessons/proposals/${encodeURIComponent(one.id)}/${verb}`, body);
      await show();
      said.textContent = verb === "accept" ? "Accepted." : "Rejected.";
    } catch (error) {
      said.textContent = error.message;
      buttons.forEach((button) => { button.disabled = false; });
    }
  }
  return item;
}

function lesson(one) {
  return h("li", null, h("p", null, one.statement || one.title),
    h("p", { class: "soft" }, `+${one.helpful || 0} −${one.harmful || 0} · ${one.durability} · ${Object.values(one.scope || {}).join(" · ")} · ${one.id}`));
}

async function show() {
  try {
    const [waiting, held] = await Promise.all([ask("api/lessons/proposals"), ask("api/lessons")]);
    const nothing = (text) => [h("li", { class: "soft" }, text)];
    document.getElementById("proposals").replaceChildren(...(waiting.rows.length ? waiting.rows.map(proposal) : nothing("Nothing waits.")));
    document.getElementById("lessons").replaceChildren(...(held.rows.length ? held.rows.map(lesson) : nothing("No lessons yet.")));
  } catch (error) {
    said.textContent = error.message;
  }
}

show();
