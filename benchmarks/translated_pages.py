"""Whether pages that were hardly translated are told apart by the languages of what differs.

    python benchmarks/translated_pages.py [--manuals /usr/share/man] [--pages 10] [--unseen FOLDER]

The first table has the pairs of pages of one command in two languages, English among them, whose
words differ and whose `lcs` is .9 or more: how many `replaced<=2` keeps apart by words that stand
for the same others, by two languages, and by either. Commands are in two halves by their names'
checksums: the rule was chosen on the first, and the counts of the second were seen while its
thresholds were compared. `--unseen` has pages of packages that were not installed then, in folders
like those of `--manuals`, with the English pages of the same commands: a row of their own. The
second table has copies of `--pages` pages of each language with words of other pages of it in place
of some, or with misread letters: how many are taken for another language, in all and of those in
English.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from zlib import crc32

from quality_tables import head, row

from indexer.extraction.base import DEFAULT_LIMITS
from indexer.extraction.gzip_files import unpack
from indexer.extraction.plain import plain_document
from indexer.lab.synthesis import changes
from indexer.lab.synthesis.ocr_noise import add_ocr_noise
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.similarity.languages import two_languages
from indexer.similarity.lcs import lcs
from indexer.similarity.replacements import is_replaced
from indexer.text.normal_words import normal_words
from indexer.text.word_numbers import Words

MOST = 2  # replacements
FEWEST, MOST_WORDS = 20, 6_000
Pair = tuple[Words, Words]
Pages = Mapping[str, list[tuple[str, Path]]]  # of commands, by language


def language_of(path: Path, manuals: Path) -> str:
    folder = path.relative_to(manuals).parts[0]
    return "en" if re.fullmatch(r"man\d", folder) else folder.split("_")[0].split(".")[0]


def pages_of(manuals: Path) -> Pages:
    """Return language and file of each page in a folder, by command."""
    pages: dict[str, list[tuple[str, Path]]] = defaultdict(list)
    for path in sorted(manuals.rglob("*")):
        if path.is_file() and not path.is_symlink():
            pages[path.name.removesuffix(".gz")].append((language_of(path, manuals), path))
    return pages


def text_of(path: Path) -> str:
    data, _ = unpack(path.read_bytes(), path.name, DEFAULT_LIMITS)
    document = plain_document(data, path.name, DEFAULT_LIMITS)
    return document.text if document else ""


def near_translations(files: Pages) -> Iterator[tuple[str, Pair]]:
    """Yield command and words of each pair of near duplicates in two languages."""
    for command, pages in sorted(files.items()):
        if len({language for language, _ in pages}) == 1:
            continue
        texts = [(language, normal_words(text_of(path))) for language, path in pages]
        for (of_a, a), (of_b, b) in combinations(texts, 2):
            is_long = min(len(a), len(b)) >= FEWEST and max(len(a), len(b)) <= MOST_WORDS
            if of_a != of_b and is_long and 0.9 <= lcs(a, b, 0.9) < 1:
                yield command, (a, b)


def print_translations(files: Pages, unseen: Pages) -> None:
    by_source: dict[str, list[Pair]] = {"chosen on": [], "counts seen": []}
    names = list(by_source)
    for command, pair in near_translations(files):
        by_source[names[crc32(command.encode()) % 2]].append(pair)
    if unseen:
        by_source["of other packages, unseen"] = [pair for _, pair in near_translations(unseen)]
    print("\n".join(head(["commands", "pairs", "by words", "by languages", "by either"])))
    for name, pairs in by_source.items():
        by_words = [is_replaced(a, b, MOST) for a, b in pairs]
        by_languages = [two_languages(a, b).times > MOST for a, b in pairs]
        either = sum(map(any, zip(by_words, by_languages, strict=True)))
        print(row([name, *map(str, (len(pairs), sum(by_words), sum(by_languages), either))]))


def print_copies(pages: Mapping[str, list[Path]], number: int) -> None:
    counts: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for language, paths in sorted(pages.items()):
        ordered = sorted(paths, key=lambda path: crc32(path.name.encode()))[: number + 6]
        texts = [text for text in map(text_of, ordered) if 50 < len(text.split()) < MOST_WORDS]
        donor = changes.word_list(" ".join(texts[-6:]))
        makers = {f"edit-{n:02}": partial(_edit, n / 100, donor) for n in (5, 10, 20)}
        for place, text in enumerate(texts[:number]):
            for kind, make in {**makers, "ocr-02": _misread}.items():
                copy = make(text, RandomSource(1, kind, str(place)))
                found = two_languages(normal_words(text), normal_words(copy or text))
                counts[kind].append((language, found.times > MOST))
    print("\n".join(head(["copies", "of pages", "another language", "of those in English"])))
    for kind, answers in counts.items():
        wrong = [language for language, is_other in answers if is_other]
        print(row([kind, *map(str, (len(answers), len(wrong), wrong.count("en")))]))


def _edit(share: float, donor: list[str], text: str, chance: RandomSource) -> str | None:
    return changes.edit_words(text, share, donor, chance)


def _misread(text: str, chance: RandomSource) -> str:
    return add_ocr_noise(text, 0.02, chance)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--manuals", type=Path, default=Path("/usr/share/man"))
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--unseen", type=Path)
    options = parser.parse_args()
    pages = pages_of(options.manuals)
    by_language: dict[str, list[Path]] = defaultdict(list)
    for language, path in chain.from_iterable(pages.values()):
        by_language[language].append(path)
    print_translations(pages, pages_of(options.unseen) if options.unseen else {})
    print()
    print_copies(by_language, options.pages)


if __name__ == "__main__":
    main()
