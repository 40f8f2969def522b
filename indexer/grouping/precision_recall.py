"""Precision, recall and F1 of pairs and of sets; a share of nothing is None, never 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from indexer.fingerprinting.hashing import GAMMA, MASK, mix64, mix64_array
from indexer.grouping.principals import ConnectedTexts
from indexer.system.external_memory import Codes, encode_pair
from indexer.wording import percent

# Confidence intervals of a measured share: Mitchell's, and the bootstrap's.

RESAMPLES = 2000
Units = NDArray[np.float64]


def z_value(confidence: float = 0.95) -> float:
    """Return the standard deviations about the mean that hold this share of a normal distribution.

    >>> round(z_value(0.95), 2), round(z_value(0.6827), 2)
    (1.96, 1.0)
    """
    return NormalDist().inv_cdf((1 + confidence) / 2)


def mitchell(part: float, whole: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share by the normal distribution, within [0, 1].

    It is share -+ z * sqrt(share * (1 - share) / whole): Mitchell, Machine Learning (1997), chapter
    5, for error rates. It is too narrow for few trials, and a point where the share is 0 or 1. No
    trials: (0, 1).

    >>> [f"{end:.2%}" for end in mitchell(22, 942)]
    ['1.37%', '3.30%']
    """
    if not whole:
        return 0.0, 1.0
    share = part / whole
    half = z_value(confidence) * math.sqrt(share * (1 - share) / whole)
    return max(0.0, share - half), min(1.0, share + half)


def bootstrap(
    units: Units,
    statistics: Callable[[Units], Sequence[Units]],
    seed: int = 0,
    draws: int = RESAMPLES,
    confidence: float = 0.95,
) -> list[tuple[float, float] | None]:
    """Return percentile intervals of statistics of sums, by resampling the units (Efron 1979).

    `units`: (units, columns), what each unit adds to each sum; `statistics` takes (draws, columns)
    sums to (draws,) values of each statistic, NaN where it is undefined. The same units and seed
    give the same intervals. None for fewer than two units, or when no resample has a value.
    """
    count = len(units)
    samples = (units[random_places(count, seed + number, count)] for number in range(draws))
    sums = np.array([sample.sum(axis=0) for sample in samples])
    return [_percentiles(values, confidence) if count > 1 else None for values in statistics(sums)]


def _percentiles(values: Units, confidence: float) -> tuple[float, float] | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def random_places(draws: int, seed: int, among: int) -> NDArray[np.int64]:
    """Return `draws` places below `among`, with replacement, the same for the same seed.

    (draws,) int64; `among` is at least 1.
    """
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(GAMMA)
    randoms = mix64_array(steps + np.uint64(mix64(seed & MASK)))
    places: NDArray[np.int64] = (randoms % np.uint64(among)).astype(np.int64)
    return places


Rule: TypeAlias = Literal["all", "connected", "any"]
RULES: Mapping[str, str] = {
    "connected": "a set counts when pairs link all its documents, directly or through each other",
    "all": "a set counts when each pair of its documents is there",
    "any": "a set counts when at least one pair of its documents is there",
}
T = TypeVar("T", bound=Hashable)
Pair: TypeAlias = tuple[T, T]


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of pairs: true positives (`right`), false positives (`wrong`), false negatives."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """The share of the found pairs that are duplicates; None when nothing was found."""
        return share(self.right, self.right + self.wrong)

    @property
    def recall(self) -> float | None:
        """The share of the duplicate pairs that were found; None when there are none."""
        return share(self.right, self.right + self.missed)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None when all three counts are 0.

        It is 2 * right / (2 * right + wrong + missed).

        >>> round(Counts(94, 15, 9).f1, 4)
        0.8868
        """
        return share(2 * self.right, 2 * self.right + self.wrong + self.missed)


def share(part: float, whole: float) -> float | None:
    """Return part / whole, None when the whole is 0."""
    return part / whole if whole else None


def ordered_pair(a: T, b: T) -> tuple[T, T]:
    """Return the pair sorted by its members' strings, so that it does not depend on their order."""
    return (a, b) if str(a) <= str(b) else (b, a)


def linked_sets(pairs: Iterable[Pair[T]]) -> list[tuple[T, ...]]:
    """Return the sets that pairs link together, directly or through others.

    Members and sets are sorted by their strings.

    >>> linked_sets([("a", "b"), ("d", "c"), ("b", "e")])
    [('a', 'b', 'e'), ('c', 'd')]
    """
    edges = list(pairs)
    members = sorted({member for pair in edges for member in pair}, key=str)
    numbers = {member: number for number, member in enumerate(members)}
    chains = ConnectedTexts(len(members))
    for a, b in edges:
        chains.join(numbers[a], numbers[b])
    sets: dict[int, list[T]] = {}
    for number, member in enumerate(members):
        sets.setdefault(chains.root(number), []).append(member)
    return [tuple(linked) for linked in sets.values()]


