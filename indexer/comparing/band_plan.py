"""Choosing bands and rows for a threshold: the S-curve of locality-sensitive hashing.

Two sketches of similarity s share a band of r rows with chance p = s**r, and at least one of b
bands with 1 - (1 - p)**b (Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, chapter 3). If
m shared bands are required, it is the chance of m or more successes in b trials.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.measures import MEASURES, measure_named
from indexer.comparing.relations import QUANTILES, RELATED_FEATURES, THRESHOLDS
from indexer.defaults import MEASURE, RECALL, REVIEW, DefaultName, DefaultNumber
from indexer.errors import UsageError
from indexer.fingerprinting.keys import DISTANCE, allowed_distance, check_distance, parse_design
from indexer.fingerprinting.minhash import FULL, Z999, similarity_intervals
from indexer.fingerprinting.rare_terms import THRESHOLD, min_common
from indexer.recipe import DEFAULT, Recipe
from indexer.wording import percent

# The similarity of features of pairs whose measure is exactly at a threshold.

RELATED = tuple(name for name, declared in MEASURES.items() if "chars_v1" in declared.relation)
"""The measures whose relation to the features is known."""
FRACTION_BELOW = QUANTILES[
    0
]  # fraction of the pairs with less similar features than the table says
SAMPLE = 500  # equally likely similarities that stand for a distribution


def is_planned(measure: str, features: str) -> bool:
    """Return whether the recall of bands is known for a measure; `jaccard` needs no table."""
    declared = measure_named(measure)
    known = features if features in RELATED_FEATURES else "chars_v1"
    return declared.is_of_features or known in declared.relation


def is_related(measure: str, features: str) -> bool:
    """Return whether it was measured how similar the features of pairs by this measure are."""
    return features in measure_named(measure).relation


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
    declared = measure_named(measure)
    if declared.planned_as and features not in declared.relation:
        declared = MEASURES[declared.planned_as]
    table = declared.relation.get(features) or declared.relation.get("chars_v1")
    if table is None:
        return np.array([threshold])
    rows = [np.array(row.split(), dtype=np.float64) for row in table]
    columns = np.array([np.zeros(len(QUANTILES)), *rows]).T
    quantiles = [np.interp(threshold, (0.0, *THRESHOLDS), column) for column in columns]
    fractions = (np.arange(SAMPLE) + 0.5) / SAMPLE
    similarities: NDArray[np.float64] = np.interp(fractions, QUANTILES, quantiles)
    if (declared.name, features) == ("lcs", "word_pairs_v1"):
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
_MAX_NODES = 257
_SLOT_MISSES = 0.25  # of the pairs that may be missed, the part that slots may reject

Similarities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout of bands x rows and its errors.

    `false_positive` is the area under the S-curve below the threshold, `false_negative` the area
    above the curve beyond it: chances, averaged over similarities, times the length of the
    interval. `curve`: 21 points (similarity of the features, chance). `shared` is the minimum
    number of shared bands that make a candidate. `fewest_equal`: slots that are equal in a
    candidate that is looked at further. `expected_recall`: the fraction of the pairs exactly at the
    threshold of `measure` that meet both; of the pairs above it more do. `least_recall`: the
    fraction that was asked for. `unrelated`: the usual similarity of the features of unrelated
    documents. `is_known`: whether it is known how similar the features of pairs by the measure are.
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
    """Choose the layout of minimal false candidates that finds pairs with this recall.

    `recall` is the minimum fraction of the pairs exactly at the threshold of `measure` that become
    candidates and that their equal slots do not reject afterwards. Pairs above the threshold are
    found more often, so it holds for all pairs at or above, however they are distributed. How
    similar the features of such pairs are is the threshold itself for `jaccard` and `estimate`,
    and measured for other measures (`indexer.comparing.band_plan`).

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
    similarities, minimum, kept = _by_slots(threshold, recall, measure, recipe)

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
        fewest_equal=minimum,
        expected_recall=expected(best),
        least_recall=recall,
        unrelated=unrelated,
        is_known=is_planned(measure, recipe.relation),
    )


def min_equal_slots(threshold: float, recall: float, measure: str, recipe: Recipe) -> int:
    """Return `Plan.min_equal` of the plan of these values, without making it."""
    _check(threshold, recipe.slots or 0, 1)
    _check_recall(recall)
    return _by_slots(threshold, recall, measure, recipe)[1]


