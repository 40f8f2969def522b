"""Estimating recall from a stratified sample of pairs.

Totals after Horvitz & Thompson. Of a stratum of N pairs n are sampled with equal chance, without
replacement. A pair is sampled with chance n / N and stands for N / n, so the total of x duplicates
in the sample is x N / n, however the strata are formed. Its variance is N**2 (1 - n / N) p (1 - p)
/ (n - 1) with p = x / n (Cochran, Sampling Techniques, 3.2), summed over strata.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.sketch.wilson import wilson
from indexer.statistics.intervals import z_value
from indexer.statistics.precision_recall import share
from indexer.text.wording import percent

FEWEST = 5
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

    @property
    def most(self) -> float:
        """The pairs that may reach the threshold, by the upper end of Wilson's interval."""
        return self.size * wilson(self.found, self.sampled)[1]

    def likely(self) -> tuple[float, float]:
        """Return mean and variance of the number of pairs that reach the threshold.

        The chance of each pair that was not sampled has a Beta distribution. Its prior is one pair
        of the `expected` chance, so that a sample without a find does not say that there is none.
        """
        rest, weight = self.size - self.sampled, self.sampled + 1
        chance = (self.found + self.expected) / weight
        spread = chance * (1 - chance)
        return self.found + rest * chance, rest * spread + rest * (rest - 1) * spread / (weight + 1)


@dataclass(frozen=True, slots=True)
class Audit:
    """An unbiased estimate of what `match` lists and misses of the pairs of distinct texts.

    `right` and `missed` count pairs at `threshold`; `recall` is right / (right + missed), `error`
    its standard error by the variances of the totals; `precision` is the share of listed pairs that
    reach the threshold. The recall lies between `low` and `high` with 95 %, provided that pairs
    that the sketches put far apart are as rare at the threshold as sketches promise, unless some
    were found. `floor` is the least recall at 95 % without that condition: by the upper end of
    Wilson's interval for the pairs far apart.
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

    @property
    def sampled(self) -> int:
        """The number of pairs that were verified for the audit."""
        strata = [part for part in self.strata if part.name != "listed, measured on texts"]
        return sum(part.sampled for part in strata)


def audit_strata(threshold: float, strata: Sequence[Stratum]) -> Audit:
    """Return the estimate from strata that together hold every pair once."""
    listed = [part for part in strata if part.listed]
    others = [part for part in strata if not part.listed]
    right = math.fsum(part.total for part in listed)
    missed = math.fsum(part.total for part in others)
    low, high = _interval(listed, [part for part in others if part.placed or part.found])
    far = [part for part in others if not part.placed and part.sampled < part.size]
    most_missed = (1 - low) / low * right + sum(part.most for part in far) if low else math.inf
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
        right / (right + most_missed) if right + most_missed else 0.0,
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


def _interval(listed: Sequence[Stratum], others: Sequence[Stratum]) -> tuple[float, float]:
    """Return the interval of the recall from the ratio of missed to right.

    The ratio is taken to have a gamma distribution of its mean and variance.
    """
    right, right_variance = _sum_likely(listed)
    missed, missed_variance = _sum_likely(others)
    if not right:
        return 0.0, 1.0
    if not missed:
        return 1.0, 1.0
    ratio = missed / right
    relative = missed_variance / missed**2 + right_variance / right**2
    if not relative:
        return 1 / (1 + ratio), 1 / (1 + ratio)
    upper = ratio * _gamma_quantile(1 / relative, z_value())
    lower = ratio * _gamma_quantile(1 / relative, -z_value())
    return 1 / (1 + upper), 1 / (1 + lower)


def _sum_likely(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Return the sums of the means and the variances of strata."""
    moments = [part.likely() for part in strata]
    return math.fsum(mean for mean, _ in moments), math.fsum(variance for _, variance in moments)


def _gamma_quantile(shape: float, z: float) -> float:
    """Return the quantile, at that of a normal z, of a gamma distribution of mean 1.

    The approximation of Wilson & Hilferty (1931).

    >>> round(_gamma_quantile(50, 1.96), 3)  # by tables 1.296
    1.296
    """
    return max(0.0, 1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape))) ** 3


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


def chance_at_least(equal: int, slots: int, threshold: float) -> float:
    """Return the chance that a pair with so many equal slots is at the threshold or above.

    All similarities are taken to be equally common.

    >>> round(chance_at_least(103, 128, 0.8), 2), chance_at_least(40, 128, 0.8) < 1e-20
    (0.52, True)
    """
    return chance_at_most(equal, slots + 1, threshold)


def chance_at_most(equal: int, slots: int, similarity: float) -> float:
    """Return the chance that at most `equal` slots agree in a pair of this similarity."""
    terms = (
        math.comb(slots, k) * similarity**k * (1 - similarity) ** (slots - k)
        for k in range(equal + 1)
    )
    return min(1.0, math.fsum(terms))


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
            f"far apart reach it; the interval trusts that at most one in {1 / ESCAPING:,.0f} of "
            f"those at {audit.threshold:g} lies there. By this random sample alone the recall is "
            f"{percent(audit.floor, 1)} or more: misses so rare need larger samples"
        )


def _describe_recall(audit: Audit, pairs: int) -> str:
    is_or_are = "pair of texts is" if round(audit.missed) == 1 else "pairs of texts are"
    missed = f"{audit.missed:,.0f} {is_or_are} at {audit.threshold:g} or above and not listed"
    if _is_complete(audit):
        return (
            f"audit: all {pairs:,} pairs of different texts are verified; {missed}: "
            f"recall {percent(audit.recall, 1)}"
        )
    return (
        f"audit: {audit.sampled:,} pairs verified; about {missed}: "
        f"recall {percent(audit.recall, 1)} "
        f"({_round_down(audit.low)} to {percent(audit.high, 1)}), "
        f"standard error {percent(audit.error, 1)}"
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
    none = f"and none reaches {audit.threshold:g}"
    if _is_complete(audit):
        return (
            f"audit: all {pairs:,} pairs of different texts are verified, {none}: "
            "there was nothing to find"
        )
    rest = [part for part in audit.strata if part.sampled < part.size]
    most = sum(part.most for part in rest)
    condition = "" if any(part.placed for part in rest) else "sketches put the others far apart; "
    return (
        f"audit: {audit.sampled:,} of {pairs:,} pairs of different texts verified, {none}; "
        f"{condition}by this random sample alone {most:,.0f} may still do so: "
        "misses so rare need larger samples"
    )
