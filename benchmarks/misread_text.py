"""Misread text: copies with errors of recognition that keys and measures find, and what that costs
(docs/decisions/023-misread-text.md).

    python benchmarks/misread_text.py [--unseen | --features | --write FOLDER]

Copies are made by the model of `nearfold synth` (`ocr_noise.py`) from manual pages in English and
in 18 other languages, and from entries of changelogs; with `--unseen` from other manual pages,
docstrings and descriptions of API operations. Printed for each rate of misread characters: the
share of the copies at .8 / .9 by `lcs` and by `lcs_misread` against the clean text, and the share
that is a candidate by the keys of each recipe; "both" has the keys of `scans` and `lcs_misread` .8.
"Twice" are two copies of one text with different errors.

With `--features`, exact Jaccard similarities of features choose between them: the median of copies
at 5 %, and the chance to share 2 (3) of 42 bands of 3 slots, for copies and for random pairs.
With `--write`, pages and their copies at 1, 2, 3 and 5 % are written instead, for
`measure_relation.py`, which makes the table of six-grams by them and other folders.

Different pairs are those of `measure_corpora.py`; in some pages one name is changed by a letter, or
all numbers are. Last come random pairs of distinct texts that are candidates.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from key_layouts import (
    FEATURES,
    Codes,
    Hashes,
    chance,
    incidence,
    jaccard_of_all,
    texts,
)
from measure_corpora import (
    DOC,
    MAN,
    LabelledPair,
    api_operations,
    changelog_entries,
    code_pages,
    command_pages,
    docstrings,
    function_docstrings,
    licences,
    pairs_of,
    plain_page,
    sample,
)

from indexer import fingerprints, recipe_named
from indexer.lab.synthesis.ocr_noise import add_ocr_noise
from indexer.lab.synthesis.random_draws import RandomSource
from indexer.model import Fingerprint
from indexer.recipe import Recipe
from indexer.similarity.lcs import lcs
from indexer.similarity.misread import lcs_misread
from indexer.sketch.hashing import BLANK, shingle_hashes
from indexer.text.normal_words import normal_words
from indexer.text.normalise import normalised_codes
from indexer.text.normalise_v2 import normalised_codes_v2

RATES = (0.01, 0.02, 0.05, 0.08)
SPACED = ("cs da de es fi fr hr hu it nl pl pt ro ru sv tr").split()  # noqa: SIM905
UNSPACED = ["ja", "zh_CN"]
TEXTS = 40  # of a language, ten times as many of a corpus
LENGTHS = (100, 1_500)  # words of a text
RECIPES = [recipe_named(name) for name in ("default_v2", "default_v1", "scans")]
LEVELS = (0.8, 0.9)
Features = Callable[[str], Hashes]


def misread(texts: Sequence[str], rate: float, seed: str = "") -> list[str]:
    """Return a copy of each text with errors at a rate of its characters."""
    return [
        add_ocr_noise(text, rate, RandomSource(rate, place, text[:50] + seed))
        for place, text in enumerate(texts)
    ]


def scores(a: str, b: str) -> tuple[float, float]:
    """Return `lcs` and `lcs_misread`."""
    left, right = normal_words(a), normal_words(b)
    return lcs(left, right), lcs_misread(left, right)


def candidates(left: Sequence[str], right: Sequence[str], recipe: Recipe) -> np.ndarray:
    """Return for each pair whether it shares as many keys as the recipe asks for."""
    signed = fingerprints(left, recipe), fingerprints(right, recipe)
    return np.array([shares(a, b, recipe) for a, b in zip(*signed, strict=True)])


def shares(a: Fingerprint, b: Fingerprint, recipe: Recipe) -> bool:
    return len({*a.bands, *a.blocks} & {*b.bands, *b.blocks}) >= (recipe.shared or 1)


def in_half(name: str, unseen: bool) -> bool:
    return (crc32(name.encode()) & 1 == 1) == unseen


def pages(language: str, unseen: bool) -> dict[str, str]:
    folder = MAN if language == "en" else MAN.parent / language / "man1"
    chosen: dict[str, str] = {}
    paths = [path for path in folder.glob("*.1.gz") if not path.name.startswith("gcloud")]
    for path in RandomSource(1, language).shuffled(sorted(paths)):
        if in_half(path.name, unseen) and not path.is_symlink():
            try:
                text = plain_page(path)
            except (OSError, gzip.BadGzipFile):
                continue
            if LENGTHS[0] <= len(normal_words(text)) <= LENGTHS[1]:
                chosen[path.name] = text
        if len(chosen) == TEXTS:
            break
    return chosen


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


def texts_of(unseen: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts that copies are made of, by corpus."""
    for name, codes in (("English", ["en"]), ("16 languages", SPACED), ("ja, zh", UNSPACED)):
        yield (
            f"manual pages, {name}",
            [text for code in codes for text in pages(code, unseen).values()],
        )
    if unseen:
        yield "docstrings", long_enough(docstrings())
        yield "API operations", list(dict.fromkeys(pair.a for pair in api_operations()))[:400]
    else:
        yield "changelog entries", long_enough(changelog_entries())


