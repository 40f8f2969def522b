// Judging without leaving the keyboard; every answer is a button of a form that works without this.

import { keyboard } from "./keys.js";

for (const part of document.querySelectorAll("[data-opens]")) part.hidden = false;
const press = (selector) => () => document.querySelector(selector)?.click();
const answers = [...document.querySelectorAll("[data-answer]")].map((one) => one.dataset.answer);
keyboard({
  ...Object.fromEntries(answers.map((digit) => [digit, press(`[data-answer="${digit}"]`)])),
  u: press("[data-undo]"),
});

// One answer a page: a key that is pressed while the next pair is on its way is not meant for the one that is still shown.
let sent = false;
addEventListener("submit", (event) => {
  if (event.target.method === "dialog") return;
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => { sent = false; });
