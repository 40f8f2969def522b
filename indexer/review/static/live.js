// Parts of a page that update while it is open: the reading of a store, the threshold slider, jobs.

import { remember } from "./label_keys.js";

const number = (value) => value.toLocaleString("en-US");

async function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(query ? `${path}?${query}` : path, { signal, headers: { accept: "application/json" } });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function showNumbers(root, values) {
  for (const [name, value] of Object.entries(values)) {
    const shown = typeof value === "number" ? number(value) : value;
    for (const place of root.querySelectorAll(`[data-number=${name}]`)) place.textContent = shown;
  }
}

export function reading() {
  const place = document.querySelector("[data-reading]");
  if (!place) return;
  const bar = place.querySelector("progress");
  const look = async () => {
    try {
      const answer = await ask(place.dataset.reading, { wait: 1 });
      if (answer.ready || (answer.less_similar?.length && !document.querySelector("[data-less-similar]"))) { location.reload(); return; }
      place.querySelector("[data-stage]").textContent = answer.stage;
      place.querySelector("[data-done]").textContent = answer.total ? `${number(answer.done)} of ${number(answer.total)}` : "";
      if (answer.total) { bar.max = answer.total; bar.value = answer.done; }
      setTimeout(look, 500);
    } catch (error) {
      place.setAttribute("aria-busy", "false");
      place.querySelector("[data-stage]").textContent = error.message;
    }
  };
  look();
}

// A result that takes long: its places on the page are filled when it is there, or the page loads
// again. Another page takes its place only where nothing is checked or typed yet.
export function waiting() {
  for (const place of document.querySelectorAll("[data-waits]")) wait(place);
}

function wait(place) {
  const isThere = { ready: (answer) => answer.ready, whole: (answer) => answer.chars === null }[place.dataset.until];
  let done = 0;
  const look = async () => {
    try {
      const answer = await ask(place.dataset.waits);
      if (isThere(answer)) {
        if (!place.isConnected) return;
        if (place.closest("[data-fill]")) await fill(); else replace(place);
        return;
      }
      const bar = place.querySelector("progress");
      if (bar && answer.to_compare) {
        bar.max = answer.to_compare;
        bar.value = answer.done;
      }
      if (answer.to_compare) place.querySelector("[data-done]").textContent = `${number(answer.done)} of ${number(answer.to_compare)}`;
      const hasMore = answer.done > done;
      done = answer.done ?? 0;
      setTimeout(look, hasMore ? 0 : 500);
    } catch (error) {
      place.setAttribute("aria-busy", "false");
      (place.querySelector("p") ?? place).textContent = error.message;
    }
  };
  look();
}

// The page as the server makes it now; places that wait for something else stay as they are.
async function fill() {
  const page = await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.addEventListener("load", () => (request.status === 200 ? resolve(request.response) : request.onerror()));
    request.onerror = () => reject(new Error("the server did not send the page; load it again"));
    request.open("GET", location.href);
    request.send();
  });
  const made = new Map([...page.querySelectorAll("[data-fill]")].map((place) => [place.dataset.fill, place]));
  for (const place of document.querySelectorAll("[data-fill]")) {
    const other = made.get(place.dataset.fill);
    if (!other || other.querySelector("[data-waits]") || place.isEqualNode(other)) continue;
    place.className = other.className;
    place.replaceChildren(...other.childNodes);
  }
  remember();
}

// A page that is being left is not loaded again, which would abort what its reader asked for.
let isLeft = false;
addEventListener("beforeunload", () => { isLeft = true; });
addEventListener("pageshow", () => { isLeft = false; });

function replace(place) {
  if (isLeft) return;
  if (!place.dataset.then) { location.reload(); return; }
  const isUsed = document.querySelector("main input[type=checkbox]:checked, main details.fold[open]") || document.activeElement?.matches("input, textarea");
  if (isUsed) place.setAttribute("aria-busy", "false");
  else location.replace(place.dataset.then);
}

function percent(share) {
  const shown = (100 * share).toFixed(1);
  return share < 1 && shown === "100.0" ? "99.9%" : `${shown}%`;
}

export function discounted() {
  const place = document.querySelector("[data-discounted]");
  if (!place) return;
  const [figure, note] = ["[data-figure]", "[data-note]"].map((name) => place.querySelector(name));
  const look = async () => {
    try {
      const answer = await ask(place.dataset.discounted);
      note.textContent = answer.note;
      if (answer.similarity !== null) figure.textContent = percent(answer.similarity);
      if (!answer.ready) setTimeout(look, 500);
    } catch (error) {
      note.textContent = error.message;
    }
  };
  look();
}