def is_captured(members: Sequence[T], pairs: Collection[Pair[T]], rule: Rule) -> bool:
    """Return whether ordered `pairs` hold a set together by the rule."""
    inside = [pair for pair in combinations(sorted(members, key=str), 2) if pair in pairs]
    if rule == "any":
        return bool(inside)
    if rule == "all":
        return len(inside) == len(members) * (len(members) - 1) // 2
    return len(members) > 1 and linked_sets(inside) == [tuple(sorted(members, key=str))]


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Numbers of sets: `captured` of the `sets` true sets, and `right` of the `found` sets."""

    captured: int
    sets: int
    right: int
    found: int

    @property
    def recall(self) -> float | None:
        """The share of the true sets that were captured."""
        return share(self.captured, self.sets)

    @property
    def precision(self) -> float | None:
        """The share of the found sets that are right."""
        return share(self.right, self.found)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None when one is None, 0 when both are 0."""
        if self.recall is None or self.precision is None:
            return None
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


def count_sets(
    sets: Sequence[Sequence[T]],
    found_pairs: Collection[Pair[T]],
    true: Collection[Pair[T]],
    rule: Rule,
) -> SetCounts:
    """Count the true sets that found pairs capture, and the found sets that true pairs capture."""
    found_sets = linked_sets(found_pairs)
    return SetCounts(
        sum(is_captured(members, found_pairs, rule) for members in sets),
        len(sets),
        sum(is_captured(members, true, rule) for members in found_sets),
        len(found_sets),
    )


