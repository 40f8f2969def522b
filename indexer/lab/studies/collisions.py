"""How alike documents are that share a signature: whether a collision is a find or a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

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
Hashes = NDArray[np.uint64]


def collision_similarity(
    texts: Iterable[str], files: Sequence[Path], bits: Sequence[int], progress: Progress
) -> tuple[CollisionSimilarity, ...]:
    """The likeness for every method at 16, 32 and 64 bits, as far as they were asked for."""
    wanted = pairs_of([one for one in bits if one in QUESTION_BITS])
    chosen = {
        (method.name, one): sharing(
            distinct(load_signatures(files, signature_name(method.name, one)))
        )
        for method, one in wanted
    }
    needed = {place for pairs in chosen.values() for pair in pairs for place in pair}
    hashes = dict[int, Hashes]()
    for place, text in enumerate(texts):
        if place in needed:
            hashes[place] = grams_of(text).hashes
            progress("comparing documents", len(hashes), len(needed))
    return tuple(_alike(method, one, pairs, hashes) for (method, one), pairs in chosen.items())


def sharing(made: Distinct) -> list[tuple[int, int]]:
    """The first two documents of shared signatures, of at most 100 evenly among all of these."""
    order = np.argsort(made.place, kind="stable")
    starts = np.cumsum(made.documents) - made.documents
    shared = starts[made.documents > 1]
    few = (
        shared[np.linspace(0, len(shared) - 1, min(PAIRS, len(shared))).astype(np.int64)]
        if len(shared)
        else shared
    )
    return [(int(order[start]), int(order[start + 1])) for start in few]


def _alike(
    method: str, bits: int, pairs: Sequence[tuple[int, int]], hashes: dict[int, Hashes]
) -> CollisionSimilarity:
    if not pairs:
        return CollisionSimilarity(method, bits, 0, None, None)
    values = np.array([_jaccard(hashes[one], hashes[other]) for one, other in pairs])
    return CollisionSimilarity(
        method, bits, len(pairs), float(values.mean()), float((values < HALF).mean())
    )


def _jaccard(one: Hashes, other: Hashes) -> float:
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)
