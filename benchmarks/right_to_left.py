"""Measure what the native extractor makes of Arabic and Hebrew PDF files.

    python benchmarks/right_to_left.py --work FOLDER [--documents 12] [--marks]

Texts are messages of the programs of this machine in Arabic and Hebrew (six words or more), about
250 words a document, as paragraphs (`short`) and as one paragraph (`flow`, and `justified`), with
`--marks` half of their letters with a vowel mark. Chromium and LibreOffice make PDF files of them.
Prints for each: documents, how many share a key with their text, how many have `lcs` >= .8 with it,
and the mean, first without `reorder_lines`, then with it.
"""

from __future__ import annotations

import argparse
import gettext
import html
import random
import re
import subprocess
from pathlib import Path

from indexer import fingerprints
from indexer.extraction import tika_answers
from indexer.extraction.base import Limits
from indexer.extraction.native import NativeExtractor
from indexer.recipe import DEFAULT_V2
from indexer.similarity.lcs import lcs
from indexer.text.words import words

LETTERS = {"ar": r"[\u0621-\u064a]", "he": r"[\u05d0-\u05ea]"}
MARKS = {"ar": "\u064e\u064f\u0650\u0652", "he": "\u05b8\u05b7\u05b5\u05b4"}
DRAWN = re.compile(r"(?<![\u05d0-\u05ea])[ךםןףץ]")  # final letters first: stored as drawn
CHROMIUM = "chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer"
FORMS = ("short", "flow", "justified")
WORDS = 250


def documents(language: str, number: int, marks: bool) -> list[list[str]]:
    """Return the messages of each document."""
    messages = set()
    for path in Path("/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo"):
        with path.open("rb") as opened:
            catalogue = gettext.GNUTranslations(opened)
        for value in catalogue._catalog.values():  # type: ignore[attr-defined]
            text = " ".join(value.replace("_", "").split()) if isinstance(value, str) else ""
            letters = len(re.findall(LETTERS[language], text))
            if len(text.split()) >= 6 and letters > 0.6 * len(text.replace(" ", "")):
                messages.add(text)
    chance = random.Random(1)
    texts = sorted(text for text in messages if not DRAWN.search(text))
    chance.shuffle(texts)
    found: list[list[str]] = [[]]
    for text in texts:
        if sum(len(item.split()) for item in found[-1]) >= WORDS:
            found.append([])
        signs = ["", "", "", "", *MARKS[language]] if marks else [""]
        found[-1].append(
            re.sub(LETTERS[language], lambda match: match[0] + chance.choice(signs), text)  # noqa: B023
        )
    return found[:number]


def make_files(work: Path, language: str, texts: list[list[str]]) -> None:
    """Write HTML, and PDF by both programs."""
    for form in FORMS:
        folder = work / f"{language}-{form}"
        folder.mkdir(parents=True, exist_ok=True)
        style = f"body{{font:11pt 'DejaVu Sans'}}p{{text-align:{'justify' * (form == FORMS[2])}}}"
        head = f'<!doctype html><html lang="{language}" dir="rtl"><meta charset="utf-8">'
        for number, messages in enumerate(texts):
            parts = messages if form == "short" else [". ".join(messages)]
            body = "".join(f"<p>{html.escape(part)}</p>" for part in parts)
            page = folder / f"{number}.html"
            page.write_text(f"{head}<title>.</title><style>{style}</style>{body}", "utf-8")
            pdf = f"--print-to-pdf={folder / f'{number}-chromium.pdf'}"
            run([*CHROMIUM.split(), pdf, page.absolute().as_uri()], folder)
        office = ["soffice", "--headless", "--convert-to"]
        pages = [f"{number}.html" for number in range(len(texts))]
        run([*office, "odt:writer8", "--infilter=HTML (StarWriter)", *pages], folder)
        run([*office, "pdf", *(name.replace("html", "odt") for name in pages)], folder)


def run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=600)


def figures(texts: list[list[str]], files: list[Path], extractor: NativeExtractor) -> str:
    """Return how many files share a key and reach .8, and their mean."""
    shared, values = 0, []
    for messages, path in zip(texts, files, strict=True):
        text = "\n".join(messages)
        extracted = extractor.extract(path.read_bytes(), path.name).text
        left, right = (set(keys) for keys in fingerprints([text, extracted], DEFAULT_V2).bands)
        shared += bool(left & right)
        values.append(lcs(words(text), words(extracted)))
    near = sum(value >= 0.8 for value in values)
    return f"{shared:3} {near:3} {sum(values) / len(values):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=12)
    parser.add_argument("--marks", action="store_true")
    options = parser.parse_args()
    extractor = NativeExtractor(Limits())
    reorder_lines = tika_answers.reorder_lines
    for language in LETTERS:
        texts = documents(language, options.documents, options.marks)
        make_files(options.work, language, texts)
        for form in FORMS:
            folder = options.work / f"{language}-{form}"
            for ending, program in (("-chromium", "Chromium"), ("", "LibreOffice")):
                files = [folder / f"{number}{ending}.pdf" for number in range(len(texts))]
                tika_answers.reorder_lines = str
                before = figures(texts, files, extractor)
                tika_answers.reorder_lines = reorder_lines
                after = figures(texts, files, extractor)
                print(f"{language} {form:9} {program:11} {len(files):3} | {before} | {after}")


if __name__ == "__main__":
    main()
