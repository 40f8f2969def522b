"""Choosing bands and rows for a threshold: the S-curve of locality-sensitive hashing.

Two sketches of similarity s share a band of r rows with chance p = s**r, and at least one of b
bands with 1 - (1 - p)**b (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, chapter 3). If
m shared bands are required, the chance is that of m or more successes in b trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from indexer.defaults import MEASURE, RECALL, REVIEW, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.fingerprinting.keys import DISTANCE, allowed_distance, check_distance, parse_design
from indexer.fingerprinting.minhash import FULL, Z999, similarity_intervals
from indexer.fingerprinting.rare_terms import THRESHOLD, fewest_common
from indexer.recipe import DEFAULT, LONG_BITS, Recipe
from indexer.wording import percent

# Similarity of the features of pairs that a measure places at a threshold.

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
QUANTILES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
SHARE_BELOW = QUANTILES[0]  # share of the pairs with less similar features than the table says
SAMPLE = 500  # equally likely similarities that stand for a distribution

CHARS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "lcs": (
            "0.308 0.310 0.312 0.321 0.341 0.361 0.379 0.405 0.450 0.501 0.553 0.599",
            "0.362 0.374 0.382 0.390 0.403 0.417 0.450 0.481 0.505 0.556 0.617 0.754",
            "0.448 0.451 0.473 0.494 0.527 0.538 0.565 0.606 0.645 0.687 0.728 0.784",
            "0.527 0.581 0.594 0.613 0.644 0.660 0.685 0.728 0.765 0.798 0.839 0.904",
            "0.668 0.708 0.727 0.754 0.781 0.796 0.811 0.842 0.870 0.890 0.906 0.949",
            "0.760 0.778 0.795 0.820 0.862 0.881 0.907 0.946 0.974 0.987 0.996 0.999",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "overlap": (
            "0.292 0.295 0.298 0.301 0.316 0.375 0.421 0.476 0.517 0.567 0.657 0.750",
            "0.331 0.334 0.340 0.350 0.415 0.434 0.497 0.562 0.621 0.665 0.736 0.785",
            "0.485 0.520 0.551 0.581 0.610 0.629 0.675 0.701 0.705 0.731 0.753 0.785",
            "0.517 0.564 0.572 0.587 0.628 0.677 0.745 0.795 0.820 0.834 0.859 0.902",
            "0.720 0.736 0.750 0.772 0.817 0.842 0.871 0.889 0.909 0.924 0.934 0.955",
            "0.775 0.783 0.803 0.814 0.865 0.893 0.931 0.968 0.982 0.994 0.998 0.999",
            "0.981 0.981 0.981 0.986 0.990 0.991 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "jaccard_words": (
            "0.447 0.452 0.459 0.475 0.507 0.518 0.560 0.599 0.639 0.665 0.720 0.783",
            "0.506 0.511 0.518 0.532 0.566 0.602 0.648 0.698 0.738 0.777 0.807 0.855",
            "0.525 0.558 0.567 0.576 0.607 0.625 0.705 0.773 0.794 0.822 0.837 0.880",
            "0.631 0.657 0.672 0.710 0.770 0.810 0.836 0.867 0.879 0.889 0.902 0.920",
            "0.730 0.745 0.755 0.776 0.849 0.869 0.892 0.915 0.933 0.943 0.963 0.968",
            "0.776 0.797 0.803 0.812 0.901 0.935 0.958 0.979 0.990 0.996 0.999 0.999",
            "0.981 0.981 0.981 0.986 0.990 0.991 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "resemblance": (
            "0.452 0.485 0.493 0.535 0.572 0.613 0.644 0.666 0.721 0.753 0.796 0.874",
            "0.537 0.555 0.570 0.581 0.613 0.623 0.644 0.767 0.795 0.819 0.868 0.910",
            "0.623 0.623 0.623 0.623 0.623 0.623 0.644 0.800 0.835 0.866 0.887 0.915",
            "0.672 0.679 0.688 0.709 0.760 0.837 0.868 0.882 0.890 0.903 0.922 0.970",
            "0.754 0.756 0.766 0.787 0.823 0.872 0.942 0.945 0.962 0.977 0.982 0.984",
            "0.780 0.784 0.789 0.803 0.823 0.872 0.961 0.984 0.993 0.997 0.999 0.999",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "terminology": (
            "0.206 0.219 0.232 0.243 0.251 0.262 0.282 0.313 0.352 0.390 0.427 0.533",
            "0.321 0.324 0.326 0.335 0.364 0.384 0.405 0.438 0.466 0.503 0.539 0.661",
            "0.398 0.411 0.423 0.437 0.464 0.489 0.512 0.525 0.564 0.608 0.642 0.733",
            "0.489 0.497 0.510 0.536 0.554 0.586 0.622 0.644 0.677 0.717 0.762 0.800",
            "0.689 0.717 0.751 0.768 0.793 0.803 0.815 0.829 0.855 0.878 0.890 0.926",
            "0.799 0.807 0.811 0.824 0.863 0.877 0.893 0.919 0.946 0.971 0.992 0.998",
            "0.935 0.937 0.939 0.945 0.959 0.969 0.980 0.991 0.998 0.999 0.999 1.000",
        ),
        "containment": (
            "0.001 0.001 0.001 0.002 0.007 0.013 0.029 0.049 0.080 0.128 0.214 0.326",
            "0.001 0.001 0.001 0.002 0.007 0.020 0.041 0.073 0.156 0.299 0.391 0.439",
            "0.001 0.001 0.001 0.002 0.009 0.022 0.053 0.193 0.352 0.448 0.511 0.566",
            "0.002 0.002 0.004 0.006 0.015 0.096 0.180 0.288 0.502 0.616 0.660 0.696",
            "0.015 0.017 0.021 0.024 0.184 0.423 0.589 0.773 0.808 0.825 0.853 0.882",
            "0.015 0.017 0.021 0.024 0.249 0.425 0.660 0.887 0.917 0.953 0.990 0.999",
            "0.015 0.017 0.021 0.024 0.249 0.425 0.660 0.887 0.973 0.997 0.997 1.000",
        ),
    }
)

WORD_PAIRS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "lcs": (
            "0.217 0.236 0.241 0.250 0.260 0.277 0.291 0.321 0.343 0.366 0.422 0.513",
            "0.283 0.288 0.296 0.306 0.321 0.339 0.360 0.387 0.415 0.445 0.489 0.573",
            "0.381 0.403 0.409 0.424 0.440 0.449 0.469 0.501 0.519 0.548 0.612 0.722",
            "0.500 0.500 0.500 0.512 0.530 0.544 0.571 0.618 0.668 0.719 0.762 0.815",
            "0.658 0.677 0.678 0.691 0.727 0.730 0.771 0.809 0.828 0.838 0.860 0.901",
            "0.793 0.827 0.844 0.858 0.876 0.889 0.906 0.948 0.972 0.993 0.997 0.999",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "overlap": (
            "0.306 0.307 0.317 0.330 0.356 0.371 0.392 0.411 0.434 0.453 0.476 0.523",
            "0.409 0.409 0.412 0.432 0.445 0.472 0.482 0.506 0.517 0.532 0.558 0.604",
            "0.511 0.538 0.545 0.554 0.571 0.586 0.603 0.624 0.657 0.659 0.680 0.706",
            "0.632 0.646 0.656 0.665 0.677 0.677 0.717 0.737 0.765 0.779 0.800 0.824",
            "0.773 0.781 0.790 0.793 0.793 0.793 0.828 0.850 0.860 0.878 0.897 0.924",
            "0.854 0.875 0.884 0.894 0.905 0.915 0.935 0.961 0.979 0.995 0.998 0.998",
            "0.964 0.964 0.964 0.966 0.980 0.982 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "jaccard_words": (
            "0.462 0.464 0.469 0.469 0.471 0.480 0.500 0.519 0.532 0.546 0.563 0.617",
            "0.511 0.555 0.564 0.579 0.589 0.596 0.611 0.634 0.646 0.674 0.687 0.713",
            "0.640 0.650 0.656 0.670 0.677 0.677 0.703 0.721 0.731 0.740 0.754 0.791",
            "0.747 0.754 0.759 0.766 0.781 0.790 0.793 0.801 0.811 0.825 0.842 0.859",
            "0.846 0.849 0.860 0.873 0.879 0.887 0.896 0.907 0.916 0.923 0.934 0.950",
            "0.915 0.923 0.925 0.930 0.936 0.946 0.960 0.974 0.987 0.997 0.998 0.998",
            "0.964 0.964 0.964 0.966 0.980 0.982 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "resemblance": (
            "0.474 0.482 0.493 0.509 0.530 0.545 0.558 0.594 0.637 0.690 0.714 0.806",
            "0.550 0.555 0.564 0.581 0.604 0.604 0.606 0.723 0.750 0.771 0.808 0.851",
            "0.651 0.683 0.725 0.737 0.737 0.737 0.737 0.790 0.800 0.814 0.836 0.873",
            "0.772 0.773 0.793 0.793 0.793 0.793 0.811 0.860 0.876 0.890 0.908 0.958",
            "0.895 0.901 0.909 0.917 0.922 0.926 0.937 0.954 0.963 0.963 0.972 0.981",
            "0.938 0.938 0.938 0.944 0.959 0.966 0.975 0.982 0.994 0.997 0.998 0.998",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "terminology": (
            "0.100 0.113 0.120 0.120 0.152 0.181 0.209 0.233 0.256 0.285 0.353 0.493",
            "0.200 0.206 0.212 0.219 0.234 0.262 0.293 0.339 0.365 0.389 0.435 0.564",
            "0.209 0.215 0.229 0.253 0.301 0.340 0.357 0.400 0.428 0.481 0.518 0.650",
            "0.241 0.249 0.253 0.257 0.322 0.396 0.467 0.515 0.552 0.605 0.655 0.764",
            "0.450 0.453 0.511 0.687 0.700 0.716 0.739 0.782 0.793 0.831 0.861 0.898",
            "0.687 0.732 0.734 0.746 0.790 0.809 0.853 0.896 0.932 0.968 0.992 0.998",
            "0.908 0.915 0.931 0.945 0.957 0.965 0.979 0.990 0.997 0.998 0.999 1.000",
        ),
        "containment": (
            "0.001 0.002 0.002 0.002 0.009 0.019 0.066 0.151 0.200 0.272 0.337 0.358",
            "0.002 0.002 0.002 0.002 0.017 0.057 0.105 0.216 0.315 0.381 0.433 0.463",
            "0.003 0.009 0.010 0.010 0.031 0.061 0.163 0.311 0.404 0.478 0.542 0.576",
            "0.006 0.009 0.010 0.010 0.072 0.105 0.267 0.443 0.571 0.668 0.686 0.729",
            "0.006 0.009 0.010 0.010 0.158 0.275 0.478 0.756 0.810 0.838 0.858 0.884",
            "0.006 0.009 0.010 0.010 0.202 0.434 0.792 0.860 0.942 0.978 0.997 0.998",
            "0.006 0.009 0.010 0.010 0.242 0.434 0.792 0.860 0.970 0.999 0.999 1.000",
        ),
    }
)


RELATED = tuple(CHARS)  # measures of which the relation is known


SIX_GRAMS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "lcs": (
            "0.263 0.271 0.272 0.276 0.284 0.296 0.306 0.332 0.384 0.432 0.477 0.534",
            "0.301 0.306 0.309 0.317 0.331 0.348 0.380 0.439 0.464 0.493 0.512 0.608",
            "0.420 0.425 0.432 0.447 0.463 0.477 0.502 0.537 0.566 0.566 0.611 0.713",
            "0.446 0.462 0.483 0.523 0.541 0.570 0.623 0.673 0.698 0.714 0.735 0.784",
            "0.652 0.660 0.666 0.699 0.771 0.792 0.813 0.834 0.849 0.863 0.878 0.904",
            "0.708 0.715 0.729 0.830 0.873 0.892 0.906 0.953 0.954 0.977 0.991 1.000",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
        "lcs_misread": (
            "0.263 0.271 0.273 0.278 0.284 0.296 0.305 0.330 0.381 0.431 0.477 0.534",
            "0.268 0.275 0.286 0.298 0.322 0.341 0.364 0.389 0.443 0.478 0.508 0.608",
            "0.331 0.332 0.333 0.351 0.383 0.428 0.471 0.500 0.543 0.566 0.583 0.718",
            "0.413 0.430 0.431 0.436 0.460 0.470 0.521 0.594 0.650 0.699 0.717 0.789",
            "0.547 0.574 0.588 0.601 0.628 0.666 0.719 0.791 0.823 0.841 0.863 0.887",
            "0.689 0.707 0.725 0.732 0.785 0.822 0.875 0.932 0.954 0.977 0.991 1.000",
            "1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000",
        ),
    }
)
RELATIONS = MappingProxyType(
    {"chars_v1": CHARS, "chars_v1:6": SIX_GRAMS, "word_pairs_v1": WORD_PAIRS}
)


def is_planned(measure: str, features: str) -> bool:
    """Return whether the recall of bands is known for a measure; `jaccard` needs no table."""
    return measure in ("jaccard", "estimate", *RELATIONS.get(features, CHARS))


def is_related(measure: str, features: str) -> bool:
    """Return whether it was measured how similar the features of pairs by this measure are."""
    return measure in RELATIONS.get(features, {})


def feature_similarities(
    measure: str, threshold: float, features: str = "chars_v1"
) -> NDArray[np.float64]:
    """Return similarities of the features, all equally likely, of pairs at this threshold.

    They are `SAMPLE` values, interpolated between the measured thresholds and, below the first,
    down to 0. For a measure without a table, such as `jaccard`, the threshold itself is the only
    one. For `lcs` and word pairs a sixth of them, as much as each of the measured corpora has, are
    of texts in which single words were replaced throughout: those corpora have few. From .7 down
    to .6 their weight falls to 0, as bands that find them there would make most pairs candidates.

    >>> feature_similarities("jaccard", 0.8)
    array([0.8])
    """
    relations = {**CHARS, **RELATIONS.get(features, {})}
    if measure == "lcs_misread" and measure not in relations:
        measure = "lcs"
    if measure not in relations:
        return np.array([threshold])
    rows = [np.array(row.split(), dtype=np.float64) for row in relations[measure]]
    columns = np.array([np.zeros(len(QUANTILES)), *rows]).T
    quantiles = [np.interp(threshold, (0.0, *THRESHOLDS), column) for column in columns]
    shares = (np.arange(SAMPLE) + 0.5) / SAMPLE
    similarities: NDArray[np.float64] = np.interp(shares, QUANTILES, quantiles)
    if (measure, features) == ("lcs", "word_pairs_v1"):
        weight = np.clip((threshold - 0.6) / 0.1, 0, 1)
        scattered = np.full(round(weight * SAMPLE / 5), scattered_words(threshold))
        similarities = np.sort(np.concatenate([similarities, scattered]))
    return similarities


def scattered_words(threshold: float) -> float:
    """Return the Jaccard similarity of the word pairs of two texts with this `lcs`, of which the
    words that differ were each replaced by chance.

    A pair stays when both of its words do: J = t^2 / (2 - t^2).

    >>> round(scattered_words(0.8), 3), round(scattered_words(0.9), 3)
    (0.471, 0.681)
    """
    kept = threshold * threshold
    return kept / (2 - kept)


UNRELATED_CHARS = 0.235  # median 4-gram similarity of unrelated documents of one language
UNRELATED = {
    "chars_v1": UNRELATED_CHARS,
    "word_pairs_v1": 0.107,  # of the same documents
    "chars_v1:6": 0.17,  # of manual pages
}
ALMOST_ONE = 0.999  # highest similarity that bands are planned for
_MOST_NODES = 257
_SLOT_MISSES = 0.25  # of the pairs that may be missed, the part that slots may reject

Similarities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout of bands x rows and its errors.

    `false_positive` is the area under the S-curve below the threshold, `false_negative` the area
    above the curve beyond it: chances, averaged over similarities, times the length of the
    interval. `curve`: 21 points (similarity of the features, chance). `shared` is the least number
    of shared bands that make a candidate. `fewest_equal`: slots that are equal in a candidate that
    is looked at further. `expected_recall`: the share of the pairs exactly at the threshold of
    `measure` that meet both; of the pairs above it more do. `least_recall`: the share that was
    asked for. `unrelated`: the usual similarity of the features of unrelated documents. `is_known`:
    whether it is known how similar the features of pairs by the measure are.
    """

    bands: int
    rows: int
    threshold: float
    false_positive: float
    false_negative: float
    curve: tuple[tuple[float, float], ...]
    shared: int = 1
    measure: str = "jaccard"
    fewest_equal: int = 0
    expected_recall: float = 0.0
    least_recall: float = 0.0
    unrelated: float = UNRELATED_CHARS
    is_known: bool = True

    def recall(self, similarity: float) -> float:
        """Return the chance that a pair of this similarity becomes a candidate."""
        return chance(similarity, self.bands, self.rows, self.shared)

    def expected_candidates(self, documents: int, similarity: float | None = None) -> float:
        """Return how many of `documents` become candidates of a query.

        `similarity`: that of all documents to it, `unrelated` if none is given.
        """
        return documents * self.recall(self.unrelated if similarity is None else similarity)


