// Judging without leaving the keyboard; every answer is a button of a form that works without this.

import { keyboard } from "./keys.js";

for (const part of document.querySelectorAll("[data-opens]")) part.hidden = false;
const press = (selector) => () => document.querySelector(selector)?.click();
const answers = [...document.querySelectorAll("[data-answer]")].map((one) => one.dataset.answer);
keyboard({
  ...Object.fromEntries(answers.map((digit) => [digit, press(`[data-answer="${digit}"]`)])),
  u: press("[data-undo]"),
});
