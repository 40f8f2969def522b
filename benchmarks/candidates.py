"""False candidates of 64-bit SimHash sketches among unrelated documents, by language.

    python benchmarks/candidates.py FOLDER ... [--distance 3]
        [--recipes default,simhash-doc-v1,simhash-doc-v4]

Each FOLDER holds documents of one language (`/usr/share/man/de`, say). Printed for each: pairs of
unrelated documents (at most 35 % of their character 4-grams in common) within the distance, per
million such pairs, and the mean distance.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

from indexer import fingerprint, recipe_named
from indexer.indexing.documents import documents_under
from indexer.model import Document
from indexer.recipe import DEFAULT
from indexer.similarity.measures import jaccard
from indexer.similarity.sides import feature_set

UNRELATED = 0.35
SHORTEST = 500


def texts_under(folder: Path, most: int) -> list[str]:
    """Return distinct texts of some length, at most `most`."""
    texts = (
        result.text for _, result in documents_under(str(folder)) if isinstance(result, Document)
    )
    return sorted({text for text in texts if len(text) >= SHORTEST})[:most]


def unrelated_pairs(texts: list[str]) -> np.ndarray:
    """(n, 2) places of the pairs that have little in common."""
    sets = [feature_set(text, DEFAULT) for text in texts]
    return np.array(
        [
            pair
            for pair in combinations(range(len(texts)), 2)
            if jaccard(sets[pair[0]], sets[pair[1]]) <= UNRELATED
        ]
    )


def distances(texts: list[str], pairs: np.ndarray, recipe: str) -> np.ndarray:
    """(n,) Hamming distances of those pairs whose texts both have a sketch."""
    bits = [fingerprint(text, recipe_named(recipe)).simhash for text in texts]
    signed = [(bits[a], bits[b]) for a, b in pairs.tolist()]
    return np.array(
        [
            (left ^ right).bit_count()
            for left, right in signed
            if left is not None and right is not None
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--recipes", default="default,simhash-doc-v1,simhash-doc-v2,simhash-doc-v4")
    parser.add_argument("--most", type=int, default=300, help="documents of a folder at most")
    options = parser.parse_args()
    recipes = options.recipes.split(",")
    print(f"{'':16}{'documents':>10}{'pairs':>10}" + "".join(f"{recipe:>26}" for recipe in recipes))
    for folder in options.folders:
        texts = texts_under(folder, options.most)
        pairs = unrelated_pairs(texts)
        cells = []
        for recipe in recipes:
            pair_distances = distances(texts, pairs, recipe) if len(pairs) else np.zeros(0)
            within = (
                1e6 * np.mean(pair_distances <= options.distance)
                if len(pair_distances)
                else float("nan")
            )
            mean = np.mean(pair_distances) if len(pair_distances) else 0
            cells.append(f"{within:12,.0f} (mean {mean:4.1f})")
        print(
            f"{folder.name:16}{len(texts):>10,}{len(pairs):>10,}"
            + "".join(f"{cell:>26}" for cell in cells),
            flush=True,
        )


if __name__ == "__main__":
    main()