def chance(similarity: float, bands: int, rows: int, shared: int = 1) -> float:
    """Return the chance that two sketches of this similarity share at least `shared` bands.

    >>> round(chance(0.8, bands=21, rows=6), 3), round(chance(0.8, bands=21, rows=6, shared=2), 3)
    (0.998, 0.986)
    """
    return float(1.0 - missed(np.array([similarity]), bands, rows, shared)[0])


def plan(
    threshold: float = REVIEW,
    recall: float = 0.99,
    measure: str = MEASURE,
    recipe: Recipe = DEFAULT,
    keys: int | None = None,
    shared: int = 1,
) -> Plan:
    """Choose the layout with the fewest false candidates that finds pairs with this recall.

    `recall` is the least share of the pairs exactly at the threshold of `measure` that become
    candidates and that their equal slots do not reject afterwards. Pairs above the threshold are
    found more often, so it holds for all pairs at or above, however they are distributed. How
    similar the features of such pairs are is the threshold itself for `jaccard` and `estimate`,
    and measured for other measures (`indexer.comparing.plan`).

    False candidates are pairs of unrelated documents; ties go to more rows. `keys` is the
    maximal number of bands. Where no layout reaches the recall, the one that comes closest is
    chosen, which its `expected_recall` shows. Raises `UsageError` for a value out of range.

    >>> chosen = plan(0.8, 0.99)
    >>> chosen.bands, chosen.rows, chosen.fewest_equal, round(chosen.expected_recall, 3)
    (29, 3, 48, 0.99)
    """
    _check(threshold, recipe.slots or 0, shared)
    _check_recall(recall)
    return _plan(threshold, recall, measure, recipe, keys, shared)


