"""Misread text: what `lcs` finds of copies with errors of recognition, and what counting misread
words in part would find and list (docs/decisions/016-words-of-measures.md).

    python benchmarks/misread_text.py [--unseen]

Copies are made by the model of `nearfold synth` (`ocr_noise.py`) from manual pages in English and
in 18 other languages. Different pairs are those of `measure_corpora.py`. In some pages one name is
changed by a letter. Halves are drawn by hash; rules were chosen on
the half that is printed without `--unseen`.

A rule counts words in the gaps of the alignment, where the letters of a gap differ by few edits. A
gap counts its words on the side that has fewer x (1 - edits / letters). It does not count with a
number or a negation, with fewer than four letters, or without a word of its own that stands once.
Nothing counts unless at least `GAPS` gaps do, and `share` of all words outside the alignment lie
in such.
"""

from __future__ import annotations

import argparse
import gzip
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
from measure_corpora import (
    MAN,
    LabelledPair,
    api_operations,
    changelog_entries,
    code_pages,
    command_pages,
    function_docstrings,
    licences,
    pairs_of,
    plain_page,
    sample,
)
from rapidfuzz.distance import Levenshtein

from indexer import fingerprints
from indexer.lab.synthesis.ocr_noise import add_ocr_noise
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.recipe import DEFAULT, DEFAULT_V1
from indexer.similarity.fact_words import NEGATIONS
from indexer.similarity.lcs import common_runs
from indexer.text.normal_words import normal_words
from indexer.text.word_numbers import Words

RATES = (0.01, 0.02, 0.05)
SPACED = ("cs da de es fi fr hr hu it nl pl pt ro ru sv tr").split()  # noqa: SIM905
UNSPACED = ["ja", "zh_CN"]
TEXTS = 40  # of a language
LENGTHS = (100, 1_500)  # words of a text
GAPS = 5
RULES = [(edits, share) for edits in (0.2, 0.34, 0.5) for share in (0.0, 0.3, 0.5, 0.7)]
Gap = tuple[int, int, float]  # words of either side, and the share of edits; 1 if it never counts


def gaps(a: Words, b: Words) -> tuple[int, list[Gap]]:
    """Return the words of the alignment, and the gaps between its runs."""
    runs = [(run.a, run.b, run.words) for run in common_runs(a, b)]
    ends = [(0, 0, 0), *runs, (len(a), len(b), 0)]
    words_a, words_b = a.folded, b.folded
    own_a, own_b = own_words(words_a, words_b), own_words(words_b, words_a)
    result = []
    for (from_a, from_b, size), (to_a, to_b, _) in pairwise(ends):
        left, right = words_a[from_a + size : to_a], words_b[from_b + size : to_b]
        if left or right:
            is_own = bool(own_a.intersection(left) or own_b.intersection(right))
            result.append((len(left), len(right), edits(left, right) if is_own else 1.0))
    return sum(run[2] for run in runs), result


def own_words(words: Sequence[str], others: Sequence[str]) -> set[str]:
    """Return the words that stand once, and not in the other text."""
    known = set(others)
    return {word for word, count in Counter(words).items() if count == 1 and word not in known}


def edits(left: Sequence[str], right: Sequence[str]) -> float:
    """Return the share of the letters of a gap that are edited; 1 where none may count."""
    a, b = "".join(left), "".join(right)
    longer = max(len(a), len(b))
    is_fact = any(word.isdecimal() or word in NEGATIONS for word in (*left, *right))
    if is_fact or not a or not b or longer < 4:
        return 1.0
    return Levenshtein.distance(a, b) / longer


def scores(a: Words, b: Words) -> list[float]:
    """Return `lcs`, and what each rule makes of it."""
    longer = max(len(a), len(b))
    if not longer:
        return [0.0] * (1 + len(RULES))
    common, between = gaps(a, b)
    outside = sum(max(left, right) for left, right, _ in between)
    values = [common / longer]
    for most, share in RULES:
        counted = [gap for gap in between if gap[2] <= most]
        inside = sum(max(left, right) for left, right, _ in counted)
        is_misread = len(counted) >= GAPS and inside >= share * outside
        part = math.fsum(min(left, right) * (1 - edited) for left, right, edited in counted)
        values.append((common + part * is_misread) / longer)
    return values


def in_half(name: str, unseen: bool) -> bool:
    return (crc32(name.encode()) & 1 == 1) == unseen


