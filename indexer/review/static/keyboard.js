// Single-key shortcuts. They can be switched off, and do nothing inside a field.

const STORED = "nearfold.shortcuts";

const isEnabled = () => {
  try { return localStorage.getItem(STORED) !== "off"; } catch { return true; }
};

const items = () => [...document.querySelectorAll("[data-items] > [data-item]")];

const current = () => document.activeElement?.closest("[data-item]") ?? document.querySelector("[data-item].at");

function go(step) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  for (const item of all) item.classList.toggle("at", item === next);
  next.querySelector("[data-open]")?.focus();
  for (const form of document.querySelectorAll("[data-of-items]")) form.hidden = false;
  next.scrollIntoView({ block: "nearest" });
}

function follow(selector) {
  const place = current() ?? document;
  (place.querySelector(selector) ?? document.querySelector(selector))?.click();
}

function unfold() {
  const fold = current()?.querySelector("details");
  if (fold) fold.open = !fold.open;
}

// `more`: further keys of a page and their actions.
export function keyboard(more = {}) {
  const help = document.getElementById("help");
  const box = document.getElementById("shortcuts");
  box.checked = isEnabled();
  box.addEventListener("change", () => {
    try { localStorage.setItem(STORED, box.checked ? "on" : "off"); } catch { /* private windows store nothing */ }
  });
  const open = () => help.open || help.showModal();
  document.querySelector("[data-opens=help]").addEventListener("click", open);
  const press = (selector) => () => document.querySelector(selector)?.click();
  const actions = {
    j: () => go(1),
    k: () => go(-1),
    x: unfold,
    f: () => follow("[data-family]"),
    c: () => follow("[data-compare]"),
    n: press("[data-next]"),
    p: press("[data-previous]"),
    d: press("[data-only]"),
    h: press("[data-next-hit]"),
    H: press("[data-previous-hit]"),
    v: press("[data-original]"),
    e: press("[data-export]"),
    "/": () => {
      const field = document.getElementById("q");
      if (field) { field.focus(); field.select(); } else { document.querySelector("[data-search]")?.click(); }
    },
    "?": open,
    ...more,
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=checkbox]):not([type=range]), select, textarea, dialog");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !box.checked) return;
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });
}
