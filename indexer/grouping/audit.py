"""An estimate of the pairs that `match` misses, from a stratified random sample.

1. Bands so short that hardly a pair escapes find all pairs whose sketches could belong to near
   duplicates.
2. By `lcs`, pairs with too few words in common are ruled out.
3. The rest is divided into strata by the chance that a pair reaches the threshold, given its equal
   slots. All other pairs are one stratum, "far apart".
4. A random sample of each stratum is verified on the texts.

For measures other than `jaccard` the chances come from `indexer.comparing.band_plan`. They
decide how far the strata reach and how many pairs of each are sampled, but of the numbers only the
share that may lie far apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.comparing.band_plan import (
    ALMOST_ONE,
    FRACTION_BELOW,
    RELATED,
    Plan,
    binomial_tails,
    equal_fraction,
    feature_similarities,
    plan_for_recall,
    unrelated_similarity,
)
from indexer.errors import UsageError
from indexer.fingerprinting.hashing import random_indexes
from indexer.fingerprinting.minhash import slot_similarity
from indexer.grouping.candidates import PAIRS_AT_ONCE, BandPairs, Join, SlotCounter, TextPairs
from indexer.grouping.verification import MatchContext
from indexer.recipe import Recipe
from indexer.system.external_memory import (
    Codes,
    Column,
    Positions,
    are_in,
    decode_pair,
    encode_pair,
    pairs_with_followers,
)
from indexer.wording import percent

TAIL = 0.025  # the chance that may lie beyond either end of a 95 % interval
MIN_PAIRS = 5
RARE = 0.01  # the chance to reach the threshold below which the promise of `jaccard` is trusted
MEASURED = "listed, measured on texts"
RULED_OUT = "not listed, too few words in common"
ESCAPING = 1e-4  # fraction of pairs at the threshold that may be where sketches exclude them
MAX_LISTED = 200_000  # pairs of texts up to which all are listed to sample from
EDGES = (0.9, 0.5, 0.1, RARE)  # chances to reach the threshold between which strata lie
SKETCH_PRECISION = 0.98  # chance that a pair which its sketches alone list is rightly listed
FAR_FRACTION = 8  # one in so many pairs is sampled from those far apart
FAR = "far apart by their sketches"
MEASURES = ("jaccard", *RELATED)  # of which misses can be estimated


@dataclass(frozen=True)
class _Group:
    """The pairs of one stratum before they are sampled."""

    name: str
    codes: Codes
    expected: float
    listed: bool

    @property
    def spread(self) -> float:
        """The standard deviation of one draw, by the expected share of pairs at the threshold.

        At least `RARE`: other texts than the relation was measured on have more.
        """
        expected = max(self.expected, RARE)
        return math.sqrt(expected * (1 - expected))


@dataclass(frozen=True)
class _NearPairs:
    """The strata of pairs that are not listed and may reach the threshold, nearest first.

    `ruled_out`: the codes of those that cannot, by their words.
    """

    groups: Sequence[_Group]
    ruled_out: Codes


class AuditFrame:
    """All pairs of distinct texts by strata, to be sampled as often as wanted.

    `listed` are those that `match` lists at the threshold; the measure is the verifier's, one of
    `MEASURES`. Compares the slots of all pairs that may reach the threshold, without caps, and for
    `lcs` reads their texts; the memory budget holds 16 bytes for each of them.
    """

    def __init__(self, context: MatchContext, listed: TextPairs, threshold: float) -> None:
        self._context, self._threshold = context, threshold
        self._measured = int(listed.exact.sum())
        codes = encode_pair(listed.left, listed.right)
        by_sketch = codes[~listed.exact]
        near = _near_pairs_by_stratum(context, codes, threshold)
        groups = [_Group("listed by their sketches", by_sketch, SKETCH_PRECISION, True)]
        self._groups = [group for group in [*groups, *near.groups] if len(group.codes)]
        self._ruled_out = len(near.ruled_out)
        others = [codes, near.ruled_out, *(group.codes for group in near.groups)]
        self._far = OtherPairs(len(context.collection.slots), others)

    def estimate(self, sample_size: int, seed: int) -> Audit:
        """Estimate which fraction of the pairs at the threshold are listed.

        Verifies about `sample_size` pairs of distinct texts, 20 or more, sampled by `seed`.
        """
        sizes = [len(group.codes) for group in self._groups]
        spreads = [group.spread for group in self._groups]
        far = self._far
        far_draws = min(far.size, max(sample_size // FAR_FRACTION, sample_size - sum(sizes)))
        draws = allot(sizes, spreads, sample_size - far_draws)
        sampler = _Sampler(self._context, self._threshold)
        strata = [Stratum(MEASURED, self._measured, self._measured, self._measured, 1.0, True)]
        for group, number in zip(self._groups, draws, strict=True):
            size = len(group.codes)
            hits = sampler.count_reaching(group.codes[distinct_indexes(number, size, seed)])
            strata.append(Stratum(group.name, size, number, hits, group.expected, group.listed))
        if self._ruled_out:
            strata.append(Stratum(RULED_OUT, self._ruled_out, self._ruled_out, 0, 0.0, False))
        sample = far.sample(far_draws, seed)
        hits = sampler.count_reaching(sample)
        strata.append(Stratum(FAR, far.size, len(sample), hits, 0.0, False, placed=False))
        measure = self._context.verifier.measure
        escaping = ESCAPING if measure == "jaccard" else FRACTION_BELOW
        return audit_strata(self._threshold, strata, measure, escaping)


def check_audited(measure: str) -> None:
    """Raise `UsageError` for a measure of which misses cannot be estimated."""
    if measure not in MEASURES:
        raise UsageError(
            f"--audit is not known to hold for {measure}; choose one of: {', '.join(MEASURES)}"
        )


def _near_pairs_by_stratum(context: MatchContext, listed: Codes, threshold: float) -> _NearPairs:
    """Return the pairs that may reach the threshold by their slots, and are not listed."""
    collection = context.collection
    width = collection.slots.shape[1]
    fractions = _fractions(context, threshold)
    chances = binomial_tails(fractions, width + 1)[:, : width + 1].mean(axis=0)
    stratum_of = np.searchsorted(-np.array(EDGES), -chances, side="left")
    columns = [Column(collection.budget, np.uint64) for _ in range(len(EDGES) + 1)]
    ruled_out = Column(collection.budget, np.uint64)
    counts = np.zeros(width + 1, dtype=np.int64)
    pairs = _near_pairs(context, float(fractions.min()))
    done = 0
    for left, right, equal in pairs.blocks(size=PAIRS_AT_ONCE):
        codes = encode_pair(left, right)
        is_new = ~are_in(codes, listed)
        may_reach = is_new.copy()
        may_reach[is_new] = context.verifier.may_reach(left[is_new], right[is_new], threshold)
        ruled_out.add(codes[is_new & ~may_reach])
        counts += np.bincount(equal[may_reach], minlength=width + 1)
        for number, column in enumerate(columns):
            column.add(codes[may_reach & (stratum_of[equal] == number)])
        done += len(left)
        context.progress("auditing: ruling out pairs", done, len(pairs))
    groups = []
    for number, column in enumerate(columns):
        numbers = np.flatnonzero((stratum_of == number) & (counts > 0)).astype(np.uint16)
        if len(numbers):
            low, high = slot_similarity(numbers[[0, -1]], width, collection.slot_bits)
            expected = float(np.average(chances[numbers], weights=counts[numbers]))
            name = f"not listed, features estimated {low:.2f} to {high:.2f}"
            groups.append(_Group(name, column.whole(), expected, False))
    return _NearPairs(groups, ruled_out.whole())


def _fractions(context: MatchContext, threshold: float) -> NDArray[np.float64]:
    """Return fractions of equal slots, all equally likely, of pairs at the threshold."""
    recipe, measure = context.collection.recipe, context.verifier.measure
    similarities = feature_similarities(measure, min(threshold, ALMOST_ONE), recipe.relation)
    return equal_fraction(similarities, recipe.packed)


def _near_pairs(context: MatchContext, fraction: float) -> BandPairs:
    """Return the pairs of which so large a fraction of the slots may be expected to be equal.

    By a layout and by a minimum number of equal slots that let one in ten thousand escape together.
    """
    slots, budget = context.collection.slots, context.collection.budget
    width = slots.shape[1]
    tails = binomial_tails(np.array([fraction]), width)[0]
    minimum = int(np.argmax(tails > ESCAPING / 2))
    counter = SlotCounter(slots, budget)
    pairs = BandPairs(len(slots), width, budget)
    for left, right in _possible_pairs(context, _short_bands(fraction, context.collection.recipe)):
        pairs.add(*counter.at_least(left, right, minimum))
    pairs.sort()
    return pairs


def _short_bands(fraction: float, recipe: Recipe) -> Plan | None:
    """Return bands that hardly one pair escapes; None where it is faster to take all pairs."""
    try:
        layout = plan_for_recall(min(fraction, ALMOST_ONE), 1 - ESCAPING / 2, recipe.slots or 0)
    except UsageError:
        return None
    unrelated = equal_fraction(np.array([unrelated_similarity(recipe)]), recipe.packed)[0]
    visits = layout.bands * unrelated**layout.rows  # of a pair of unrelated documents
    return layout if visits < 1 else None


def _possible_pairs(
    context: MatchContext, layout: Plan | None
) -> Iterator[tuple[Positions, Positions]]:
    """Yield the pairs of texts that share a band, or all of them, each once."""
    slots, budget = context.collection.slots, context.collection.budget
    positions = np.arange(len(slots))
    if layout is None:
        done, total = 0, len(slots) * (len(slots) - 1) // 2
        for first, second in pairs_with_followers(positions, positions[::-1], budget.block):
            yield first.astype(np.int32), second.astype(np.int32)
            done += len(first)
            context.progress("auditing: comparing slots", done, total)
        return
    join = Join(slots, layout.bands, layout.rows, positions, max(2, len(slots)), budget)
    for left, right in join.blocks():
        yield left, right
        context.progress("auditing: comparing slots", join.done, join.total)


class _Sampler:
    """Verifies pairs by their codes."""

    def __init__(self, context: MatchContext, threshold: float) -> None:
        self._context = context
        self._threshold = threshold
        self._done = 0

    def count_reaching(self, codes: Codes) -> int:
        """Return how many of these pairs reach the threshold on their texts."""
        codes = np.sort(codes)
        left, right = decode_pair(codes)
        similarity = self._context.verifier.similarities(left, right, self._threshold)
        self._done += len(codes)
        self._context.progress("auditing: verifying pairs", self._done, 0)
        return int(np.count_nonzero((similarity >= self._threshold) & (similarity > 0)))


# The estimate: strata of pairs, each sampled, and the sentences that report them.


def count_bounds(size: int, sampled: int, found: int) -> tuple[int, int]:
    """Return the 95 % interval of how many of `size` items have a property.

    Of `sampled` items, drawn with equal chance, `found` have it. Clopper & Pearson's interval
    (1934) with the hypergeometric distribution, exact for a finite number of items: never narrower
    than 95 %, all items if none were sampled, and a single number if all were.

    >>> count_bounds(50_000, 300, 0), count_bounds(10, 10, 4), count_bounds(7, 0, 0)
    ((0, 609), (4, 4), (0, 7))
    """
    return (
        size - _max_value(size, sampled, sampled - found),
        _max_value(size, sampled, found),
    )


def _max_value(size: int, sampled: int, found: int) -> int:
    """Return the largest count with which as few finds, or fewer, have a chance above `TAIL`."""
    low, high = found, size - sampled + found
    while low < high:
        middle = (low + high + 1) // 2
        if _chance_of_fewer(size, middle, sampled, found) > TAIL:
            low = middle
        else:
            high = middle - 1
    return low


def _chance_of_fewer(size: int, count: int, sampled: int, found: int) -> float:
    """Return the chance that a sample has at most `found` of the `count` items among `size`."""
    first, last = max(0, sampled - size + count), min(sampled, count)
    numbers = np.arange(first, last, dtype=np.float64)
    gains = np.log(count - numbers) + np.log(sampled - numbers)
    losses = np.log(numbers + 1) + np.log(size - count - sampled + numbers + 1)
    logs = np.concatenate([[0.0], np.cumsum(gains - losses)])
    chances = np.exp(logs - logs.max())
    return float(chances[: found - first + 1].sum() / chances.sum())


@dataclass(frozen=True, slots=True)
class Stratum:
    """`size` pairs: `sampled` were verified on their texts, `found` reach the threshold.

    `expected` is the chance, by the sketches, that a pair of the stratum reaches the threshold;
    `listed`: `match` lists these pairs; `placed`: the sketches say that pairs at the threshold may
    lie in this stratum. Where they do not, such a pair is hardly ever found.
    """

    name: str
    size: int
    sampled: int
    found: int
    expected: float
    listed: bool
    placed: bool = True

    @property
    def total(self) -> float:
        """The unbiased estimate of the pairs that reach the threshold."""
        return self.size * self.found / self.sampled if self.sampled else 0.0

    @property
    def variance(self) -> float:
        """The unbiased variance of `total`; 0 if all or fewer than two were verified."""
        if self.sampled < 2 or self.sampled == self.size:
            return 0.0
        part = self.found / self.sampled
        return (
            self.size**2 * (1 - self.sampled / self.size) * part * (1 - part) / (self.sampled - 1)
        )

    def bounds(self) -> tuple[int, int]:
        """Return the 95 % interval of the pairs that reach the threshold, by the sample alone."""
        return count_bounds(self.size, self.sampled, self.found)

    def trusting_bounds(self) -> tuple[float, float]:
        """Return the same, but no more pairs than sketches promise where these are rare.

        Only if none was found. They promise `expected` of each pair; the number has about a Poisson
        distribution.
        """
        low, high = self.bounds()
        if self.found or self.expected >= RARE or self.sampled == self.size:
            return low, high
        return low, min(high, _max_expected(self.size * self.expected))


@dataclass(frozen=True, slots=True)
class Audit:
    """An unbiased estimate of what `match` lists and misses of the pairs of distinct texts.

    `right` and `missed` count pairs at `threshold` of `measure`; `recall` is right / (right +
    missed), `error` its standard error by the variances of the totals; `precision` is the fraction
    of listed pairs that reach the threshold. The recall lies between `low` and `high` with 95 %,
    provided that at most the fraction `escaping` of these pairs lies where sketches put pairs far
    apart, and for `jaccard` that such pairs are no more frequent than sketches promise where this
    is below `RARE`; neither is a condition of a stratum in which some were found. `floor` is the
    least recall at 95 % without these conditions, by the random sample alone. Copies of one text
    count nowhere.
    """

    threshold: float
    strata: tuple[Stratum, ...]
    right: float
    missed: float
    recall: float | None
    precision: float | None
    error: float | None
    low: float
    high: float
    floor: float
    measure: str = "jaccard"
    escaping: float = ESCAPING

    @property
    def sampled(self) -> int:
        """The number of pairs that were verified for the audit."""
        strata = [part for part in self.strata if part.name not in (MEASURED, RULED_OUT)]
        return sum(part.sampled for part in strata)

    def sentences(self) -> Iterator[str]:
        """Yield the result in sentences; the first begins with `audit:`."""
        pairs = sum(part.size for part in self.strata)
        if not pairs:
            yield (
                "audit: there are no two different texts that have keys; "
                "copies of one text are always found"
            )
            return
        if self.recall is None:
            yield _describe_none_found(self, pairs)
            return
        yield _describe_recall(self, pairs)
        if self.precision is not None and self.precision < 1:
            yield (
                f"of the pairs listed about {percent(self.precision, 1)} reach {self.threshold:g}; "
                "--exact lists no others"
            )
        far = self.strata[-1]
        if far.sampled < far.size:
            yield (
                f"{far.found:,} of {far.sampled:,} pairs sampled from {far.size:,} that sketches "
                f"put far apart reach it; {'' if far.found else _describe_trust(self)}"
                f"by this random sample alone the recall is {_round_down(self.floor)} or more: "
                "misses so rare need larger samples"
            )


def audit_strata(
    threshold: float,
    strata: Sequence[Stratum],
    measure: str = "jaccard",
    escaping: float = ESCAPING,
) -> Audit:
    """Return the estimate from strata that together hold every pair once."""
    listed = [part for part in strata if part.listed]
    others = [part for part in strata if not part.listed]
    right = math.fsum(part.total for part in listed)
    missed = math.fsum(part.total for part in others)
    known = [part for part in others if part.placed or part.found or part.sampled == part.size]
    is_trusting = measure == "jaccard"
    escaping_now = escaping if len(known) < len(others) else 0.0
    low, high = _interval(listed, known, is_trusting, escaping_now)
    floor = min(low, _interval(listed, others, is_trusting=False)[0])
    listed_pairs = sum(part.size for part in listed)
    return Audit(
        threshold,
        tuple(strata),
        right,
        missed,
        right / (right + missed) if right + missed else None,
        right / listed_pairs if listed_pairs else None,
        _standard_error(listed, others, right, missed),
        low,
        high,
        floor,
        measure,
        escaping,
    )


def _standard_error(
    listed: Sequence[Stratum], others: Sequence[Stratum], right: float, missed: float
) -> float | None:
    """Return the standard error of the recall; None where the recall is undefined."""
    if not right + missed:
        return None
    of_right = missed**2 * sum(part.variance for part in listed)
    of_missed = right**2 * sum(part.variance for part in others)
    return math.sqrt(of_right + of_missed) / (right + missed) ** 2


@dataclass(frozen=True, slots=True)
class _Total:
    """The pairs of some strata that reach the threshold, and the ends of its 95 % interval.

    The ends of the strata are combined as Zou & Donner do (Statistics in Medicine, 2008): the
    distances from the estimates are added as standard errors are. For few finds the lower end by
    that rule is too high; `lower` and `upper`, the sums of the ends, never hold too little.
    """

    value: float
    low: float
    high: float
    lower: float
    upper: float


def _sum_of(strata: Sequence[Stratum], is_trusting: bool) -> _Total:
    bounds = [part.trusting_bounds() if is_trusting else part.bounds() for part in strata]
    totals = [part.total for part in strata]
    value = math.fsum(totals)
    pairs = list(zip(totals, bounds, strict=True))
    below = math.hypot(*(max(0.0, total - low) for total, (low, _) in pairs))
    above = math.hypot(*(max(0.0, high - total) for total, (_, high) in pairs))
    minimum, limit = (math.fsum(ends) for ends in zip(*bounds, (0.0, 0.0), strict=True))
    return _Total(value, max(0.0, value - below), value + above, minimum, limit)


def _interval(
    listed: Sequence[Stratum],
    others: Sequence[Stratum],
    is_trusting: bool,
    escaping: float = 0.0,
) -> tuple[float, float]:
    """Return the interval of the recall from the ratio of missed to right.

    `escaping`: the fraction of the pairs at the threshold that may lie in no stratum.
    """
    right, missed = _sum_of(listed, is_trusting), _sum_of(others, is_trusting)
    if not right.value:
        return 0.0, 1.0
    escaped = _max_expected(escaping * right.value) if escaping else 0.0
    ratio = missed.value / right.value
    by_missed = (missed.high - missed.value) / right.value
    by_right = missed.value / right.low - ratio if right.low else math.inf
    upper = ratio + math.hypot(by_missed, by_right if missed.value else 0.0)
    return 1 / (1 + upper + escaped / right.value), right.upper / (right.upper + missed.lower)


def _max_expected(mean: float) -> float:
    """Return the number that a Poisson distribution of this mean exceeds with 2.5 % at most, about.

    >>> _max_expected(0.0), _max_expected(9.0)
    (1.0, 16.0)
    """
    return mean + 2 * math.sqrt(mean) + 1


def allot(sizes: Sequence[int], spreads: Sequence[float], draws: int) -> list[int]:
    """Return how many of `draws` each stratum gets, by size times spread (Neyman 1934).

    At least `MIN_PAIRS`, never more than the stratum has.

    >>> allot([1000, 100, 3], [0.1, 0.5, 0.5], 50)
    [30, 17, 3]
    """
    allotted = [min(size, MIN_PAIRS) for size in sizes]
    strata = range(len(sizes))
    while (left := draws - sum(allotted)) > 0:
        weights = [sizes[i] * spreads[i] if allotted[i] < sizes[i] else 0.0 for i in strata]
        total = sum(weights)
        if not total:
            break
        more = [min(sizes[i] - allotted[i], int(left * weights[i] / total)) for i in strata]
        if not any(more):
            more[weights.index(max(weights))] = 1
        allotted = [allotted[i] + more[i] for i in strata]
    return allotted


def _describe_trust(audit: Audit) -> str:
    rare = "that rare pairs are no more frequent than sketches promise, and "
    return (
        f"the interval trusts {rare if audit.measure == 'jaccard' else ''}"
        f"that at most one in {1 / audit.escaping:,.0f} of those at {audit.threshold:g} lies "
        "there; "
    )


def _describe_recall(audit: Audit, pairs: int) -> str:
    is_or_are = "pair of texts is" if round(audit.missed) == 1 else "pairs of texts are"
    position = f"{audit.threshold:g} or above by {audit.measure}"
    missed = f"{audit.missed:,.0f} {is_or_are} at {position} and not listed"
    if _is_complete(audit):
        return (
            f"audit: all {pairs:,} pairs of different texts are verified; {missed}: "
            f"recall {percent(audit.recall, 1)}"
        )
    error = f", standard error {percent(audit.error, 1)}" if audit.error else ""
    return (
        f"audit: {audit.sampled:,} pairs verified; about {missed}: "
        f"recall of pairs of different texts {percent(audit.recall, 1)} "
        f"(95 % interval {_round_down(audit.low)} to {percent(audit.high, 1)}){error}"
    )


def _is_complete(audit: Audit) -> bool:
    """Return whether every pair was verified."""
    return all(part.sampled == part.size for part in audit.strata)


def _round_down(low: float) -> str:
    """Return the lower end of an interval as a percentage rounded down: only 1 is 100 %.

    >>> _round_down(0.99996), _round_down(0.4), _round_down(1.0)
    ('99.9%', '40.0%', '100.0%')
    """
    return percent(math.floor(1000 * low + 1e-9) / 1000, 1)


def _describe_none_found(audit: Audit, pairs: int) -> str:
    """Return the sentence for an audit without a find.

    Only when every pair was verified does it prove that there is none.
    """
    none = f"and none reaches {audit.threshold:g} by {audit.measure}"
    if _is_complete(audit):
        return (
            f"audit: all {pairs:,} pairs of different texts are verified, {none}: "
            "there was nothing to find"
        )
    rest = [part for part in audit.strata if part.sampled < part.size]
    limit = _sum_of(rest, is_trusting=False).high
    condition = "" if any(part.placed for part in rest) else "sketches put the others far apart; "
    return (
        f"audit: {audit.sampled:,} of {pairs:,} pairs of different texts verified, {none}; "
        f"{condition}by this random sample alone {limit:,.0f} may still do so: "
        "misses so rare need larger samples"
    )


class OtherPairs:
    """The pairs of `texts` texts that are in none of `others`.

    `others` are sorted codes, no code in two of them. `size` counts the pairs.
    """

    def __init__(self, texts: int, others: Sequence[Codes]) -> None:
        self._texts = texts
        self._others = others
        self._all_pairs = texts * (texts - 1) // 2
        self.size = self._all_pairs - sum(map(len, others))

    def sample(self, number: int, seed: int) -> Codes:
        """Return `number` of them, each with equal chance, none twice; the same for a seed."""
        if self._all_pairs <= max(MAX_LISTED, 4 * number):
            pairs = self._all()
            return pairs[distinct_indexes(number, len(pairs), seed + 1)]
        sample: Codes = np.zeros(0, dtype=np.uint64)
        step = 0
        while len(sample) < number:
            a = random_indexes(4 * number, seed + 2 + step, self._texts)
            b = random_indexes(4 * number, seed + 3 + step, self._texts)
            is_pair = a != b
            codes = encode_pair(np.minimum(a, b)[is_pair], np.maximum(a, b)[is_pair])
            joined = np.concatenate([sample, self._without_others(codes)])
            sample = joined[np.sort(np.unique(joined, return_index=True)[1])]
            step += 2
        return sample[:number]

    def _all(self) -> Codes:
        left, right = np.triu_indices(self._texts, 1)
        codes = encode_pair(left.astype(np.int32), right.astype(np.int32))
        return self._without_others(codes)

    def _without_others(self, codes: Codes) -> Codes:
        for others in self._others:
            codes = codes[~are_in(codes, others)]
        return codes


def distinct_indexes(number: int, among: int, seed: int) -> NDArray[np.int64]:
    """Return `number` different positions below `among`, with equal chance; the same for a seed.

    (number,) int64 in random order; all positions where `among` is not larger than `number`.
    """
    if number * 4 >= among:
        keys = random_indexes(among, seed, 1 << 62)
        order: NDArray[np.int64] = np.argsort(keys, kind="stable")[:number]
        return order
    candidates = random_indexes(4 * number + 64, seed, among)
    first: Sequence[int] = np.sort(np.unique(candidates, return_index=True)[1])[:number].tolist()
    return candidates[first]
