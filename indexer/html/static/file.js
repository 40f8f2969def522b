// What a comparison in a file of its own does: the same keys and steps as the page.

import { keyboard } from "./keys.js";
import { differences } from "./differences.js";

for (const part of document.querySelectorAll("[data-scripted], [data-opens]")) part.hidden = false;
keyboard();
differences();