def long_enough(texts: Mapping[str, str]) -> list[str]:
    several = sample(texts).values()
    return [text for text in several if len(normal_words(text)) >= LENGTHS[0] / 2][: 10 * TEXTS]


def print_copies(name: str, clean: Sequence[str], copies: Sequence[str]) -> None:
    values = np.array([scores(a, b) for a, b in zip(clean, copies, strict=True)])
    cells = [" / ".join(f"{(column >= at).mean():.3f}" for at in LEVELS) for column in values.T]
    found = [candidates(clean, copies, recipe) for recipe in RECIPES]
    both = found[-1] & (values[:, 1] >= LEVELS[0])
    shared = [f"{share.mean():.3f}" for share in (*found, both)]
    print(f"| {name} | {len(values):,} | {' | '.join([*cells, *shared])} |", flush=True)


def print_different(name: str, pairs: Sequence[tuple[str, str]]) -> None:
    values = np.array([scores(a, b) for a, b in pairs])
    cells = [" / ".join(f"{(column >= at).sum():,}" for at in LEVELS) for column in values.T]
    print(f"| {name} | {len(values):,} | {' | '.join(cells)} |", flush=True)


def print_random(name: str, texts: Sequence[str]) -> None:
    """Print the share of all pairs of these texts that are candidates by each recipe."""
    cells = []
    for recipe in RECIPES:
        keys = [{*one.bands, *one.blocks} for one in fingerprints(texts, recipe)]
        least = recipe.shared or 1
        count = sum(len(a & b) >= least for place, a in enumerate(keys) for b in keys[:place])
        cells.append(f"{count / (len(keys) * (len(keys) - 1) / 2):.3%}")
    print(f"| {name} | {len(texts):,} | {' | '.join(cells)} |", flush=True)


def runs(width: int, normalised: Callable[[str], Codes], keep_blanks: bool = True) -> Features:
    """Return the features that are runs of characters."""

    def features(text: str) -> Hashes:
        codes = normalised(text).astype(np.uint64)
        return shingle_hashes(codes if keep_blanks else codes[codes != BLANK], width)

    return features