@lru_cache(maxsize=64)
def _plan(
    threshold: float, recall: float, measure: str, recipe: Recipe, keys: int | None, shared: int
) -> Plan:
    slots = recipe.slots or 0
    similarities, fewest, kept = _by_slots(threshold, recall, measure, recipe)

    def expected(layout: tuple[int, int]) -> float:
        return float(kept @ (1.0 - missed(similarities, *layout, shared)) / len(kept))

    def false_candidates(layout: tuple[int, int]) -> tuple[float, int]:
        bands, rows = layout
        return chance(unrelated, bands, rows, shared), -rows

    unrelated = unrelated_similarity(recipe)
    layouts = _layouts(slots, keys or slots, shared)
    able = [layout for layout in layouts if expected(layout) >= recall]
    best = min(able, key=false_candidates) if able else max(layouts, key=expected)
    chosen = _plan_of(threshold, *best, shared)
    return replace(
        chosen,
        measure=measure,
        fewest_equal=fewest,
        expected_recall=expected(best),
        least_recall=recall,
        unrelated=unrelated,
        is_known=is_planned(measure, recipe.relation),
    )


def fewest_equal_slots(threshold: float, recall: float, measure: str, recipe: Recipe) -> int:
    """Return `Plan.fewest_equal` of the plan of these values, without making it."""
    _check(threshold, recipe.slots or 0, 1)
    _check_recall(recall)
    return _by_slots(threshold, recall, measure, recipe)[1]


