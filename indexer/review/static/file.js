// Behaviour of a comparison that is a single file: the same keys as on the page.

import { keyboard } from "./keyboard.js";
import { differences } from "./differences.js";

for (const part of document.querySelectorAll("[data-scripted], [data-opens]")) part.hidden = false;
keyboard();
differences();