def print_features() -> None:
    """Print recall and random pairs by each kind of features."""
    kinds = {
        "word pairs": FEATURES["word pair occurrences"],
        **{f"{width} characters": runs(width, normalised_codes) for width in (9, 8, 7, 6)},
        "6, with blanks between words": runs(6, normalised_codes_v2),
        "6, without punctuation": runs(6, normalised_codes_v2, keep_blanks=False),
    }
    doc = texts(DOC, 300, unseen=False)
    near = dict(list(texts_of(unseen=False))[:3]) | {"documentation": doc[:80]}
    random = {"manual pages, first 1,200 characters": first_paragraphs(), "documentation": doc}
    print(
        "| features | median J | " + " | ".join([*near, *(f"random, {n}" for n in random)]) + " |"
    )
    print("| --- |" + " ---: |" * (1 + len(near) + len(random)))
    for name, features in kinds.items():
        similar = []
        for clean in near.values():
            pairs = zip(clean, misread(clean, 0.05), strict=True)
            similar.append(np.array([jaccard(features(a), features(b)) for a, b in pairs]))
        every = [
            jaccard_of_all(incidence([features(text) for text in several]))
            for several in random.values()
        ]
        cells = [f"{chance(v, 42, 3, 2):.3f} ({chance(v, 42, 3, 3):.3f})" for v in similar]
        cells += [f"{chance(v, 42, 3, 2):.2%} ({chance(v, 42, 3, 3):.2%})" for v in every]
        median = np.median(np.concatenate(similar))
        print(f"| {name} | {median:.2f} | {' | '.join(cells)} |", flush=True)


def jaccard(a: Hashes, b: Hashes) -> float:
    common = len(np.intersect1d(a, b))
    return common / max(1, len(np.union1d(a, b)))


def first_paragraphs() -> list[str]:
    """Return the start of manual pages, most of one template, to the end of a paragraph."""
    starts = []
    for path in RandomSource(1, "x").shuffled(sorted(MAN.glob("*.1.gz")))[:500]:
        try:
            text = plain_page(path)
        except (OSError, gzip.BadGzipFile):
            continue
        end = text.find("\n\n", 1_200)
        if 1_200 < end < 60_000 and len(starts) < 300:
            starts.append(text[:end])
    return starts


def write_copies(folder: Path) -> None:
    """Write twenty pages in each of four languages, each with copies at several rates."""
    folder.mkdir(parents=True, exist_ok=True)
    for code in ("en", "de", "fr", "ru"):
        for place, text in enumerate([*pages(code, unseen=False).values()][:20]):
            (folder / f"{code}-{place:02}-00.txt").write_text(text)
            for percent in (1, 2, 3, 5):
                copy = add_ocr_noise(text, percent / 100, RandomSource(percent / 100, place))
                (folder / f"{code}-{place:02}-{percent:02}.txt").write_text(copy)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.features:
        print_features()
        return
    if options.write:
        write_copies(options.write)
        return
    unseen = options.unseen
    corpora = dict(texts_of(unseen))
    names = [f"keys of {recipe.name}" for recipe in RECIPES]
    print("| copies | pairs | `lcs` | `lcs_misread` | " + " | ".join([*names, "both"]) + " |")
    print("| --- |" + " ---: |" * (4 + len(RECIPES)))
    for rate in RATES:
        for name, clean in corpora.items():
            print_copies(f"{rate:.0%}, {name}", clean, misread(clean, rate))
    for rate in RATES[1:3]:
        clean = next(iter(corpora.values()))
        print_copies(f"twice {rate:.0%}", misread(clean, rate), misread(clean, rate, "again"))
    print("\n| different pairs | pairs | `lcs` | `lcs_misread` |\n| --- | ---: | ---: | ---: |")
    english = next(iter(corpora.values()))
    changed = [(text, renamed(text, RandomSource(place))) for place, text in enumerate(english)]
    print_different("one name changed", [(a, b) for a, b in changed if b])
    print_different("all digits changed", [(a, re.sub(r"\d", "7", a)) for a in english])
    for name, labelled in different_pairs(unseen):
        print_different(name, [(pair.a, pair.b) for pair in labelled if pair.similar is False])
    print("\n| random pairs | texts | " + " | ".join(names) + " |")
    print("| --- |" + " ---: |" * (1 + len(RECIPES)))
    for name, clean in corpora.items():
        print_random(name, clean)


if __name__ == "__main__":
    main()
