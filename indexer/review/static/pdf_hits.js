// The words of a search in the pages of a PDF: boxes over them, and steps from one to the next.

const LETTER = "[0-9A-Za-z\\u00c0-\\u0dff]"; // of scripts with blanks between words
const WORD = "\\p{L}\\p{N}";
const measure = document.createElement("canvas").getContext("2d");

const plain = (text) => text.replace(/[\u00c0-\uffff]/g, (char) => {
  const first = char.normalize("NFD")[0];
  return first < "\x80" ? first : char;
});

// As the server finds words in a text: in any case, without marks on Latin letters, and divided by a
// hyphen at the end of a line.
function pattern(found) {
  const inWord = (word) => [...word].map((char) => char.replace(/[.*+?^${}()|[\]\\/]/, "\\$&")).join("(?:[-\u00ad\u2010]\n)?");
  const choices = found.map(([text, more]) => {
    const words = text.split(/\s+/).map(inWord).join(`[^${WORD}]+`);
    return `(${words}${more ? `[${WORD}_]*` : `(?!${LETTER})`})`;
  });
  return new RegExp(`(?<!${LETTER})(?:${choices.join("|")})`, "giu");
}

// The box of some characters of a piece of text, in per cent of its page.
function box(piece, style, start, end, viewport) {
  const [a, b, c, d, x, y] = piece.transform;
  measure.font = `100px ${style.fontFamily ?? "sans-serif"}`;
  const width = (text) => measure.measureText(text).width;
  const whole = width(piece.str) || 1;
  let [from, to] = [width(piece.str.slice(0, start)) / whole, width(piece.str.slice(0, end)) / whole];
  if (piece.dir === "rtl") [from, to] = [1 - to, 1 - from];
  const [along, up] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
  const corner = (right, high) => viewport.convertToViewportPoint(x + (a / along) * right + (c / up) * high, y + (b / along) * right + (d / up) * high);
  const corners = style.vertical
    ? [corner(-up / 2, -from * piece.height), corner(up / 2, -to * piece.height)]
    : [corner(from * piece.width, up * (style.descent || -0.2)), corner(to * piece.width, up * (style.ascent || 0.8))];
  const [left, right] = corners.map(([place]) => place).sort((one, other) => one - other);
  const [top, bottom] = corners.map(([, place]) => place).sort((one, other) => one - other);
  const mark = document.createElement("mark");
  mark.style.left = `${(100 * left) / viewport.width}%`;
  mark.style.top = `${(100 * top) / viewport.height}%`;
  mark.style.width = `${(100 * (right - left)) / viewport.width}%`;
  mark.style.height = `${(100 * (bottom - top)) / viewport.height}%`;
  return mark;
}

// The hits of a page, each with its boxes: one, or more where it goes over a line.
async function hitsOf(sheet, found, looked) {
  const { items, styles } = await sheet.getTextContent();
  const viewport = sheet.getViewport({ scale: 1 });
  const starts = [];
  let text = "";
  for (const piece of items) {
    starts.push(text.length);
    text += (piece.str ?? "") + (piece.hasEOL ? "\n" : "");
  }
  return [...plain(text).matchAll(looked)].map((match) => {
    const [begin, end] = [match.index, match.index + match[0].length];
    const color = found[match.slice(1).findIndex((group) => group !== undefined)][2];
    const boxes = items.flatMap((piece, at) => {
      const [from, to] = [Math.max(0, begin - starts[at]), Math.min(piece.str?.length ?? 0, end - starts[at])];
      return from < to && piece.str.trim() ? [box(piece, styles[piece.fontName] ?? {}, from, to, viewport)] : [];
    });
    for (const mark of boxes) {
      if (color) mark.className = `term t${color}`;
      mark.textContent = match[0];
    }
    return boxes;
  }).filter((boxes) => boxes.length);
}

// Marks the words in all pages, one page after the other.
export async function searcher(pdf, sides) {
  const found = JSON.parse(document.querySelector("[data-found]").dataset.found);
  if (!found.length) return;
  const looked = pattern(found);
  const bar = document.querySelector("[data-hits]");
  const [where] = bar.getElementsByTagName("span");
  const hits = [];
  let at = -1;

  const report = () => { where.textContent = at < 0 ? `${hits.length} hit${hits.length === 1 ? "" : "s"}` : `Hit ${at + 1} of ${hits.length}`; };
  const show = (place) => {
    if (!hits.length) return;
    for (const mark of hits[at] ?? []) mark.classList.remove("at");
    at = (place + hits.length) % hits.length;
    for (const mark of hits[at]) mark.classList.add("at");
    hits[at][0].scrollIntoView({ block: "center" });
    report();
  };
  const steps = [() => show(at < 0 ? -1 : at - 1), () => show(at + 1)];
  [...bar.getElementsByTagName("button")].forEach((button, step) => button.addEventListener("click", steps[step]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !["h", "H"].includes(event.key)) return;
    event.preventDefault();
    steps[event.key === "h" ? 1 : 0]();
  });
  bar.hidden = false;
  for (const [page, side] of sides) {
    const sheet = await pdf.getPage(side.number);
    const ofPage = await hitsOf(sheet, found, looked);
    side.boxes = ofPage.flat();
    page.append(...side.boxes);
    hits.push(...ofPage);
    report();
  }
}