def pages(language: str, unseen: bool) -> dict[str, str]:
    folder = MAN if language == "en" else MAN.parent / language / "man1"
    texts: dict[str, str] = {}
    paths = [path for path in folder.glob("*.1.gz") if not path.name.startswith("gcloud")]
    for path in RandomSource(1, language).shuffled(sorted(paths)):
        if in_half(path.name, unseen) and not path.is_symlink():
            try:
                text = plain_page(path)
            except (OSError, gzip.BadGzipFile):
                continue
            if LENGTHS[0] <= len(normal_words(text)) <= LENGTHS[1]:
                texts[path.name] = text
        if len(texts) == TEXTS:
            break
    return texts


def renamed(text: str, chance: RandomSource) -> str | None:
    """Return a text with a letter of one capitalised word changed, wherever the word stands."""
    names = [w for w in text.split() if w.isalpha() and w[0].isupper() and len(w) >= 5]
    if not names:
        return None
    name = chance.choice(sorted(set(names)))
    place = chance.between(1, len(name) - 1)
    letter = "e" if name[place] != "e" else "a"
    return text.replace(name, name[:place] + letter + name[place + 1 :])


def different_pairs(unseen: bool) -> Iterator[tuple[str, list[LabelledPair]]]:
    if unseen:
        yield "other manual pages", command_pages(is_seen=False)
        yield "API operations", api_operations()
        yield "docstrings", function_docstrings()
        yield "code pages", pairs_of("code pages", code_pages())
    else:
        yield "manual pages of commands", command_pages(is_seen=True)
        yield "changelog entries", pairs_of("changelog entries", sample(changelog_entries()))
        yield "licences", licences()


def print_row(name: str, rows: Sequence[Sequence[float]], rates: bool) -> None:
    values = np.array(rows)
    cells = []
    for column in values.T:
        at = [(column >= least - 1e-9) for least in (0.8, 0.9)]
        cells.append(" / ".join(f"{f.mean():.3f}" if rates else f"{f.sum():,}" for f in at))
    print(f"| {name} | {len(rows):,} | {values[:, 0].mean():.3f} | " + " | ".join(cells) + " |")
    sys.stdout.flush()


def shared_keys(clean: Sequence[str], misread: Sequence[str]) -> str:
    """Return the share of the pairs that are candidates by their keys, by `default_v2` and
    `default_v1`.
    """
    cells = []
    for recipe in (DEFAULT, DEFAULT_V1):
        left, right = fingerprints(clean, recipe), fingerprints(misread, recipe)
        both = [
            len({*a.bands, *a.blocks} & {*b.bands, *b.blocks}) >= (recipe.shared or 1)
            for a, b in zip(left, right, strict=True)
        ]
        cells.append(f"{np.mean(both):.3f}")
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--unseen", action="store_true")
    unseen = parser.parse_args().unseen
    names = " | ".join(f"{most:g} edits, {share:g}" for most, share in RULES)
    print("| corpus | pairs | mean lcs | lcs | " + names + " |")
    print("| --- |" + " ---: |" * (3 + len(RULES)))
    keys = []
    for rate in RATES:
        for group in (["en"], SPACED, UNSPACED):
            clean = [text for code in group for text in pages(code, unseen).values()]
            misread = [
                add_ocr_noise(text, rate, RandomSource(rate, place, text[:50]))
                for place, text in enumerate(clean)
            ]
            name = f"{rate:.0%} misread, {group[0] if len(group) == 1 else len(group)}"
            pairs = zip(map(normal_words, clean), map(normal_words, misread), strict=True)
            print_row(name, [scores(a, b) for a, b in pairs], rates=True)
            keys.append(f"| {name} | {shared_keys(clean, misread)} |")
    english = list(pages("en", unseen).values())
    changed = [(text, renamed(text, RandomSource(place))) for place, text in enumerate(english)]
    pairs = [(normal_words(a), normal_words(b)) for a, b in changed if b]
    print_row("one name changed", [scores(a, b) for a, b in pairs], rates=False)
    for name, labelled in different_pairs(unseen):
        sides = {text: normal_words(text) for pair in labelled for text in (pair.a, pair.b)}
        wrong = [scores(sides[p.a], sides[p.b]) for p in labelled if p.similar is False]
        print_row(name, wrong, rates=False)
    print("\n| copies | default_v2 | default_v1 |\n| --- | ---: | ---: |")
    print("\n".join(keys))


if __name__ == "__main__":
    main()