def _by_slots(
    threshold: float, recall: float, measure: str, recipe: Recipe
) -> tuple[NDArray[np.float64], int, NDArray[np.float64]]:
    """Return what pairs at a threshold have, one value for each similarity of their features: the
    fraction of equal slots to expect, the minimum number of equal slots that do not rule a pair
    out, and the chance that it has them.
    """
    slots = recipe.slots or 0
    similarities = feature_similarities(measure, threshold, recipe.relation)
    similarities = equal_fraction(similarities, recipe.packed)
    if measure == "estimate":
        return similarities, math.ceil(similarities[0] * slots - 1e-9), np.ones(1)
    tails = binomial_tails(similarities, slots)
    minimum = int(np.argmax(tails.mean(axis=0) > _SLOT_MISSES * (1 - recall)))
    kept = 1.0 - tails[:, minimum - 1] if minimum else np.ones(len(similarities))
    return similarities, minimum, kept


def stored_recall(recipe: Recipe, measure: str, threshold: float) -> float | None:
    """Return the fraction of the pairs exactly at a threshold that share as many stored bands as
    the recipe asks for.

    Expected as by `plan`. None where that is not known: for a recipe without bands, and for a
    measure without a relation to its features, such as `hamming`.

    >>> round(stored_recall(DEFAULT, "lcs", 0.8), 3)
    0.99
    """
    if not recipe.bands or not is_planned(measure, recipe.relation):
        return None
    similarities = feature_similarities(measure, threshold, recipe.relation)
    fractions = equal_fraction(similarities, recipe.packed)
    return float(1.0 - missed(fractions, recipe.bands, recipe.rows or 0, recipe.shared or 1).mean())


@lru_cache(maxsize=64)
def few_bands(measure: str, threshold: float, recipe: Recipe) -> tuple[int, int]:
    """Return how many of the first stored bands find the pairs exactly at a threshold, and how many
    of these a pair shares at least.

    With the slots of `min_equal`, `RECALL` of the pairs or more are expected, as by `plan`. As many
    bands are shared as the recipe asks for, where any number of bands finds as many pairs then: so
    hardly any row shares them by chance. All bands are taken, and one is shared, where no fewer are
    enough, or where that is not known.

    >>> few_bands("lcs", 0.9, DEFAULT), few_bands("lcs", 0.8, DEFAULT)
    ((19, 2), (42, 1))
    """
    bands, rows = recipe.bands or 0, recipe.rows or 0
    if is_planned(measure, recipe.relation):
        similarities = feature_similarities(measure, threshold, recipe.relation)
        fractions = equal_fraction(similarities, recipe.packed)
        for shared in sorted({recipe.shared or 1, 1}, reverse=True):
            for count in range(shared, bands + 1):
                lost = missed(fractions, count, rows, shared).mean()
                if lost <= (1 - _SLOT_MISSES) * (1 - RECALL):
                    return count, shared
    return bands, 1


def plan_by_weight(
    threshold: float = 0.8, slots: int = 128, false_negative_weight: float = 0.5, shared: int = 1
) -> Plan:
    """Choose the layout of the minimal weighted sum of both errors, as `MinHashLSH` does.

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
    """Choose the layout of minimal false candidates that reaches `recall` at `similarity`.

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
    minimum = f", {chosen.shared} shared" if chosen.shared > 1 else ""
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
        f"{chosen.bands} bands x {chosen.rows} rows{minimum}: {promise}; "
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
            f"the minimum number of shared keys lies between 1 and {slots}, not {shared}"
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


def equal_fraction(similarities: Similarities, packed: int | None) -> Similarities:
    """Return the fraction of slots to be equal, also by chance where only low bits are stored."""
    by_chance = 2.0**-packed if packed else 0.0
    return by_chance + (1 - by_chance) * similarities