def _by_slots(
    threshold: float, recall: float, measure: str, recipe: Recipe
) -> tuple[NDArray[np.float64], int, NDArray[np.float64]]:
    """Return what pairs at a threshold have, one value for each similarity of their features: the
    share of equal slots to expect, the fewest equal slots that do not rule a pair out, and the
    chance that it has them.
    """
    slots = recipe.slots or 0
    similarities = feature_similarities(measure, threshold, recipe.relation)
    similarities = equal_share(similarities, recipe.packed)
    if measure == "estimate":
        return similarities, math.ceil(similarities[0] * slots - 1e-9), np.ones(1)
    tails = binomial_tails(similarities, slots)
    fewest = int(np.argmax(tails.mean(axis=0) > _SLOT_MISSES * (1 - recall)))
    kept = 1.0 - tails[:, fewest - 1] if fewest else np.ones(len(similarities))
    return similarities, fewest, kept


def stored_recall(recipe: Recipe, measure: str, threshold: float) -> float | None:
    """Return the share of the pairs exactly at a threshold that share as many stored bands as the
    recipe asks for.

    Expected as by `plan`. None where that is not known: for a recipe without bands, and for a
    measure without a relation to its features, such as `hamming`.

    >>> round(stored_recall(DEFAULT, "lcs", 0.8), 3)
    0.99
    """
    if not recipe.bands or not is_planned(measure, recipe.relation):
        return None
    similarities = feature_similarities(measure, threshold, recipe.relation)
    shares = equal_share(similarities, recipe.packed)
    return float(1.0 - missed(shares, recipe.bands, recipe.rows or 0, recipe.shared or 1).mean())


