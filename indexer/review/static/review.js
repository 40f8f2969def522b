// Behaviour of the pages beyond links and forms. Every page works without it, and no text becomes markup.

import { keyboard } from "./keyboard.js";
import { decide } from "./label_keys.js";
import { differences } from "./differences.js";
import { hits } from "./hits.js";
import { discounted, folded, jobs, reading, slider, waiting } from "./live.js";

for (const part of document.querySelectorAll("[data-scripted], [data-opens]")) part.hidden = false;
for (const part of document.querySelectorAll("[data-unscripted]")) part.hidden = true;
const filters = document.querySelector(".facet-groups");
if (filters && window.matchMedia("(max-width: 60rem)").matches) filters.open = false;

keyboard(decide());
differences();
hits();
reading();
waiting();
discounted();
folded();
slider();
jobs();
