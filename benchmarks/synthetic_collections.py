"""Synthetic collections whose near duplicates are known: slots of known similarity, and edited
texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLOTS = 128
Codes = NDArray[np.uint64]


@dataclass(frozen=True)
class KnownPairs:
    """Slots of documents in any order; the pairs as `pair_codes`, ascending, with the similarity
    of each.
    """

    slots: NDArray[np.uint32]
    pairs: Codes
    similarity: NDArray[np.float64]


def pair_codes(a: NDArray[np.int64], b: NDArray[np.int64]) -> Codes:
    """Return each pair as one number, the lower document first."""
    return np.minimum(a, b).astype(np.uint64) << np.uint64(32) | np.maximum(a, b).astype(np.uint64)


def random_slots(
    documents: int, template: float, random: np.random.Generator, alike: float = 0.0
) -> KnownPairs:
    """Return slots of documents of which half are in families: an original and copies, each of
    which keeps a slot of the original with its own probability.

    The similarity of two of a family is the product of both probabilities, from .3 to 1. Families
    have 2 to 40 documents, most of them few. With `template` a share of all documents carries 40
    slots in common, as forms do. `alike` is the similarity of two documents that are not in one
    family: each slot holds the value that is frequent in its place with the root of it.
    """
    slots = random.integers(0, 2**32, (documents, SLOTS), dtype=np.uint32)
    if alike:
        frequent = random.integers(0, 2**32, SLOTS, dtype=np.uint32)
        for start in range(0, documents, 10_000):
            part = slots[start : start + 10_000]
            np.copyto(part, frequent, where=random.random(part.shape) < alike**0.5)
    sizes = np.minimum(40, 2 + random.pareto(1.5, documents // 4)).astype(np.int64)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), documents // 2))]
    starts = np.cumsum(sizes) - sizes
    shares = random.uniform(0.3, 1.0, sizes.sum()) ** 0.5
    shares[starts] = 1.0
    heads = np.repeat(starts, sizes)
    for start in range(0, len(heads), 10_000):
        part = slice(start, min(start + 10_000, len(heads)))
        mask = random.random((part.stop - start, SLOTS)) < shares[part, None]
        slots[part] = np.where(mask, slots[heads[part]], slots[part])
    forms = (
        documents // 2 + random.permutation(documents - documents // 2)[: int(template * documents)]
    )
    slots[forms, :40] = slots[forms[:1], :40]
    a, b = pairs_within(starts, sizes)
    order = random.permutation(documents)
    places = np.empty(documents, dtype=np.int64)
    places[order] = np.arange(documents)
    pairs = pair_codes(places[a], places[b])
    sorted_ = np.argsort(pairs)
    kept = (shares[a] * shares[b])[sorted_]
    return KnownPairs(slots[order], pairs[sorted_], kept + (1 - kept) * alike)


def pairs_within(
    starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of places inside each stretch."""
    ends = np.repeat(starts + sizes, sizes)
    places = np.concatenate(
        [np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)]
    ) + np.repeat(starts, sizes)
    partners = ends - places - 1
    first = np.repeat(places, partners)
    return first, first + 1 + np.arange(len(first)) - np.repeat(
        np.cumsum(partners) - partners, partners
    )


def vocabulary(random: np.random.Generator) -> NDArray[np.str_]:
    """Return 20,000 made-up words of two to eight letters."""
    return np.array(
        [
            "".join(random.choice(list("etaoinshrdlucm"), length))
            for length in random.integers(2, 9, 20_000)
        ]
    )


def random_texts(documents: int, words: int, random: np.random.Generator) -> list[str]:
    """Return texts of about `words` words; half of them in families, edited at random places."""
    vocabulary_words = vocabulary(random)
    texts: list[str] = []
    while len(texts) < documents:
        original = random.choice(vocabulary_words, words)
        for _ in range(1 if random.random() < 0.5 else int(min(20, 2 + random.pareto(1.5)))):
            edited = original.copy()
            places = random.random(words) < random.uniform(0, 0.15)
            edited[places] = random.choice(vocabulary_words, places.sum())
            texts.append(" ".join(edited))
    return texts[:documents]