// The facts in which folded hits differ from their hit, compared while it is unfolded.
export function folded() {
  for (const fold of document.querySelectorAll("details.fold[data-facts]")) {
    const waiting = [...fold.querySelectorAll("li[data-folded]")];
    let isRunning = false;
    fold.addEventListener("toggle", async () => {
      if (isRunning) return;
      isRunning = true;
      try {
        while (fold.open && waiting.length) {
          const others = waiting.splice(0, 10).map((item) => ["other", item.dataset.folded]);
          showFacts(fold, await ask("/api/facts", [["id", fold.dataset.facts], ...others]));
        }
      } catch (error) {
        fold.querySelector("[data-compared]").textContent = error.message;
      }
      isRunning = false;
    });
  }
}

function showFacts(fold, answer) {
  for (const { id, marks, differences } of answer.others) {
    const item = fold.querySelector(`li[data-folded="${CSS.escape(id)}"]`);
    for (const [name, text] of [[".marks", marks], [".facts-differ", differences.join("; ")]]) {
      if (text) item.querySelector(name).textContent = text;
      else item.querySelector(name).remove();
    }
  }
}

export function slider() {
  const form = document.querySelector("[data-slider]");
  if (!form) return;
  const input = form.querySelector("input");
  const marker = document.querySelector("[data-marker]");
  let running = null;
  const show = (answer) => {
    document.querySelector("[data-figures]").classList.toggle("estimated", answer.estimated);
    document.querySelector("[data-estimate]").hidden = !answer.estimated;
    showNumbers(document, { families: answer.families, gathered: answer.gathered, largest: answer.largest, moved: answer.moved, separated: answer.separated });
    const rows = answer.moves.map((move) => {
      const row = document.createElement("tr");
      const count = document.createElement("td");
      count.className = "n";
      count.textContent = number(move.documents);
      row.append(count, ...[["before", "before_path"], ["after", "after_path"]].map(([id, path]) => {
        const cell = document.createElement("td");
        const link = document.createElement("a");
        const name = document.createElement("bdi");
        link.href = `/family?${new URLSearchParams({ id: move[id] })}`;
        name.textContent = answer.names[move[path]];
        link.append(name);
        cell.append(link);
        return cell;
      }));
      return row;
    });
    document.querySelector("[data-moves]").replaceChildren(...rows);
    const listed = answer.moves.reduce((sum, move) => sum + move.documents, 0);
    document.querySelector("[data-cut]").hidden = answer.moved <= listed;
    document.querySelector("[data-listed]").textContent = number(listed);
    document.querySelector("[data-unmoved]").hidden = rows.length > 0;
  };
  const change = async () => {
    const value = Number(input.value);
    form.querySelector("[data-value]").textContent = `${Math.round(value * 100)}%`;
    for (const end of ["x1", "x2"]) marker.setAttribute(end, Math.max(0, (value - 0.5) / 0.5) * 640);
    running?.abort();
    running = new AbortController();
    try {
      let families;
      do families = await ask("/api/preview", { threshold: value, wait: 20 }, running.signal); while (!families.ready);
      show(families);
      history.replaceState(null, "", `/threshold?threshold=${value}`);
    } catch (error) {
      if (error.name !== "AbortError") form.querySelector("[data-value]").textContent = "–";
    }
  };
  input.addEventListener("input", change);
}

export function jobs() {
  const place = document.querySelector("[data-jobs]");
  if (!place) return;
  let first = null;
  const openedAt = Date.now();
  const look = async () => {
    try {
      const answer = await ask("/api/status");
      first ??= answer.documents;
      const added = answer.documents - first;
      const minutes = (Date.now() - openedAt) / 60000;
      const rate = minutes > 0.05 ? Math.round(added / minutes) : "–";
      showNumbers(place, { documents: answer.documents, came: added, rate, failed: answer.running ? "…" : answer.failed });
      place.querySelector("[data-lamp]").classList.toggle("on", answer.running);
      const state = answer.running ? "A job is running on this store." : "No job is running on this store.";
      const label = place.querySelector("[data-state]");
      if (label.textContent !== state) label.textContent = state;
      const regrouping = place.querySelector("[data-regrouping]");
      regrouping.hidden = !answer.regrouping;
      if (regrouping.textContent !== answer.regrouping) regrouping.textContent = answer.regrouping;
    } catch (error) {
      place.querySelector("[data-state]").textContent = error.message;
    }
    setTimeout(look, 2000);
  };
  look();
}
