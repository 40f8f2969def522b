"""Compare layouts of band keys: recall of near duplicates against random pairs made candidates.

    python benchmarks/key_layouts.py FOLDER ... [--unseen] [--documents N]

Reads the text files (`.gz` too) below the folders. Near duplicates are all pairs of one folder with
`lcs` >= .8, found by brute force; texts equal after normalisation count once. Recall is the mean
over the folders, each counting the same. Random pairs are all pairs of the first folder, which
holds one language. For each kind of features the exact Jaccard similarity of each pair gives the
chance to share k of b bands of r slots of 8 bits, so that no luck of a single sketch is in the
figures. Printed for each kind: the fewest random pairs at a recall of .998 by number of bands, the
curves and layouts of the default recipes, and random pairs of each folder by `default_v2`'s.

A half of the documents, by a digest of their text, is kept apart; `--unseen` takes that half.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from indexer.recipe import DEFAULT_V1, DEFAULT_V2
from indexer.similarity.lcs import lcs
from indexer.sketch.hashing import gram_hashes, mix64_array, shingle_hashes, word_hashes
from indexer.sketch.plan import missed
from indexer.sketch.word_features import number_occurrences, word_features
from indexer.text.normal_words import normal_words
from indexer.text.normalise import normalised_codes
from indexer.text.normalise_v2 import normalised_codes_v2, word_starts

THRESHOLD = 0.8
WORDS = (10, 20_000)  # the shortest and longest documents, in words
BLOCK = 256
WIDTHS = range(1, 11)
LAYOUT = (DEFAULT_V2.bands or 0, DEFAULT_V2.rows or 0, DEFAULT_V2.shared or 1)
LAYOUT_V1 = (DEFAULT_V1.bands or 0, DEFAULT_V1.rows or 0)
MOST_BANDS = (24, 36, 48, 64, 128)
RECALL = 0.998
SHARED = (1, 2)
CHANCE = 2.0**-8  # different slots of 8 bits agree

Hashes = NDArray[np.uint64]
Codes = NDArray[np.uint32]


def word_runs(*widths: int) -> Callable[[str], Hashes]:
    def runs(text: str) -> Hashes:
        codes = normalised_codes_v2(text)
        hashes = word_hashes(codes, word_starts(codes))
        return np.concatenate([shingle_hashes(hashes, min(w, len(hashes))) for w in widths])

    return runs


FEATURES: dict[str, Callable[[str], Hashes]] = {
    "default_v1 4-grams": lambda text: gram_hashes(normalised_codes(text), 4),
    "4-grams": lambda text: gram_hashes(normalised_codes_v2(text), 4),
    "6-grams": lambda text: gram_hashes(normalised_codes_v2(text), 6),
    "words": word_runs(1),
    "word pairs": word_runs(2),
    "word triples": word_runs(3),
    "words and pairs": word_runs(1, 2),
    "word occurrences": lambda text: number_occurrences(word_runs(1)(text)),
    "word and pair occurrences": lambda text: number_occurrences(word_runs(1, 2)(text)),
    "word pair occurrences": lambda text: word_features(normalised_codes_v2(text)),
}


def texts(folder: Path, documents: int, unseen: bool) -> list[str]:
    """Return up to `documents` distinct texts of a folder, of the half asked for."""
    by_digest: dict[bytes, str] = {}
    for text in _readable(folder):
        if len(by_digest) >= documents:
            break
        if not WORDS[0] <= len(text) / 6 <= WORDS[1]:
            continue
        digest = hashlib.sha256(normalised_codes_v2(text).tobytes()).digest()
        count = len(normal_words(text))
        if (digest[0] & 1 == 1) == unseen and WORDS[0] <= count <= WORDS[1]:
            by_digest.setdefault(digest, text)
    return list(by_digest.values())


def _readable(folder: Path) -> Iterator[str]:
    """Yield the UTF-8 texts below a folder, in an order without meaning that stays the same."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in sorted(paths, key=lambda path: hashlib.sha256(str(path).encode()).digest()):
        text = read_text(path)
        if text is not None:
            yield text


def read_text(path: Path) -> str | None:
    """Return the text of a file, None if it is not UTF-8."""
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None


def incidence(features: list[Hashes]) -> csr_matrix:
    """Return documents by distinct features, (n, m), 1 where a document has a feature."""
    distinct = [np.unique(hashes) for hashes in features]
    columns = np.unique(np.concatenate(distinct), return_inverse=True)[1]
    starts = np.cumsum([0, *(len(hashes) for hashes in distinct)])
    return csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts))


