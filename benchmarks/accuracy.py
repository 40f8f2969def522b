"""The error of the MinHash estimate over many pairs of random texts, as a share of what theory
gives k hash functions.

    python benchmarks/accuracy.py [--trials 12000]

Printed for near pairs of ordinary texts and for texts of 40 to 120 bytes: root mean square of
(estimate - J) divided by sqrt(J (1 - J) / 128) with the upper end of its one-sided 99 % interval,
beside datasketch's k permutations of the same features on a tenth of the trials. The words are
random strings, so every pair is a new draw of hashes.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator

import numpy as np
from datasketch import MinHash

from indexer import fingerprints
from indexer.recipe import DEFAULT
from indexer.similarity.measures import common
from indexer.similarity.sides import feature_set
from indexer.text.normalise import normalise
from indexer.text.shingles import grams

SLOTS = DEFAULT.slots or 0
KINDS = {
    "near pairs (400 words, 3 % changed)": (400, 0.03),
    "tiny texts (6 to 16 words, one changed)": (0, 0.0),
}


def pair(kind: tuple[int, float], chance: random.Random) -> tuple[str, str]:
    """A text and another with some words replaced."""
    words, share = kind
    count = words or chance.randint(6, 16)
    left_words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 8)))
        for _ in range(count)
    ]
    changed = max(1, round(share * count))
    right = list(left_words)
    for place in chance.sample(range(count), changed):
        right[place] = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=5))
    return " ".join(left_words), " ".join(right)


def truth(left: str, right: str) -> float:
    left_set, right_set = feature_set(left, DEFAULT), feature_set(right, DEFAULT)
    shared = common(left_set, right_set)
    return shared / (len(left_set) + len(right_set) - shared)


def datasketch_slots(text: str) -> np.ndarray:
    sketch = MinHash(SLOTS)
    sketch.update_batch([gram.encode() for gram in set(grams(normalise(text), DEFAULT.width or 1))])
    return sketch.hashvalues


def errors(kind: tuple[int, float], trials: int) -> Iterator[tuple[float, float | None]]:
    """Return for each trial the squared error of ours, and of datasketch's on every tenth, in units
    of the theory's variance.
    """
    chance = random.Random(17)
    pairs = [pair(kind, chance) for _ in range(trials)]
    slots = fingerprints([text for both in pairs for text in both]).minhash
    for place, (left, right) in enumerate(pairs):
        exact = truth(left, right)
        unit = exact * (1 - exact) / SLOTS
        ours = float(np.mean(slots[2 * place] == slots[2 * place + 1])) - exact
        if place % 10 == 0:
            theirs = float(np.mean(datasketch_slots(left) == datasketch_slots(right))) - exact
            yield ours**2 / unit, theirs**2 / unit
        else:
            yield ours**2 / unit, None


def describe_errors(squares: np.ndarray) -> str:
    upper = squares.mean() + 2.326 * squares.std() / math.sqrt(len(squares))
    error = math.sqrt(squares.mean())
    return f"{error:8.3f} (99 %: at most {math.sqrt(upper):.3f}, {len(squares):,} trials)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=12_000)
    options = parser.parse_args()
    for name, kind in KINDS.items():
        rows = list(errors(kind, options.trials))
        ours = np.array([error for error, _ in rows])
        theirs = np.array([error for _, error in rows if error is not None])
        print(f"{name}\n  nearfold   {describe_errors(ours)}")
        print(f"  datasketch {describe_errors(theirs)}\n")


if __name__ == "__main__":
    main()
