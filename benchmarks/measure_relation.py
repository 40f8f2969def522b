"""How much of their features texts share that reach a threshold by another measure.

    python benchmarks/measure_relation.py FOLDER ... [--held-out FOLDER ...] [--documents 1200]
        [--measures lcs,overlap] [--recipe default] [--recall 0.99]

Bands find pairs by their features, so `match` needs this relation to promise a recall for another
measure. Every pair of documents of a folder is measured whose words or features may allow it (no
bands are used). Printed for each measure and threshold: quantiles of the Jaccard similarity of the
features of the pairs from there upwards, every folder with the same weight, as the table in
indexer/sketch/measure_relation.py; then for the folders held out the recall that the layout of that
table promises, and the share of all pairs at or above the threshold that it finds.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from indexer import fingerprints, recipe_named
from indexer.indexing.documents import documents_at
from indexer.matching.match import MatchOptions
from indexer.model import Document
from indexer.recipe import Recipe
from indexer.similarity.measures import jaccard, measure_pair
from indexer.similarity.sides import Side
from indexer.sketch.keys import band_hashes
from indexer.sketch.measure_relation import QUANTILES, THRESHOLDS

MEASURES = ("lcs", "overlap", "jaccard_words", "resemblance", "terminology", "containment")
STEP = 0.05  # of a measure: pairs within it are taken together
RUN = 40  # documents that follow each other by name and are taken together
LEAST_WORDS = 20
PAIRS_A_DOCUMENT = 20  # pairs of one document that count at most, so that no large group rules
MOST_PAIRS = 60_000

Pairs = NDArray[np.int64]
Relation = tuple[NDArray[np.float64], NDArray[np.float64]]  # a measure and the features' Jaccard


def sample_paths(folder: Path, number: int) -> list[str]:
    """Files of a folder in runs of neighbours by name: versions and translations stay together."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    paths.sort(key=lambda path: (path.name, str(path)))
    runs = max(1, number // RUN)
    starts = np.linspace(0, max(0, len(paths) - RUN), runs).astype(int).tolist()
    places = sorted({place for start in starts for place in range(start, start + RUN)})
    return [str(paths[place]) for place in places if place < len(paths)]


def read_sides(folder: Path, number: int, recipe: Recipe) -> list[Side]:
    """The distinct texts of a sample, with their sketches."""
    read = documents_at(sample_paths(folder, number))
    texts = sorted({item.text for _, item in read if isinstance(item, Document)})
    signed = fingerprints(texts, recipe)
    sides = [
        Side(text, recipe, signed.minhash[place], None)
        for place, text in enumerate(texts)
        if signed.status[place] == "complete"
    ]
    return [side for side in sides if len(side.words) >= LEAST_WORDS]


def possible_pairs(sides: Sequence[Side], least: float) -> Pairs:
    """Pairs that share `least` of their words or features: (n, 2)."""
    words = [occurrences(side) for side in sides]
    vocabularies = [list(side.words.vocabulary) for side in sides]
    features = [side.features.hashes.tolist() for side in sides]
    by_words = shared_share(words, np.maximum)
    by_vocabulary = shared_share(vocabularies, np.maximum)
    by_features = shared_share(features, np.minimum)
    possible = np.maximum(np.maximum(by_words, by_vocabulary), by_features) >= least
    return np.argwhere(np.triu(possible, 1))


def occurrences(side: Side) -> list[tuple[str, int]]:
    """Each word with the number of its occurrence: sets of them share as multisets of words do."""
    counts = Counter[str]()
    items = []
    for word in side.words.folded:
        counts[word] += 1
        items.append((word, counts[word]))
    return items


def shared_share(sets: Sequence[Sequence[object]], divisor: np.ufunc) -> NDArray[np.float64]:
    """Items in common / the larger or the smaller set, of all pairs."""
    numbers: dict[object, int] = {}
    columns = [numbers.setdefault(item, len(numbers)) for items in sets for item in items]
    sizes = np.array([len(items) for items in sets])
    ones = np.ones(len(columns), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    matrix = csr_array((ones, columns, starts), shape=(len(sets), len(numbers)))
    return (matrix @ matrix.T).toarray() / np.maximum(divisor.outer(sizes, sizes), 1)


def balanced(pairs: Pairs, random: np.random.Generator) -> Pairs:
    """At most `PAIRS_A_DOCUMENT` pairs of each document, chosen at random."""
    counts: Counter[int] = Counter()
    chosen = []
    for place in random.permutation(len(pairs)).tolist():
        a, b = pairs[place].tolist()
        if max(counts[a], counts[b]) < PAIRS_A_DOCUMENT:
            counts.update((a, b))
            chosen.append(place)
    return pairs[np.sort(np.array(chosen[:MOST_PAIRS], dtype=np.int64))]


def measured(sides: Sequence[Side], pairs: Pairs, measure: str) -> NDArray[np.float64]:
    least = THRESHOLDS[0]
    return np.array(
        [measure_pair(measure, sides[a], sides[b], least=least).similarity for a, b in pairs]
    )


def feature_similarities(sides: Sequence[Side], pairs: Pairs) -> NDArray[np.float64]:
    return np.array([jaccard(sides[a].features, sides[b].features) for a, b in pairs])


def lowest_quantiles(corpora: Sequence[Relation], threshold: float) -> list[float]:
    """Quantiles of the features' Jaccard of the pairs from a threshold upwards.

    Pairs are taken in steps, and the lowest quantiles of all steps count: pairs that are more
    similar may share fewer features, such as texts that differ in punctuation only.
    """
    lowest = np.ones(len(QUANTILES))
    for low in np.arange(threshold, 1 + STEP / 2, STEP):
        parts = []
        for values, features in corpora:
            part = features[(values >= low - 1e-9) & (values < low + STEP - 1e-9)]
            if len(part):
                parts.append(np.quantile(part, np.linspace(0, 1, 1001)))
        if parts:
            lowest = np.minimum(lowest, np.quantile(np.concatenate(parts), QUANTILES))
    return lowest.tolist()


def check(
    name: str,
    sides: Sequence[Side],
    pairs: Pairs,
    values: NDArray[np.float64],
    measure: str,
    recall: float,
) -> Iterator[str]:
    """Lines with the promised and the true recall of one folder, for each threshold."""
    slots = np.array([side.minhash for side in sides])
    equal = np.count_nonzero(slots[pairs[:, 0]] == slots[pairs[:, 1]], axis=1)
    for threshold in THRESHOLDS:
        is_near = values >= threshold
        if not is_near.any():
            continue
        chosen = MatchOptions(threshold=threshold, measure=measure, recall=recall)
        layout = chosen.band_plan(sides[0].recipe)
        keys = band_hashes(slots, layout.bands, layout.rows)
        shares = (keys[pairs[:, 0]] == keys[pairs[:, 1]]).any(axis=1)
        both = shares & (equal >= layout.fewest_equal)
        yield (
            f"{name:28}{measure:14}{threshold:5.2f}{layout.bands:5} x {layout.rows:<3}"
            f"{layout.fewest_equal:4} of {slots.shape[1]}{is_near.sum():9,}"
            f"{layout.expected_recall:9.2%}{both[is_near].mean():9.2%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--held-out", type=Path, nargs="*", default=[])
    parser.add_argument("--documents", type=int, default=1200, help="of a folder, at most")
    parser.add_argument("--measures", default=",".join(MEASURES))
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--recall", type=float, default=0.99)
    options = parser.parse_args()
    recipe = recipe_named(options.recipe)
    measures = options.measures.split(",")
    random = np.random.default_rng(1)
    corpora: dict[str, list[Relation]] = {}
    for folder in options.folders:
        sides = read_sides(folder, options.documents, recipe)
        pairs = balanced(possible_pairs(sides, THRESHOLDS[0]), random)
        features = feature_similarities(sides, pairs)
        print(f"{folder}: {len(sides):,} texts, {len(pairs):,} pairs", file=sys.stderr, flush=True)
        for measure in measures:
            values = measured(sides, pairs, measure)
            corpora.setdefault(measure, []).append((values, features))
    for measure, results in corpora.items():
        print(f'    "{measure}": (')
        for threshold in THRESHOLDS:
            row = " ".join(f"{value:.3f}" for value in lowest_quantiles(results, threshold))
            print(f'        "{row}",')
        print("    ),")
    if options.held_out:
        print(f"{'':28}{'measure':14}{'at':>5}  layout  equal slots    pairs promised    found")
    for folder in options.held_out:
        sides = read_sides(folder, options.documents, recipe)
        pairs = possible_pairs(sides, THRESHOLDS[0])
        for measure in measures:
            sample = balanced(pairs, random) if len(pairs) > MOST_PAIRS else pairs
            values = measured(sides, sample, measure)
            lines = check(folder.name, sides, sample, values, measure, options.recall)
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
