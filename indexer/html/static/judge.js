// Judging by keyboard; every answer is also a button of a form that works without script.

import { keyboard } from "./keys.js";

for (const part of document.querySelectorAll("[data-opens]")) part.hidden = false;
const press = (selector) => () => document.querySelector(selector)?.click();
const answers = [...document.querySelectorAll("[data-answer]")].map((button) => button.dataset.answer);
keyboard({
  ...Object.fromEntries(answers.map((digit) => [digit, press(`[data-answer="${digit}"]`)])),
  u: press("[data-undo]"),
});

// One answer per page: a key that is pressed while the next pair loads is not meant for the old pair.
let sent = false;
addEventListener("submit", (event) => {
  if (event.target.method === "dialog") return;
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => { sent = false; });