def f1_of_rows(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1 of each row of right, wrong and missed, (n, 3); NaN where all three are 0."""
    right = 2 * counts[:, 0]
    whole = right + counts[:, 1] + counts[:, 2]
    undefined = np.full(len(counts), np.nan)
    f1: NDArray[np.float64] = np.divide(right, whole, out=undefined, where=whole > 0)
    return f1


# Bounds on the items with a property among a finite number, by a sample without replacement.

TAIL = 0.025  # the chance that may lie beyond either end of a 95 % interval


def count_bounds(size: int, sampled: int, found: int) -> tuple[int, int]:
    """Return the 95 % interval of how many of `size` items have a property.

    Of `sampled` items, drawn with equal chance, `found` have it. Clopper & Pearson's interval
    (1934) with the hypergeometric distribution, exact for a finite number of items: never narrower
    than 95 %, all items if none were sampled, and a single number if all were.

    >>> count_bounds(50_000, 300, 0), count_bounds(10, 10, 4), count_bounds(7, 0, 0)
    ((0, 609), (4, 4), (0, 7))
    """
    return (
        size - _most(size, sampled, sampled - found),
        _most(size, sampled, found),
    )


def _most(size: int, sampled: int, found: int) -> int:
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


# Estimating recall from a stratified sample of pairs.

FEWEST = 5
RARE = 0.01  # the chance to reach the threshold below which the promise of `jaccard` is trusted
MEASURED = "listed, measured on texts"
RULED_OUT = "not listed, too few words in common"
ESCAPING = 1e-4  # the share of pairs at the threshold that may lie where sketches do not place them


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
        return low, min(high, _most_expected(self.size * self.expected))


@dataclass(frozen=True, slots=True)
class Audit:
    """An unbiased estimate of what `match` lists and misses of the pairs of distinct texts.

    `right` and `missed` count pairs at `threshold` of `measure`; `recall` is right / (right +
    missed), `error` its standard error by the variances of the totals; `precision` is the share of
    listed pairs that reach the threshold. The recall lies between `low` and `high` with 95 %,
    provided that at most the share `escaping` of these pairs lies where sketches put pairs far
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
    return Audit(
        threshold,
        tuple(strata),
        right,
        missed,
        share(right, right + missed),
        share(right, sum(part.size for part in listed)),
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

    Ends are combined of those of the strata as Zou & Donner do (Statistics in Medicine, 2008): the
    distances from the estimates are added as standard errors are. For few finds the lower end by
    that rule is too high; `least` and `most`, the sums of the ends, never hold too little.
    """

    value: float
    low: float
    high: float
    least: float
    most: float


def _sum_of(strata: Sequence[Stratum], is_trusting: bool) -> _Total:
    bounds = [part.trusting_bounds() if is_trusting else part.bounds() for part in strata]
    totals = [part.total for part in strata]
    value = math.fsum(totals)
    pairs = list(zip(totals, bounds, strict=True))
    below = math.hypot(*(max(0.0, total - low) for total, (low, _) in pairs))
    above = math.hypot(*(max(0.0, high - total) for total, (_, high) in pairs))
    least, most = (math.fsum(ends) for ends in zip(*bounds, (0.0, 0.0), strict=True))
    return _Total(value, max(0.0, value - below), value + above, least, most)


def _interval(
    listed: Sequence[Stratum],
    others: Sequence[Stratum],
    is_trusting: bool,
    escaping: float = 0.0,
) -> tuple[float, float]:
    """Return the interval of the recall from the ratio of missed to right.

    `escaping`: the share of the pairs at the threshold that may lie in no stratum.
    """
    right, missed = _sum_of(listed, is_trusting), _sum_of(others, is_trusting)
    if not right.value:
        return 0.0, 1.0
    escaped = _most_expected(escaping * right.value) if escaping else 0.0
    ratio = missed.value / right.value
    by_missed = (missed.high - missed.value) / right.value
    by_right = missed.value / right.low - ratio if right.low else math.inf
    upper = ratio + math.hypot(by_missed, by_right if missed.value else 0.0)
    return 1 / (1 + upper + escaped / right.value), right.most / (right.most + missed.least)


def _most_expected(mean: float) -> float:
    """Return the number that a Poisson distribution of this mean exceeds with 2.5 % at most, about.

    >>> _most_expected(0.0), _most_expected(9.0)
    (1.0, 16.0)
    """
    return mean + 2 * math.sqrt(mean) + 1


def allot(sizes: Sequence[int], spreads: Sequence[float], draws: int) -> list[int]:
    """Return how many of `draws` each stratum gets, by size times spread (Neyman 1934).

    At least `FEWEST`, never more than the stratum has.

    >>> allot([1000, 100, 3], [0.1, 0.5, 0.5], 50)
    [30, 17, 3]
    """
    allotted = [min(size, FEWEST) for size in sizes]
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


def describe_audit(audit: Audit) -> Iterator[str]:
    """Yield the result of an audit in sentences; the first begins with `audit:`."""
    pairs = sum(part.size for part in audit.strata)
    if not pairs:
        yield (
            "audit: there are no two different texts that have keys; "
            "copies of one text are always found"
        )
        return
    if audit.recall is None:
        yield _describe_none_found(audit, pairs)
        return
    yield _describe_recall(audit, pairs)
    if audit.precision is not None and audit.precision < 1:
        yield (
            f"of the pairs listed about {percent(audit.precision, 1)} reach {audit.threshold:g}; "
            "--exact lists no others"
        )
    far = audit.strata[-1]
    if far.sampled < far.size:
        yield (
            f"{far.found:,} of {far.sampled:,} pairs sampled from {far.size:,} that sketches put "
            f"far apart reach it; {'' if far.found else _describe_trust(audit)}"
            f"by this random sample alone the recall is {_round_down(audit.floor)} or more: "
            "misses so rare need larger samples"
        )


def _describe_trust(audit: Audit) -> str:
    rare = "that rare pairs are no more frequent than sketches promise, and "
    return (
        f"the interval trusts {rare if audit.measure == 'jaccard' else ''}"
        f"that at most one in {1 / audit.escaping:,.0f} of those at {audit.threshold:g} lies "
        "there; "
    )


def _describe_recall(audit: Audit, pairs: int) -> str:
    is_or_are = "pair of texts is" if round(audit.missed) == 1 else "pairs of texts are"
    place = f"{audit.threshold:g} or above by {audit.measure}"
    missed = f"{audit.missed:,.0f} {is_or_are} at {place} and not listed"
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
    most = _sum_of(rest, is_trusting=False).high
    condition = "" if any(part.placed for part in rest) else "sketches put the others far apart; "
    return (
        f"audit: {audit.sampled:,} of {pairs:,} pairs of different texts verified, {none}; "
        f"{condition}by this random sample alone {most:,.0f} may still do so: "
        "misses so rare need larger samples"
    )


# Random samples of pairs, and of the pairs that are in none of some sets.

MOST_LISTED = 200_000  # pairs of texts up to which all are listed to sample from


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
        if self._all_pairs <= max(MOST_LISTED, 4 * number):
            pairs = self._all()
            return pairs[distinct_places(number, len(pairs), seed + 1)]
        sample: Codes = np.zeros(0, dtype=np.uint64)
        step = 0
        while len(sample) < number:
            a = random_places(4 * number, seed + 2 + step, self._texts)
            b = random_places(4 * number, seed + 3 + step, self._texts)
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


def are_in(codes: Codes, others: Codes) -> NDArray[np.bool_]:
    """Return which codes are among `others`, which are sorted: (codes,) bool."""
    if not len(others):
        return np.zeros(len(codes), dtype=bool)
    places = np.minimum(np.searchsorted(others, codes), len(others) - 1)
    is_in: NDArray[np.bool_] = others[places] == codes
    return is_in


def distinct_places(number: int, among: int, seed: int) -> NDArray[np.int64]:
    """Return `number` different places below `among`, with equal chance; the same for a seed.

    (number,) int64 in random order; all places where `among` is not larger than `number`.
    """
    if number * 4 >= among:
        keys = random_places(among, seed, 1 << 62)
        order: NDArray[np.int64] = np.argsort(keys, kind="stable")[:number]
        return order
    candidates = random_places(4 * number + 64, seed, among)
    first: Sequence[int] = np.sort(np.unique(candidates, return_index=True)[1])[:number].tolist()
    return candidates[first]