def plan_by_weight(
    threshold: float = 0.8, slots: int = 128, false_negative_weight: float = 0.5, shared: int = 1
) -> Plan:
    """Choose the layout with the least weighted sum of both errors, as datasketch's `MinHashLSH`.

    Every layout with bands * rows <= slots is tried; ties go to fewer bands, then fewer rows. The
    weight of false positives is 1 - `false_negative_weight`. Raises `UsageError` when a value is
    out of range.

    >>> (plan_by_weight(0.5).bands, plan_by_weight(0.5).rows)
    (25, 5)
    """
    _check(threshold, slots, shared)
    if not 0.0 <= false_negative_weight <= 1.0:
        raise UsageError(
            f"the weight of false negatives must lie between 0 and 1, not {false_negative_weight}"
        )

    def weighted_error(layout: tuple[int, int]) -> float:
        positive, negative = _errors(threshold, *layout, shared)
        return (1 - false_negative_weight) * positive + false_negative_weight * negative

    best = min(_layouts(slots, slots, shared), key=weighted_error)
    return _plan_of(threshold, *best, shared)


def plan_for_recall(
    similarity: float = 0.8,
    recall: float = 0.998,
    slots: int = 128,
    keys: int | None = None,
    shared: int = 1,
) -> Plan:
    """Choose the layout with the fewest false candidates that reaches `recall` at `similarity`.

    Bands alone count here, as for keys that are stored. False candidates are the area under the
    S-curve below `similarity`; ties go to fewer bands. `keys` is the maximal number of bands: each
    is a key to store. Raises `UsageError` when no layout reaches the recall.

    >>> (plan_for_recall(0.8, 0.998).bands, plan_for_recall(0.8, 0.998).rows)
    (21, 6)
    """
    _check(similarity, slots, shared)
    _check_recall(recall)
    layouts = _layouts(slots, keys or slots, shared)
    able = [layout for layout in layouts if chance(similarity, *layout, shared) >= recall]
    if not able:
        limits = f"{slots} slots and {keys} keys" if keys else f"{slots} slots"
        raise UsageError(
            f"no layout of {limits} finds pairs of {similarity} with recall {recall}; allow more"
        )

    def false_positive(layout: tuple[int, int]) -> float:
        return _errors(similarity, *layout, shared)[0]

    best = min(able, key=false_positive)
    return _plan_of(similarity, *best, shared)


