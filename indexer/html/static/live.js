// What changes while a page is open: the survey of a store, the threshold slider, jobs.

const number = (value) => value.toLocaleString("en-US");

async function asked(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(query ? `${path}?${query}` : path, { signal, headers: { accept: "application/json" } });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function tell(root, values) {
  for (const [name, value] of Object.entries(values)) {
    const place = root.querySelector(`[data-number=${name}]`);
    if (place) place.textContent = typeof value === "number" ? number(value) : value;
  }
}

export function survey() {
  const place = document.querySelector("[data-survey]");
  if (!place) return;
  const bar = place.querySelector("progress");
  const look = async () => {
    try {
      const told = await asked("/api/survey", { wait: 1 });
      if (told.ready) { location.reload(); return; }
      place.querySelector("[data-stage]").textContent = told.stage;
      place.querySelector("[data-done]").textContent = told.total ? `${number(told.done)} of ${number(told.total)}` : "";
      if (told.total) { bar.max = told.total; bar.value = told.done; }
      setTimeout(look, 500);
    } catch (error) {
      place.setAttribute("aria-busy", "false");
      place.querySelector("[data-stage]").textContent = error.message;
    }
  };
  look();
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
      const told = await asked(place.dataset.discounted);
      note.textContent = told.note;
      if (told.similarity !== null) figure.textContent = percent(told.similarity);
      if (!told.ready) setTimeout(look, 500);
    } catch (error) {
      note.textContent = error.message;
    }
  };
  look();
}

export function slider() {
  const form = document.querySelector("[data-slider]");
  if (!form) return;
  const input = form.querySelector("input");
  const marker = document.querySelector("[data-marker]");
  let running = null;
  const show = (told) => {
    tell(document, { families: told.families, gathered: told.gathered, largest: told.largest, moved: told.moved });
    const rows = told.moves.map((move) => {
      const row = document.createElement("tr");
      const count = document.createElement("td");
      count.className = "n";
      count.textContent = number(move.documents);
      row.append(count, ...[["before", "before_path"], ["after", "after_path"]].map(([id, path]) => {
        const cell = document.createElement("td");
        const link = document.createElement("a");
        const name = document.createElement("bdi");
        link.href = `/family?${new URLSearchParams({ id: move[id] })}`;
        name.textContent = move[path].split("/").pop() || move[path];
        link.append(name);
        cell.append(link);
        return cell;
      }));
      return row;
    });
    document.querySelector("[data-moves]").replaceChildren(...rows);
    document.querySelector("[data-unmoved]").hidden = rows.length > 0;
  };
  const change = async () => {
    const value = Number(input.value);
    form.querySelector("[data-value]").textContent = `${Math.round(value * 100)}%`;
    for (const end of ["x1", "x2"]) marker.setAttribute(end, ((value - 0.5) / 0.5) * 640);
    running?.abort();
    running = new AbortController();
    try {
      show(await asked("/api/preview", { threshold: value }, running.signal));
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
  const began = Date.now();
  const look = async () => {
    try {
      const told = await asked("/api/status");
      first ??= told.documents;
      const came = told.documents - first;
      const minutes = (Date.now() - began) / 60000;
      const rate = minutes > 0.05 ? Math.round(came / minutes) : "–";
      tell(place, { documents: told.documents, came, rate, failed: told.running ? "…" : told.failed });
      place.querySelector("[data-lamp]").classList.toggle("on", told.running);
      const state = told.running ? "A job is at work on this store." : "No job is at work on this store.";
      const said = place.querySelector("[data-state]");
      if (said.textContent !== state) said.textContent = state;
    } catch (error) {
      place.querySelector("[data-state]").textContent = error.message;
    }
    setTimeout(look, 2000);
  };
  look();
}
