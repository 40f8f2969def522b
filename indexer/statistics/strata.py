"""Estimating recall from a stratified sample of pairs.

Totals after Horvitz & Thompson. Of a stratum of N pairs n are sampled with equal chance, without
replacement. A pair is sampled with chance n / N and stands for N / n, so the total of x duplicates
in the sample is x N / n, however the strata are formed. Its variance is N**2 (1 - n / N) p (1 - p)
/ (n - 1) with p = x / n (Cochran, Sampling Techniques, 3.2), summed over strata. It is 0 where a
sample has no duplicate, or nothing else; intervals therefore rest on exact bounds of each stratum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.statistics.count_bounds import count_bounds
from indexer.statistics.precision_recall import share
from indexer.text.wording import percent

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