def describe_plan(chosen: Plan) -> str:
    """Return the layout, the recall that it promises, and the candidates, as one sentence.

    >>> describe_plan(plan(0.8)).partition(": ")[2].partition(" and ")[0]
    'expected to find 99.0% of the pairs at lcs 0.8'
    """
    least = f", {chosen.shared} shared" if chosen.shared > 1 else ""
    unrelated = percent(chosen.recall(chosen.unrelated), 2)
    if not chosen.is_known:
        promise = (
            f"how many of the pairs at this {chosen.measure} similarity they find is not known"
        )
    else:
        promise = (
            f"expected to find {percent(chosen.expected_recall, 1)} of the pairs at "
            f"{chosen.measure} {chosen.threshold:g} and more of those above"
        )
        if chosen.expected_recall < chosen.least_recall:
            promise += (
                f", which is less than the {percent(chosen.least_recall, 1)} asked for: "
                "no layout of so few keys and slots finds more"
            )
    return (
        f"{chosen.bands} bands x {chosen.rows} rows{least}: {promise}; "
        f"{unrelated} of pairs of unrelated documents are candidates"
    )


def unrelated_similarity(recipe: Recipe) -> float:
    """Return the usual similarity of the features of unrelated documents of one language."""
    return UNRELATED.get(recipe.relation, UNRELATED_CHARS)


