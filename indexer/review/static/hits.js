// Steps from hit to hit of the search and the terms, in a text and in a comparison.

export function hits() {
  const marks = [...document.querySelectorAll("article.text mark[data-hit], section.sheet mark[data-hit]")];
  const buttons = [...document.querySelectorAll("[data-next-hit], [data-previous-hit]")];
  for (const button of buttons) button.hidden = !marks.length;
  if (!marks.length) return;
  const where = document.querySelector("[data-hits]");
  let at = -1;

  const show = (place) => {
    const link = place >= marks.length ? document.querySelector(".pager [rel=next]") : place < 0 && document.querySelector(".pager [rel=prev]");
    if (link) { link.click(); return; }
    marks[at]?.classList.remove("at");
    at = (place + marks.length) % marks.length;
    marks[at].classList.add("at");
    marks[at].scrollIntoView({ block: "center" });
    marks[at].focus({ preventScroll: true });
    if (where) where.textContent = `Hit ${at + 1} of ${marks.length}`;
  };

  document.querySelector("[data-next-hit]").addEventListener("click", () => show(at + 1));
  document.querySelector("[data-previous-hit]").addEventListener("click", () => show(at < 0 ? -1 : at - 1));
}
