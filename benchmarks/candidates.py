"""Hamming distances of 64-bit SimHash sketches: of unrelated documents by language, or of one
document in several media and of documents of a thousand pages.

    python benchmarks/candidates.py FOLDER ... [--distance 3]
        [--recipes default,simhash-doc-v1,simhash-doc-v4] [--media]

Each FOLDER holds documents of one language (`/usr/share/man/de`, say). Printed for each: pairs of
unrelated documents (at most 35 % of their character 4-grams in common) within the distance, per
million such pairs, and the mean distance.

With `--media`: distances of texts to what is extracted from them as web page, mail, office document
and PDF, and of documents of a thousand pages (3,000,000 characters) to edited versions: the
greatest, the mean, and the fraction within the distance.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import combinations
from pathlib import Path

import numpy as np
from corpora import drawn_texts
from harness import arguments, head, row, thousandths
from reportlab.pdfgen.canvas import Canvas

from indexer import fingerprint, recipe_named
from indexer.comparing.measures import feature_set, jaccard
from indexer.documents.base import DEFAULT_LIMITS
from indexer.documents.native import NativeExtractor
from indexer.lab.synthesis import formats
from indexer.lab.synthesis.changes import wrap_lines
from indexer.recipe import DEFAULT

UNRELATED = 0.35
MIN_WORDS = 80
PAGES, PAGE = 1_000, 3_000
LINES = 50  # of a page of a PDF
Pairs = list[tuple[int, int]]


def unrelated_pairs(texts: list[str]) -> Pairs:
    sets = [feature_set(text, DEFAULT) for text in texts]
    pairs = combinations(range(len(texts)), 2)
    return [(a, b) for a, b in pairs if jaccard(sets[a], sets[b]) <= UNRELATED]


def distances(texts: list[str], pairs: Pairs, recipe: str) -> np.ndarray:
    """Return the Hamming distances of the pairs whose texts both have a sketch."""
    bits = [fingerprint(text, recipe_named(recipe)).simhash for text in texts]
    signed = [(bits[a], bits[b]) for a, b in pairs]
    return np.array([(a ^ b).bit_count() for a, b in signed if a is not None and b is not None])


def pdf(text: str, producer: str = "ReportLab") -> bytes:
    """Return a PDF of lines of 80 characters."""
    lines = wrap_lines(text, 80)
    file = BytesIO()
    canvas = Canvas(file)
    canvas.setProducer(producer)
    for start in range(0, len(lines), LINES):
        for number, line in enumerate(lines[start : start + LINES]):
            canvas.drawString(50, 800 - 15 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


MEDIA: dict[str, Callable[[str], bytes]] = {
    "html": formats.html,
    "eml": formats.eml,
    "rtf": formats.rtf,
    "docx": formats.docx,
    "odt": formats.odt,
    "pdf": pdf,
}


def versions(texts: list[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield pairs of texts by medium, then pairs of long documents by what was edited."""
    extractor = NativeExtractor(DEFAULT_LIMITS)
    for medium, write in MEDIA.items():
        read = (extractor.extract(write(text), f"a.{medium}").text for text in texts)
        yield medium, list(zip(texts, read, strict=True))
    rng = random.Random(1)
    books = ["".join(rng.choices(texts, k=PAGES * PAGE // 500))[: PAGES * PAGE] for _ in range(3)]
    for fraction in (0.001, 0.01, 0.1):
        edited = [(book, _with_other_words(book, fraction, rng)) for book in books]
        yield f"1,000 pages, {fraction:.1%} of the words exchanged", edited
    for pages in (1, 100):
        yield (
            f"1,000 pages without the first {pages}",
            [(book, book[pages * PAGE :]) for book in books],
        )


def _with_other_words(text: str, fraction: float, rng: random.Random) -> str:
    words = text.split()
    for position in rng.sample(range(len(words)), int(fraction * len(words))):
        words[position] = f"word{position}"
    return " ".join(words)


def print_versions(texts: list[str], recipes: Sequence[str], distance: int) -> None:
    """Print the distances of versions, a row each."""
    print("\n".join(head(["greatest, mean, within the distance", *recipes])))
    for name, pairs in versions(texts):
        flat = [text for pair in pairs for text in pair]
        numbers = [(place, place + 1) for place in range(0, len(flat), 2)]
        found = [distances(flat, numbers, recipe) for recipe in recipes]
        cells = [
            f"{bits.max()}, {bits.mean():.1f}, {thousandths(np.mean(bits <= distance))}"
            for bits in found
        ]
        print(row([name, *cells]), flush=True)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--recipes", default="default,simhash-doc-v1,simhash-doc-v2,simhash-doc-v4")
    parser.add_argument("--documents", type=int, default=300, help="of a folder at most")
    parser.add_argument("--media", action="store_true", help="of versions of one document")
    options = parser.parse_args()
    recipes = options.recipes.split(",")
    if options.media:
        texts = drawn_texts(options.folders, options.documents, (MIN_WORDS, 10**4), seed=1)
        print_versions(texts, recipes, options.distance)
        return
    print(f"{'':16}{'documents':>10}{'pairs':>10}" + "".join(f"{recipe:>26}" for recipe in recipes))
    for folder in options.folders:
        texts = sorted(set(drawn_texts([folder], options.documents, (MIN_WORDS, 10**6), seed=1)))
        pairs = unrelated_pairs(texts)
        cells = []
        for recipe in recipes:
            found = distances(texts, pairs, recipe)
            within, mean = np.nan, np.nan
            if len(found):
                within, mean = 1e6 * np.mean(found <= options.distance), found.mean()
            cells.append(f"{within:12,.0f} (mean {mean:4.1f})")
        counts = f"{folder.name:16}{len(texts):>10,}{len(pairs):>10,}"
        print(counts + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