def _check_recall(recall: float) -> None:
    if not 0.0 < recall < 1.0:
        raise UsageError(f"the recall must lie between 0 and 1 (exclusive), not {recall}")


def _check(threshold: float, slots: int, shared: int) -> None:
    if not 0.0 < threshold < 1.0:
        raise UsageError(f"the threshold must lie between 0 and 1 (exclusive), not {threshold}")
    if slots < 2:
        raise UsageError(f"a sketch needs at least 2 slots, not {slots}")
    if not 1 <= shared <= slots:
        raise UsageError(
            f"the least number of shared keys lies between 1 and {slots}, not {shared}"
        )


def _layouts(slots: int, keys: int, shared: int) -> list[tuple[int, int]]:
    return [
        (bands, rows)
        for bands in range(shared, min(slots, keys) + 1)
        for rows in range(1, slots // bands + 1)
    ]


def missed(
    similarities: NDArray[np.float64], bands: int, rows: int, shared: int
) -> NDArray[np.float64]:
    """Return the chance that texts of these similarities share fewer than `shared` bands.

    `similarities`: (n,) in [0, 1]; the chances are (n,) in [0, 1].
    """
    success = similarities**rows
    missed: NDArray[np.float64] = (1.0 - success) ** bands
    for hits in range(1, shared):
        missed = missed + math.comb(bands, hits) * success**hits * (1.0 - success) ** (bands - hits)
    return missed


def equal_share(similarities: Similarities, packed: int | None) -> Similarities:
    """Return the share of slots to be equal, by chance too where only their low bits are stored."""
    by_chance = 2.0**-packed if packed else 0.0
    return by_chance + (1 - by_chance) * similarities


def binomial_tails(similarities: Similarities, slots: int) -> NDArray[np.float64]:
    """Return (similarities, slots + 1): the chance of at most 0, 1, ... `slots` equal slots."""
    counts = np.arange(slots + 1)
    logs = np.array([math.lgamma(count + 1) for count in range(slots + 1)])
    ways = logs[slots] - logs - logs[::-1]
    shares = np.clip(similarities, 1e-12, 1 - 1e-12)[:, None]
    terms = ways + counts * np.log(shares) + (slots - counts) * np.log1p(-shares)
    tails: NDArray[np.float64] = np.minimum(1.0, np.cumsum(np.exp(terms), axis=1))
    return tails


def _errors(threshold: float, bands: int, rows: int, shared: int) -> tuple[float, float]:
    """Return the areas of false positives and false negatives.

    They are integrals of polynomials, for which Gauss-Legendre quadrature is exact. Beyond 512
    slots, where the degree exceeds the nodes, the error stays below 1e-6.
    """
    nodes, weights = _quadrature(min(_MOST_NODES, bands * rows // 2 + 1))

    def area(low: float, high: float) -> float:
        similarities = low + (high - low) * nodes
        return float((high - low) * (missed(similarities, bands, rows, shared) @ weights))

    return threshold - area(0.0, threshold), area(threshold, 1.0)


@cache
def _quadrature(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights of the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _plan_of(threshold: float, bands: int, rows: int, shared: int) -> Plan:
    curve = tuple((step / 20, chance(step / 20, bands, rows, shared)) for step in range(21))
    errors = _errors(threshold, bands, rows, shared)
    recall = chance(threshold, bands, rows, shared)
    return Plan(bands, rows, threshold, *errors, curve, shared, expected_recall=recall)


# Measure and threshold of comparisons by stored sketches, for recipes that make no slots.

HAMMING, ESTIMATE = "hamming", "estimate"


def has_bits_alone(recipe: Recipe) -> bool:
    """Return whether a recipe makes bits that an index keeps, and no slots."""
    return recipe.simhash is not None and not recipe.minhash


def has_sketch_alone(recipe: Recipe) -> bool:
    """Return whether stored bits or rare terms decide what is similar, and no texts."""
    return has_bits_alone(recipe) or recipe.terms is not None


def resolve_sketch(
    recipe: Recipe, measure: str, threshold: float, by_keys: bool = True
) -> tuple[str, float]:
    """Return the measure and threshold for a recipe of bits or rare terms alone.

    `hamming` within `usual_distance`, or `estimate`, the overlap of rare terms, at .9 stand for a
    `DefaultName` and a `DefaultNumber`. Raises `UsageError` for another measure, since texts are
    not read, and `by_keys` for a threshold beyond the distance of any tables.
    """
    own, kept = (ESTIMATE, "rare terms") if recipe.terms else (HAMMING, "bits")
    if measure != own and not isinstance(measure, DefaultName):
        raise UsageError(
            f"recipe {recipe.name} keeps {kept} alone, which are compared by {own}, "
            f"not by {measure}; leave --measure out (`match --complete` compares texts)"
        )
    if recipe.terms:
        is_default = isinstance(threshold, DefaultNumber)
        return own, (recipe.similarity or THRESHOLD) if is_default else threshold
    bits = recipe.bits or 64
    if isinstance(threshold, DefaultNumber):
        threshold = 1 - usual_distance(recipe) / bits
    if by_keys:
        remedy = "give a higher threshold, or compare texts by `match --complete`"
        check_distance(bits, allowed_distance(threshold, bits), remedy)
    return own, threshold


def usual_distance(recipe: Recipe) -> int:
    """Return the different bits of near duplicates by default.

    3, but of 64 bits those within which the recipe's tables find everything.

    >>> from indexer.recipe import recipe_named
    >>> names = ("simhash-doc", "simhash-doc-loose", "signature-study:topsig:256")
    >>> [usual_distance(recipe_named(name)) for name in names]
    [3, 6, 3]
    """
    if recipe.tables is None or recipe.bits != LONG_BITS:
        return DISTANCE
    return parse_design(recipe.bits, recipe.tables).distance


def sketch_size(recipe: Recipe) -> int:
    """Return the bits, or the entries of rare terms, that sketches are compared by."""
    return recipe.terms or recipe.bits or 0


def equal_parts(recipe: Recipe, threshold: float) -> int:
    """Return the least equal bits, or common rare terms, whose share reaches a threshold.

    >>> from indexer.recipe import recipe_named
    >>> [equal_parts(recipe_named("simhash-doc"), similarity) for similarity in (1 - 3 / 64, 0.9)]
    [61, 58]
    >>> equal_parts(recipe_named("clauses"), 0.9)
    27
    """
    size = sketch_size(recipe)
    if recipe.terms:
        return fewest_common(threshold, size)
    return size - allowed_distance(threshold, size)


# Bounds on equal slots that accept a pair, or rule it out, without its texts.


def enough_equal(
    measure: str, width: int, threshold: float, exact: bool = False, bits: int = FULL
) -> int:
    """Return the fewest equal slots that place a pair at the threshold or above by themselves.

    It is width + 1 when no number does. For `jaccard` the 95 % interval starts at the threshold or
    above, unless `exact`: then every pair is measured on its texts.

    >>> enough_equal("jaccard", 128, 0.5), enough_equal("jaccard", 128, 0.5, exact=True)
    (76, 129)
    >>> enough_equal("estimate", 128, 0.5)
    0
    """
    if measure == "estimate":
        return 0
    use_slots = measure == "jaccard" and not exact
    starts = similarity_intervals(width, bits=bits)[0].tolist() if use_slots else []
    return next((equal for equal, low in enumerate(starts) if low >= threshold), width + 1)


@lru_cache(maxsize=256)
def fewest_equal(measure: str, threshold: float, recipe: Recipe) -> int:
    """Return the fewest slots equal in a pair that slots do not rule out at a threshold.

    For `jaccard` the 99.9 % interval of such a pair ends at the threshold or above. For other
    measures slots rule out a quarter of the pairs that `RECALL` lets bands and slots miss together.
    For `estimate` the slots are the measure, and rule nothing out beforehand; nor do they for
    measures and features whose relation is not known, or without slots.

    >>> from indexer.recipe import DEFAULT_V1
    >>> [fewest_equal(name, 0.8, DEFAULT_V1) for name in ("jaccard", "lcs", "estimate", "hamming")]
    [88, 61, 0, 0]
    """
    if measure == "jaccard" and recipe.minhash:
        highs = similarity_intervals(recipe.slots or 0, Z999, recipe.packed or FULL)[1]
        return int(np.argmax(highs >= threshold))
    if not recipe.minhash or not is_related(measure, recipe.relation):
        return 0
    limited = min(max(threshold, 1 - ALMOST_ONE), ALMOST_ONE)
    return fewest_equal_slots(limited, RECALL, measure, recipe)
