"""One recipe on all pairs: what its sketches and features say of each, which pairs its bands bring
together, what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexer.lab.tuning.cases import Cases
from indexer.model import Fingerprint
from indexer.recipe import Recipe
from indexer.similarity.measures import FeatureSet, jaccard
from indexer.similarity.sides import feature_set
from indexer.sketch.distance import bit_similarity
from indexer.sketch.fingerprint import fingerprint
from indexer.sketch.plan import plan
from indexer.sketch.schemes import count_text_features
from indexer.text.normalisers import NORMALISERS

THRESHOLDS = tuple(step / 20 for step in range(2, 20))
WEIGHTS = (0.25, 0.5, 0.75, 0.9)
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Experiment:
    """What became of one recipe.

    `sketch`: the similarity of each pair by its sketches, in [0, 1]; `features`: by the features
    themselves, None for recipes that are not judged so. `together`: for each layout `BANDSxROWS`
    the pairs that share a band, as bits in hexadecimal, first pair first. `unsigned` texts have no
    sketch. `seconds`: to sign all texts on one processor, corpus statistics not counted; `bits`: of
    the sketches of a document, None for keys alone.
    """

    recipe: str
    id: str
    cases: str
    sketch: tuple[float, ...]
    features: tuple[float, ...] | None
    together: dict[str, str]
    texts: int
    unsigned: int
    seconds: float
    bits: int | None

    def as_json(self) -> dict[str, Any]:
        """By the names of its fields."""
        return asdict(self)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Experiment:
        """What `as_json` told. Raises `TypeError` or `KeyError` when it is something else."""
        features = told.get("features")
        return cls(
            **told
            | {
                "sketch": tuple(told["sketch"]),
                "features": features if features is None else tuple(features),
            }
        )


def experiment(cases: Cases, recipe: Recipe) -> Experiment:
    """Sign the texts by a recipe and measure all pairs. Raises `MissingExtra` for a recipe whose
    libraries are not there.
    """
    texts, plain, before = cases.texts, recipe, 0.0
    if recipe.normaliser in NORMALISERS:
        texts, before = _normalised(cases, recipe.normaliser)
        plain = replace(recipe, normaliser="none")
    statistics = count_text_features(texts, plain) if recipe.statistics else None
    started = time.process_time()
    signed = [fingerprint(text, plain, statistics) for text in texts]
    seconds = before + time.process_time() - started
    pairs = [(one.a, one.b) for one in cases.pairs]
    exact = None
    if recipe.minhash and recipe.minhash != "icws_v1":
        sets = [feature_set(text, plain) for text in texts]
        exact = tuple(_features(signed, sets, pair) for pair in pairs)
    return Experiment(
        recipe=recipe.name,
        id=recipe.id,
        cases=cases.digest,
        sketch=tuple(round(_likeness(signed[a], signed[b], recipe), _DIGITS) for a, b in pairs),
        features=exact,
        together=_together(signed, pairs, recipe),
        texts=len(cases.texts),
        unsigned=sum(one.status != "complete" for one in signed),
        seconds=round(seconds, 3),
        bits=_bits(recipe),
    )


@lru_cache(maxsize=1)
def _normalised(cases: Cases, normaliser: str) -> tuple[tuple[str, ...], float]:
    """The texts under a normaliser, which many recipes share, and the seconds that it took."""
    started = time.process_time()
    made = tuple(map(NORMALISERS[normaliser], cases.texts))
    return made, time.process_time() - started


def _features(
    signed: Sequence[Fingerprint], sets: Sequence[FeatureSet], pair: tuple[int, int]
) -> float:
    """The Jaccard similarity of two signed texts; 0 when one is not signed."""
    a, b = pair
    complete = signed[a].status == signed[b].status == "complete"
    return round(jaccard(sets[a], sets[b]), _DIGITS) if complete else 0.0


def _likeness(a: Fingerprint, b: Fingerprint, recipe: Recipe) -> float:
    """Equal slots; equal bits; rarest terms or keys in common, of the larger set. 0 without a
    sketch.
    """
    if a.status != "complete" or b.status != "complete":
        return 0.0
    if a.minhash is not None and b.minhash is not None:
        return float(np.mean(a.minhash == b.minhash))
    if a.simhash is not None and b.simhash is not None:
        return bit_similarity(a.simhash, b.simhash, recipe.bits or 64)
    mine, theirs = (set(one.terms or one.blocks) for one in (a, b))
    return len(mine & theirs) / max(len(mine), len(theirs), 1)


def _together(
    signed: Sequence[Fingerprint], pairs: Sequence[tuple[int, int]], recipe: Recipe
) -> dict[str, str]:
    if not recipe.minhash:
        return {}
    slots = recipe.slots or 0
    equal = np.array([_equal(signed[a].minhash, signed[b].minhash, slots) for a, b in pairs])
    made: dict[str, str] = {}
    for bands, rows in sorted(
        {layout(threshold, slots, weight) for threshold in THRESHOLDS for weight in WEIGHTS}
    ):
        by_band = equal[:, : bands * rows].reshape(len(pairs), bands, rows)
        sharing = np.any(np.all(by_band, axis=2), axis=1)
        made[f"{bands}x{rows}"] = np.packbits(sharing).tobytes().hex()
    return made


def _equal(a: NDArray[Any] | None, b: NDArray[Any] | None, slots: int) -> NDArray[np.bool_]:
    return np.zeros(slots, dtype=np.bool_) if a is None or b is None else np.asarray(a == b)


@cache
def layout(threshold: float, slots: int, weight: float) -> tuple[int, int]:
    """Bands and rows for a threshold and a weight of false negatives."""
    made = plan(threshold, slots, weight)
    return made.bands, made.rows


def _bits(recipe: Recipe) -> int | None:
    """Bits of a document's sketches; None for keys alone."""
    slot = recipe.packed or (64 if recipe.minhash == "affine64_v1" else 32)
    made = (
        (recipe.slots or 0) * slot * bool(recipe.minhash)
        + (recipe.bits or 0)
        + 64 * (recipe.terms or 0)
    )
    return made or None
