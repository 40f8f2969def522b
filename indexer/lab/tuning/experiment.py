"""One recipe on all pairs: similarities by sketches and by features, the pairs that share a band,
and the cost.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.lab.evaluation.decider import usual_measure
from indexer.lab.tuning.band_layouts import layouts
from indexer.lab.tuning.tuning_results import Cases, Experiment
from indexer.model import Fingerprint
from indexer.recipe import Recipe
from indexer.similarity.measures import measure_pair
from indexer.similarity.sides import Side
from indexer.sketch.distance import bit_similarity
from indexer.sketch.fingerprint import fingerprint
from indexer.sketch.schemes import count_text_features
from indexer.text.normalisers import NORMALISERS

_DIGITS = 5


def experiment(cases: Cases, recipe: Recipe) -> Experiment:
    """Sign the texts by a recipe and measure all pairs.

    Raises `MissingExtra` for a recipe whose libraries are not there.
    """
    texts = cases.texts
    plain = recipe
    seconds = 0.0
    if recipe.normaliser in NORMALISERS:
        texts, seconds = _normalise(cases, recipe.normaliser)
        plain = replace(recipe, normaliser="none")
    statistics = count_text_features(texts, plain) if recipe.statistics else None
    started = time.process_time()
    prints = [fingerprint(text, plain, statistics) for text in texts]
    seconds += time.process_time() - started
    pairs = [(case.a, case.b) for case in cases.pairs]
    features = None
    if recipe.minhash and recipe.minhash != "icws_v1":
        measure = usual_measure(recipe)
        sides = [Side(text, plain) for text in texts]
        features = tuple(_by_texts(prints, sides, pair, measure) for pair in pairs)
    sketch = [_by_sketch(prints[a], prints[b], recipe) for a, b in pairs]
    return Experiment(
        recipe=recipe.name,
        id=recipe.id,
        cases=cases.digest,
        sketch=tuple(round(similarity, _DIGITS) for similarity in sketch),
        features=features,
        together=_together(prints, pairs, recipe),
        texts=len(cases.texts),
        unsigned=sum(text.status != "complete" for text in prints),
        seconds=round(seconds, 3),
        bits=_bits(recipe),
    )


@lru_cache(maxsize=1)
def _normalise(cases: Cases, normaliser: str) -> tuple[tuple[str, ...], float]:
    """Return the texts under a normaliser, which many recipes share, and the seconds it took."""
    started = time.process_time()
    texts = tuple(map(NORMALISERS[normaliser], cases.texts))
    return texts, time.process_time() - started


def _by_texts(
    prints: Sequence[Fingerprint], sides: Sequence[Side], pair: tuple[int, int], measure: str
) -> float:
    """Return the measure of two signed texts; 0 when either is not signed."""
    a, b = pair
    if not prints[a].status == prints[b].status == "complete":
        return 0.0
    return round(measure_pair(measure, sides[a], sides[b]).similarity, _DIGITS)


def _by_sketch(a: Fingerprint, b: Fingerprint, recipe: Recipe) -> float:
    """Return the share of equal slots; of equal bits; of the larger set of rarest terms or keys.

    0 without a sketch.
    """
    if a.status != "complete" or b.status != "complete":
        return 0.0
    if a.minhash is not None and b.minhash is not None:
        return float(np.mean(a.minhash == b.minhash))
    if a.simhash is not None and b.simhash is not None:
        return bit_similarity(a.simhash, b.simhash, recipe.bits or 64)
    a_keys = set(a.terms or a.blocks)
    b_keys = set(b.terms or b.blocks)
    return len(a_keys & b_keys) / max(len(a_keys), len(b_keys), 1)


def _together(
    prints: Sequence[Fingerprint], pairs: Sequence[tuple[int, int]], recipe: Recipe
) -> dict[str, str]:
    """Return the pairs that share a band, by layout, as `Experiment` has them."""
    if not recipe.minhash:
        return {}
    slots = recipe.slots or 0
    equal = np.array([_equal_slots(prints[a].minhash, prints[b].minhash, slots) for a, b in pairs])
    together: dict[str, str] = {}
    for bands, rows in layouts(recipe):
        by_band = equal[:, : bands * rows].reshape(len(pairs), bands, rows)
        sharing = np.any(np.all(by_band, axis=2), axis=1)
        together[f"{bands}x{rows}"] = np.packbits(sharing).tobytes().hex()
    return together


def _equal_slots(a: NDArray[Any] | None, b: NDArray[Any] | None, slots: int) -> NDArray[np.bool_]:
    if a is None or b is None:
        return np.zeros(slots, dtype=np.bool_)
    return np.asarray(a == b)


def _bits(recipe: Recipe) -> int | None:
    """Return the bits of a document's sketches; None for keys alone."""
    slot = recipe.packed or (64 if recipe.minhash == "affine64_v1" else 32)
    minhash = (recipe.slots or 0) * slot if recipe.minhash else 0
    bits = minhash + (recipe.bits or 0) + 64 * (recipe.terms or 0)
    return bits or None
