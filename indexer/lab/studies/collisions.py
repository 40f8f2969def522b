"""The similarity of documents that share a signature: false collisions are of unlike texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.lab.studies.methods import QUESTION_BITS, pairs_of
from indexer.lab.studies.neighbours import Distinct, distinct
from indexer.lab.studies.signature_files import load_signatures, signature_name
from indexer.lab.studies.signatures import grams_of
from indexer.lab.studies.study_results import CollisionSimilarity
from indexer.system.progress_callback import Progress

PAIRS = 100
HALF = 0.5
Hashes: TypeAlias = NDArray[np.uint64]


def collision_similarity(
    texts: Iterable[str], files: Sequence[Path], bits: Sequence[int], progress: Progress
) -> tuple[CollisionSimilarity, ...]:
    """Return the similarity for every method at those of 16, 32 and 64 bits that are studied."""
    pairs_by_method: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for method, length in pairs_of([length for length in bits if length in QUESTION_BITS]):
        signatures = load_signatures(files, signature_name(method.name, length))
        pairs_by_method[method.name, length] = sharing(distinct(signatures))
    needed = {place for pairs in pairs_by_method.values() for pair in pairs for place in pair}
    hashes: dict[int, Hashes] = {}
    for place, text in enumerate(texts):
        if place in needed:
            hashes[place] = grams_of(text).hashes
            progress("comparing documents", len(hashes), len(needed))
    return tuple(
        _similarity(method, length, pairs, hashes)
        for (method, length), pairs in pairs_by_method.items()
    )


def sharing(signatures: Distinct) -> list[tuple[int, int]]:
    """Return the first two documents of shared signatures, of at most 100 evenly among them."""
    order = np.argsort(signatures.place, kind="stable")
    starts = np.cumsum(signatures.documents) - signatures.documents
    shared = starts[signatures.documents > 1]
    if not len(shared):
        return []
    chosen = np.linspace(0, len(shared) - 1, min(PAIRS, len(shared))).astype(np.int64)
    return [(int(order[start]), int(order[start + 1])) for start in shared[chosen]]


def _similarity(
    method: str, bits: int, pairs: Sequence[tuple[int, int]], hashes: dict[int, Hashes]
) -> CollisionSimilarity:
    if not pairs:
        return CollisionSimilarity(method, bits, 0, None, None)
    values = np.array([_jaccard(hashes[a], hashes[b]) for a, b in pairs])
    return CollisionSimilarity(
        method, bits, len(pairs), float(values.mean()), float((values < HALF).mean())
    )


def _jaccard(a: Hashes, b: Hashes) -> float:
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common)
