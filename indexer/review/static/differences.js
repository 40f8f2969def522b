// Steps from difference to difference in a comparison.

// Blocks that were never drawn have an estimated height: jump over a long way, and again once the
// blocks around the target are drawn.
function reach(block) {
  const far = Math.abs(block.getBoundingClientRect().top) > 3 * window.innerHeight;
  block.scrollIntoView({ block: "center", behavior: far ? "instant" : "auto" });
  if (far) requestAnimationFrame(() => block.scrollIntoView({ block: "center", behavior: "instant" }));
}

export function differences() {
  const next = document.querySelector("[data-next]");
  if (!next) return;
  const marks = [...document.querySelectorAll(".side.a [data-difference]")];
  const where = document.querySelector("[data-where]");
  const total = where.textContent.trim();
  const sheet = document.querySelector("section.sheet");
  let at = marks.findIndex((mark) => `#${mark.id}` === location.hash);

  const show = (place) => {
    if (!marks.length) return;
    if (place >= marks.length || place < 0) {
      const link = document.querySelector(place < 0 ? ".pager [rel=prev]" : ".pager [rel=next]");
      if (link) { link.click(); return; }
    }
    at = (place + marks.length) % marks.length;
    const block = marks[at].closest(".block");
    for (const other of document.querySelectorAll(".block.at")) other.classList.remove("at");
    block.classList.add("at");
    reach(block);
    marks[at].focus({ preventScroll: true });
    where.textContent = `Difference ${marks[at].dataset.difference} of ${total}`;
  };

  next.addEventListener("click", () => show(at + 1));
  document.querySelector("[data-previous]").addEventListener("click", () => show(at < 0 ? -1 : at - 1));
  document.querySelector("[data-only]").addEventListener("change", (event) => {
    sheet.classList.toggle("differing", event.target.checked);
  });
  if (at >= 0) show(at);
}
