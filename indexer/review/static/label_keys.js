// Labelling by key, and the walk along the list that a page was opened from.

const LIST = "nearfold.list";

const here = () => location.pathname + location.search;

function stored() {
  try { return JSON.parse(sessionStorage.getItem(LIST)) ?? {}; } catch { return {}; }
}

// A list page remembers its links: documents, pairs and families, in order.
export function remember() {
  const items = [...document.querySelectorAll("[data-items] > [data-item]")];
  if (!items.length) return;
  const kinds = { "/document": [], "/compare": [], "/family": [] };
  for (const item of items) {
    const seen = new Set();
    for (const link of item.querySelectorAll("[data-open], [data-compare], [data-family]")) {
      const path = link.pathname;
      if (!(path in kinds) || seen.has(path)) continue;
      seen.add(path);
      kinds[path].push({ address: path + link.search, place: item.id });
    }
  }
  // A document shows a list as well; it must not replace the one it was opened from. The list of a
  // family replaces it, and holds it.
  const outer = enclosing();
  if (location.pathname === "/document" && outer) return;
  const list = { from: here(), kinds, ...(location.pathname === "/family" && { outer }) };
  try { sessionStorage.setItem(LIST, JSON.stringify(list)); } catch { /* private windows store nothing */ }
}

const own = (list) => list.kinds?.[location.pathname] ?? [];

// Two addresses are the same item when they name the same documents.
const name = (address) => {
  const query = new URL(address, location.origin).searchParams;
  return ["id", "a", "b"].map((key) => query.get(key)).join(" ");
};

const place = (list) => own(list).findIndex((item) => name(item.address) === name(here()));

// The list that this page was opened from, if there is one.
const enclosing = () => [stored(), stored().outer ?? {}].find((list) => place(list) >= 0);

function walk() {
  const list = enclosing();
  if (!list) return {};
  const items = own(list);
  const at = place(list);
  const next = items[at + 1];
  const back = `${list.from}#${items[at].place}`;
  for (const line of document.querySelectorAll("[data-walk]")) {
    line.hidden = false;
    const link = (text, address, key) => {
      const anchor = document.createElement("a");
      const label = document.createElement("kbd");
      anchor.href = address;
      label.textContent = key;
      anchor.append(`${text} `, label);
      return anchor;
    };
    const parts = [link("List", back, "b"), `${at + 1} of ${items.length}`];
    if (at > 0) parts.push(link("Previous", items[at - 1].address, "["));
    if (next) parts.push(link("Next", next.address, "]"));
    line.replaceChildren(...parts.flatMap((part) => [part, " "]));
  }
  // After a decision the next item opens; after the last one the list.
  for (const field of document.querySelectorAll("[data-go-on]")) field.value = next ? next.address : back;
  return { next: next?.address, previous: items[at - 1]?.address, back };
}

// A page of one labelling undoes that, every other page the last one.
const undo = () => document.querySelector("main [data-undo]") ?? document.querySelector("[data-undo]");

// An undo stays on a page that shows the document: on its line of a list if it was labelled alone,
// else on no line, so that the next key codes what the heading names.
function stayAtUndo() {
  const next = undo()?.form.elements.next;
  const { pathname, searchParams } = new URL(next?.value ?? "", location.origin);
  const id = searchParams.get("id");
  if (!id) return;
  const quoted = CSS.escape(id);
  const item = document.querySelector(`[data-item][data-id="${quoted}"]`);
  const isHead = document.querySelector(`[data-choices] [name=id][value="${quoted}"]`);
  if (item || isHead) next.value = item && pathname === "/document" ? `${here()}#${item.id}` : here();
}

// The line of a new labelling is read aloud: screen readers read what changes in a page that is there.
function announce() {
  const line = document.querySelector("[data-labelling]");
  if (!line) return;
  const number = line.dataset.labelling;
  let known = null;
  try { known = sessionStorage.getItem("nearfold.labelling"); sessionStorage.setItem("nearfold.labelling", number); } catch { return; }
  if (known === number) return;
  const of = (selector) => line.querySelector(selector)?.textContent.replace(/\s+/g, " ").trim();
  const text = of("[data-undone]") ?? `Labelled: ${of("[data-outcome]")}`;
  setTimeout(() => { line.querySelector("[data-announces]").textContent = text; }, 300);
}

