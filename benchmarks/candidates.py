"""False candidates of 64-bit SimHash sketches among unrelated documents, by language.

    python benchmarks/candidates.py FOLDER ... [--distance 3]
        [--recipes default,simhash-doc-v1,simhash-doc-v4]

Each FOLDER holds documents of one language (`/usr/share/man/de`, say). Printed for each: pairs of
unrelated documents (at most 35 % of their character 4-grams in common) within the distance, per
million such pairs, and the mean distance.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
from corpora import drawn_texts
from harness import arguments

from indexer import fingerprint, recipe_named
from indexer.comparing.measures import feature_set, jaccard
from indexer.recipe import DEFAULT

UNRELATED = 0.35
MIN_WORDS = 80
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


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--recipes", default="default,simhash-doc-v1,simhash-doc-v2,simhash-doc-v4")
    parser.add_argument("--documents", type=int, default=300, help="of a folder at most")
    options = parser.parse_args()
    recipes = options.recipes.split(",")
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
