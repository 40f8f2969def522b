"""Ways to find excerpts, quoting replies and documents inside longer ones: recall by share,
candidates, seconds.

    python benchmarks/containment.py [--documents 2000]
    python benchmarks/containment.py --folder FOLDER

Documents of 100 to 5,000 words are sampled from 30,000 made-up words, the frequent ones much more
often, as in a language. Then excerpts are added: one unbroken stretch of a document, 10 to 90 %
of it and 30 words at least, with words of its own around it and none to a tenth of its words
replaced; and replies: some lines of their own above a whole document, quoted with a sign before
each line. A fifth of the documents end with one of ten notices of 40 words. Each method gives
candidate pairs; these are then measured by features (character 4-grams) and by passages (letters in
shared runs).

With --folder the texts in it (*.txt, *.md) are taken as unrelated: how much of a stretch of one do
both find in another?
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from synthetic_collections import SLOTS

from indexer.joins.bands import Join
from indexer.recipe import DEFAULT
from indexer.similarity.measures import containment
from indexer.similarity.sides import feature_set
from indexer.sketch.fingerprint import fingerprints
from indexer.sketch.hashing import mix64_array
from indexer.sketch.passage_keys import (
    contained_share,
    letters_and_digits,
    passage_keys,
    passage_runs,
    run_hashes,
)
from indexer.sketch.plan import plan_by_weight
from indexer.sketch.wilson import wilson
from indexer.text.normalise import normalised_codes

CAP = 100
Pairs = set[tuple[int, int]]
Keys = Callable[[str], NDArray[np.uint64]]


class Language:
    """Return words sampled by Zipf's law, the frequent ones short."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        letters, weights = list("etaoinshrdlcumwfgypbvk"), 1 / np.arange(3, 25)
        lengths = np.minimum(12, 2 + np.arange(30_000) // 400 + random.integers(0, 5, 30_000))
        vocabulary = [
            "".join(random.choice(letters, length, p=weights / weights.sum())) for length in lengths
        ]
        self._words = np.array(vocabulary)
        chances = 1 / (np.arange(len(vocabulary)) + 2.7)
        self._sums = np.cumsum(chances / chances.sum())

    def words(self, count: int) -> list[str]:
        places = np.minimum(
            np.searchsorted(self._sums, self._random.random(count)), len(self._words) - 1
        )
        return self._words[places].tolist()


def collection(
    documents: int, random: np.random.Generator
) -> tuple[list[str], dict[tuple[int, int], tuple[str, float]]]:
    """Texts, and of every true pair its kind and share: (source, excerpt or reply) in order of
    their places.
    """
    language = Language(random)
    notices = [language.words(40) for _ in range(10)]
    texts = [
        language.words(int(np.exp(random.uniform(np.log(100), np.log(5000)))))
        for _ in range(documents // 2)
    ]
    for place in np.flatnonzero(random.random(len(texts)) < 0.2).tolist():
        texts[place] += notices[random.integers(10)]
    passages = [" ".join(text) for text in texts]
    truth: dict[tuple[int, int], tuple[str, float]] = {}
    while len(passages) < documents:
        source = int(random.integers(len(texts)))
        words = texts[source]
        if random.random() < 0.25:
            lines = [" ".join(words[start : start + 11]) for start in range(0, len(words), 11)]
            truth[source, len(passages)] = ("reply", 1.0)
            passages.append(
                " ".join(language.words(int(random.integers(30, 100))))
                + "\n> "
                + "\n> ".join(lines)
            )
            continue
        share = float(random.uniform(0.1, 0.9))
        length = max(30, int(share * len(words)))
        start = int(random.integers(0, len(words) - length + 1))
        rate = float(random.choice([0, 0, 0.02, 0.05, 0.1]))
        chosen = [
            w if random.random() >= rate else language.words(1)[0]
            for w in words[start : start + length]
        ]
        around = language.words(int(random.uniform(0, 0.3) * length))
        truth[source, len(passages)] = (f"{rate:.0%} edited", length / len(words))
        passages.append(" ".join([*around, *chosen]))
    return passages, truth


def sharing(texts: Sequence[str], keys: Keys) -> tuple[Pairs, float]:
    """Pairs of texts that share a key no more than `CAP` carry, and how many keys a text has."""
    carriers: dict[int, list[int]] = defaultdict(list)
    total = 0
    for place, text in enumerate(texts):
        text_keys = keys(text).tolist()
        total += len(text_keys)
        for key in text_keys:
            carriers[key].append(place)
    return {
        pair
        for places in carriers.values()
        if len(places) <= CAP
        for pair in combinations(places, 2)
    }, total / len(texts)


def one_in(hashes: NDArray[np.uint64], share: int) -> NDArray[np.uint64]:
    """The hashes that are 0 modulo `share` after mixing once more."""
    return np.unique(hashes[mix64_array(hashes) % np.uint64(share) == 0])


def by_bands(texts: Sequence[str]) -> tuple[Pairs, float]:
    layout = plan_by_weight(0.5, SLOTS, 0.75)
    join = Join(fingerprints(texts).minhash, layout.bands, layout.rows, np.arange(len(texts)), CAP)
    return {
        (int(a), int(b)) for left, right in join.blocks() for a, b in zip(left, right, strict=True)
    }, layout.bands


def by_ensemble(texts: Sequence[str]) -> tuple[Pairs, float]:
    from datasketch import MinHash, MinHashLSHEnsemble

    signed = []
    for place, text in enumerate(texts):
        sketch = MinHash(SLOTS, hashfunc=int)
        hashes = feature_set(text, DEFAULT).hashes & np.uint64(0xFFFFFFFF)
        sketch.update_batch(hashes.tolist())
        signed.append((place, sketch, len(hashes)))
    ensemble = MinHashLSHEnsemble(threshold=0.5, num_perm=SLOTS, num_part=16)
    ensemble.index(signed)
    pairs = {
        tuple(sorted((place, other_place)))
        for place, sketch, size in signed
        for other_place in ensemble.query(sketch, size)
    }
    return {pair for pair in pairs if pair[0] != pair[1]}, SLOTS  # type: ignore[misc]


def runs_of(width: int) -> Keys:
    return lambda text: run_hashes(letters_and_digits(normalised_codes(text)), width)


METHODS: dict[str, Callable[[Sequence[str]], tuple[Pairs, float]]] = {
    "bands at .5 (26 x 4)": by_bands,
    "LSH Ensemble, 16 parts": by_ensemble,
    "4-grams, one in 32": lambda texts: sharing(
        texts, lambda text: one_in(feature_set(text, DEFAULT).hashes, 32)
    ),
    "runs of 24, one in 13": lambda texts: sharing(
        texts, lambda text: one_in(runs_of(24)(text), 13)
    ),
    "runs of 24, window 25": lambda texts: sharing(
        texts, lambda text: passage_keys(runs_of(24)(text))
    ),
    "runs of 24, window 49": lambda texts: sharing(
        texts, lambda text: passage_keys(runs_of(24)(text), 49)
    ),
    "runs of 40, window 25": lambda texts: sharing(
        texts, lambda text: passage_keys(runs_of(40)(text))
    ),
    "runs of 16, window 25": lambda texts: sharing(
        texts, lambda text: passage_keys(runs_of(16)(text))
    ),
}


def both_ways(a: str, b: str) -> tuple[float, float]:
    """Return the higher of the two containments of a pair: by features, and by passages."""
    runs = passage_runs(a), passage_runs(b)
    by_features = max(containment(feature_set(a, DEFAULT), feature_set(b, DEFAULT)))
    return by_features, max(contained_share(*runs), contained_share(*runs[::-1]))


def print_methods(texts: Sequence[str], truth: dict[tuple[int, int], tuple[str, float]]) -> Pairs:
    kinds = sorted({kind for kind, _ in truth.values()})
    shares = [(0.1, 0.25), (0.25, 0.5), (0.5, 0.91)]
    heads = [*kinds, *(f"{low:.0%}-{min(high, 0.9):.0%}" for low, high in shares)]
    print(
        f"{'':24}{'CPU s':>7}{'keys':>6}{'candidates':>12}"
        + "".join(f"{head:>12}" for head in heads)
    )
    all_pairs: Pairs = set()
    for name, method in METHODS.items():
        start_time = time.process_time()
        pairs, keys = method(texts)
        all_pairs |= pairs if len(pairs) < 100_000 else set()
        cells = []
        for head in heads:
            selected = [
                pair
                for pair, (kind, share) in truth.items()
                if head in (kind, _share_name(kind, share, shares))
            ]
            cells.append(f"{sum(pair in pairs for pair in selected) / max(1, len(selected)):12.1%}")
        print(
            f"{name:24}{time.process_time() - start_time:7.1f}{keys:6.0f}{len(pairs):12,}"
            + "".join(cells),
            flush=True,
        )
    return all_pairs


def _share_name(kind: str, share: float, shares: Sequence[tuple[float, float]]) -> str:
    return next(
        (f"{a:.0%}-{min(b, 0.9):.0%}" for a, b in shares if kind != "reply" and a <= share < b), ""
    )


def print_measures(
    texts: Sequence[str], truth: dict[tuple[int, int], tuple[str, float]], pairs: Pairs
) -> None:
    """Print both measures of the candidates of all methods, and of as many unrelated pairs."""
    random = np.random.default_rng(3)
    unrelated = {
        tuple(sorted(random.integers(0, len(texts), 2).tolist())) for _ in range(2000)
    } - truth.keys()
    groups = {
        "true": list(truth),
        "other candidates": sorted(pairs - truth.keys())[:4000],
        "unrelated": sorted(unrelated),
    }
    print(
        f"\n{'':18}{'pairs':>8}  share with the larger side at .5 or more, 95 % interval: by "
        "features / by passages"
    )
    for name, some in groups.items():
        by: Counter[str] = Counter()
        for a, b in some:
            if a != b:
                by_features, by_passages = both_ways(texts[a], texts[b])
                by["features"] += by_features >= 0.5
                by["passages"] += by_passages >= 0.5
        cells = []
        for measure in ("features", "passages"):
            low, high = wilson(by[measure], max(1, len(some)))
            cells.append(f"{by[measure] / max(1, len(some)):8.1%} ({low:.1%} - {high:.1%})")
        print(f"{name:18}{len(some):8,}  " + " / ".join(cells), flush=True)


def print_folder(folder: Path) -> None:
    """Print the share of parts of each text that both measures find in the others, by length."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".txt", ".md"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    print(
        f"{len(texts):,} texts, taken as unrelated; the share of a stretch that lies in another "
        "text\n"
    )
    print(
        f"{'characters':>12}{'pairs':>9}   by features: median, 95 %, most    by passages: "
        "median, 95 %, most"
    )
    for length in (250, 500, 1000, 2000, 4000):
        excerpts = []
        for place, text in enumerate(texts):
            start = max(0, len(text) - length) // 2
            stretch = text[start : start + length]
            runs, features = passage_runs(stretch), feature_set(stretch, DEFAULT)
            other_texts = texts[:place] + texts[place + 1 :] if len(text) >= length else []
            excerpts += [
                (
                    containment(features, feature_set(other_text, DEFAULT))[0],
                    contained_share(runs, passage_runs(other_text)),
                )
                for other_text in other_texts
            ]
        if excerpts:
            columns = np.array(excerpts).T
            cells = [
                "  ".join(f"{value:7.1%}" for value in np.quantile(column, [0.5, 0.95, 1]))
                for column in columns
            ]
            print(f"{length:12,}{len(excerpts):9,}   {cells[0]:>32}   {cells[1]:>32}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    if chosen.folder:
        print_folder(chosen.folder)
        return
    texts, truth = collection(chosen.documents, np.random.default_rng(11))
    print(
        f"{len(texts):,} documents, {len(truth):,} true pairs; keys in more than {CAP} texts are "
        "passed over\n"
    )
    print_measures(texts, truth, print_methods(texts, truth))


if __name__ == "__main__":
    main()