def near_pairs(documents: list[str]) -> NDArray[np.intp]:
    """Return all pairs with `lcs` >= .8, (n, 2), by brute force behind exact bounds."""
    split = [normal_words(text) for text in documents]
    vocabulary: dict[str, int] = {}
    every = []
    for item in split:
        codes = [vocabulary.setdefault(word, len(vocabulary)) for word in item.vocabulary]
        numbers = np.array(codes, dtype=np.uint64)[item.numbers]
        every.append(number_occurrences(mix64_array(numbers)))
    sizes = np.array([len(item) for item in split])
    bags = incidence(every)
    pairs = []
    for start in range(0, len(split), BLOCK):
        common = (bags[start : start + BLOCK] @ bags.T).toarray()
        longer = np.maximum(sizes[start : start + BLOCK, None], sizes[None, :])
        for place, other in np.argwhere(common >= THRESHOLD * longer - 1e-3).tolist():
            left = start + place
            if left < other and lcs(split[left], split[other], THRESHOLD) >= THRESHOLD:
                pairs.append((left, other))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def jaccard_of_pairs(rows: csr_matrix, pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    sizes = np.diff(rows.indptr)
    common = np.zeros(len(pairs))
    for start in range(0, len(pairs), 4096):
        left, right = pairs[start : start + 4096].T
        common[start : start + 4096] = rows[left].multiply(rows[right]).sum(axis=1).ravel()
    return common / (sizes[pairs[:, 0]] + sizes[pairs[:, 1]] - common)


def jaccard_of_all(rows: csr_matrix) -> NDArray[np.float64]:
    """Return J of every pair of documents."""
    sizes = np.diff(rows.indptr)
    values = []
    for start in range(0, rows.shape[0], BLOCK):
        common = (rows[start : start + BLOCK] @ rows.T).toarray()
        similarity = common / (sizes[start : start + BLOCK, None] + sizes[None, :] - common)
        for place, row in enumerate(similarity):
            values.append(row[start + place + 1 :])
    return np.concatenate(values)


def chance(similarity: NDArray[np.float64], bands: int, rows: int, shared: int = 1) -> float:
    """Return the mean chance to share at least `shared` of `bands` bands of `rows` slots."""
    agree = CHANCE + (1 - CHANCE) * similarity
    return float(1 - np.mean(missed(agree, bands, rows, shared)))


def recall(near: list[NDArray[np.float64]], *layout: int) -> tuple[float, float]:
    """Return the mean and the least recall of the folders that have near duplicates."""
    recalls = [chance(values, *layout) for values in near if len(values)]
    return float(np.mean(recalls)), min(recalls)


def best_layouts(near: list[NDArray[np.float64]], random: NDArray[np.float64]) -> Iterator[str]:
    """Yield for each number of bands the layout with the fewest random pairs at the recall."""
    for shared in SHARED:
        for most in MOST_BANDS:
            layouts = [
                (chance(random, bands, rows, shared), bands, rows)
                for rows in WIDTHS
                if (bands := fewest_bands(near, rows, shared, most))
            ]
            if layouts:
                _, bands, rows = min(layouts)
                yield f"  up to {most:3}: " + described(near, random, bands, rows, shared)


def fewest_bands(near: list[NDArray[np.float64]], rows: int, shared: int, most: int) -> int:
    """Return the fewest bands that reach the recall; 0 when `most` do not."""
    if recall(near, most, rows, shared)[0] < RECALL:
        return 0
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        reached = recall(near, middle, rows, shared)[0] >= RECALL
        low, high = (low, middle) if reached else (middle, high)
    return high


def described(
    near: list[NDArray[np.float64]],
    random: NDArray[np.float64],
    bands: int,
    rows: int,
    shared: int = 1,
) -> str:
    mean, least = recall(near, bands, rows, shared)
    share = 100 * chance(random, bands, rows, shared)
    layout = f"{shared} of {bands:3} x {rows:2}"
    return f"{layout}  recall {mean:.4f} (least {least:.4f})  random pairs {share:7.4f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--unseen", action="store_true")
    options = parser.parse_args()
    corpora = [texts(folder, options.documents, options.unseen) for folder in options.folders]
    pairs = [near_pairs(documents) for documents in corpora]
    for folder, documents, near in zip(options.folders, corpora, pairs, strict=True):
        print(f"{folder.name}: {len(documents)} documents, {len(near)} near duplicates", flush=True)
    for name, features in FEATURES.items():
        rows = [incidence([features(text) for text in documents]) for documents in corpora]
        near = [jaccard_of_pairs(*each) for each in zip(rows, pairs, strict=True)]
        unrelated = [jaccard_of_all(each) for each in rows]
        print(f"{name}: mean J of random pairs {unrelated[0].mean():.4f}")
        print("\n".join(best_layouts(near, unrelated[0])))
        for width in range(2, 9):
            print(f"  curve: {described(near, unrelated[0], LAYOUT[0], width)}")
        print(f"  default_v1's layout: {described(near, unrelated[0], *LAYOUT_V1)}")
        print(f"  default_v2's layout: {described(near, unrelated[0], *LAYOUT)}")
        shares = (f"{100 * chance(values, *LAYOUT):.4f}" for values in unrelated)
        print(f"  default_v2's, % of random pairs by folder: {' '.join(shares)}", flush=True)


if __name__ == "__main__":
    main()