def binomial_tails(similarities: Similarities, slots: int) -> NDArray[np.float64]:
    """Return (similarities, slots + 1): the chance of at most 0, 1, ... `slots` equal slots."""
    counts = np.arange(slots + 1)
    logs = np.array([math.lgamma(count + 1) for count in range(slots + 1)])
    ways = logs[slots] - logs - logs[::-1]
    fractions = np.clip(similarities, 1e-12, 1 - 1e-12)[:, None]
    terms = ways + counts * np.log(fractions) + (slots - counts) * np.log1p(-fractions)
    tails: NDArray[np.float64] = np.minimum(1.0, np.cumsum(np.exp(terms), axis=1))
    return tails


def _errors(threshold: float, bands: int, rows: int, shared: int) -> tuple[float, float]:
    """Return the areas of false positives and false negatives.

    They are integrals of polynomials, for which Gauss-Legendre quadrature is exact. Beyond 512
    slots, where the degree exceeds the nodes, the error stays below 1e-6.
    """
    nodes, weights = _quadrature(min(_MAX_NODES, bands * rows // 2 + 1))

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
        threshold = usual_threshold(recipe)
    if by_keys:
        remedy = "give a higher threshold, or compare texts by `match --complete`"
        check_distance(bits, allowed_distance(threshold, bits), remedy)
    return own, threshold


def usual_threshold(recipe: Recipe) -> float:
    """Return the least `hamming` of near duplicates by default, of a recipe of bits."""
    return 1 - usual_distance(recipe) / (recipe.bits or 64)


def usual_distance(recipe: Recipe) -> int:
    """Return the different bits of near duplicates by default.

    3, but of 64 bits or fewer those within which the recipe's tables find everything, and 0 of the
    study's MinHash, whose first bits are zero in most texts.

    >>> from indexer.recipe import recipe_named
    >>> names = ["simhash-doc", "simhash-doc-loose"]
    >>> names += ["signature-study:topsig:256", "signature-study:topsig:32"]
    >>> names += ["signature-study:minhash:256"]
    >>> [usual_distance(recipe_named(name)) for name in names]
    [3, 6, 3, 2, 0]
    """
    if (recipe.simhash or "").startswith("truncated"):
        return 0
    if not (recipe.bits and recipe.tables) or recipe.has_long_bits:
        return DISTANCE
    return parse_design(recipe.bits, recipe.tables).distance


def sketch_size(recipe: Recipe) -> int:
    """Return the bits, or the entries of rare terms, that sketches are compared by."""
    return recipe.terms or recipe.bits or 0


def equal_parts(recipe: Recipe, threshold: float) -> int:
    """Return the minimum number of equal bits, or common rare terms, at a threshold.

    >>> from indexer.recipe import recipe_named
    >>> [equal_parts(recipe_named("simhash-doc"), similarity) for similarity in (1 - 3 / 64, 0.9)]
    [61, 58]
    >>> equal_parts(recipe_named("clauses"), 0.9)
    27
    """
    size = sketch_size(recipe)
    if recipe.terms:
        return min_common(threshold, size)
    return size - allowed_distance(threshold, size)


# Bounds on equal slots that accept a pair, or rule it out, without its texts.


def enough_equal(
    measure: str, width: int, threshold: float, exact: bool = False, bits: int = FULL
) -> int:
    """Return the number of equal slots from which a pair reaches the threshold without texts.

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
def min_equal(measure: str, threshold: float, recipe: Recipe) -> int:
    """Return the minimum number of slots equal in a pair that slots do not rule out at a threshold.

    For `jaccard` the 99.9 % interval of such a pair ends at the threshold or above. For other
    measures slots rule out a quarter of the pairs that `RECALL` lets bands and slots miss together.
    For `estimate` the slots are the measure, and rule nothing out beforehand; nor do they for
    measures and features whose relation is not known, or without slots.

    >>> from indexer.recipe import DEFAULT_V1
    >>> [min_equal(name, 0.8, DEFAULT_V1) for name in ("jaccard", "lcs", "estimate", "hamming")]
    [88, 61, 0, 0]
    """
    if measure == "jaccard" and recipe.minhash:
        highs = similarity_intervals(recipe.slots or 0, Z999, recipe.packed or FULL)[1]
        return int(np.argmax(highs >= threshold))
    if not recipe.minhash or not is_related(measure, recipe.relation):
        return 0
    limited = min(max(threshold, 1 - ALMOST_ONE), ALMOST_ONE)
    return min_equal_slots(limited, RECALL, measure, recipe)
