// Judging by keyboard; every answer is also a button of a form that works without script.

import { keyboard } from "./keyboard.js";

for (const part of document.querySelectorAll("[data-opens]")) part.hidden = false;
const press = (selector) => () => document.querySelector(selector)?.click();
const answers = [...document.querySelectorAll("[data-answer]")].map((button) => button.dataset.answer);
keyboard({
  ...Object.fromEntries(answers.map((digit) => [digit, press(`[data-answer="${digit}"]`)])),
  u: press("[data-undo]"),
  l: () => document.querySelector("[data-note]")?.focus(),
  s: press("[data-together] input"),
});

// A note is sent with the answer: Enter in it must not give the first one.
const note = document.querySelector("[data-note]");
note?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  note.blur();
});

// Both texts scroll together, each by the share of its own height.
const together = document.querySelector("[data-together]");
const texts = [...document.querySelectorAll(".texts > .text")];
if (together && texts.length === 2) {
  const box = together.querySelector("input");
  const STORED = "nearfold.together";
  together.hidden = false;
  try { box.checked = localStorage.getItem(STORED) !== "off"; } catch { /* private windows store nothing */ }
  box.addEventListener("change", () => {
    try { localStorage.setItem(STORED, box.checked ? "on" : "off"); } catch { /* private windows store nothing */ }
  });
  const places = new Map();  // where a text was put by the other one; it does not lead back
  for (const [text, other] of [texts, [texts[1], texts[0]]]) {
    text.addEventListener("scroll", () => {
      const isPut = places.get(text) === Math.round(text.scrollTop);
      places.delete(text);
      if (isPut) return;
      const height = text.scrollHeight - text.clientHeight;
      if (!box.checked || height <= 0) return;
      const place = Math.round(text.scrollTop / height * (other.scrollHeight - other.clientHeight));
      if (place === Math.round(other.scrollTop)) return;
      places.set(other, place);
      other.scrollTop = place;
    });
  }
}

// One answer per page: a key that is pressed while the next pair loads is not meant for the old pair.
let sent = false;
addEventListener("submit", (event) => {
  if (event.target.method === "dialog") return;
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => { sent = false; });
