// The pages of a PDF, by pdf.js in a worker. Pages are drawn when they come near, and dropped when far.

import { searcher } from "./pdf_hits.js";

const place = document.querySelector("[data-file]");
const state = document.querySelector("[data-state]");
const base = new URL(`${place.dataset.pdfjs}/`, location.href).href;
const sides = new Map(); // of each page: its number, and its drawing while there is one

function say(text) {
  state.textContent = text;
  state.hidden = !text;
}

function frame(number, count, shape) {
  const page = document.createElement("div");
  page.className = "page";
  page.style.aspectRatio = `${shape.width} / ${shape.height}`;
  page.setAttribute("role", "img");
  page.setAttribute("aria-label", `Page ${number} of ${count}`);
  sides.set(page, { number, task: null, boxes: [] });
  place.append(page);
  return page;
}

async function draw(pdf, page, side) {
  const sheet = await pdf.getPage(side.number);
  const plain = sheet.getViewport({ scale: 1 });
  page.style.aspectRatio = `${plain.width} / ${plain.height}`;
  const scale = (page.clientWidth / plain.width) * Math.min(2, Math.max(1, devicePixelRatio));
  const viewport = sheet.getViewport({ scale: Math.min(scale, Math.sqrt(16e6 / (plain.width * plain.height))) });
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  side.task = sheet.render({ canvas, viewport });
  await side.task.promise;
  if (side.task) page.replaceChildren(canvas, ...side.boxes);
  sheet.cleanup();
}

function drop(page, side) {
  side.task?.cancel();
  side.task = null;
  page.replaceChildren(...side.boxes);
}

async function open() {
  const policy = globalThis.trustedTypes?.createPolicy("nearfold-pdf", { createScriptURL: (url) => url }) ?? { createScriptURL: (url) => url };
  const pdfjs = await import(`${base}pdf.min.mjs`);
  pdfjs.GlobalWorkerOptions.workerPort = new Worker(policy.createScriptURL(`${base}pdf.worker.min.mjs`), { type: "module" });
  const task = pdfjs.getDocument({
    url: place.dataset.file, cMapUrl: base, cMapPacked: true, standardFontDataUrl: base, wasmUrl: base,
    useWasm: false, enableXfa: false, stopAtErrors: false, maxImageSize: 64e6, disableAutoFetch: true,
  });
  task.onPassword = () => { say("It is protected by a password, and is not shown; save it to see it."); task.destroy(); };
  const pdf = await task.promise;
  const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const side = sides.get(target);
      if (!isIntersecting) drop(target, side);
      else if (!side.task) draw(pdf, target, side).catch((error) => {
        if (error.name !== "RenderingCancelledException") target.textContent = `Page ${side.number} cannot be drawn.`;
      });
    }
  }, { rootMargin: "100% 0px" });
  say("");
  for (let number = 1; number <= pdf.numPages; number += 1) near.observe(frame(number, pdf.numPages, first));
  document.documentElement.dataset.pages = pdf.numPages;
  await searcher(pdf, sides);
}

open().catch((error) => { if (!/destroyed|password/i.test(error.message)) say(`It cannot be shown: ${error.message}`); });