// The boxes of a list: shift and a click check all from the last one on. Returns their number.
const picked = () => document.querySelectorAll("[data-pick]:checked").length;

function showPicked() {
  const count = picked();
  for (const place of document.querySelectorAll("[data-picked]")) place.textContent = count ? `${count} checked` : "";
  document.getElementById("several")?.classList.toggle("stuck", count > 0);
  for (const form of document.querySelectorAll("[data-of-items]")) form.hidden ||= count > 0;
}

function picks() {
  let last = null;
  for (const box of document.querySelectorAll("[data-pick]")) {
    box.addEventListener("click", (event) => {
      const shown = [...document.querySelectorAll("[data-pick]")].filter((other) => other.checkVisibility());
      const [from, to] = [shown.indexOf(last), shown.indexOf(box)].sort((a, b) => a - b);
      if (event.shiftKey && from >= 0) for (const other of shown.slice(from, to + 1)) other.checked = box.checked;
      last = box;
      showPicked();
    });
  }
  showPicked();
}

const currentItem = () => document.activeElement?.closest("[data-item][data-id]") ?? document.querySelector("[data-item][data-id].at");

function choose(key) {
  if (picked()) {
    press(document.querySelector(`#several [data-choice="${key}"]`));
    return;
  }
  const item = currentItem();
  if (item && document.querySelector("[data-of-items]")) {
    press(document.querySelector(`[data-of-item] [data-choice="${key}"]`));
    return;
  }
  press(document.querySelector(`[data-choices] [data-choice="${key}"]`));
}

// A form of the current item names it, and leads to the next one if no field is left to code.
function nameItem(form) {
  const item = currentItem();
  if (!item) return;
  form.elements.id.value = item.dataset.id;
  form.elements.seen.value = JSON.parse(item.dataset.seen ?? "{}")[form.dataset.field] ?? "";
  const left = JSON.parse(item.dataset.missing ?? "[]").filter((name) => name !== form.dataset.field);
  const all = [...document.querySelectorAll("[data-items] > [data-item]")];
  const isDone = left.length === 0 && !("many" in form.dataset);
  const next = isDone ? all[Math.min(all.length - 1, all.indexOf(item) + 1)] : item;
  form.elements.next.value = `${here()}#${next.id}`;
}

// A value that needs a reason waits for it: Enter in its field chooses the value.
function reasons() {
  let wanted = null;
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-needs-note]");
    if (!button) return;
    const note = button.form.elements.note;
    if (!note || note.value.trim()) return;
    event.preventDefault();
    wanted = button;
    currentItem()?.classList.add("at");
    note.focus();
  }, true);
  addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.name !== "note" || !event.target.form?.dataset.field) return;
    event.preventDefault();
    if (event.target.value.trim()) (wanted ?? event.target.form.querySelector("[data-needs-note]")).click();
  });
}

// One decision per page: a key that is pressed while the next page loads is not meant for this one.
let sent = false;

function press(button) {
  if (!button || sent) return;
  button.click();
}

export function decide() {
  remember();
  const steps = walk();
  stayAtUndo();
  announce();
  picks();
  reasons();
  const open = (address) => () => { if (address) location.assign(address); };
  addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if ("ofItem" in event.target.dataset) nameItem(event.target);
    if (sent) event.preventDefault();
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; showPicked(); });
  const item = /^#i\d+$/.test(location.hash) && document.querySelector(location.hash);
  if (item) {
    item.classList.add("at");
    item.querySelector("[data-open]")?.focus();
    for (const form of document.querySelectorAll("[data-of-items]")) form.hidden = false;
  }
  return {
    ...Object.fromEntries([..."123456789agiqrtyz"].map((key) => [key, () => choose(key)])),
    s: () => (document.activeElement?.closest("[data-item]") ?? document.querySelector("[data-item].at"))?.querySelector("[data-pick]")?.click(),
    u: () => press(undo()),
    o: () => press(document.querySelector("[data-others]")),
    O: () => press(document.querySelector("[data-mail]")),
    w: () => press(document.querySelector("[data-next-family]")),
    m: () => {
      const link = document.querySelector("[data-leave]");
      if (link && currentItem()) link.hash = currentItem().id;
      link?.click();
    },
    l: () => document.querySelector("[data-label-field]")?.focus(),
    "]": open(steps.next),
    "[": open(steps.previous),
    b: open(steps.back),
  };
}
